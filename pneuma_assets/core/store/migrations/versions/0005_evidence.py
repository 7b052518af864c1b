"""What all rows of a table say is kept until the index has it."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Said

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the table."""
    op.create_table(
        "evidence",
        sa.Column("table_id", Said(), primary_key=True),
        sa.Column("data", sa.LargeBinary(), nullable=False),
    )
