"""What is said of a column has a provenance, a source and a confidence.

What stands there was all said by the model that its row names, with a confidence nobody measured.
"""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Real, Said

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Change the tables."""
    provenance: sa.Column[str]
    provenance = sa.Column("provenance", Said(), nullable=False, server_default="model")
    op.add_column("table_narrations", provenance)
    said_by: sa.Column[str] = sa.Column("said_by", Said(), nullable=False, server_default="")
    op.add_column("table_narrations", said_by)
    op.add_column("table_narrations", sa.Column("confidence", Real))
    op.create_table(
        "column_descriptions",
        sa.Column("table_id", Said(), primary_key=True),
        sa.Column("provenance", Said(), primary_key=True),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("text", Said(), nullable=False),
        sa.Column("said_by", Said(), nullable=False),
        sa.Column("confidence", Real, nullable=False),
        sqlite_with_rowid=False,
    )
