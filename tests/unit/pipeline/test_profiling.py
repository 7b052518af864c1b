"""A table is indexed whatever becomes of the documents beside it."""

from contextlib import closing

import pytest

from pneuma_assets.core.config.sections import IndexingConfig
from pneuma_assets.core.errors import AccessRefusedError, TableReadError
from pneuma_assets.core.pipeline.plan import Indexed, RunRequest, claim_tables
from pneuma_assets.core.pipeline.profile import profile_tables
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.store import Store


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
