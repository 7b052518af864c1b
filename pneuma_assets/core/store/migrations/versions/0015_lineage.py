"""What tables are built from, who says so, and what those who say so tell of the tables."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Said

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Add the tables."""
    op.create_table(
        "edges",
        sa.Column("origin", Said(), primary_key=True),
        sa.Column("upstream", Said(), primary_key=True),
        sa.Column("downstream", Said(), primary_key=True),
        sa.Column("kind", Said(), primary_key=True),
        sa.Column("columns", Said(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "edge_origins",
        sa.Column("origin", Said(), primary_key=True),
        sa.Column("digest", Said(), nullable=False),
        sa.Column("names", Said(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "told",
        sa.Column("origin", Said(), primary_key=True),
        sa.Column("table_id", Said(), primary_key=True),
        sa.Column("text", Said(), nullable=False),
        sqlite_with_rowid=False,
    )
