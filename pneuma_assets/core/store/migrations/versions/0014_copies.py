"""Which tables are copies of which, and by what that is told."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Said

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Add them; fingerprints of indexed tables are made by the next run, from the index."""
    op.add_column("tables", sa.Column("copy_of", Said()))
    op.add_column("tables", sa.Column("seen_copy_of", Said()))
    op.create_table(
        "fingerprints",
        sa.Column("table_id", Said(), primary_key=True),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
