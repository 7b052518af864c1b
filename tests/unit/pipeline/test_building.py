"""Which index a run writes, and when its readers see it, on the real store and embedded index."""

import shutil
from contextlib import closing

import numpy as np
import pytest

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.errors import IndexDamagedError, IndexMismatchError, SearchIndexError
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.registry import begin_rebuild, open_index, publish_index
from pneuma_assets.core.pipeline.index_build import (
    publish_if_complete,
    rebuild_if_outdated,
    rebuild_if_unusable,
    trusted_tables,
)
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, Problem, TableRef
from tests.support.index_blocks import replace_blocks


class Site:
    """An index in a folder, built in its place, and what a server would keep apart: readers."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.encoder = "words"
        self.begun = 0
        self.published = 0
        self._index: EmbeddedIndex | None = None

    @property
    def building(self) -> EmbeddedIndex:
        if self._index is None:
            self._index = EmbeddedIndex(self.folder, self.encoder, 4)
        return self._index

    begins_by_itself = True

    def begin_anew(self) -> None:
        self.close()
        shutil.rmtree(self.folder)
        self.begun += 1

    def publish(self, build: str) -> bool:
        self.published += 1
        return self.begun > 0

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None


CONFIG = IndexConfig()

BLOCKS = {
    "lake/a": [
        EmbeddedBlock(Block("lake/a", DocumentKind.ROWS, "a: 1"), np.full(4, 0.5, np.float32))
    ]
}


@pytest.fixture
def site(tmp_path):
    with closing(Site(tmp_path / "index")) as site:
        replace_blocks(site.building, BLOCKS)
        yield site


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as store:
        store.listings.sync("lake", [TableRef("lake/a", "lake", "/a.csv", "csv", "1")])
        yield store


def damage(site) -> None:
    site.close()
    for file in site.folder.rglob("*.db"):
        file.write_bytes(b"garbage" * 1000)


def test_a_sound_index_is_kept(site):
    assert not rebuild_if_unusable(site)
    assert site.building.list_tables() == {"lake/a": 1}


def test_a_damaged_index_is_begun_anew(site):
    damage(site)
    assert rebuild_if_unusable(site)
    assert site.building.list_tables() == {}


def test_an_index_of_another_encoder_is_begun_anew(site):
    site.close()
    site.encoder = "other words"
    assert rebuild_if_unusable(site)
    assert site.building.info().encoder == "other words"


def test_a_run_begins_anew_by_itself_for_another_encoder_alone(site):
    assert not rebuild_if_outdated(site)
    site.close()
    site.encoder = "other words"
    assert rebuild_if_outdated(site)
    assert site.building.info().encoder == "other words"
    damage(site)
    with pytest.raises(IndexDamagedError, match="--rebuild"):
        rebuild_if_outdated(site)
    assert site.begun == 1


def test_where_others_share_the_index_somebody_has_to_say_so(site):
    site.close()
    site.encoder, site.begins_by_itself = "other words", False
    with pytest.raises(IndexMismatchError, match="--rebuild"):
        rebuild_if_outdated(site)
    assert site.begun == 0


def test_an_index_that_cannot_be_reached_is_not_begun_anew(site):
    class Unreachable(Site):
        @property
        def building(self) -> EmbeddedIndex:
            raise SearchIndexError("no answer")

    away = Unreachable(site.folder)
    with pytest.raises(SearchIndexError, match="no answer"):
        rebuild_if_unusable(away)
    assert away.begun == 0


def test_tables_of_an_index_that_is_ours_are_trusted(site, store):
    assert trusted_tables(store, site.building, ["lake"]) == {"lake/a": 1}


def test_a_source_of_ours_whose_state_was_lost_is_still_ours(site, tmp_path):
    with Store(tmp_path / "lost.db") as lost:
        assert trusted_tables(lost, site.building, ["lake"]) == {"lake/a": 1}


def test_the_index_of_another_deployment_is_refused(site, tmp_path):
    with (
        Store(tmp_path / "other.db") as other,
        pytest.raises(SearchIndexError, match=r"holds tables of lake.*--rebuild"),
    ):
        trusted_tables(other, site.building, ["hill"])


def test_a_damaged_index_is_not_trusted(site, store):
    damage(site)
    with pytest.raises(IndexDamagedError, match="--rebuild"):
        trusted_tables(store, site.building, ["lake"])


def test_what_was_built_is_published_when_nothing_is_missing(site, store):
    site.begin_anew()
    assert not publish_if_complete(store, site), "a table waits"
    store.queue.claim("run", 10, 3, ["lake"])
    assert not publish_if_complete(store, site), "a run works on it"
    store.queue.finish("run", [Finished("lake/a", "hash", 1)])
    store.problems.record("hill", "listing", [Problem("hill", "listing", "gone")])
    assert not publish_if_complete(store, site), "tables of a source are out of sight"
    assert site.published == 0
    store.problems.record("hill", "listing", [])
    assert not publish_if_complete(store, site), "a run that wrote elsewhere finished a table"
    replace_blocks(site.building, BLOCKS)
    assert publish_if_complete(store, site)


class DeployedSite(Site):
    """As a deployment has it: what takes an index's place is built beside it."""

    def __init__(self, home, encoder: str) -> None:
        super().__init__(home / "index")
        self.encoder = encoder

    @property
    def building(self) -> EmbeddedIndex:
        if self._index is None:
            self._index = open_index(CONFIG, self.folder.parent, self.encoder, 4, building=True)
        return self._index

    def begin_anew(self) -> None:
        begin_rebuild(CONFIG, self.folder.parent, self.encoder, 4)

    def publish(self, build: str) -> bool:
        return publish_index(CONFIG, self.folder.parent, build)


def test_a_run_does_not_publish_what_another_configuration_has_begun(tmp_path, store):
    with (
        closing(DeployedSite(tmp_path, "words")) as before,
        closing(DeployedSite(tmp_path, "other words")) as after,
    ):
        replace_blocks(before.building, BLOCKS)
        after.begin_anew()
        assert after.building.list_tables() == {}
        store.queue.claim("run", 10, 3, ["lake"])
        store.queue.finish("run", [Finished("lake/a", "hash", 1)])
        assert not publish_if_complete(store, before), "what it wrote is what is searched"
        assert not publish_if_complete(store, after), "a table is missing"
        replace_blocks(after.building, BLOCKS)
        assert not publish_if_complete(store, before)
        assert publish_if_complete(store, after)
    with closing(DeployedSite(tmp_path, "other words")) as published:
        assert published.building.list_tables() == {"lake/a": 1}


def test_where_nothing_was_built_nothing_is_published(site, store):
    store.queue.claim("run", 10, 3, ["lake"])
    store.queue.finish("run", [Finished("lake/a", "hash", 1)])
    assert not publish_if_complete(store, site)
