"""The tables of the state, for SQLite and PostgreSQL alike, their format, and shared statements."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    delete,
    inspect,
    or_,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import Insert

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.text.safe import well_formed

FORMAT = "8"
"""Raised with every change of the tables below, or of what their columns mean."""

AT_ONCE = 1000
"""Values that one statement names."""

_V = TypeVar("_V")
_FORMAT_KEY = "format"
_BINARY_ORDER = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
"""Text that is ordered as SQLite orders it: by code points, whatever language the server speaks."""

Whole, Real = BigInteger, Double


class CleanText(TypeDecorator[str]):
    """Text from anywhere: what a database cannot hold (lone surrogates, NUL) is replaced."""

    impl = _BINARY_ORDER
    cache_ok = True
    python_type = str

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:  # noqa: ARG002
        """Return what makes a text one that can be kept; it is called for every value."""
        return lambda value: None if value is None else storable(value)


def storable(text: str) -> str:
    """Return the text with lone surrogates replaced by '?', and NUL by U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text if text.isascii() else well_formed(text)


METADATA = MetaData()
SHARED = MetaData()
"""Made with the other tables on a server, and in no file: files of their own hold the like."""


def _table(name: str, *columns: Any, metadata: MetaData = METADATA, rowid: bool = False) -> Table:
    """Return a table; one whose rows are large has a row id in SQLite."""
    return Table(name, metadata, *columns, sqlite_with_rowid=rowid)


def _key(name: str) -> Column[Any]:
    return Column(name, CleanText(), primary_key=True)


def _text(name: str, **more: Any) -> Column[Any]:
    return Column(name, CleanText(), nullable=False, **more)


def _maybe(name: str) -> Column[Any]:
    return Column(name, CleanText())


def _real(name: str) -> Column[Any]:
    return Column(name, Real, nullable=False)


def _count(name: str) -> Column[Any]:
    return Column(name, Integer, nullable=False, server_default=text("0"))


def _data(name: str) -> Column[Any]:
    return Column(name, LargeBinary, nullable=False)


meta = _table("meta", _key("key"), _text("value"))
"""Single values, each under a key (`database.put`)."""

tables = _table(
    "tables",
    _key("table_id"),
    *map(_text, ("source", "location", "format", "version", "context_locations", "state")),
    _text("stage", server_default="listed"),
    _text("comment", server_default=""),
    _text("notes", server_default="[]"),
    *(_count(name) for name in ("attempts", "deaths", "incomplete")),
    *map(_maybe, ("identity", "readers", "told_readers", "relations", "columns")),
    *map(_maybe, ("claimed_by", "claimed_version", "indexed_version", "indexed_schema_hash")),
    *map(_maybe, ("sampled_rows", "copy_of", "family", "renamed_to")),
    *(Column(name, Integer) for name in ("column_count", "block_count")),
    *(Column(name, Whole) for name in ("row_count", "indexed_row_count", "sampled_row_count")),
    *(Column(name, Real) for name in ("updated_at", "changed_at", "waits_since", "held_since")),
    *(Column(name, Real) for name in ("retry_at", "indexed_at")),
    CheckConstraint("state IN ('pending', 'indexed', 'failed', 'gone')", name="known_state"),
)
Index("tables_by_state", tables.c.state, tables.c.table_id)
_claimed = tables.c.claimed_by.is_not(None)
Index("tables_by_claim", tables.c.claimed_by, sqlite_where=_claimed, postgresql_where=_claimed)

documents = _table(
    "documents",
    *(_key("table_id"), _key("kind"), Column("ordinal", Integer, primary_key=True)),
    _text("text"),
)
narrations = _table(
    "narrations",
    *(_key("model"), _key("table_id"), _key("schema_hash")),
    *(Column("position", Integer, primary_key=True), _text("text"), Column("said_at", Real)),
)
"""What models said, of one table or, without `table_id`, of all with one schema; at the position -1
of the table itself (`tables.THE_TABLE`)."""
table_narrations = _table(
    "table_narrations",
    *(_key("table_id"), _key("about"), _text("model"), _key("column_name")),
    _text("column_type"),
    _text("text"),
    _text("provenance", server_default="model"),
    _text("said_by", server_default=""),
    Column("confidence", Real),
    _maybe("answer"),
    Column("said_at", Real),
    Column("answered_at", Real),
    CheckConstraint("about IN ('table', 'column')", name="known_about"),
)
"""What is shown of tables (`column_name` is empty) and columns, and what models said of them."""
column_descriptions = _table(
    "column_descriptions",
    *(_key("table_id"), _key("provenance"), Column("position", Integer, primary_key=True)),
    _text("text"),
    _text("said_by"),
    _real("confidence"),
)
staged_blocks = _table(
    "staged_blocks",
    *(_key("table_id"), _key("kind"), Column("ordinal", Integer, primary_key=True)),
    _text("text"),
    _data("vector"),
    _text("encoder"),
    rowid=True,
)
evidence = _table("evidence", _key("table_id"), _data("data"), rowid=True)
problems = _table("problems", _key("subject"), _text("source"), _key("stage"), _text("cause"))
runs = _table(
    "runs", _key("run_id"), _real("started_at"), _maybe("reading"), Column("ended_at", Real)
)
stages = _table("stages", _key("run_id"), _key("stage"), _real("seconds"), _text("figures"))
user_contexts = _table("user_contexts", _key("table_id"), _key("name"), _text("text"))
corrections = _table(
    "corrections",
    *(_key("table_id"), _key("about"), _key("column_name")),
    _text("text"),
    _text("author"),
    _real("said_at"),
    CheckConstraint("about IN ('table', 'column')", name="known_about"),
)
"""What people say of a table (its `column_name` is empty) or a column; an empty text rejects what
is said. They stay when tables leave, since those may come back."""
pages = _table(
    "pages",
    *(_key("asset_key"), _text("table_id"), _text("mark")),
    Column("updated_at", Real),
    _maybe("problem"),
)
listings = _table("listings", _key("source"), _text("unlisted"), _real("listed_at"))
leases = _table(
    "leases",
    *(_key("process"), _text("run_id"), _text("machine"), Column("pid", Whole, nullable=False)),
    _real("born_at"),
    _real("expires_at"),
)
drawn = _table(
    "drawn",
    *(_key("table_id"), _text("columns"), Column("sketch", LargeBinary)),
    *(Column("changed_share", Real), _maybe("measured_by"), _maybe("former_names")),
    rowid=True,
)
"""What tables were like when all their sampled rows were drawn."""
notices = _table("notices", _key("source"), _key("subject"), _text("reason"), _real("noted_at"))
fingerprints = _table("fingerprints", _key("table_id"), _data("data"), rowid=True)
column_profiles = _table("column_profiles", _key("table_id"), _data("data"), rowid=True)
row_counts = _table(
    "row_counts",
    *(_key("table_id"), Column("counted_at", Real, primary_key=True)),
    Column("rows", Whole, nullable=False),
)
"""How many rows tables had from when on."""
edges = _table(
    "edges", *(_key("origin"), _key("upstream"), _key("downstream"), _key("kind")), _text("columns")
)
edge_origins = _table("edge_origins", _key("origin"), _text("digest"), _text("names"))
told = _table(
    "told",
    *(_key("origin"), _key("table_id"), _text("text")),
    _text("fields", server_default=text("'{}'")),
)
mined_questions = _table(
    "mined_questions",
    *(_key("question_id"), Column("number", Integer, nullable=False), _text("kind")),
    *(_text("table_id"), _text("question"), _text("made"), _maybe("version")),
)
"""Questions about tables, each of which one table answers."""
measurements = _table(
    "measurements",
    Column("number", Whole, primary_key=True, autoincrement=False),
    *(_real("measured_at"), _text("key"), _text("figures"), _text("places")),
    Column("accepted", Integer, nullable=False),
)
"""How these were answered from time to time."""


def _joined() -> tuple[Column[Any], ...]:
    """Return the columns that name a join; those that name columns are JSON lists."""
    return _key("table_id"), _key("columns"), _key("other"), _key("other_columns")


joins = _table(
    "joins",
    *_joined(),
    _text("kind"),
    _real("score"),
    Column("share", Real),
    Index("joins_other", "other"),
)
"""Joins that were inferred: keys, and shared domains."""
view_joins = _table(
    "view_joins",
    *(_key("origin"), *_joined(), Column("share", Real)),
    _count("compared"),
    Index("view_joins_table", "table_id"),
    Index("view_joins_other", "other"),
)
"""Joins by the queries of views, by who says what these are (`edge_origins`)."""
join_verdicts = _table(
    "join_verdicts",
    *_joined(),
    Column("confirmed", Integer, nullable=False),
    _text("author"),
    _real("said_at"),
)
"""What people say of joins."""
answers = _table(
    "answers",
    _key("answer_id"),
    *map(_text, ("question", "tables", "sql", "author", "door")),
    *(Column(name, Integer, nullable=False) for name in ("confirmed", "resolved")),
    _real("said_at"),
    Index("answers_by_time", "said_at"),
)
"""What people say of answers: `tables` is a JSON list of ids; `sql` is empty where tables alone are
the answer; where it is not `resolved`, it may read other tables."""
failed_questions = _table(
    "failed_questions",
    *(_key("question_id"), *map(_text, ("question", "outcome", "door"))),
    *(_count("times"), _real("asked_at")),
    Index("failed_questions_by_time", "asked_at"),
)
"""Questions without a good answer, each once for each way to fail, and when it was asked last."""

access_keys = _table(
    "access_keys",
    *(_key("key_id"), _text("digest"), _text("name"), _text("readers")),
    *(Column(name, Integer, nullable=False) for name in ("may_edit", "is_operator")),
    _real("created_at"),
    *(Column(name, Real) for name in ("expires_at", "revoked_at", "used_at")),
)
"""Of an API key's secret the hash alone; `readers` is a JSON list."""
conversations = _table(
    "conversations",
    *(_key("conversation_id"), _text("title"), _text("author")),
    *(_real("created_at"), _real("updated_at")),
    Index("conversations_by_author", "author", "updated_at"),
)
conversation_events = _table(
    "conversation_events",
    *(_key("conversation_id"), Column("number", Integer, primary_key=True)),
    *(_real("at"), _text("kind"), _text("data")),
    rowid=True,
)
"""What happened in conversations, in order; nothing is changed, and all goes with the whole."""
conversation_cells = _table(
    "conversation_cells",
    *(_key("conversation_id"), Column("number", Integer, primary_key=True), _text("data")),
    rowid=True,
)
"""Rows that an event showed, forgotten where rules of privacy hide more, or their table changes."""
conversation_tables = _table("conversation_tables", *(_key("table_id"), _key("conversation_id")))
"""Of which tables rows may be shown."""
conversation_files = _table(
    "conversation_files", *(_key("conversation_id"), _key("name"), _data("data")), rowid=True
)
"""Tables that people brought, as Parquet."""
knowledge = _table(
    "knowledge",
    *(_key("knowledge_id"), _text("text"), _text("tables"), _text("author")),
    *(_real("said_at"), _text("conversation_id")),
)
"""What people said in conversations and let others use; `tables` is a JSON list of ids."""

manifests = _table("manifests", _key("name"), _data("packed"), metadata=SHARED, rowid=True)
embeddings = _table(
    "embeddings",
    *(_key("key"), Column("checksum", Whole, nullable=False), _data("vector")),
    metadata=SHARED,
    rowid=True,
)
embedding_uses = _table("embedding_uses", _key("table_id"), _key("key"), metadata=SHARED)
Index("embedding_uses_by_key", embedding_uses.c.key)


def create(connection: Connection) -> None:
    """Make an empty state, inside the open transaction."""
    METADATA.create_all(connection, checkfirst=False)
    upsert(connection, meta, [{"key": _FORMAT_KEY, "value": FORMAT}])


def is_there(connection: Connection, schema: str | None = None) -> bool:
    """Tell whether there is a state, of whatever format."""
    return inspect(connection).has_table(meta.name, schema)


def check_format(connection: Connection, where: str) -> None:
    """Raise `StateError` unless the state, called `where`, is of this format."""
    found = connection.execute(_FOUND_FORMAT).scalar()
    if found != FORMAT:
        raise StateError(
            f"{where} was made by another version of pneuma-assets (format {found or 'unknown'}, "
            f"this is {FORMAT}): move it away, a file with its backup, and index anew."
        )


_FOUND_FORMAT = select(meta.c.value).where(meta.c.key == _FORMAT_KEY)


def portions(values: Iterable[_V]) -> Iterator[list[_V]]:
    """Yield as many values at a time as one statement may name."""
    values = list(values)
    return (values[first : first + AT_ONCE] for first in range(0, len(values), AT_ONCE))


def insert_rows(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows of which none is there."""
    if rows := list(rows):
        connection.execute(table.insert(), rows)


def upsert(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert rows, or replace what they give in those with the same primary key."""
    if rows := list(rows):
        connection.execute(_insert(connection.dialect.name, table, frozenset(rows[0])), rows)


def insert_new(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert those rows whose primary key is not there."""
    if rows := list(rows):
        connection.execute(_insert(connection.dialect.name, table, frozenset()), rows)


@cache
def _insert(dialect: str, table: Table, replaced: frozenset[str]) -> Insert:
    insert = (postgresql if dialect == "postgresql" else sqlite).insert(table)
    key = list(table.primary_key)
    given = {
        c.name: insert.excluded[c.name] for c in table.c if c not in key and c.name in replaced
    }
    statement: Insert = insert.on_conflict_do_nothing(index_elements=key)
    if given:
        news = or_(*(table.c[name].is_distinct_from(value) for name, value in given.items()))
        statement = insert.on_conflict_do_update(index_elements=key, set_=given, where=news)
    return statement


def delete_by(
    connection: Connection, column: Column[Any], values: Iterable[Any], *where: ColumnElement[bool]
) -> None:
    """Delete the rows that have one of these values, however many they are."""
    for some in portions(values):
        connection.execute(delete(column.table).where(column.in_(some), *where))


def delete_of_tables(connection: Connection, ids: Iterable[str], *of_tables: Table) -> None:
    """Delete all rows about some tables of the lake."""
    ids = list(ids)
    for table in of_tables:
        delete_by(connection, table.c.table_id, ids)
