"""The tables of the state, for SQLite and PostgreSQL alike; `format` numbers them."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Dialect,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite

from pneuma_assets.core.text.safe import well_formed

_BINARY_ORDER = Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
"""Text that is ordered as SQLite orders it: by code points, whatever language the server speaks."""

Whole = BigInteger().with_variant(sqlite.INTEGER(), "sqlite")
Real = (
    Float(53)
    .with_variant(sqlite.REAL(), "sqlite")
    .with_variant(postgresql.DOUBLE_PRECISION(), "postgresql")
)


class Said(TypeDecorator[str]):
    """Text from anywhere: what a database cannot hold (lone surrogates, NUL) is replaced."""

    impl = _BINARY_ORDER
    cache_ok = True
    python_type = str

    def bind_processor(self, dialect: Dialect) -> Callable[[Any], Any]:  # noqa: ARG002
        """Return what makes a text one that can be kept; it is called for every value."""
        return _storable_or_none


def _storable_or_none(value: str | None) -> str | None:
    return None if value is None else storable(value)


def storable(text: str) -> str:
    """Return the text with lone surrogates replaced by '?', and NUL by U+FFFD."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    return text if text.isascii() else well_formed(text)


def _text(name: str, **more: Any) -> Column[Any]:
    return Column(name, Said(), nullable=False, **more)


METADATA = MetaData()

meta = Table(
    "meta",
    METADATA,
    _text("key", primary_key=True),
    _text("value"),
    sqlite_with_rowid=False,
)

tables = Table(
    "tables",
    METADATA,
    _text("table_id", primary_key=True),
    _text("source"),
    _text("location"),
    _text("format"),
    _text("version"),
    _text("context_locations"),
    _text("state"),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("claimed_by", Said()),
    Column("claimed_version", Said()),
    Column("columns", Said()),
    Column("row_count", Whole),
    _text("comment", server_default=""),
    _text("notes", server_default="[]"),
    Column("indexed_version", Said()),
    Column("indexed_schema_hash", Said()),
    Column("indexed_row_count", Whole),
    Column("sampled_row_count", Whole),
    Column("deaths", Integer, nullable=False, server_default=text("0")),
    Column("indexed_at", Real),
    Column("block_count", Integer),
    Column("sampled_rows", Said()),
    _text("stage", server_default="listed"),
    Column("column_count", Integer),
    Column("updated_at", Real),
    Column("held_since", Real),
    Column("identity", Said()),
    Column("activity", Said()),
    Column("readers", Said()),
    Column("queries", Real),
    Column("relations", Said()),
    Column("told_readers", Said()),
    Column("copy_of", Said()),
    Column("seen_copy_of", Said()),
    Column("changed_at", Real),
    Column("waits_since", Real),
    Column("retry_at", Real),
    Column("renamed_to", Said()),
    CheckConstraint("state IN ('pending', 'indexed', 'failed', 'gone')", name="known_state"),
    sqlite_with_rowid=False,
)
Index("tables_by_state", tables.c.state, tables.c.table_id)
Index(
    "tables_by_claim",
    tables.c.claimed_by,
    sqlite_where=tables.c.claimed_by.is_not(None),
    postgresql_where=tables.c.claimed_by.is_not(None),
)

documents = Table(
    "documents",
    METADATA,
    _text("table_id", primary_key=True),
    _text("kind", primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    _text("text"),
    sqlite_with_rowid=False,
)
narrations = Table(
    "narrations",
    METADATA,
    _text("model", primary_key=True),
    _text("schema_hash", primary_key=True),
    Column("position", Integer, primary_key=True),
    _text("text"),
    Column("said_at", Real),
    sqlite_with_rowid=False,
)
table_narrations = Table(
    "table_narrations",
    METADATA,
    _text("table_id", primary_key=True),
    _text("model"),
    _text("column_name", primary_key=True),
    _text("column_type"),
    _text("text"),
    _text("provenance", server_default="model"),
    _text("said_by", server_default=""),
    Column("confidence", Real),
    Column("answer", Said()),
    Column("said_at", Real),
    Column("answered_at", Real),
    sqlite_with_rowid=False,
)
column_descriptions = Table(
    "column_descriptions",
    METADATA,
    _text("table_id", primary_key=True),
    _text("provenance", primary_key=True),
    Column("position", Integer, primary_key=True),
    _text("text"),
    _text("said_by"),
    Column("confidence", Real, nullable=False),
    sqlite_with_rowid=False,
)
staged_blocks = Table(
    "staged_blocks",
    METADATA,
    _text("table_id", primary_key=True),
    _text("kind", primary_key=True),
    Column("ordinal", Integer, primary_key=True),
    _text("text"),
    Column("vector", LargeBinary, nullable=False),
    _text("encoder"),
)
evidence = Table(
    "evidence",
    METADATA,
    _text("table_id", primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
problems = Table(
    "problems",
    METADATA,
    _text("subject", primary_key=True),
    _text("source"),
    _text("stage", primary_key=True),
    _text("cause"),
    sqlite_with_rowid=False,
)
runs = Table(
    "runs",
    METADATA,
    _text("run_id", primary_key=True),
    Column("started_at", Real, nullable=False),
    Column("reading", Said()),
    Column("ended_at", Real),
    sqlite_with_rowid=False,
)
stages = Table(
    "stages",
    METADATA,
    _text("run_id", primary_key=True),
    _text("stage", primary_key=True),
    Column("seconds", Real, nullable=False),
    _text("figures"),
    sqlite_with_rowid=False,
)
user_contexts = Table(
    "user_contexts",
    METADATA,
    _text("table_id", primary_key=True),
    _text("name", primary_key=True),
    _text("text"),
    sqlite_with_rowid=False,
)
corrections = Table(
    "corrections",
    METADATA,
    _text("table_id", primary_key=True),
    _text("about", primary_key=True),
    _text("column_name", primary_key=True),
    _text("text"),
    _text("author"),
    Column("said_at", Real, nullable=False),
    CheckConstraint("about IN ('table', 'column')", name="known_about"),
    sqlite_with_rowid=False,
)
"""What people say of a table (its `column_name` is empty) or a column; an empty text rejects what
is said. They stay when tables leave, since those may come back."""
pages = Table(
    "pages",
    METADATA,
    _text("asset_key", primary_key=True),
    _text("table_id"),
    _text("mark"),
    Column("updated_at", Real),
    Column("problem", Said()),
    sqlite_with_rowid=False,
)
listings = Table(
    "listings",
    METADATA,
    _text("source", primary_key=True),
    _text("unlisted"),
    Column("listed_at", Real, nullable=False),
    sqlite_with_rowid=False,
)
leases = Table(
    "leases",
    METADATA,
    _text("process", primary_key=True),
    _text("run_id"),
    _text("machine"),
    Column("pid", Whole, nullable=False),
    Column("born_at", Real, nullable=False),
    Column("expires_at", Real, nullable=False),
    sqlite_with_rowid=False,
)
narrating = Table(
    "narrating",
    METADATA,
    _text("model", primary_key=True),
    _text("schema_hash", primary_key=True),
    _text("run_id"),
    sqlite_with_rowid=False,
)
drawn = Table(
    "drawn",
    METADATA,
    _text("table_id", primary_key=True),
    _text("columns"),
    Column("sketch", LargeBinary),
    Column("activity", Said()),
    Column("seen", Said()),
    Column("changed_share", Real),
    Column("measured_by", Said()),
    Column("former_names", Said()),
)
"""What tables were like when all their sampled rows were drawn."""
notices = Table(
    "notices",
    METADATA,
    _text("source", primary_key=True),
    _text("subject", primary_key=True),
    _text("reason"),
    Column("noted_at", Real, nullable=False),
    sqlite_with_rowid=False,
)

fingerprints = Table(
    "fingerprints",
    METADATA,
    _text("table_id", primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
edges = Table(
    "edges",
    METADATA,
    _text("origin", primary_key=True),
    _text("upstream", primary_key=True),
    _text("downstream", primary_key=True),
    _text("kind", primary_key=True),
    _text("columns"),
    sqlite_with_rowid=False,
)
edge_origins = Table(
    "edge_origins",
    METADATA,
    _text("origin", primary_key=True),
    _text("digest"),
    _text("names"),
    sqlite_with_rowid=False,
)
told = Table(
    "told",
    METADATA,
    _text("origin", primary_key=True),
    _text("table_id", primary_key=True),
    _text("text"),
    Column("fields", Said(), nullable=False, server_default=text("'{}'")),
    sqlite_with_rowid=False,
)

mined_questions = Table(
    "mined_questions",
    METADATA,
    _text("question_id", primary_key=True),
    Column("number", Integer, nullable=False),
    _text("kind"),
    _text("table_id"),
    _text("question"),
    _text("made"),
    Column("version", Said()),
    sqlite_with_rowid=False,
)
"""Questions about tables, each of which one table answers."""
measurements = Table(
    "measurements",
    METADATA,
    Column("number", Whole, primary_key=True, autoincrement=False),
    Column("measured_at", Real, nullable=False),
    _text("key"),
    _text("figures"),
    _text("places"),
    Column("accepted", Integer, nullable=False),
    sqlite_with_rowid=False,
)
"""How these were answered from time to time."""

joins = Table(
    "joins",
    METADATA,
    _text("table_id", primary_key=True),
    _text("columns", primary_key=True),
    _text("other", primary_key=True),
    _text("other_columns", primary_key=True),
    Column("score", Real, nullable=False),
    Column("share", Real),
    Index("joins_other", "other"),
    sqlite_with_rowid=False,
)
"""Joins that were inferred; the columns are JSON lists."""
view_joins = Table(
    "view_joins",
    METADATA,
    _text("origin", primary_key=True),
    _text("table_id", primary_key=True),
    _text("columns", primary_key=True),
    _text("other", primary_key=True),
    _text("other_columns", primary_key=True),
    Column("share", Real),
    Column("compared", Integer, nullable=False, server_default=text("0")),
    Index("view_joins_table", "table_id"),
    Index("view_joins_other", "other"),
    sqlite_with_rowid=False,
)
"""Joins by the queries of views, by who says what these are (`edge_origins`)."""
join_verdicts = Table(
    "join_verdicts",
    METADATA,
    _text("table_id", primary_key=True),
    _text("columns", primary_key=True),
    _text("other", primary_key=True),
    _text("other_columns", primary_key=True),
    Column("confirmed", Integer, nullable=False),
    _text("author"),
    Column("said_at", Real, nullable=False),
    sqlite_with_rowid=False,
)
"""What people say of joins."""

SHARED = MetaData()
"""Made with the other tables on a server, and in no file: files of their own hold the like."""

manifests = Table(
    "manifests",
    SHARED,
    _text("name", primary_key=True),
    Column("packed", LargeBinary, nullable=False),
)
