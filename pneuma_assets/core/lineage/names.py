"""Which table a name means: `database.schema.table`, as each engine folds it.

Views, dbt projects, events and other teams' assets all name tables in their own spelling. A name
means a table where each part that both have is the same by the rules of the engine; where a name
could mean several tables, it means none.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from pneuma_assets.core.tables import source_of

if TYPE_CHECKING:
    from sqlglot.dialects import Dialect

MOST_PARTS = 4
"""Of a name: a linked server, a database, a schema, a table."""


@dataclass(frozen=True, slots=True)
class TableName:
    """What a table is called, as its engine keeps it; an empty part is not said."""

    catalog: str
    schema: str
    name: str

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts that are said, the table's own last."""
        return tuple(part for part in (self.catalog, self.schema, self.name) if part)

    def __str__(self) -> str:
        """Return the parts with dots between them."""
        return ".".join(self.parts)


def spelled(name: str) -> TableName:
    """Return a written name, `database.schema.table`, in which quotes of any engine may stand."""
    parts = [part for part in _split(name) if part][-3:]
    return TableName(*([""] * (3 - len(parts))), *parts)


@lru_cache(maxsize=100_000)
def folded(part: str, dialect: str, *, quoted: bool = True) -> str:
    """Return a part of a name as the engine compares it.

    Args:
        part: As it is written, without quotes.
        dialect: What sqlglot calls the engine's SQL; an unknown one compares any case.
        quoted: Whether it stands in quotes, or is what the engine keeps.
    """
    rules = _rules(dialect)
    if rules is None:
        return part.lower()
    from sqlglot import exp  # a run that meets no SQL does not load it

    identifier = rules.normalize_identifier(exp.to_identifier(part, quoted=quoted))
    return str(identifier.this)


def any_case(dialect: str) -> bool:
    """Tell whether an engine finds a table whatever capitals its name is written in."""
    rules = _rules(dialect)
    return rules is None or rules.normalization_strategy.name.startswith("CASE_INSENSITIVE")


@lru_cache(maxsize=100)
def _rules(dialect: str) -> "Dialect | None":
    """Return an engine's dialect; None where its name is unknown, which takes long to find out."""
    from sqlglot.dialects import Dialect
    from sqlglot.errors import SqlglotError

    try:
        return Dialect.get_or_raise(dialect)
    except (SqlglotError, ValueError):
        return None


@dataclass(frozen=True, slots=True)
class KnownTable:
    """A table that names are compared with.

    Attributes:
        table_id: The table.
        name: As its own engine keeps it.
        uri: Its address, where it has one.
        whole: All of its name, as others write it; a file's is its path.
    """

    table_id: str
    name: TableName
    uri: str | None = None
    whole: str = ""


class KnownNames:
    """Finds tables by their names and addresses."""

    def __init__(self, tables: Iterable[KnownTable]) -> None:
        self._by_last: dict[str, list[KnownTable]] = {}
        self._by_uri: dict[str, list[str]] = {}
        self._by_whole: dict[str, list[KnownTable]] = {}
        self._servers: dict[str, str | None] = {}
        for table in tables:
            source = source_of(table.table_id)
            if source not in self._servers:
                self._servers[source] = _server_of(table.uri)
            self._by_last.setdefault(table.name.name.lower(), []).append(table)
            self._by_whole.setdefault(table.whole.strip().lower(), []).append(table)
            if address := comparable_uri(table.uri):
                self._by_uri.setdefault(address, []).append(table.table_id)

    def named(self, name: TableName, dialect: str, within: str | None = None) -> str | None:
        """Return the one table of this name; None if there is none, or there are several.

        Args:
            name: Folded by the engine that names it.
            dialect: That engine's.
            within: The source whose tables are meant first; one of its own database may be named
                without that. No server reads tables of another, though one may be called the same.
        """
        candidates = self._by_last.get(name.name.lower(), [])
        if within is not None:
            own = [one for one in candidates if one.table_id.startswith(f"{within}/")]
            found = _only(one for one in own if _same(name, one.name, dialect))
            if found is not None:
                return found
            server = self._servers.get(within)
            if server is not None:
                candidates = [one for one in candidates if _server_of(one.uri) == server]
        # A table of another source must be named in full: `main.orders` is in many databases.
        least = 1 if within is None else MOST_PARTS - 1
        return _only(
            one
            for one in candidates
            if min(len(name.parts), len(one.name.parts)) >= least and _same(name, one.name, dialect)
        )

    def written(self, name: str) -> str | None:
        """Return the one table that others call so, whatever capitals they use.

        A name that differs from one table's in capitals alone, and from no other's, is that one's.
        """
        whole = name.strip().lower()
        if whole and (found := _only(self._by_whole.get(whole, ()))):
            return found
        wanted = spelled(name)
        candidates = self._by_last.get(wanted.name.lower(), [])
        exact = [one for one in candidates if _same(wanted, one.name, "clickhouse")]
        return _only(exact) or _only(one for one in candidates if _same(wanted, one.name, ""))

    def at(self, uri: str | None) -> str | None:
        """Return the one table at an address."""
        found = self._by_uri.get(comparable_uri(uri) or "", [])
        return found[0] if len(found) == 1 else None


def comparable_uri(uri: object) -> str | None:
    """Return an address as it is compared: a path keeps its capitals; None if it is none."""
    from urllib.parse import urlsplit, urlunsplit

    if not isinstance(uri, str) or not uri.strip():
        return None
    try:
        parts = urlsplit(uri.strip())
    except ValueError:
        return None
    path = parts.path.rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc.lower(), path, parts.query, parts.fragment))


def _server_of(uri: str | None) -> str | None:
    """Return the server that keeps a table; None: a file does, or all the world has its names."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(uri or "")
    except ValueError:
        return None
    return f"{parts.scheme}://{parts.netloc.lower()}" if parts.netloc and parts.path else None


def columns_by_name(columns: Sequence[str], dialect: str) -> Mapping[str, str]:
    """Return columns as the table spells them, by what the engine compares.

    The first wins where an engine that minds capitals elsewhere has two that it cannot tell apart.
    """
    found: dict[str, str] = {}
    for column in columns:
        found.setdefault(column_key(column, dialect), column)
    return found


def column_key(column: str, dialect: str, *, quoted: bool = True) -> str:
    """Return a column's name as the engine compares it: BigQuery and MySQL never mind capitals.

    Nor does whoever tells of no engine.
    """
    if not dialect or dialect in ("mysql", "doris", "starrocks", "singlestore"):
        return column.lower()
    return folded(column, dialect, quoted=quoted)


def _same(asked: TableName, known: TableName, dialect: str) -> bool:
    """Tell whether two names agree in every part that both say."""
    pairs = zip(reversed(asked.parts), reversed(known.parts), strict=False)
    if dialect == "bigquery":  # which minds capitals of tables, and not of columns
        return all(a == b for a, b in pairs)
    if not dialect or any_case(dialect):
        return all(a.lower() == b.lower() for a, b in pairs)
    return all(a == b for a, b in pairs)


def _only(tables: Iterable[KnownTable]) -> str | None:
    ids = {one.table_id for one in tables}
    return ids.pop() if len(ids) == 1 else None


def _split(name: str) -> list[str]:
    """Split at the dots that stand outside quotes, and take the quotes off."""
    parts, part, until = [], "", ""
    for sign in name.strip()[:2_000]:
        if until:
            if sign == until:
                until = ""
            else:
                part += sign
        elif sign in '"`[' and not part:
            until = "]" if sign == "[" else sign
        elif sign == ".":
            parts.append(part)
            part = ""
        else:
            part += sign
    return [*parts, part]
