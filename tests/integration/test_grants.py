"""Grants on their way from a listing into the index, by the real job: soon and cheap."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.pipeline.write import publish_metadata
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.tables import TableFacts
from tests.support.deployment_files import deploy, folder_source
from tests.support.fake_model import FakeLanguageModel
from tests.support.pipeline_support import run_job, small_lake

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder")]


def with_readers(folder: Path, lake: Path, readers: list[str]):
    return deploy(folder, folder_source(lake, readers=readers))


def found(loaded, *readers: str) -> set[str]:
    where = IndexFilter(readers=readers) if readers else NO_FILTER
    with closing(Workspace(loaded, {})) as workspace:
        return {one.table_id for one in workspace.ask("label amount name", k=20, where=where)}


def test_changed_grants_reach_the_index_without_a_model_or_a_text(tmp_path, instance):
    lake = small_lake(tmp_path, tables=3)
    loaded = with_readers(tmp_path, lake, ["finance"])
    run_job(loaded, instance)
    every = found(loaded)
    assert len(every) == 3
    assert found(loaded, "finance") == every
    with pytest.raises(QueryError, match="no table that you may see is indexed"):
        found(loaded, "ana")
    loaded = with_readers(tmp_path, lake, ["ana"])
    model = FakeLanguageModel()
    with closing(Workspace(loaded, {})) as workspace:
        before = {i.block.block_id for i in workspace.search_index.blocks()}
    run_job(loaded, instance, model)
    assert model.calls == 0
    assert found(loaded, "ana") == every
    with pytest.raises(QueryError, match="no table that you may see is indexed"):
        found(loaded, "finance")
    with closing(Workspace(loaded, {})) as workspace:
        assert {i.block.block_id for i in workspace.search_index.blocks()} == before
        todo = workspace.store.queue.counts(3, ["lake"])
        assert (todo.unpublished, todo.waiting) == (0, 0)
        index, store = workspace.search_index, workspace.store
        index.set_facts({table_id: TableFacts() for table_id in every})  # as by a copy of old
        assert publish_metadata(store, "run", index) == 3
        assert publish_metadata(store, "run", index) == 0
        assert {one.readers for one in index.facts(list(every)).values()} == {("ana",)}
        refs = [replace(one, readers=("w/x",)) for one in refs_of(store)]
        store.listings.sync("lake", refs)
        assert store.queue.counts(3, ["lake"]).unpublished == 3


def refs_of(store):
    store.queue.mark_pending(store.tables.listed())
    with store.runs.alive("look"):
        store.queue.claim("look", 9, 3, ["lake"])
        return [item.ref for item in store.queue.claimed("look")]
