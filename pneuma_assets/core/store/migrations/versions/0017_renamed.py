"""Which table one that left is now: a run tells of another name, whoever noticed it before."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Said

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Add the column."""
    op.add_column("tables", sa.Column("renamed_to", Said()))
