"""What others say of tables, whoever they are: dbt, other teams' assets, events of runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.lineage.names import TableName
from pneuma_assets.core.tables import Definition
from pneuma_assets.core.text.safe import one_line, prose

MOST_TABLES = 100_000
"""Tables that one file may tell of."""

MOST_CHARACTERS = 8_000
"""Of the text about one table."""

_LINE = 1_000
_COLUMNS = 200
_LISTED = 50


@dataclass(frozen=True, slots=True)
class ExternalTable:
    """What is said of one table.

    Attributes:
        name: As it is called there; its parts are compared with those of known tables.
        uri: Its address, where one is told.
        dialect: Of the engine that keeps it, by which names are compared; empty: any capitals.
        description: In people's words.
        columns: What each column is, by name, of those of which anything is said.
        owners: People or teams.
        tags: Words that somebody sorted it by, or `name=value`.
        kinds: What makes or keeps it, such as dbt.
        asset: The key of the Dagster asset that says so, parts joined by '/'; empty: none does, or
            it depends on an asset of this project.
        facts: Whole sentences: what reads it, what is checked of it.
        upstream: The tables that it is built from.
        column_sources: The columns that each column comes from: a table and a column.
        definition: Its query, from which columns can be followed.
    """

    name: TableName
    uri: str | None = None
    dialect: str = ""
    description: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    owners: Sequence[str] = ()
    tags: Sequence[str] = ()
    kinds: Sequence[str] = ()
    asset: str = ""
    facts: Sequence[str] = ()
    upstream: Sequence["Reference"] = ()
    column_sources: Mapping[str, Sequence[tuple["Reference", str]]] = field(default_factory=dict)
    definition: Definition | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A table as another one refers to it: by name, by address, or both."""

    name: TableName
    uri: str | None = None


@dataclass(frozen=True, slots=True)
class ExternalMetadata:
    """All that one file or place says.

    Attributes:
        kind: Of the edges.
        tables: What it says of each table.
        problems: What could not be read, and why.
    """

    kind: EdgeKind
    tables: Sequence[ExternalTable] = ()
    problems: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class TableFields:
    """What is said of one table, each in a field of its own; fields as in `ExternalTable`.

    Several assets may be one table; `assets` names all of them.
    """

    description: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    owners: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()

    def __add__(self, other: "TableFields") -> "TableFields":
        """Return what both say; what this one says comes first."""
        return TableFields(
            self.description or other.description,
            {**other.columns, **self.columns},
            *(
                tuple(dict.fromkeys((*getattr(self, name), *getattr(other, name))))
                for name in ("owners", "tags", "kinds", "assets", "facts")
            ),
        )


def fields_of(table: ExternalTable) -> TableFields:
    """Return what is said of a table within bounds, each as one line."""
    said = list(table.columns.items())[:_COLUMNS]
    columns = {name: one_line(text, _LINE) for name, text in said if text.strip()}
    return TableFields(
        one_line(prose(table.description[:MOST_CHARACTERS]), _LINE),
        columns,
        _lines(table.owners),
        _lines(table.tags),
        _lines(table.kinds),
        (table.asset,) if table.asset else (),
        _lines(table.facts),
    )


def _lines(said: Sequence[str]) -> tuple[str, ...]:
    return tuple(one_line(one, _LINE) for one in said[:_LISTED] if one.strip())


OWNERS = "Owners: "
"""Begins the line of a text that names a table's owners."""

DEPRECATED = "Deprecated: "
"""Begins the line of a text about a table that is to be read no more."""


def text_about(said: TableFields) -> str:
    """Return what is said of a table as one text of bounded size; empty where it is nothing.

    Edges are not told again: those have documents of their own.
    """
    lines = [said.description]
    if said.owners:
        lines.append(f"{OWNERS}{one_line(', '.join(said.owners), _LINE)}")
    if said.tags:
        lines.append(f"Tags: {one_line(', '.join(said.tags), _LINE)}")
    lines += said.facts
    lines += [f"{one_line(name)}: {text}" for name, text in said.columns.items()]
    return "\n".join(line for line in lines if line)[:MOST_CHARACTERS]


def text_of(value: Any, most: int = _LINE) -> str:
    """Return a text from a file of others, cut; empty for what is none."""
    return value[:most] if isinstance(value, str) else ""


def mapping_of(value: Any) -> Mapping[str, Any]:
    """Return a mapping from a file of others; empty for what is none."""
    return {k: v for k, v in value.items() if isinstance(k, str)} if isinstance(value, dict) else {}


def texts_of(value: Any, most: int = 100) -> list[str]:
    """Return the texts in a list from a file of others, or a text alone; none for what is none."""
    listed = value if isinstance(value, list) else [value]
    return [text_of(one) for one in listed[:most] if isinstance(one, str) and one.strip()]
