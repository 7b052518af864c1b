"""Which tables can be joined by which columns, and what people say of it."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Real, Said

revision = "0019"
down_revision = "0018"

_ON = ("table_id", "columns", "other", "other_columns")


def upgrade() -> None:
    """Add the tables; the next run looks for joins."""
    op.create_table(
        "joins",
        *(sa.Column(name, Said(), primary_key=True) for name in _ON),
        sa.Column("score", Real, nullable=False),
        sa.Column("share", Real),
        sqlite_with_rowid=False,
    )
    op.create_index("joins_other", "joins", ["other"])
    op.create_table(
        "join_verdicts",
        *(sa.Column(name, Said(), primary_key=True) for name in _ON),
        sa.Column("confirmed", sa.Integer, nullable=False),
        sa.Column("author", Said(), nullable=False),
        sa.Column("said_at", Real, nullable=False),
        sqlite_with_rowid=False,
    )
