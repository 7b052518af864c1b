"""The rows that stand for a table are known by position; pages and listings are remembered.

Narrations that were cut off in the middle of a sentence are asked for again. Checksums of rows
begin here, too; `row_sums` keeps them without Alembic.
"""

import re

import sqlalchemy as sa
from alembic import op

from pneuma_assets.core.text.sentences import ends_in_abbreviation

_SAYS_NOTHING = re.compile(
    r"(?:\W*(?:sure(?: thing)?|certainly|of course|absolutely|definitely|okay|ok|no problem|gladly)"
    r"\b\s*[!.,:;]+\s*)*(?:here(?:['\u2019]s| is| are)\b[^.!?:]*[:.!]\s*)?$|\W*no description\b",
    re.IGNORECASE,
)
"""What the first version kept of an answer that said more after a pleasantry."""

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Change the tables."""
    op.add_column("tables", sa.Column("sampled_rows", sa.Text()))
    for name in ("narrations", "table_narrations"):
        _forget_cut_short(name)
    op.create_table(
        "pages",
        sa.Column("asset_key", sa.Text(), primary_key=True),
        sa.Column("table_id", sa.Text(), nullable=False),
        sa.Column("mark", sa.Text(), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "listings",
        sa.Column("source", sa.Text(), primary_key=True),
        sa.Column("unlisted", sa.Text(), nullable=False),
        sqlite_with_rowid=False,
    )


def _forget_cut_short(name: str) -> None:
    table = sa.table(name, sa.column("text"))
    texts = op.get_bind().execute(sa.select(table.c.text).distinct()).scalars()
    for text in [text for text in texts if _was_cut_short(text)]:
        op.execute(table.delete().where(table.c.text == text))


def _was_cut_short(narration: str) -> bool:
    """Tell a narration that ends in the middle of an answer; an empty one is no such."""
    said_nothing = bool(narration) and _SAYS_NOTHING.match(narration) is not None
    return ends_in_abbreviation(narration) or said_nothing
