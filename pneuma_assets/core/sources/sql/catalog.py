"""What a catalogue says of tables, whatever the engine, and which of them are wanted."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from pneuma_assets.core.tables import Activity, Column, Definition, ForeignKey, content_hash
from pneuma_assets.core.text.safe import well_formed

COMMENT_CHARACTERS = 20_000
"""Of a table's comment; a listing holds those of all tables at once."""

COLUMN_COMMENT_CHARACTERS = 1_000


@dataclass(frozen=True, slots=True)
class CatalogTable:
    """One table or view, as its engine's catalogue describes it; nothing of it has been read.

    Attributes:
        database: Empty where the engine, or the source, has but one.
        schema: As the engine spells it, like all names.
        name: Of the table.
        kind: `table`, `view`, `materialized view`, `foreign table`.
        columns: In order, names as the engine has them.
        signals: What moves where the data or the query may have changed, and under maintenance
            as little as the engine lets it.
        comment: What people wrote about the table.
        rows: About how many; None: nobody has counted.
        counted: Whether `rows` is no estimate: the engine keeps count.
        size: About how many bytes; None: unknown.
        readable: Whether we may read it.

    The others are as in `TableRef` and `Table`.
    """

    database: str
    schema: str
    name: str
    kind: str
    columns: tuple[Column, ...]
    signals: tuple[str, ...] = ()
    comment: str = ""
    primary_key: tuple[str, ...] = ()
    foreign_keys: tuple[ForeignKey, ...] = ()
    definition: Definition | None = None
    rows: int | None = None
    counted: bool = False
    size: int | None = None
    identity: str | None = None
    activity: Activity | None = None
    readers: tuple[str, ...] | None = None
    queries: float | None = None
    updated_at: float | None = None
    readable: bool = True

    @property
    def version(self) -> str:
        """Another one where its data, its schema, its query or what people wrote has changed.

        Whether we may read it is part of that: what was indexed of a table is then taken back.
        """
        columns = (
            part for c in self.columns for part in (c.identity, c.name, c.type, c.comment, "")
        )
        keys = ("|".join(self.primary_key), repr(self.foreign_keys), repr(self.definition))
        return content_hash(
            self.kind, self.comment, str(self.readable), *keys, *self.signals, *columns
        )


def fit_to_keep(table: CatalogTable) -> CatalogTable:
    """Return a table with keys and query that can be written down, whatever bytes are in names.

    A key that points to a table whose name is no text is none: no id is made of what is kept.
    """
    sql = table.definition
    return replace(
        table,
        primary_key=tuple(map(well_formed, table.primary_key)),
        foreign_keys=tuple(
            ForeignKey(
                tuple(map(well_formed, key.columns)),
                key.table,
                tuple(map(well_formed, key.other_columns)),
            )
            for key in table.foreign_keys
            if all(part == well_formed(part) for part in key.table)
        ),
        definition=sql
        and Definition(*map(well_formed, (sql.sql, sql.dialect, sql.catalog, sql.schema))),
    )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which tables a source lists.

    Patterns (`*`, `?`, `[ab]`) are of `schema.table` or `database.schema.table`, whatever the
    case; a table is wanted that one of `include` fits (none given: any) and none of `exclude`.

    Attributes:
        schemas: Only these are asked about, spelled as the engine does; empty: all.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()

    def admits(self, database: str, schema: str, name: str) -> bool:
        """Tell whether a table is wanted."""
        names = [f"{schema}.{name}".casefold()]
        if database:
            names.append(f"{database}.{names[0]}".casefold())
        if _any_fits(self.exclude, names):
            return False
        return not self.include or _any_fits(self.include, names)


def _any_fits(patterns: Sequence[str], names: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern.casefold()) for pattern in patterns for name in names)
