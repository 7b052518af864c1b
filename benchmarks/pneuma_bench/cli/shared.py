"""The group that all commands are added to, and what several of them take and read."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pneuma_assets.cli.errors import CommandGroup, UsageError
from pneuma_assets.cli.measure import QueriesOption as QueriesOption  # noqa: PLC0414 (for all here)
from pneuma_assets.core.errors import ConfigError

if TYPE_CHECKING:
    from pneuma_assets.core.config.deployment import Deployment
    from pneuma_bench.sets import RetrievalSet

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure retrieval and answers on sets of tables, and make such sets.",
    no_args_is_help=True,
)

IdsAreNamesOption = Annotated[
    bool, typer.Option("--ids-are-names", help="People know tables without a name by their ids.")
]
LeaveOutOption = Annotated[
    float, typer.Option(min=0, max=1, help="Share of questions whose tables are left out.")
]


def narrating(deployment: "Deployment", *, enabled: bool) -> "Deployment":
    """Return the deployment with narration by its model, which it must name, or without any."""
    from pneuma_assets.core.config.models import NarrationConfig

    if not enabled:
        return deployment.model_copy(update={"narration": NarrationConfig()})
    if deployment.narration.model is None:
        raise ConfigError("no model describes columns; name one in narration.model")
    return deployment


def read(tables: Path, queries: Path, leave_out: float, *, ids_are_names: bool) -> "RetrievalSet":
    """Return a set, if asked for without the tables of some of its questions."""
    from pneuma_bench.reading import read_files

    dataset = read_files(tables, queries, ids_are_names=ids_are_names)
    return dataset.leave_out(leave_out) if leave_out else dataset


def settings_of(given: Sequence[str]) -> dict[str, Any]:
    """Return what `--set KEY=VALUE` says; a value is read as in a deployment file."""
    import yaml

    settings = {}
    for one in given:
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
    names = [name.strip() for one in given or () for name in one.split(",")]
    return [name for name in names if name]
