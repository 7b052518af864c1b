"""Tables of one source, `lake`, as its listing shows them and as a run leaves them."""

from typing import Any

from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Column, Table, TableRef


def ref(name: str, version: str = "1", source: str = "lake", **more: Any) -> TableRef:
    """Return a table as a listing shows it."""
    return TableRef(f"{source}/{name}", source, f"/{source}/{name}.csv", "csv", version, **more)


def table(name: str, *columns: str, kind: str = "VARCHAR", rows: int = 10) -> Table:
    """Return a table as it is read."""
    return Table(f"lake/{name}", tuple(Column(one, kind) for one in columns), rows, "/x")


def claim(store: Store, *names: str, run: str = "run") -> None:
    """List exactly these tables, and let a run have all that wait."""
    store.listings.sync("lake", [ref(name) for name in names], rule=None)
    store.queue.claim(run, 1000, 3, ["lake"])


def finish(store: Store, *names: str, run: str = "run") -> None:
    """Let tables that a run has claimed be searchable."""
    store.queue.finish(run, [Finished(f"lake/{name}", "hash", 2) for name in names])


def index(store: Store, *names: str, run: str = "run") -> None:
    """List exactly these tables, and let all that wait be searchable."""
    claim(store, *names, run=run)
    store.queue.finish(
        run, [Finished(one.ref.table_id, "hash", 2) for one in store.queue.claimed(run)]
    )


def states(store: Store) -> dict[str, str]:
    """Return the state of each table that is there."""
    return {one.table_id: str(one.state) for one in store.tables.records()}


def held(store: Store, run: str) -> dict[str, str]:
    """Return at which stage the tables are that a run has claimed."""
    return {one.ref.table_id: str(one.stage) for one in store.queue.claimed(run)}
