"""Others say that tables have changed; those that are being written, or keep failing, wait."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Real, Said

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Add the columns and the table; of what was listed before it is not known when."""
    for name in ("changed_at", "waits_since", "retry_at"):
        op.add_column("tables", sa.Column(name, Real))
    op.create_table(
        "notices",
        sa.Column("source", Said(), primary_key=True),
        sa.Column("subject", Said(), primary_key=True),
        sa.Column("reason", Said(), nullable=False),
        sa.Column("noted_at", Real, nullable=False),
        sqlite_with_rowid=False,
    )
