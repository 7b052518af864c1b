"""What a manifest tells of tables: to show their pages, and to describe them elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pneuma_assets.core.tables import Description


@dataclass(frozen=True, slots=True)
class PageJoin:
    """By which columns a table can be joined with another.

    Attributes:
        columns: Of the table whose page it is on.
        other: The id of the other table.
        other_columns: Of that, in the same order.
        refers: Whether the page's table holds the key of the other; False: the other way round.
        kind: Who says so (`JoinKind`).
        share: Of the cells of who refers, the share that the other has; None where not told.
    """

    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]
    refers: bool
    kind: str
    share: float | None = None


@dataclass(frozen=True, slots=True)
class TablePage:
    """What the page of a table shows before any event of it is read.

    Attributes:
        table_id: The table.
        source: The source it is in.
        key: Its asset key, parts joined by '/'.
        description: What people wrote of it; empty where nobody did.
        table_name: Its name as its own engine spells it, or a file's path.
        uri: Its address; None where its kind of source knows none.
        kinds: What keeps it, at most three.
        owners: E-mail addresses, teams ('team:x'), and whom else others name.
        problem: What keeps it from being indexed as it should; None where nothing does.
        updated_at: When its data last changed, in seconds since 1970; None where nobody knows.
        indexed: Whether it was ever made searchable.
        deps: The asset keys of the tables that it is built from, parts joined by '/'.
        tags: Words that others sorted it by, or `name=value`.
        assets: The keys of others' assets that are this table, parts joined by '/'.
        facts: What else others say of it: what reads it, what is checked of it.
        joins: How it can be joined with other tables that have a page, the surest first.
    """

    table_id: str
    source: str
    key: str
    description: str
    table_name: str
    uri: str | None
    kinds: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    problem: str | None = None
    updated_at: float | None = None
    indexed: bool = True
    deps: tuple[str, ...] = ()
    joins: tuple[PageJoin, ...] = ()
    tags: tuple[str, ...] = ()
    assets: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """The tables that have a page.

    Attributes:
        tables: In the order of their ids; those of sources that are hidden are not among them.
        digest: Another one where anything of any table is another; empty where there is none.
        trouble: Why nothing could be read and what to do; None where all is well, also before the
            first run.
    """

    tables: Sequence[TablePage] = ()
    digest: str = ""
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class DescribedTable:
    """A table as others may know it, what is said of its columns, and their types, by name.

    `said` is what people said of the table itself; None where nobody did. Tables of which nothing
    at all is said are kept, too: a name counts as theirs.
    """

    table_id: str
    table_name: str
    uri: str | None
    columns: Mapping[str, Description] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    said: Description | None = None

    @property
    def is_described(self) -> bool:
        """Whether anything is said of it or of its columns."""
        return bool(self.columns or self.said)


@dataclass(frozen=True, slots=True)
class DescribedTables:
    """What is said of all tables and their columns, by table id; `trouble` as in `Manifest`."""

    tables: Mapping[str, DescribedTable] = field(default_factory=dict)
    digest: str = ""
    trouble: str | None = None
