"""Tables that a conversation ended in, saved as a file of their own: code, not history.

A file holds a state (T, Q) and when it is to be made anew. It can be read, reviewed and edited like
any other code, and is run without a model.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isclose, isnan
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import pyarrow.compute as pc
import yaml
from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.small_sections import Cron
from pneuma_assets.core.config.yaml_file import read_yaml
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.seek.results import Finding, QueryResult
from pneuma_assets.core.seek.state import State, StateInvalidError, check_state
from pneuma_assets.core.text.validation_messages import readable

SavedName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,62}$")]
"""Of a file, and of what it is called in Dagster."""

_MOST_FILES = 500
_HEAD = (
    "# Tables that a conversation ended in (docs/seek.md, Saved tables). Edit it like other code.\n"
)


class SavedTables(BaseModel):
    """What one file says.

    Attributes:
        name: As the file is called.
        title: The conversation's.
        author: Whose conversation it was.
        schedule: When the tables are made anew, as cron has it; None: when somebody asks. One that
            is wrong in a file that people edited costs the schedule, not the tables.
        follow: Whether they are made anew as soon as a table that they are made of has changed.
        accepted: Findings that were known when it was saved (`named`); others make checks fail.
        state: What is made, and how.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: SavedName
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    author: Annotated[str, StringConstraints(max_length=200)] = ""
    schedule: Annotated[str, StringConstraints(max_length=200)] | None = None
    follow: bool = False
    accepted: tuple[str, ...] = Field((), max_length=1_000)
    state: State


class TablesToSave(SavedTables):
    """The same, of a conversation that is saved now."""

    schedule: Cron | None = None


def named(finding: Finding) -> str:
    """Return what tells a finding from others, whatever it counted."""
    return f"{finding.rule}: {finding.subject}"


def folder_of(loaded: LoadedDeployment) -> Path:
    """Return where a deployment's saved tables are: beside its file, or else in its state folder.

    There they are kept, reviewed and moved with whatever else is code.
    """
    beside = loaded.file is not None or loaded.component is not None
    return (loaded.base if beside else loaded.home) / "saved"


def own_file_of(folder: Path, tables: str, name: str) -> Path:
    """Return where a person's own file is, packed, that saved tables read."""
    return folder / f"{tables}.files" / f"{Path(name).name}.parquet"


def read_all(folder: Path) -> list[SavedTables]:
    """Return what is saved in a folder, by name; a folder that is not there holds nothing.

    Raises:
        ConfigError: A file is none of these, or there are too many.
    """
    files = sorted(folder.glob("*.yaml"))
    if len(files) > _MOST_FILES:
        raise ConfigError(f"{folder} holds {len(files):,} files; {_MOST_FILES} at most")
    return [read(file) for file in files]


def read(file: Path) -> SavedTables:
    """Read one file; raises `ConfigError`, which names it and what to do, where it is none."""
    saved = checked(read_yaml(file).data, str(file))
    if saved.name != file.stem:
        raise ConfigError(f"{file}: name says {saved.name}; name the file {saved.name}.yaml")
    return saved


def checked(given: object, where: str, kind: type[SavedTables] = SavedTables) -> SavedTables:
    """Return what a file says, or is to say; raises `ConfigError` where it cannot be."""
    try:
        saved = kind.model_validate(given)
        check_state(saved.state)
    except ValidationError as error:
        raise ConfigError(f"{where}: {readable(error.errors()[:1], of=SavedTables)[0]}") from None
    except StateInvalidError as error:
        raise ConfigError(f"{where}: {str(error).splitlines()[0]}") from error
    return saved


def write(folder: Path, saved: SavedTables, files: Mapping[str, bytes], *, replace: bool) -> Path:
    """Write one file, and people's own files beside it; returns where.

    Raises:
        ConfigError: There is one of this name, and not to `replace`, or it cannot be written.
    """
    file = folder / f"{saved.name}.yaml"
    if file.exists() and not replace:
        raise ConfigError(
            f"{file} is there already; choose another name, or replace it (--replace)"
        )
    text = yaml.dump(
        saved.model_dump(mode="json", exclude_defaults=True),
        Dumper=_Readable,
        sort_keys=False,
        allow_unicode=True,
        width=100,
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            own = own_file_of(folder, saved.name, name)
            own.parent.mkdir(exist_ok=True)
            with replacing(own) as begun:
                begun.write_bytes(data)
        with replacing(file) as begun:
            begun.write_bytes((_HEAD + text).encode())
    except OSError as error:
        raise ConfigError(f"{file} cannot be written ({error.strerror}); see to it") from error
    return file


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Yield where to write what takes a file's place: who reads sees the old one or the new one."""
    begun = file.with_name(f".{file.name}.{os.getpid()}")
    yield begun
    begun.replace(file)


class _Readable(yaml.SafeDumper):
    """Writes texts of several lines as such."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    lines = "\n" in text and all(one == one.rstrip() for one in text.split("\n"))
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if lines else None)


_Readable.add_representer(str, _text)


def moved(before: pa.Table | None, after: pa.Table) -> list[str]:
    """Return what is otherwise than it was, a line each: columns, rows, sums, cells without value.

    Args:
        before: The table as it was made last; None: never.
        after: As it was made now.
    """
    return [] if before is None else list(_moved(before, after))


def _moved(before: pa.Table, after: pa.Table) -> Iterator[str]:
    was, now = set(before.column_names), set(after.column_names)
    yield from (f"column {one} is new" for one in after.column_names if one not in was)
    yield from (f"column {one} is gone" for one in before.column_names if one not in now)
    if before.num_rows != after.num_rows:
        yield f"rows: {before.num_rows:,} -> {after.num_rows:,}"
    for name in after.column_names:
        if name in was:
            old, new = before.column(name), after.column(name)
            if old.null_count != new.null_count:
                yield f"{name} without a value: {old.null_count:,} -> {new.null_count:,}"
            sums = _sum(old), _sum(new)
            # The order of rows, which may be another, changes the last digits of a sum.
            if None not in sums and not isclose(*sums, rel_tol=1e-12):
                yield f"sum of {name}: {_change(*sums)}"


def results_moved(before: Sequence[QueryResult], after: Sequence[QueryResult]) -> list[str]:
    """Return which queries give something else than they did, with both where it is one cell."""
    known = {one.name: one for one in before}
    found = []
    for one in after:
        old = known.get(one.name)
        if old is None or old.rows == one.rows:
            continue
        cells = [row[0] for rows in (old.rows, one.rows) if len(rows) == 1 for row in rows if row]
        is_cell = len(cells) == 2 and len(one.rows[0]) == len(old.rows[0]) == 1
        rows = f"{len(old.rows):,} -> {len(one.rows):,} rows, other cells"
        found.append(f"{one.name}: {_change(*cells) if is_cell else rows}")
    return found


def _sum(column: pa.ChunkedArray) -> Any:
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
        return None
    total = pc.sum(column.cast(pa.float64(), safe=False)).as_py()
    return None if total is None or isnan(total) else total


def _change(before: object, after: object) -> str:
    said = f"{before} -> {after}"
    if isinstance(before, int | float) and isinstance(after, int | float):
        share = f" ({(after - before) / abs(before):+.1%})" if before else ""
        return f"{before:,.6g} -> {after:,.6g}{share}"
    return said
