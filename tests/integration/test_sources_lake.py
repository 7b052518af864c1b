"""The real lake: every table is listed, profiled, sampled, and has its page as context."""

from pathlib import Path

import pytest

from pneuma_assets.core.describe.texts import DrawnRows, row_texts
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource

LAKE = Path(__file__).resolve().parents[2].parent / "shared/data/lake"

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not LAKE.is_dir(), reason=f"{LAKE} is absent"),
]


def test_every_table_of_the_lake_reads():
    source = FileSource("lake", FolderStorage(LAKE))
    listing = source.list_tables()
    assert len(listing.tables) == 379
    assert not listing.problems
    for ref in listing.tables:
        table = source.profile(ref)
        assert table.columns
        assert table.notes == ()
        rows = [row.cells for row in source.sample(ref, 5, seed=0)]
        assert len(rows) == min(5, table.row_count)
        assert len(row_texts(DrawnRows(table, rows))) == len(rows)
        contexts = source.contexts(ref)
        assert (len(contexts.texts), list(contexts.problems)) == (1, []), ref.table_id
