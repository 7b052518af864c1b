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

from pneuma_assets.core.answers.results import AnswerTable
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.text.analysis import Analyzer
from pneuma_assets.core.text.stop_words import LITTLE, MOST_CHARACTERS

_WORD = re.compile(r"(?P<number>\d[\d,]*(?:\.\d+)?)|[^\W\d_]+")
_OF_ALL_PARTS = re.compile(
    r"\b(all|every|each|any)( of)?( the| these| those| our)?( \d+)? "
    r"((year|quarter|month|week|day|season|period|time|region|file|part)s?|branch(es)?)\b",
    re.IGNORECASE,
)
"""Each part is an answer of its own."""

_MORE = """
above after before below bigger earlier equals exactly exceeding larger later longer older over
shorter since smaller than under until up younger not arent didnt doesnt dont except excluding isnt
neither never non nor other unless without ago compare compared comparison consecutive correlation
currently deviation difference differences fraction growth median now percentage percentages
proportion proportions ratio ratios share today trend variance varies vary versus vs yesterday
alphabetical alphabetically arranged as asc ascending begin begins convert decimal decimals desc
descending format integer ranked return round rounded starting starts both common could current
describe explain frequent frequently he if might often one our popular recommend same she should we
whether why would him overall altogether ever one two three four five six seven eight nine ten
eleven twelve hundred thousand million billion
"""
LIGHT = LITTLE.union(_MORE.split())
"""Words that need not be in an answer: they say nothing, or what is done with what is asked for."""


def unmatched_words(
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
    said = frozenset(analyzer.terms(" ".join([*literals, *_names_in(tables)]))) | _light(analyzer)
    found: dict[str, None] = {}
    for word in _WORD.finditer(_OF_ALL_PARTS.sub(" ", question[:MOST_CHARACTERS])):
        text = word[0].lower().replace(",", "")
        if word["number"]:
            missing = text not in said and not any(text in literal for literal in literals)
        else:
            terms = analyzer.terms(text)
            missing = bool(terms) and text not in LIGHT and said.isdisjoint(terms)
        if missing:
            found[text] = None
    return tuple(found)


def _names_in(tables: Sequence[AnswerTable]) -> Iterator[str]:
    for table in tables:
        yield " ".join(name_parts(table.table_id))
        yield f"{table.evidence.spelled_names} {table.evidence.spelled_columns}"
        for column in table.columns:
            yield f"{' '.join(name_parts(column.name))} {column.said}"


@lru_cache(maxsize=8)
def _light(analyzer: Analyzer) -> frozenset[str]:
    return frozenset(analyzer.terms(" ".join(sorted(LIGHT))))
