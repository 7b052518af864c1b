"""Questions about this deployment's own tables, and how they were answered."""

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.store.schema import Real, Said, Whole

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Add the tables; questions are made when somebody asks for them."""
    op.create_table(
        "mined_questions",
        sa.Column("question_id", Said(), primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("kind", Said(), nullable=False),
        sa.Column("table_id", Said(), nullable=False),
        sa.Column("question", Said(), nullable=False),
        sa.Column("made", Said(), nullable=False),
        sa.Column("version", Said()),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "measurements",
        sa.Column("number", Whole, primary_key=True, autoincrement=False),
        sa.Column("measured_at", Real, nullable=False),
        sa.Column("key", Said(), nullable=False),
        sa.Column("figures", Said(), nullable=False),
        sa.Column("places", Said(), nullable=False),
        sa.Column("accepted", sa.Integer, nullable=False),
        sqlite_with_rowid=False,
    )
