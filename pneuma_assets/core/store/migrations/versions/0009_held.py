"""Tables that are gone by accident are held; when each source was listed last is known."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Real

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the columns; nothing is held yet, and no time is known."""
    op.add_column("tables", sa.Column("held_since", Real))
    op.add_column("listings", sa.Column("listed_at", Real))
