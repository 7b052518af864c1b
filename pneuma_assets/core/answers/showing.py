"""Tables as a model is shown them: as they would be created, within the room that there is.

Names, descriptions and cells are data that anybody may have written: they stand as names and
comments of SQL, on one line each, and cannot end these.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlglot.dialects.duckdb import DuckDB

from pneuma_assets.core.answers.tables import AnswerColumn, AnswerSet, AnswerTable
from pneuma_assets.core.text.safe import harmless

EXAMPLES = 3
"""Values of a column that are shown (section 5)."""

MOST_CHARACTERS = 9_000
"""Of the tables in a prompt, so that it fits into the window of a small model."""

_NAME, _TYPE, _SAID, _VALUE = 120, 40, 100, 40
_TEXTS = re.compile(r"char|text|string|name|uuid|enum", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_RESERVED = frozenset({
    *DuckDB.Generator.RESERVED_KEYWORDS, "current_catalog", "current_date", "current_role",
    "current_schema", "current_time", "current_timestamp", "current_user", "fetch", "for", "from",
    "grant", "localtime", "localtimestamp", "over", "session_user", "user", "where", "window",
    "with",
})  # fmt: skip
"""Words that are no names unless they are quoted, of both dialects: quotes are right anyway."""
_LISTING = re.compile(r"\b(ENUM\d*|SET)\s*\((?:[^()']|'(?:[^']|'')*'?)*\)?", re.IGNORECASE)
_QUOTED = re.compile(r"'.*'?", re.DOTALL)

Shown = Sequence[AnswerColumn]
"""The columns of a table that a model is shown."""


def created(tables: AnswerSet, shown: Sequence[Shown], question: str, *, values: bool) -> str:
    """Return tables as they would be created, as much of each as there is room for.

    First there are fewer examples, then fewer columns of each table.

    Args:
        tables: They.
        shown: The columns of each.
        question: Values that it says stand first.
        values: Whether cells may be shown, and descriptions and types, which may quote some.
    """
    shown = shown if values else [list(map(_without_values, some)) for some in shown]
    pairs = list(zip(tables.tables, shown, strict=True))
    words, joined = question.casefold(), _joined(tables)
    most = max((len(some) for some in shown), default=0)
    whole = [(most, examples) for examples in ((EXAMPLES, 1) if values else ())]
    text = ""
    for columns, examples in [*whole, *((columns, 0) for columns in range(max(most, 1), 0, -1))]:
        text = "\n\n".join(
            _created(table, _fewer(table, some, joined, columns), words, examples)
            for table, some in pairs
        )
        if len(text) <= MOST_CHARACTERS:
            break
    return text


def joins(tables: AnswerSet) -> str:
    """Return by which columns tables are joined, each as a comment on a line of its own."""
    return "".join(f"\n-- {line}" for line in _joins(tables))


def _without_values(column: AnswerColumn) -> AnswerColumn:
    """Return a column with its name and type alone, without what an ENUM or a SET lists."""
    kind = _QUOTED.sub("''", _LISTING.sub(r"\1", column.type))
    return replace(column, type=kind, said="")


def _fewer(
    table: AnswerTable, shown: Shown, joined: frozenset[tuple[str, str]], most: int
) -> Shown:
    """Return so many columns in their order: those of joins stay longest, then the named ones."""
    ranked = sorted(
        shown,
        key=lambda one: ((table.table_id, one.name) not in joined, one.name not in table.matched),
    )
    kept = {one.name for one in ranked[:most]}
    return [one for one in shown if one.name in kept]


def _joined(tables: AnswerSet) -> frozenset[tuple[str, str]]:
    """Return tables and columns by which these are joined."""
    return frozenset(
        (table, column)
        for edge in tables.joins
        for table, columns in ((edge.table, edge.columns), (edge.other, edge.other_columns))
        for column in columns
    )


def _created(table: AnswerTable, shown: Shown, question: str, examples: int) -> str:
    lines = [
        f"  {_identifier(column.name)} {harmless(column.type, _TYPE)},"
        f"{_comment(table, column, question, examples)}"
        for column in shown
    ]
    return "\n".join((f"CREATE TABLE {_identifier(table.read.name)} (", *lines, ");"))


def _comment(table: AnswerTable, column: AnswerColumn, question: str, examples: int) -> str:
    said = harmless(column.said, _SAID)
    some = "; ".join(_examples(table, column, question, examples))
    parts = [part for part in (said, f"e.g. {some}" if some else "") if part]
    return f" -- {'; '.join(parts)}" if parts else ""


def _examples(table: AnswerTable, column: AnswerColumn, question: str, most: int) -> Iterator[str]:
    """Yield values of a column as literals, those first that the question says."""
    stored = list(table.values(column.name).values()) if most else []
    said = [one for one in stored if len(one) > 1 and one.casefold() in question]
    texts = _TEXTS.search(column.type) is not None
    for value in list(dict.fromkeys((*said, *stored)))[:most]:
        flat = harmless(value, _VALUE)
        quoted = flat.replace("'", "''")
        yield flat if not texts and _NUMBER.fullmatch(flat) else f"'{quoted}'"


def _joins(tables: AnswerSet) -> Iterator[str]:
    names = {table.table_id: _identifier(table.read.name) for table in tables.tables}
    for edge in tables.joins:
        pairs = zip(edge.columns, edge.other_columns, strict=True)
        yield " AND ".join(
            f"{names[edge.table]}.{_identifier(mine)} = {names[edge.other]}.{_identifier(theirs)}"
            for mine, theirs in pairs
        )


def _identifier(name: str) -> str:
    if _PLAIN.fullmatch(name) and name not in _RESERVED:
        return name
    quoted = harmless(name, _NAME).replace('"', '""')
    return f'"{quoted}"'
