"""Alembic's scripts: what leads from a format of the state to the next."""
