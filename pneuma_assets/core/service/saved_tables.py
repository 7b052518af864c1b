"""Saves the tables of a conversation as a file, makes them again from it, and says what moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.progress import report
from pneuma_assets.core.seek.conversation import Conversation
from pneuma_assets.core.seek.materialize import materialize, run_queries
from pneuma_assets.core.seek.results import Made, QueryResult, Relations, Severity
from pneuma_assets.core.seek.saved import (
    SavedTables,
    TablesToSave,
    checked,
    folder_of,
    moved,
    named,
    own_file_of,
    read,
    replacing,
    results_moved,
    write,
)

if TYPE_CHECKING:
    from pneuma_assets.core.service.seek_tools import SeekTools

_RESULTS = "results.json"
_AS_JSON = TypeAdapter(list[QueryResult])


@dataclass(frozen=True, slots=True)
class SavedRun:
    """What one making gave.

    Attributes:
        made: Each table by its name in the state.
        files: Where its rows are now, as Parquet.
        moved: What of it is otherwise than last time, a line each.
        results: Of the queries.
        results_moved: Likewise.
    """

    made: Mapping[str, Made]
    files: Mapping[str, Path]
    moved: Mapping[str, Sequence[str]]
    results: Sequence[QueryResult]
    results_moved: Sequence[str]


def save(
    loaded: LoadedDeployment,
    tools: "SeekTools",
    now: Conversation,
    name: str,
    *,
    schedule: str | None,
    follow: bool | None,
    replace: bool,
) -> Path:
    """Write what a conversation ended in; it is made once, so that what rules find is known.

    Raises:
        QueryError: There is no table, or who asks does not see all that such a file may read.
        ConfigError: The name or schedule cannot be or is taken, or what is replaced cannot be read.
    """
    asker = tools.tables.asker
    if asker.readers is not None:
        raise QueryError("Saved tables are read by Dagster; ask who operates it to save these.")
    if not now.state.tables:
        raise QueryError("There is no table to save yet.")
    made, results = tools.make(now.state), tools.run(now.state)
    found = [one for table in made for one in table.findings]
    found += [one for result in results for one in result.findings]
    files = {one.file: tools.tables.packed_file(one.file) for one in now.state.sources if one.file}
    given = {
        "name": name,
        "title": now.saved.title[:200],
        "author": asker.name[:200],
        "schedule": schedule or None,
        "follow": bool(follow),
        "accepted": sorted({named(one) for one in found if one.severity is not Severity.NOTE}),
        "state": now.state,
    }
    saved, folder = checked(given, "the saved tables", TablesToSave), folder_of(loaded)
    if replace and (file := folder / f"{saved.name}.yaml").is_file():
        before = read(file)
        kept = {
            "schedule": before.schedule if schedule is None else saved.schedule,
            "follow": before.follow if follow is None else saved.follow,
        }
        saved = saved.model_copy(update=kept)
    return write(folder, saved, files, replace=replace)


def own_file(loaded: LoadedDeployment, saved: SavedTables, name: str) -> bytes | None:
    """Return a person's own file as it was saved; None where it is not there."""
    file = own_file_of(folder_of(loaded), saved.name, name)
    return file.read_bytes() if file.is_file() else None


def make_saved(loaded: LoadedDeployment, saved: SavedTables, tables: Relations) -> SavedRun:
    """Make the tables of a saved file, run its queries, and put all in its place.

    Files are replaced once all tables are made and all queries ran: those of before stay else.

    Raises:
        StepFailedError: A table cannot be made.
        PneumaError: A table that it is made of is not there, or cannot be read.
    """
    made: dict[str, Made] = {}
    for one in materialize(saved.state, tables):
        made[one.table] = one
        report(f"making {saved.name}", len(made), len(saved.state.tables))
    rows = {name: one.rows for name, one in made.items()}
    results = list(run_queries(saved.state, rows))
    folder = loaded.home / "saved_rows" / saved.name
    before = {name: _read(folder / f"{name}.parquet") for name in made}
    results_before = _read_results(folder / _RESULTS)
    _put(folder, rows, results)
    return SavedRun(
        made,
        {name: folder / f"{name}.parquet" for name in made},
        {name: moved(before[name], table) for name, table in rows.items()},
        results,
        results_moved(results_before, results),
    )


def _read(file: Path) -> pa.Table | None:
    return pq.read_table(file) if file.exists() else None


def _read_results(file: Path) -> list[QueryResult]:
    return _AS_JSON.validate_json(file.read_bytes()) if file.exists() else []


def _put(folder: Path, rows: Mapping[str, pa.Table], results: list[QueryResult]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in rows.items():
        with replacing(folder / f"{name}.parquet") as begun:
            pq.write_table(table, begun, compression="zstd")
    with replacing(folder / _RESULTS) as begun:
        begun.write_bytes(_AS_JSON.dump_json(results, exclude={"__all__": {"findings"}}))
