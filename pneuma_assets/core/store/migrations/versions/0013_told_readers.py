"""Which readers of a table the index was told of; of all that are indexed, it is told anew."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Said

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the column."""
    op.add_column("tables", sa.Column("told_readers", Said()))
