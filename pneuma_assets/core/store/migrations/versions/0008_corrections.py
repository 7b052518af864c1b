"""People correct or reject what is said of tables and columns; what a model said has a date.

When it was said before is not known.
"""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Real, Said

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the columns and the table."""
    op.add_column("narrations", sa.Column("said_at", Real))
    op.add_column("table_narrations", sa.Column("said_at", Real))
    op.add_column("table_narrations", sa.Column("answered_at", Real))
    op.create_table(
        "corrections",
        sa.Column("table_id", Said(), primary_key=True),
        sa.Column("about", Said(), primary_key=True),
        sa.Column("column_name", Said(), primary_key=True),
        sa.Column("text", Said(), nullable=False),
        sa.Column("author", Said(), nullable=False),
        sa.Column("said_at", Real, nullable=False),
        sa.CheckConstraint("about IN ('table', 'column')", name="known_about"),
        sqlite_with_rowid=False,
    )
