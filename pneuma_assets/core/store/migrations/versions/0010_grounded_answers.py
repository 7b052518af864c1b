"""What the grounded prompt brings belongs to its table, no more to all tables with its columns.

What its first version brought was made of one table's rows and kept for all of them. Where one
table alone has its columns, it is that table's: `NarrationCache.carry_over` finds it by the
second version's name. Of the others nobody knows whose it is: it is forgotten, and asked anew.
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"

_FIRST, _SECOND = "|prompt grounded 1|", "|prompt grounded 2|"


def upgrade() -> None:
    """Rename what is one table's, and forget what no key finds any more."""
    tables = sa.table("tables", sa.column("table_id"), sa.column("indexed_schema_hash"))
    answered = sa.table("table_narrations", sa.column("table_id"), sa.column("model"))
    alone = (
        sa.select(tables.c.indexed_schema_hash)
        .group_by(tables.c.indexed_schema_hash)
        .having(sa.func.count() == 1)
    )
    theirs = sa.select(tables.c.table_id).where(tables.c.indexed_schema_hash.in_(alone))
    op.execute(
        answered.update()
        .where(answered.c.model.contains(_FIRST), answered.c.table_id.in_(theirs))
        .values(model=sa.func.replace(answered.c.model, _FIRST, _SECOND))
    )
    narrations = sa.table("narrations", sa.column("model"))
    op.execute(narrations.delete().where(narrations.c.model.contains(_FIRST)))
