"""When a table's data last changed, what its page was told, and on a server the manifest."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Real, Said

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the columns, empty until a table changes; and the table, where there is a server."""
    op.add_column("tables", sa.Column("updated_at", Real))
    op.add_column("pages", sa.Column("updated_at", Real))
    op.add_column("pages", sa.Column("problem", Said()))
    if op.get_bind().dialect.name == "postgresql":
        op.create_table(
            "manifests",
            sa.Column("name", Said(), primary_key=True),
            sa.Column("packed", sa.LargeBinary(), nullable=False),
        )
