"""A table's stage and number of columns stand in the work list; runs hold leases."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Change the tables."""
    op.add_column("tables", sa.Column("stage", sa.Text(), nullable=False, server_default="listed"))
    op.add_column("tables", sa.Column("column_count", sa.Integer()))
    op.add_column("runs", sa.Column("ended_at", sa.REAL()))
    op.execute("UPDATE runs SET ended_at = started_at")
    tables = sa.table("tables", sa.column("state"), sa.column("stage"), sa.column("claimed_by"))
    op.execute(tables.update().where(tables.c.state == "indexed").values(stage="indexed"))
    op.execute(tables.update().values(claimed_by=None))  # of runs that held lock files
    op.execute(
        "UPDATE tables SET column_count = json_array_length(columns) WHERE columns IS NOT NULL"
    )
    op.create_table(
        "leases",
        sa.Column("process", sa.Text(), primary_key=True),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("born_at", sa.REAL(), nullable=False),
        sa.Column("expires_at", sa.REAL(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "narrating",
        sa.Column("model", sa.Text(), primary_key=True),
        sa.Column("schema_hash", sa.Text(), primary_key=True),
        sa.Column("run_id", sa.Text(), nullable=False),
        sqlite_with_rowid=False,
    )
