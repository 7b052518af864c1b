"""By which columns the queries of views join tables."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Real, Said

revision = "0020"
down_revision = "0019"

_JOIN = ("origin", "table_id", "columns", "other", "other_columns")


def upgrade() -> None:
    """Add the table; the next run reads all views anew, whose recipe is another one."""
    op.create_table(
        "view_joins",
        *(sa.Column(name, Said(), primary_key=True) for name in _JOIN),
        sa.Column("share", Real),
        sa.Column("compared", sa.Integer, nullable=False, server_default=sa.text("0")),
        sqlite_with_rowid=False,
    )
    op.create_index("view_joins_table", "view_joins", ["table_id"])
    op.create_index("view_joins_other", "view_joins", ["other"])
