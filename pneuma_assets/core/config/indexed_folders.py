"""Remembers the folders that people index without writing a deployment file.

They are kept in `<home>/pneuma.yaml`, a file people can read and change: a folder is added to its
text, so that comments and keys added by hand stay.
"""

import os
import re
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml
from filelock import FileLock, Timeout

from pneuma_assets.core.atomic_write import replace_file
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.config.yaml_file import read_yaml
from pneuma_assets.core.errors import ConfigError

MARK = "# pneuma-assets: folders remembered by `pneuma-assets index FOLDER`."
"""First line of a file that this module may change; any other is its owner's alone, but one that
names no sources, which gets the first of them."""

_NEW_FILE = f"""{MARK}
# Other keys can be added by hand (see docs/configuration.md); folders are added to `sources`.
# Without its first line this file is yours alone, and no folder is added to it any more.
home: .
sources:
"""
_LOCK_TIMEOUT_S = 10.0


def source_of_folder(deployment: Deployment, folder: Path) -> SourceConfig | None:
    """Return the source that holds this folder: of it, or of a folder above it."""
    return next((s for s in deployment.sources if s.folder and _within(folder, s.folder)), None)


def add_folder(file: Path, folder: Path, deployment: Deployment) -> None:
    """Write `folder` as one more source into a remembered file, or into a new one, atomically.

    Raises:
        ConfigError: The file cannot be written, or `folder` holds a folder remembered before.
    """
    for source in deployment.sources:
        if source.folder and _within(source.folder, folder):
            raise ConfigError(
                f"{folder} holds the folder of source '{source.name}' ({source.folder}), whose "
                f"tables would be found twice; remove that source from {file} first"
            )
    name = source_name(folder.name, {source.name for source in deployment.sources})
    entry = {"type": "folder", "name": name, "path": _writable_text(folder)}
    text = read_yaml(file).text if file.exists() else None
    text = _NEW_FILE + _yaml(entry) if text is None else _with_entry(file, text, entry)
    replace_file(file, text.encode(), file.with_name(f".{file.name}.new"))


def _within(inner: Path, outer: Path) -> bool:
    """Return whether `inner` is `outer` or lies below it, however links lead there."""
    return Path(os.path.realpath(inner)).is_relative_to(os.path.realpath(outer))


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Hold the lock under which a remembered file is changed; raises `ConfigError`."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(file.with_name(f"{file.name}.lock"), timeout=_LOCK_TIMEOUT_S):
            yield
    except Timeout as error:
        raise ConfigError(
            f"another process is changing {file}; try again when it is done"
        ) from error
    except OSError as error:
        raise ConfigError(
            f"cannot write {file} ({error.strerror or error}); free some space on its disk or let "
            "this user write there, or choose another folder with --home"
        ) from error


def _with_entry(file: Path, text: str, entry: dict[str, str]) -> str:
    """Add an entry at the end of the list `sources`, leaving every other line as it is."""
    lines = text.splitlines(keepends=True)
    lines[-1:] = [lines[-1].removesuffix("\n") + "\n"]
    root = yaml.compose("".join(lines), Loader=yaml.SafeLoader)
    pairs = root.value if isinstance(root, yaml.MappingNode) else []
    sources = next((value for key, value in pairs if key.value == "sources"), None)
    if sources is None:
        lines += ["sources:\n", _yaml(entry)]
    elif isinstance(sources, yaml.SequenceNode) and not sources.flow_style:
        indent = " " * sources.start_mark.column
        added = [indent + line for line in _yaml(entry).splitlines(keepends=True)]
        lines[sources.end_mark.line : sources.end_mark.line] = added
    changed, before = "".join(lines), yaml.safe_load(text) or {}
    try:
        if yaml.safe_load(changed) == {**before, "sources": [*before.get("sources", ()), entry]}:
            return changed
        cause = None
    except yaml.YAMLError as error:
        cause = error
    raise ConfigError(
        f"cannot add {entry['path']} to {file} as it is written now; add it by hand under "
        f"sources, with type: folder and name: {entry['name']}"
    ) from cause


def _yaml(entry: dict[str, str]) -> str:
    width = 10_000  # a path is never broken over two lines
    return yaml.safe_dump([entry], sort_keys=False, allow_unicode=True, width=width)


def _writable_text(folder: Path) -> str:
    try:
        str(folder).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ConfigError(
            f"the name of folder {str(folder)!a} is not UTF-8 and cannot be remembered; "
            "rename it, or index a link to it"
        ) from error
    return str(folder)


def source_name(folder_name: str, taken: set[str]) -> str:
    """Make a source name of a folder's name: ASCII letters, digits, '_', '.', '-', unique."""
    plain = unicodedata.normalize("NFKD", folder_name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^A-Za-z0-9_.-]+", "-", plain).strip("-._")[:56] or "folder"
    name, number = slug, 1
    while name in taken:
        number += 1
        name = f"{slug}-{number}"
    return name
