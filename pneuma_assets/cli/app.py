"""Puts the commands together."""

from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from pneuma_assets.cli.answer import answer
from pneuma_assets.cli.bench import app as bench_app
from pneuma_assets.cli.changed import changed
from pneuma_assets.cli.config import app as config_app
from pneuma_assets.cli.confirmed import confirm, confirmed
from pneuma_assets.cli.describe import app as context_app
from pneuma_assets.cli.describe import describe
from pneuma_assets.cli.errors import EXIT_USAGE, CommandGroup
from pneuma_assets.cli.groups import groups
from pneuma_assets.cli.index import index
from pneuma_assets.cli.joins import joins
from pneuma_assets.cli.keys import app as keys_app
from pneuma_assets.cli.lineage import lineage
from pneuma_assets.cli.maintenance import copy_index, optimise, reindex, restore
from pneuma_assets.cli.mcp import mcp
from pneuma_assets.cli.options import Chosen, ConfigOption, HomeOption, command
from pneuma_assets.cli.search import search
from pneuma_assets.cli.seek import app as seek_app
from pneuma_assets.cli.serve import serve
from pneuma_assets.cli.status import sources, status

app = typer.Typer(
    cls=CommandGroup,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Make every table of a data lake findable by asking in plain language.",
    epilog="Start with: pneuma-assets index FOLDER, then: pneuma-assets search QUESTION",
)
_COMMANDS: Sequence[Callable[..., None]] = (
    *(index, search, groups, answer, status, describe, lineage, joins, confirm, confirmed),
    *(changed, sources, reindex, copy_index, optimise, restore, serve, mcp),
)
for run in _COMMANDS:
    app.command()(command(run))
app.add_typer(context_app, name="context")
app.add_typer(bench_app, name="bench")
app.add_typer(config_app, name="config")
app.add_typer(seek_app, name="seek")
app.add_typer(keys_app, name="keys")


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"pneuma-assets {version('pneuma-assets')}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _choose(
    context: typer.Context,
    home: HomeOption = None,
    config: ConfigOption = None,
    version: Annotated[  # noqa: ARG001 (its callback prints and ends)
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    context.obj = Chosen(home, config)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(EXIT_USAGE)
