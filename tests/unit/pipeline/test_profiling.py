"""A table is indexed whatever becomes of the documents beside it."""

from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest

from pneuma_assets.core.config.small_sections import IndexingConfig, SamplingConfig
from pneuma_assets.core.errors import AccessRefusedError, TableReadError
from pneuma_assets.core.pipeline.plan import Indexed, RunRequest, claim_tables
from pneuma_assets.core.pipeline.profile import profile_tables
from pneuma_assets.core.pipeline.sample import sample_tables
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Queue


@pytest.mark.parametrize(
    ("error", "profiled", "stage"),
    [
        (TableReadError("its reader needed more than 2 GB"), 1, "contexts"),
        (AccessRefusedError("nobody may read it any more"), 0, "profile"),
    ],
)
def test_documents_that_end_their_reader_do_not_keep_a_table_out(tmp_path, error, profiled, stage):
    class DyingOverDocuments(FileSource):
        def contexts(self, ref):
            raise error

    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    source = DyingOverDocuments("lake", FolderStorage(lake))
    with closing(source), closing(Store(tmp_path / "state.db")) as store:
        claim_tables(
            store,
            "run",
            RunRequest([source]),
            IndexingConfig(),
            recipe="r",
            indexed=Indexed({}, 0.0),
        )
        assert profile_tables(store, "run", [source]).profiled == profiled
        (problem,) = store.problems.all()
    assert problem.stage == stage
    assert str(error) in problem.cause


def test_a_table_that_claims_countless_rows_costs_the_others_nothing(tmp_path):
    class Boasting(FileSource):
        def profile(self, ref, kept=()):
            table = super().profile(ref, kept)
            return replace(table, row_count=2**63) if ref.table_id == "lake/b" else table

    lake = tmp_path / "lake"
    lake.mkdir()
    for name in "abc":
        (lake / f"{name}.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    source = Boasting("lake", FolderStorage(lake))
    with closing(source), closing(Store(tmp_path / "state.db")) as store:
        store.listings.sync("lake", source.list_tables().tables)
        store.queue.claim("run", 10, 3, ["lake"])
        assert profile_tables(store, "run", [source]).profiled == 2
        (problem,) = store.problems.all()
    assert (problem.subject, problem.stage) == ("lake/b", "profile")
    assert "9223372036854775808 rows" in problem.cause


@pytest.mark.parametrize("stage", ["profile", "sample"])
def test_no_table_is_blamed_for_a_kill_while_what_was_read_is_saved(tmp_path, monkeypatch, stage):
    def killed(*_):
        raise KeyboardInterrupt

    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "a.csv").write_text("x,y\n1,2\n", encoding="utf-8")
    source = FileSource("lake", FolderStorage(lake))
    with closing(source), closing(Store(tmp_path / "state.db")) as store:
        store.listings.sync("lake", source.list_tables().tables)
        store.runs.begin("run")  # it has no process, and counts as killed
        store.queue.claim("run", 10, 3, ["lake"])
        work = partial(profile_tables, store, "run", [source])
        if stage == "sample":
            work()
            options = SamplingConfig(), IndexingConfig()
            work = partial(sample_tables, store, "run", [source], *options)
        monkeypatch.setattr(Queue, "holding", killed)
        with pytest.raises(KeyboardInterrupt):
            work()
        store.queue.release_claims("another")
        assert store.queue.deadly(1) == []
