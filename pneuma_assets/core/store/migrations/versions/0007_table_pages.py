"""When a table's data last changed; on a server, what pages in Dagster are made of."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Real, Said

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the column, empty until a table changes; and the table, where there is a server."""
    op.add_column("tables", sa.Column("updated_at", Real))
    if op.get_bind().dialect.name == "postgresql":
        op.create_table(
            "manifests",
            sa.Column("name", Said(), primary_key=True),
            sa.Column("packed", sa.LargeBinary(), nullable=False),
        )
