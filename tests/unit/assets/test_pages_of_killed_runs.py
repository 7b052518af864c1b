"""Pages that a run was killed while making are made by the next one, problems included."""

from dataclasses import replace

import dagster as dg
import pytest

from pneuma_assets.assets.table_events import TablePages
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Column, Problem, Table, TableRef
from tests.support.pipeline_support import deployment

REFS = [TableRef(f"lake/{name}", "lake", f"/{name}", "csv", "1", updated_at=1.0) for name in "ab"]
TABLES = [Table(ref.table_id, (Column("x", "INT"),), 1, ref.location) for ref in REFS]


class Killed(BaseException):
    """Ends a run, whatever it does."""


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as store:
        yield store


def index(store: Store, updated_at: float) -> None:
    refs = [replace(one, version=str(updated_at), updated_at=updated_at) for one in REFS]
    store.listings.sync("lake", refs)
    store.queue.claim("run", 10, 3, ["lake"])
    store.queue.save_profiles("run", TABLES)
    store.queue.finish("run", [Finished(one.table_id, one.schema_hash, 1) for one in TABLES])


def test_a_page_counts_as_made_when_dagster_was_told(store, tmp_path):
    (tmp_path / "lake").mkdir()
    asked = deployment(tmp_path, tmp_path / "lake").deployment
    told: list[str] = []

    with dg.DagsterInstance.ephemeral() as instance:

        def pages(most: int = 100) -> TablePages:
            told.clear()

            def log(event: dg.AssetMaterialization) -> None:
                if len(told) == most:
                    raise Killed
                told.append(event.asset_key.path[-1])
                instance.report_runless_asset_event(event)

            return TablePages(store, asked, instance, log)

        index(store, 1.0)
        with pytest.raises(Killed):
            pages(most=1).announce(TABLES)
        pages().complete()
        assert told == ["a", "b"], "of both nobody knows that Dagster was told"
        index(store, 2.0)
        with pytest.raises(Killed):
            pages(most=1).announce(TABLES)
        pages().complete()
        assert told == ["a", "b"]
        pages().complete()
        assert told == []
        store.problems.record("lake", "values", [Problem("lake/b", "values", "too wide")])
        before = instance.report_runless_asset_event
        instance.report_runless_asset_event = lambda event: (_ for _ in ()).throw(Killed)
        with pytest.raises(Killed):
            pages().complete()
        instance.report_runless_asset_event = before
        pages().complete()
        found = {page.table_id: page.problem for page in store.asset_keys.published().values()}
        assert found == {"lake/a": None, "lake/b": "values: too wide"}
