"""Options that every command takes, before or after its name, and what they open."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.failures import STATE_FOLDER

if TYPE_CHECKING:
    from pneuma_assets.core.config.load import LoadedDeployment


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
SourceOption = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only tables of this source.")
]
ReadersOption = Annotated[
    list[str] | None,
    typer.Option("--as", metavar="NAME", help="Show only what this user or role may see."),
]


@dataclass(frozen=True)
class Chosen:
    """What was given before the command's name."""

    home: Path | None
    config: Path | None


def load(context: typer.Context, home: Path | None, config: Path | None) -> "LoadedDeployment":
    """Load the deployment that the options choose; those after the command's name win."""
    from pneuma_assets.core.config.load import load_deployment

    chosen: Chosen = context.find_object(Chosen) or Chosen(None, None)
    loaded = load_deployment(config or chosen.config, home or chosen.home)
    context.meta[STATE_FOLDER] = loaded.home
    return loaded
