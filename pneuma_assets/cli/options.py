"""Options that every command takes, before or after its name, and what they open."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pneuma_assets.core.config_file import LoadedDeployment
    from pneuma_assets.core.status import Status


def given_path(text: str) -> Path:
    """Return a path from the command line; an empty one is a variable that was never set."""
    if not text:
        raise typer.BadParameter("the path is empty; was a variable not set?")
    return Path(text)


HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        parser=given_path,
        metavar="DIR",
        help="Folder of all state. [default: the file's, or .pneuma in the current folder]",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        parser=given_path,
        metavar="FILE",
        help="Deployment file. [default: pneuma.yaml in the current folder, if there is one]",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON for programs; nothing else on standard output.")
]


@dataclass(frozen=True)
class Chosen:
    """What was given before the command's name."""

    home: Path | None
    config: Path | None


def load(context: typer.Context, home: Path | None, config: Path | None) -> "LoadedDeployment":
    """Load the deployment that the options choose; those after the command's name win."""
    from pneuma_assets.core.config_file import load_deployment

    chosen: Chosen = context.find_object(Chosen) or Chosen(None, None)
    return load_deployment(config or chosen.config, home or chosen.home)


def has_state(loaded: "LoadedDeployment") -> bool:
    """Return whether anything was ever indexed; asking creates no folder."""
    return (loaded.home / "state.db").exists()


def may_answer(loaded: "LoadedDeployment") -> bool:
    """Return whether there may be an index to ask; asking creates no folder.

    It may come from elsewhere: kept by a cluster, or copied here.
    """
    return loaded.deployment.index.engine != "embedded" or (loaded.home / "index").is_dir()


def status_of(loaded: "LoadedDeployment") -> "Status":
    """Return the deployment's status; where nothing was indexed yet, an empty one."""
    from pneuma_assets.core.status import Status
    from pneuma_assets.core.workspace import Workspace

    with Workspace(loaded) as workspace:
        if has_state(loaded):
            return workspace.status()
        return Status(loaded.home, (), (), workspace.inspect_index())


def how_to_index(loaded: "LoadedDeployment") -> str:
    """Return the command that fills an empty index."""
    if loaded.deployment.sources:
        return "run: pneuma-assets index"
    return "run: pneuma-assets index FOLDER"
