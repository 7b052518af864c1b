"""The group that all commands are added to, and what several of them take and read."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pneuma_assets.cli.errors import CommandGroup, UsageError
from pneuma_assets.cli.options import given_path

if TYPE_CHECKING:
    from pneuma_assets.core.config.deployment import Deployment
    from pneuma_assets.workspace import Workspace

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure retrieval and answers on sets of tables, and make such sets.",
    no_args_is_help=True,
)


def path(metavar: str, told: str) -> Any:
    """Return an option that takes a path."""
    return typer.Option(parser=given_path, metavar=metavar, help=told)


def names(metavar: str, told: str, *option: str) -> Any:
    """Return an option of several texts, which may be given with commas; see `listed`."""
    return typer.Option(*option, metavar=metavar, help=told)


TablesOption = Annotated[Path, path("T.jsonl", "Tables, a JSON object a line.")]
QueriesOption = Annotated[Path, path("Q.jsonl", "Questions, a JSON object a line.")]
KeepOption = Annotated[Path, path("DIR", "Keeps what was embedded and measured.")]
AnswersOption = Annotated[Path | None, path("FILE", "Write each answer, as JSON lines.")]
SeedOption = Annotated[int, typer.Option(help="Decides what is drawn by chance.")]
NarrateOption = Annotated[
    bool, typer.Option("--narrate/--no-narrate", help="Have columns described, too.")
]
SetOption = Annotated[
    list[str] | None,
    names("KEY=VALUE", "A key of the deployment file, or of a question.", "--set"),
]
HideNamesOption = Annotated[
    bool, typer.Option("--hide-names", help="Leave out the names of tables, and their relations.")
]
JoinsOption = Annotated[
    Path | None, path("J.jsonl", "Joins that are declared, a JSON object a line.")
]
DocumentsOption = Annotated[
    bool, typer.Option("--documents", help="Index descriptions of columns as data dictionaries.")
]
NAMES_HIDDEN = "names hidden"
"""Stands beside figures of tables without names: people who know names find more."""


def narrating(workspace: "Workspace", *, enabled: bool) -> "Deployment":
    """Return the deployment with narration by its model, which it must name, or without any."""
    from pneuma_assets.core.config.models import NarrationConfig

    deployment = workspace.loaded.deployment
    if not enabled:
        return deployment.model_copy(update={"narration": NarrationConfig()})
    if deployment.narration.model is None:
        raise UsageError("no model describes columns; name one in narration.model")
    return deployment


def settings_of(given: Sequence[str] | None) -> dict[str, Any]:
    """Return what `--set KEY=VALUE` says; a value is read as in a deployment file."""
    import yaml

    settings = {}
    for one in given or ():
        key, equals, value = one.partition("=")
        if not equals or not key.strip():
            raise UsageError(f"--set takes KEY=VALUE, such as sampling.rows=10, not {one!r}")
        try:
            settings[key.strip()] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise UsageError(f"--set {key}: {value!r} is no YAML value") from error
    return settings


def listed(given: Sequence[str] | None) -> list[str]:
    """Return the names in options that may be given several times, or with commas."""
    several = [name.strip() for one in given or () for name in one.split(",")]
    return [name for name in several if name]


def short(value: float, sign: str = "") -> str:
    """Return three digits without the zero before the point, so that two figures fit a line."""
    return f"{value:{sign}.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:{sign}.3f}"
