"""What a model said of a column is kept by the column's name also where it is not shown."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Said

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column; until now only what the model said and was shown has a name."""
    op.add_column("table_narrations", sa.Column("answer", Said()))
    rows = sa.table(
        "table_narrations", *(sa.column(name) for name in ("answer", "text", "provenance"))
    )
    op.execute(rows.update().where(rows.c.provenance == "model").values(answer=rows.c.text))
