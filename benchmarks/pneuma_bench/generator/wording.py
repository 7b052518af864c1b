"""Words a query as a question, without a model: plain, and true to it part by part.

Columns are called by the words that their names stand for, or by what people wrote about them. Such
a question leads back to its query by construction, so it needs no check of that (Pneuma, section
6.1.2); nor is it varied.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache

from pneuma_assets.core.describe.texts import spelt_out
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import in_words
from pneuma_assets.core.text.abbreviations import ABBREVIATIONS
from pneuma_assets.core.text.safe import one_line
from pneuma_bench.generator.queries import (
    BETWEEN,
    Condition,
    Selected,
    SqlQuery,
    Subject,
    Value,
    holds_years,
)

_MOST_WORDS = 8
"""Of what people wrote about a column, so that it can stand in a question in its name's place."""
_AGGREGATES = {"MAX": "highest", "MIN": "lowest", "AVG": "average", "SUM": "total"}
_OF_YEARS = _AGGREGATES | {"MAX": "latest", "MIN": "earliest"}
_OPERATORS = {"=": "", ">": "more than", "<": "less than"}
_CLAUSE_END = re.compile(
    r"\.(?=\s+[A-Z]|$)|[;:,](?=\s|$)|[(\[]|\s-+\s|\s(?:with (?:levels?|values?)|coded)\b"
)
_NO_WORDS = frozenset('?!=<>|{}/*"')
_ARTICLE = re.compile(r"^(?:the|an?)\s+", re.IGNORECASE)
"""That a description begins with; the questions put their own before it."""
_NO_NAME = re.compile(
    r"(?:(?:ordered |numeric |integer |character |categorical )*"
    r"(?:either|factor|vector|numeric|integer|character|variable|column|levels?|logical"
    r"|indicat(?:or|es)|list)"
    r"|in|on|at|of|by|for|from|to|as|if|whether|who|is|was|are|were|has|had|have|did|does|do"
    r"|one of|see|same|this|these|purportedly|yes|no|true|false|(?:fe)?male or (?:fe)?male)\b",
    re.IGNORECASE,
)
"""Begins what says of which type a column is, and not what is in it; or what cannot stand behind
"the": the age "in years", "whether" somebody smokes."""
_BEHIND_NOUN = re.compile(
    r"\s(?:of|in|on|at|by|for|from|to|as|that|which|who|where|when|with|within|per|between|since|until"
    r"|during|before|after|among|obtained|received|killed|made|used|sold|taken)\s"
)
_SINGULAR = ("ss", "us", "is", "ics", "'s", "news", "series", "gas", "bias", "alias", "measles")
_CALLED = {"rownames": "row name"}
"""What R writes above the names of rows."""


def worded(query: SqlQuery, subject: Subject, *, described: bool = False) -> str:
    """Return a question in plain English that a query answers.

    Args:
        query: What is asked.
        subject: Of which table.
        described: Whether columns are called by what people wrote about them, where that is short
            and of no other column of the table.
    """
    names = _Names(subject, query.columns, described=described)
    wanted = query.select if query.group_by is None else query.select[1:]  # that is named before
    asked = " and the ".join(map(names.called, wanted))
    verb = "is" if len(wanted) == 1 and not names.is_plural(wanted[0]) else "are"
    parts = [f"what {verb} the {asked}"]
    if query.order is not None:
        end = "highest" if query.order.descending else "lowest"
        by = names.words[query.order.column]
        parts.append(f"of the {query.order.limit} rows with the {end} {by}")
    if where := [*map(names.said, query.where)]:
        joint = "for which" if any(" where " in one for one in (asked, *where)) else "where"
        parts.append(f"{joint} the {' and the '.join(where)}")
    if query.group_by is not None:
        only = f" with {names.said(query.having, 'a ')}" if query.having else ""
        parts.insert(0, f"for each {names.words[query.group_by]}{only},")
    text = " ".join(parts)
    return f"{text[0].upper()}{text[1:]}?"


def words_of(subject: Subject, column: int, *, described: bool = False) -> str:
    """Return what people would call a column; its name where that is no word."""
    meaning = meaning_of(subject, column) if described else ""
    if meaning and _meanings(subject)[1][meaning] == 1:
        return meaning
    name = subject.columns[column]
    if name.casefold() in _CALLED:
        return _CALLED[name.casefold()]
    parts = name_parts(one_line(name))
    if len(parts) > 1:  # somebody parted it: `alan_rickman` is no rick and no man
        return " ".join(ABBREVIATIONS.get(part, part) for part in parts)
    return spelt_out(name)[0] or in_words([name]) or one_line(name)


def meaning_of(subject: Subject, column: int) -> str:
    """Return the first clause of what people wrote about a column, if it can stand for its name.

    It is empty where there is none.
    """
    return _meanings(subject)[0].get(column, "")


@lru_cache(64)
def _meanings(subject: Subject) -> tuple[Mapping[int, str], Counter[str]]:
    meanings = {at: _clause(text) for at, text in subject.described.items()}
    return meanings, Counter(meanings.values())


def _clause(text: str) -> str:
    clause = _ARTICLE.sub("", _CLAUSE_END.split(one_line(text), 1)[0].strip(" \"'"), 1)
    words = clause.split()
    if not 0 < len(words) <= _MOST_WORDS or _NO_WORDS & {*clause} or _NO_NAME.match(clause):
        return ""
    first = words[0]
    return clause[0].lower() + clause[1:] if first[1:].islower() or len(first) == 1 else clause


class _Names:
    """What a query's columns are called, and which of them have years."""

    def __init__(self, subject: Subject, columns: Sequence[int], *, described: bool) -> None:
        self.words = {at: words_of(subject, at, described=described) for at in columns}
        self._years = {at for at in columns if holds_years(subject, at)}

    def called(self, one: Selected) -> str:
        words = self.words[one.column]
        if not one.aggregate:
            return words
        said = (_OF_YEARS if one.column in self._years else _AGGREGATES)[one.aggregate]
        return words if words.casefold().startswith(f"{said} ") else f"{said} {words}"

    def is_plural(self, one: Selected) -> bool:
        """Tell whether a column is called by a plural, by the noun before what belongs to it."""
        words = self.words[one.column].split()
        noun = _BEHIND_NOUN.split(f"{' '.join(words)} ", maxsplit=1)[0].rstrip().casefold()
        plain = not one.aggregate or len(words) == 1
        return plain and len(noun) > 3 and noun.endswith("s") and not noun.endswith(_SINGULAR)

    def said(self, one: Condition, article: str = "") -> str:
        verb = "are" if self.is_plural(one.of) else "is"
        values = " and ".join(map(_shown, one.values))
        operator = "between" if one.operator == BETWEEN else _OPERATORS[one.operator]
        joint = "" if article and operator == "between" else "of" if article else verb
        return " ".join(filter(None, (f"{article}{self.called(one.of)}", joint, operator, values)))


def _shown(value: Value) -> str:
    """Return a value as a person types it: no comma in a year, no point after a whole number."""
    return one_line(value) if isinstance(value, str) else f"{value:.15g}"
