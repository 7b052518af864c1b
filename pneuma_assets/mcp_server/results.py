"""What the tools return: models that are their output schemas too, short enough for small models.

Texts that people, cells and models wrote stand in them on one line, bounded, without control
characters and without what could pose as a turn of a chat. Ids of tables stay as they are, since
they are given back; they are made safe when a table is listed.
"""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, Field

from pneuma_assets.core.text.safe import harmless

LINE = 160
MOST_COLUMNS = 50
"""Of rows."""

_PIECES = re.compile(r"[A-Za-z]{1,5}|\s{2,}|[^A-Za-z\s]")
_OTHER_SCRIPTS = "\u0590"
"""The first letter beyond Latin, Greek, Cyrillic and Armenian."""


def text_of(value: object, limit: int) -> str:
    """Return a stranger's text as data: one line of at most `limit` characters."""
    return "" if value is None else harmless(str(value), limit)


def within(limit: int) -> BeforeValidator:
    """Return what makes data of at most so many characters of a stranger's text."""
    return BeforeValidator(lambda value: text_of(value, limit))


TableId = str
Short = Annotated[str, within(40)]
Name = Annotated[str, within(100)]
Line = Annotated[str, within(LINE)]
Cell = Annotated[str, within(200)]
Long = Annotated[str, within(2_000)]
"""Texts of at most so many characters; of a longer one the middle is left out."""


class Result(BaseModel):
    """What a tool returns; what is absent or empty is left out."""

    def to_dict(self) -> dict[str, Any]:
        """Return it for JSON."""
        return self.model_dump(mode="json", exclude_defaults=True)


class Part(Result):
    """A list, and how much of it is here.

    Attributes:
        total: How many there are, as far as who asks may see them; None where nobody has counted.
        limit: How many this answer was allowed to have: what was asked for, within bounds.
        truncated: Whether there are more than are here.
    """

    total: int | None
    limit: int
    truncated: bool


T = TypeVar("T", bound=Result)


def estimated_tokens(value: Any) -> int:
    """Return how many tokens a model reads of a value as JSON; more than most tokenizers count.

    Five Latin letters, one digit and one sign are a token each, and so is a letter of another
    alphabet; one of any other script is two.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    found = _PIECES.findall(text)
    return sum(1 if one < _OTHER_SCRIPTS else 2 for one in found)


def json_for_models(content: Any) -> str:
    """Return JSON in which no id of a table poses as a turn of a chat, and which says the same."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    for sign, escaped in (("<", "\\u003c"), ("[INST", "\\u005bINST"), ("[/INST", "\\u005b/INST")):
        text = text.replace(sign, escaped)
    return text


def tokens_of(items: Iterable[Result]) -> int:
    """Return how many tokens a model reads of some items."""
    return sum(estimated_tokens(one.to_dict()) for one in items)


def fitting(items: Iterable[T], tokens: int) -> list[T]:
    """Return the first of some items that are read with so many tokens; at least one of them."""
    kept: list[T] = []
    for item in items:
        tokens -= tokens_of([item])
        if tokens < 0 and kept:
            break
        kept.append(item)
    return kept


class FoundTable(Result):
    """A table that may answer."""

    table: Annotated[TableId, Field(description="Id for the other tools.")]
    sure: Annotated[float | None, Field(description="Probability that it answers.")] = None
    about: Line = ""
    match: Annotated[Line, Field(description="Text that matched.")] = ""
    columns: Annotated[list[Name], Field(description="Columns that matched.")] = []
    rows: int | None = None
    updated: str | None = None


class ConfirmedQuestion(Result):
    """A question like this one of which a person confirmed the answer; example_queries has it."""

    question: Name
    tables: list[TableId]


Missing = Annotated[list[Line], Field(description="What this had to do without.")]


class FoundTables(Part):
    """Tables, best first."""

    tables: list[FoundTable]
    unlikely: Annotated[bool, Field(description="Probably no table answers.")] = False
    missing: Missing = []
    confirmed: list[ConfirmedQuestion] = []


class Column(Result):
    """A column, and what is in it."""

    name: Name
    type: Name = ""
    about: Line = ""
    nulls: Annotated[float | None, Field(description="Share of NULL.")] = None
    distinct: int | None = None
    estimated: Annotated[bool, Field(description="Whether `distinct` is an estimate.")] = False
    least: Short = ""
    greatest: Short = ""
    frequent: list[Short] = []


class Join(Result):
    """How a table is joined with another."""

    on: Annotated[Cell, Field(description="SQL condition.")]
    other: TableId
    sure: float


class TableDetails(Part):
    """A table; `total`, `limit` and `truncated` are of its columns."""

    table: TableId
    about: Cell = ""
    rows: int | None = None
    format: Name = ""
    updated: str | None = None
    owners: list[Name] = []
    columns: list[Column]
    offset: int = 0
    joins: list[Join] = []
    joins_total: int = 0
    documents: Annotated[list[Cell], Field(description="Beginnings of texts about it.")] = []
    documents_total: int = 0
    notes: list[Cell] = []


class Group(Result):
    """Tables that answer together."""

    tables: list[TableId]
    joins: Annotated[list[Cell], Field(description="SQL conditions.")] = []


class FoundGroups(Part):
    """Sets of tables, best first."""

    groups: list[Group]


class Rows(Part):
    """Rows; `total` is of them."""

    columns: list[Name]
    columns_total: int
    rows: list[list[Cell | None]]

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        rows: Sequence[Sequence[object]],
        *,
        total: int | None,
        limit: int,
        tokens: int,
        **besides: Any,
    ) -> Self:
        """Return as many of the rows as are read with so many tokens, of the first columns."""
        found = cls(
            total=total,
            limit=limit,
            truncated=False,
            columns=list(columns[:MOST_COLUMNS]),
            columns_total=len(columns),
            rows=[row[:MOST_COLUMNS] for row in rows[:limit]],
            **besides,
        )
        left = tokens - estimated_tokens(found.columns)
        kept = 0
        for row in found.rows:
            left -= estimated_tokens(row)
            if left < 0 and kept:
                break
            kept += 1
        found.rows = found.rows[:kept]
        found.truncated = total is None or kept < total or len(columns) > MOST_COLUMNS
        return found


class Statement(Rows):
    """Rows that a model's statement gave, or that contain words of the question."""

    tables: list[TableId]
    sql: Long = ""
    made_by: Name = ""
    unmatched: Annotated[
        list[Name], Field(description="Words of the question that the SQL does not use.")
    ] = []
    means: Annotated[Long, Field(description="How the question is read here, if in two ways.")] = ""
    doubts: Annotated[list[Long], Field(description="What may mislead, as repeated sums.")] = []
    unread: Annotated[list[Long], Field(description="Lines whose rows are missing here.")] = []


class Answered(Part):
    """The answers to a question, or why there are none."""

    outcome: str
    reason: Long = ""
    unlikely: Annotated[bool, Field(description="The search finds it unlikely; look twice.")] = (
        False
    )
    missing: Missing = []
    answers: list[Statement] = []
    named: Annotated[
        list[Statement],
        Field(description="Rows that contain words of the question; they are not an answer."),
    ] = []
    nearest: Annotated[list[TableId], Field(description="Tables that come nearest.")] = []


class Link(Result):
    """A table that another is built from, or that is built from it."""

    table: TableId
    direction: str
    depth: int
    via: TableId
    kind: Name


class Lineage(Part):
    """Tables up- and downstream, nearest first."""

    tables: list[Link]


class Example(Result):
    """A statement that reads the table, or makes it."""

    sql: Long
    kind: Annotated[str, Field(description="confirmed answer, definition, reader or snippet.")]
    of: Annotated[Line, Field(description="The question, or the table that it makes.")] = ""
    author: Name = ""


class Examples(Part):
    """Statements, those that people confirmed first."""

    examples: list[Example]
