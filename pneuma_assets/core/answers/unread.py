"""Words of a question that nothing in its answer says: a sign by which wrong answers are known.

A model answers another question where it cannot answer the one that is asked: takeout is offered
by no table, so it counts restaurants. Its statement runs, and only what is missing from it tells.
Whether words are other words for what is there nobody knows here, so they are told and no more.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import sqlglot
from sqlglot import exp

from pneuma_assets.core.answers.little_words import LIGHT
from pneuma_assets.core.answers.tables import AnswerTable
from pneuma_assets.core.answers.words import Word, read_words
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.text.analysis import Analyzer

_ALL = frozenset({"all", "every", "each", "any"})
_OF = frozenset({"of", "the", "these", "those", "our"})
_PARTS = re.compile(
    "(year|quarter|month|week|day|season|period|time|region|file|part)s?|branch(es)?"
)
_ALONE = frozenset({"overall", "altogether", "ever"})


def unread_words(
    question: str, sql: str, dialect: str, tables: Sequence[AnswerTable], analyzer: Analyzer
) -> tuple[str, ...]:
    """Return the telling words of a question that its answer does not say, each once.

    Said are the names of the tables that are read and of all of their columns, what is said of
    these, and the values and numbers of the statement. What the statement calls its results says
    nothing: a model calls them as the question does.

    Args:
        question: In plain language.
        sql: The statement that answers it.
        dialect: Of the statement.
        tables: Those that it reads.
        analyzer: Tells which words are the same.
    """
    tree = sqlglot.parse_one(sql, dialect=dialect)
    literals = [str(one.this) for one in tree.find_all(exp.Literal)]
    said = frozenset(analyzer.terms(" ".join([*literals, *_said_of(tables)])))
    light = _light(analyzer)
    words = read_words(question, analyzer)
    of_parts = _asking_for_all(words)  # Each part is an answer of its own.
    unread = (
        word.number if "_" in word.text else word.text
        for place, word in enumerate(words)
        if word.text not in LIGHT
        and place not in of_parts
        and _is_unread(word, said | light, literals)
    )
    return tuple(dict.fromkeys(unread))


def _asking_for_all(words: Sequence[Word]) -> set[int]:
    """Return the places of words that ask for all parts: `overall`, `years` of `all the years`."""
    found = set()
    for place, word in enumerate(words):
        before = place - 1
        while before > 0 and (words[before].text in _OF or words[before].number):
            before -= 1
        parts = (
            _PARTS.fullmatch(word.text) is not None and before >= 0 and words[before].text in _ALL
        )
        if parts or word.text in _ALONE:
            found.add(place)
    return found


def _said_of(tables: Sequence[AnswerTable]) -> Iterator[str]:
    for table in tables:
        yield " ".join(name_parts(table.table_id))
        yield f"{table.evidence.spelled_names} {table.evidence.spelled_columns}"
        for column in table.columns:
            yield f"{' '.join(name_parts(column.name))} {column.said}"


def _is_unread(word: Word, said: frozenset[str], literals: Sequence[str]) -> bool:
    if word.number:
        return word.number not in said and not any(word.number in literal for literal in literals)
    return bool(word.stems) and said.isdisjoint(word.stems)


@lru_cache(maxsize=8)
def _light(analyzer: Analyzer) -> frozenset[str]:
    return frozenset(analyzer.terms(" ".join(sorted(LIGHT))))
