"""Finds, reads and checks the one file that describes a deployment.

Dagster and the command line both come here, so they always see the same deployment.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.explain import explain, explain_mapping
from pneuma_assets.core.config.indexed_folders import (
    MARK,
    add_folder,
    locked,
    source_of_folder,
)
from pneuma_assets.core.config.section_base import absolute
from pneuma_assets.core.config.yaml_file import read_yaml
from pneuma_assets.core.errors import ConfigError

FILE_NAME = "pneuma.yaml"
HOME_NAME = ".pneuma"


@dataclass(frozen=True)
class LoadedDeployment:
    """A deployment, where it was read from, and where its state goes.

    Attributes:
        deployment: What the file says; every local path in it is absolute.
        file: The deployment file, or None where the defaults are in force.
        base: The absolute folder that relative paths were resolved against.
        home: The absolute folder of all state; it may not exist yet.
        component: What stands in another file in place of a deployment file: that file.
    """

    deployment: Deployment
    file: Path | None
    base: Path
    home: Path
    component: str | None = None


def load_deployment(
    config: Path | None = None,
    home: Path | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> LoadedDeployment:
    """Load the deployment in force, from `environ` and `cwd`, by default this process's own.

    The first of these decides: `config`, the variable PNEUMA_CONFIG, `home` or PNEUMA_HOME
    (`pneuma.yaml` in that folder, or the defaults), `pneuma.yaml` in the current folder,
    `.pneuma` in the current folder. A home given besides a file replaces the file's.

    Raises:
        ConfigError: The file is missing or wrong; a line a finding, with file, key and remedy.
    """
    variables = os.environ if environ is None else environ
    folder = Path.cwd() if cwd is None else cwd.absolute()
    config = config or _path_from(variables, "PNEUMA_CONFIG")
    home = home or _path_from(variables, "PNEUMA_HOME")
    if config is not None:
        return _from_file(absolute(folder, config), home and absolute(folder, home))
    if home is not None:
        return _from_home(absolute(folder, home), folder)
    if os.path.lexists(folder / FILE_NAME):
        return _from_file(folder / FILE_NAME, None)
    if os.path.lexists(folder / "pneuma.yml"):
        raise ConfigError(f"{folder / 'pneuma.yml'} would be ignored; rename it to {FILE_NAME}")
    return _from_home(folder / HOME_NAME, folder)


def inline_deployment(
    data: Mapping[str, Any], base: Path, homes: Path, where: str
) -> LoadedDeployment:
    """Return a deployment that stands in another file, as a mapping of the keys of `pneuma.yaml`.

    Args:
        data: What a deployment file would say.
        base: Where relative paths start; absolute.
        homes: Holds a state folder by the key prefix, for a mapping that names none; absolute.
        where: The other file.

    Raises:
        ConfigError: The mapping is wrong; a line a finding, with key and remedy.
    """
    try:
        deployment = Deployment.model_validate(data)
    except ValidationError as error:
        raise explain_mapping(error, data, where) from None  # the cause holds what was given
    said = "home" in deployment.model_fields_set
    home = absolute(base, deployment.home) if said else homes / deployment.key_prefix
    return replace(_loaded(deployment, None, base, home), component=where)


def remember_folder(loaded: LoadedDeployment, folder: Path) -> LoadedDeployment:
    """Return a deployment in which `folder` is (part of) a source, for `index FOLDER`.

    Without a file, or with one written by this function, the folder is added to
    `<home>/pneuma.yaml`. A file that people wrote is never changed: it must have the folder.

    Raises:
        ConfigError: The folder does not exist or overlaps a remembered one, the file in force
            does not list it, or the file cannot be written.
    """
    folder = _existing_folder(folder)
    if source_of_folder(loaded.deployment, folder) is not None:
        return loaded
    sources = loaded.deployment.sources
    if loaded.file is not None and sources and not read_yaml(loaded.file).text.startswith(MARK):
        raise ConfigError(
            f"{folder} is not a source of {loaded.file}; add it there under sources "
            "(type: folder, name, path), or choose another state folder with --home"
        )
    file = loaded.file or loaded.home / FILE_NAME
    with locked(file):
        # Another process may have remembered a folder since `loaded` was read.
        current = _from_file(file, loaded.home) if file.exists() else loaded
        if source_of_folder(current.deployment, folder) is None:
            add_folder(file, folder, current.deployment)
    return _from_file(file, loaded.home)


def _existing_folder(folder: Path) -> Path:
    path = absolute(Path.cwd(), folder)
    if os.path.isdir(path):  # noqa: PTH112 (unlike Path.is_dir, never raises)
        return path
    if os.path.lexists(path):
        raise ConfigError(
            f"{folder} is not a folder, and `index` takes one; name the folder that holds it "
            f"(a DuckDB file is listed in {FILE_NAME} as a source of type: duckdb)"
        )
    raise ConfigError(f"folder {folder} does not exist; check the path")


def _from_home(home: Path, cwd: Path) -> LoadedDeployment:
    """Load the file that a state folder remembers, or the defaults with that state folder."""
    file = home / FILE_NAME
    if not os.path.lexists(file):
        return _loaded(Deployment(), None, cwd, home)
    deployment = _read(file)
    said = absolute(home, deployment.home)
    if "home" in deployment.model_fields_set and said.resolve() != home.resolve():
        raise ConfigError(
            f"{file}: home: says {said}, but this is the file of the state folder {home}; "
            "write 'home: .', or name the file by --config"
        )
    return _loaded(deployment, file, home, home)


def _from_file(file: Path, home: Path | None) -> LoadedDeployment:
    """Load one file; every path in it is relative to its folder, and `home` replaces its home."""
    deployment = _read(file)
    base = file.parent
    return _loaded(deployment, file, base, home or absolute(base, deployment.home))


def _read(file: Path) -> Deployment:
    document = read_yaml(file)
    try:
        return Deployment.model_validate(document.data)
    except ValidationError as error:
        raise explain(error, document) from None  # likewise


def _loaded(deployment: Deployment, file: Path | None, base: Path, home: Path) -> LoadedDeployment:
    """Make every path absolute, so that no later change of folder moves anything."""
    _check_home(home)
    return LoadedDeployment(
        deployment.resolved(base).model_copy(update={"home": home}), file, base, home
    )


def _check_home(home: Path) -> None:
    try:
        if stat.S_ISDIR(home.stat().st_mode):
            return
        why = "is not a folder"
    except FileNotFoundError:
        if not home.is_symlink():
            return
        why = "is a link to nothing"
    except OSError as error:
        why = f"cannot be a folder ({error.strerror})"
    raise ConfigError(f"home: {home} {why}; name a folder for the state, or a new one")


def _path_from(environ: Mapping[str, str], name: str) -> Path | None:
    value = environ.get(name, "").strip()
    return Path(value) if value else None
