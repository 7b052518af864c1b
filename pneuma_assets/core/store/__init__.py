"""The project's own state: which tables there are, what is known of them, what is to be done."""

from pneuma_assets.core.store.store import Store

__all__ = ["Store"]
