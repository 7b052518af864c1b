"""What files of other tools say of tables: read when they changed, within bounds."""

import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pneuma_assets.core.config.small_sections import LineageConfig
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.lineage.edges import EdgeKind
from pneuma_assets.core.lineage.external import ExternalMetadata
from pneuma_assets.core.lineage.openlineage import MOST_EVENTS, read_events

logger = logging.getLogger(__name__)


MOST_BYTES = 128 * 1024 * 1024
"""Of one file; parsed, it takes some ten times that."""

MOST_FILES = 1_000
"""Of events, in one folder; the newest."""

MANIFEST, CATALOG = "manifest.json", "catalog.json"


@dataclass(frozen=True, slots=True)
class ExternalFile:
    """What one file, or folder of files, says.

    Attributes:
        name: Names it as an origin.
        stamp: Size and time of the files; empty where none is there.
        read: Reads it; raises `OSError`, `ValueError` or `PneumaError` where it cannot.
        within: The source that says it, of its own tables; None: it may be of any.
    """

    name: str
    stamp: str
    read: Callable[[], ExternalMetadata]
    within: str | None = None


def refused(name: str, error: PneumaError, within: str | None = None) -> ExternalFile:
    """Return what was asked and did not answer: reading it raises why."""

    def read() -> ExternalMetadata:
        raise error

    return ExternalFile(name, "", read, within)


def external_files(config: LineageConfig) -> Iterator[ExternalFile]:
    """Yield the files that a deployment names; opens none of them."""
    for path in config.dbt:
        folder = path if path.is_dir() else path.parent
        manifest = path / MANIFEST if path.is_dir() else path
        files = [manifest, folder / CATALOG]
        yield ExternalFile(f"{EdgeKind.DBT}:{path}", _stamp(files), _dbt(*files))
    for path in config.openlineage:
        files = _newest(path)
        yield ExternalFile(f"{EdgeKind.OPENLINEAGE}:{path}", _stamp(files), _events(files))


def _dbt(manifest: Path, catalog: Path) -> Callable[[], ExternalMetadata]:
    def read() -> ExternalMetadata:
        from pneuma_assets.core.lineage.dbt import read_dbt

        found = read_dbt(_json(manifest), _json(catalog) if catalog.is_file() else None)
        if found.problems:
            raise ValueError(found.problems[0])
        return found

    return read


def _events(files: list[Path]) -> Callable[[], ExternalMetadata]:
    def read() -> ExternalMetadata:
        problems: list[str] = []
        found = read_events(event for file in files for event in _lines(file, problems))
        return ExternalMetadata(found.kind, found.tables, problems)

    return read


def _newest(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = [one for one in path.iterdir() if one.suffix in (".json", ".jsonl", ".ndjson")]
    return sorted(found, key=lambda one: (one.stat().st_mtime_ns, one.name))[-MOST_FILES:]


def _lines(file: Path, problems: list[str]) -> Iterator[object]:
    text = _bytes(file).decode("utf-8", "replace")
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        for number, line in enumerate(text.splitlines()[:MOST_EVENTS], 1):
            try:
                if line.strip():
                    yield json.loads(line)
            except (ValueError, RecursionError):
                problems.append(f"{file}, line {number}: is no JSON")
        return
    yield from whole if isinstance(whole, list) else [whole]


def _json(file: Path) -> object:
    try:
        return json.loads(_bytes(file))
    except RecursionError as error:
        raise ValueError(f"{file} is nested too deep") from error


def _bytes(file: Path) -> bytes:
    with file.open("rb") as opened:
        read = opened.read(MOST_BYTES + 1)
    if len(read) > MOST_BYTES:
        raise ValueError(f"{file} has more than {MOST_BYTES:,} bytes")
    return read


def _stamp(files: list[Path]) -> str:
    parts = []
    for file in files:
        try:
            status = file.stat()
        except OSError:
            continue
        parts.append(f"{file} {status.st_size} {status.st_mtime_ns}")
    return "\n".join(parts)
