"""What tests of lake formats ask of a folder: its tables, their rows, and files out of reach."""

import os
import tempfile
from pathlib import Path

from pneuma_assets.core.sources.base import SampledRow
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.tables import RowMark, TableRef


def source_of_folder(folder: Path) -> FileSource:
    """Return a folder as the source `lake`."""
    return FileSource("lake", FolderStorage(folder))


def listed(source: FileSource) -> dict[str, TableRef]:
    """Return what is listed, by id; there is no problem."""
    listing = source.list_tables()
    assert not listing.problems
    assert not listing.unlisted
    return {ref.table_id: ref for ref in listing.tables}


def only_table(source: FileSource) -> TableRef:
    (ref,) = listed(source).values()
    return ref


def rows_in(source: FileSource, ref: TableRef) -> list[tuple[str | None, ...]]:
    """Return all rows as text, sorted; the ways to read them agree."""
    sampled = [tuple(row.cells) for row in _sampled(source, ref)]
    assert len(sampled) == source.profile(ref).row_count
    evidence = [tuple(row) for row in source.evidence(ref, 0).terms.rows]
    assert _sorted(evidence) == _sorted(sampled)
    assert sum(batch.num_rows for batch in source.scan(ref)) == len(sampled)
    return _sorted(sampled)


def marks_of(source: FileSource, ref: TableRef, rows: int = 5) -> list[RowMark]:
    drawn = source.sample(ref, rows, 0)
    assert drawn is not None
    return [row.mark for row in drawn]


def files_below(folder: Path) -> set[str]:
    return {
        os.path.relpath(Path(above, name), folder)
        for above, _, names in os.walk(folder)
        for name in names
    }


def let_others_enter(folder: Path) -> None:
    """Open a folder of a test, and those around it that pytest has made, to every user."""
    place = Path(os.environ.get("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir()))
    for one in (folder, *folder.parents):
        if place in one.parents:
            one.chmod(0o755)


def _sampled(source: FileSource, ref: TableRef) -> list[SampledRow]:
    drawn = source.sample(ref, 50, 0)
    assert drawn is not None
    return drawn


def _sorted(rows: list[tuple[str | None, ...]]) -> list[tuple[str | None, ...]]:
    return sorted(rows, key=lambda row: [(cell is not None, cell or "") for cell in row])
