"""What is said of a column has a provenance, a source and a confidence.

What stands there was all said by the model that its row names, with a confidence nobody measured.
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Change the tables."""
    provenance = sa.Column("provenance", sa.Text(), nullable=False, server_default="model")
    op.add_column("table_narrations", provenance)
    said_by = sa.Column("said_by", sa.Text(), nullable=False, server_default="")
    op.add_column("table_narrations", said_by)
    op.add_column("table_narrations", sa.Column("confidence", sa.REAL()))
    op.create_table(
        "column_descriptions",
        sa.Column("table_id", sa.Text(), primary_key=True),
        sa.Column("provenance", sa.Text(), primary_key=True),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("said_by", sa.Text(), nullable=False),
        sa.Column("confidence", sa.REAL(), nullable=False),
        sqlite_with_rowid=False,
    )
