"""The first format: work list, narrations, documents, problems, runs, people's contexts.

Only SQLite files are of it, all of them made by version 0.1, so there is nothing to do.
"""

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Begin here."""
