"""Every kind of bad file becomes a table or a named problem, and disturbs no other."""

import pytest

from pneuma_assets.core.describe.texts import DrawnRows, row_texts
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from tests.support.hostile_lake import Expected, build_hostile_lake

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> tuple[FileSource, dict[str, Expected]]:
    folder = tmp_path_factory.mktemp("hostile")
    expected = build_hostile_lake(folder)
    return FileSource("lake", FolderStorage(folder)), expected


def test_every_file_becomes_what_it_should(lake):
    source, expected = lake
    listing = source.list_tables()
    outcomes = {problem.subject: problem.cause for problem in listing.problems}
    failures = []
    for ref in listing.tables:
        try:
            table = source.profile(ref)
            rows = [row.cells for row in source.sample(ref, 5, seed=0)]
            scanned = sum(batch.num_rows for batch in source.scan(ref))
        except TableReadError as error:
            outcomes[ref.table_id] = str(error)
            continue
        outcomes[ref.table_id] = table
        assert all(len(row) == len(table.columns) for row in rows)
        assert len(rows) == min(5, table.row_count)
        assert all("\n" not in text for text in row_texts(DrawnRows(table, rows)))
        if scanned != table.row_count:
            failures.append(f"{ref.table_id}: scanned {scanned} of {table.row_count}")
    failures += [
        f"{table_id}: wanted {str(want)[:200]}, got {str(outcomes.get(table_id))[:300]}"
        for table_id, want in expected.items()
        if not _matches(outcomes.get(table_id), want)
    ]
    assert not failures, "\n".join(failures)
    assert outcomes.keys() == expected.keys()


def test_ids_are_printable_utf8(lake):
    source, _ = lake
    for ref in source.list_tables().tables:
        for text in (ref.table_id, ref.location):
            assert text.encode("utf-8").decode() == text
            assert text.isprintable()


def test_problems_are_one_line(lake):
    source, expected = lake
    for ref in source.list_tables().tables:
        if expected[ref.table_id].problem:
            with pytest.raises(TableReadError) as caught:
                source.profile(ref)
            assert "\n" not in str(caught.value)
            assert "/pneuma-" not in str(caught.value)


def _matches(outcome: object, want: Expected) -> bool:
    if want.problem is not None:
        return isinstance(outcome, str) and want.problem in outcome
    columns = tuple(column.name for column in getattr(outcome, "columns", ()))
    return columns == want.columns and getattr(outcome, "row_count", None) == want.rows
