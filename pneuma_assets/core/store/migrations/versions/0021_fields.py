"""What others say of tables is kept in fields, too: description, owners, tags, columns."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Said

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    """Add the fields, empty until what others say is another."""
    fields: sa.Column[str] = sa.Column(
        "fields", Said(), nullable=False, server_default=sa.text("'{}'")
    )
    op.add_column("told", fields)
