"""Words a query as a question, without a model: plain, and true to it part by part.

Columns are called by the words that their names stand for, or by what people wrote about them. Such
a question leads back to its query by construction, so it needs no check of that (Pneuma, section
6.1.2); nor is it varied.
"""

import re
from collections.abc import Mapping

from pneuma_assets.core.bench.generator.queries import BETWEEN, Condition, Selected, SqlQuery
from pneuma_assets.core.bench.generator.subjects import Subject, Value
from pneuma_assets.core.evidence.names import in_words
from pneuma_assets.core.narration.facts import spelt_out
from pneuma_assets.core.text.clean import one_line

MOST_WORDS = 8
"""Of what people wrote about a column, so that it can stand in a question in its name's place."""

_AGGREGATES = {"MAX": "highest", "MIN": "lowest", "AVG": "average", "SUM": "total"}
_OPERATORS = {"=": "is", ">": "is more than", "<": "is less than"}
_CLAUSE_END = re.compile(r"\.(?=\s+[A-Z]|$)|[;:,](?=\s|$)|[(\[]|\s-+\s")
_NO_WORDS = frozenset('?!=<>|{}/*"')
ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
"""That a description begins with; the questions put their own before it."""
_OF_TYPES = re.compile(
    r"(?:ordered |numeric |integer |character |categorical )*"
    r"(?:either|factor|vector|numeric|integer|character|variable|column|levels?|logical|indicat(?:or|es)|list)\b",
    re.IGNORECASE,
)
"""Begins what says of which type a column is, and not what is in it."""


def worded(query: SqlQuery, subject: Subject, *, described: bool = False) -> str:
    """Return a question in plain English that a query answers.

    Args:
        query: What is asked.
        subject: Of which table.
        described: Whether columns are called by what people wrote about them, where that is short
            and of no other column of the table.
    """
    names = {at: words_of(subject, at, described=described) for at in query.columns}
    asked = " and the ".join(_called(one, names) for one in _asked(query))
    verb = "are" if len(_asked(query)) > 1 else "is"
    where = [_said(one, names) for one in query.where]
    parts = [f"what {verb} the {asked}"]
    if query.order is not None:
        end = "highest" if query.order.descending else "lowest"
        by = names[query.order.column]
        parts.append(f"of the {query.order.limit} rows with the {end} {by}")
    if where:
        parts.append(f"where the {' and the '.join(where)}")
    if query.group_by is not None:
        only = f" with {_said(query.having, names, 'a ')}" if query.having else ""
        parts.insert(0, f"for each {names[query.group_by]}{only},")
    text = " ".join(parts)
    return f"{text[0].upper()}{text[1:]}?"


def words_of(subject: Subject, column: int, *, described: bool = False) -> str:
    """Return what people would call a column; its name where that is no word."""
    meaning = meaning_of(subject, column) if described else ""
    if meaning and sum(meaning_of(subject, at) == meaning for at in subject.described) == 1:
        return meaning
    name = subject.columns[column]
    return spelt_out(name)[0] or in_words([name]) or one_line(name)


def meaning_of(subject: Subject, column: int) -> str:
    """Return the first clause of what people wrote about a column, if it can stand for its name.

    It is empty where there is none.
    """
    written = one_line(subject.described.get(column, ""))
    clause = ARTICLE.sub("", _CLAUSE_END.split(written, 1)[0].strip(" \"'"), 1)
    if not clause or len(clause.split()) > MOST_WORDS or _NO_WORDS & {*clause}:
        return ""
    if _OF_TYPES.match(clause):
        return ""
    first = clause.split()[0]
    return clause[0].lower() + clause[1:] if first[1:].islower() or len(first) == 1 else clause


def _asked(query: SqlQuery) -> tuple[Selected, ...]:
    """Return what is asked for; the column that rows are grouped by is named before."""
    return query.select if query.group_by is None else query.select[1:]


def _called(one: Selected, names: Mapping[int, str]) -> str:
    words = names[one.column]
    return f"{_AGGREGATES[one.aggregate]} {words}" if one.aggregate else words


def _said(condition: Condition, names: Mapping[int, str], article: str = "") -> str:
    called = f"{article}{_called(condition.of, names)}"
    if condition.operator == BETWEEN and condition.second is not None:
        between = f"between {_shown(condition.value)} and {_shown(condition.second)}"
        return f"{called} {'' if article else 'is '}{between}"
    operator = _OPERATORS[condition.operator]
    operator = operator.replace("is ", "of ") if article else operator
    return f"{called} {operator} {_shown(condition.value)}"


def _shown(value: Value) -> str:
    """Return a value as a person types it: no comma in a year, no point after a whole number."""
    return one_line(value) if isinstance(value, str) else f"{value:.15g}"
