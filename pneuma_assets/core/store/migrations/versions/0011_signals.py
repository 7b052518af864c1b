"""What a listing tells of a table beside its version, and the keys and query that it declares."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Real, Said

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Add the columns, empty until a table is listed or read again."""
    for name in ("identity", "activity", "readers"):
        op.add_column("tables", sa.Column(name, Said()))
    op.add_column("tables", sa.Column("queries", Real))
    op.add_column("tables", sa.Column("relations", Said()))
