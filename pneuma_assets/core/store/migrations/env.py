"""Alembic's entrance; the connection is in the transaction that `upgrade` was called in."""

from alembic import context

from pneuma_assets.core.store.schema import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
