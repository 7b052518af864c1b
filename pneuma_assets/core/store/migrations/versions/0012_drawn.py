"""What tables were like when the rows that stand for them were drawn."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Real, Said

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Add the table, empty until each of them is read again."""
    op.create_table(
        "drawn",
        sa.Column("table_id", Said(), primary_key=True),
        sa.Column("columns", Said(), nullable=False),
        sa.Column("sketch", sa.LargeBinary()),
        sa.Column("activity", Said()),
        sa.Column("seen", Said()),
        sa.Column("changed_share", Real),
        sa.Column("measured_by", Said()),
        sa.Column("former_names", Said()),
    )
