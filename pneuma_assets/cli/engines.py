"""`pneuma-assets reindex` and `copy-index`: a whole index made anew, without a model."""

from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.failures import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import print_json, print_line
from pneuma_assets.cli.progress import showing_progress
from pneuma_assets.cli.status import print_index

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import IndexInfo


def reindex(
    context: typer.Context,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Build the index anew, with today's settings, while the old one is searched.

    For another analyzer, or Elasticsearch's number of shards or quantization. No model is loaded.
    Run it where the tables are indexed: the settings are those of this machine.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace:
        with showing_progress():
            workspace.reindex()
        _print(workspace.inspect_index(), as_json=as_json)


def _names_beginning(incomplete: str) -> list[str]:
    """Complete the name of an engine; the import would slow `--help` down."""
    from pneuma_assets.core.config.engines import engine_names

    return [name for name in engine_names() if name.startswith(incomplete)]


def copy_index(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="FROM", help="embedded or elasticsearch.", autocompletion=_names_beginning
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(metavar="TO", help="The other one.", autocompletion=_names_beginning),
    ],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Also over an index that another encoder built."),
    ] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Copy the index from one engine to the other, with embeddings; no model is loaded.

    Afterwards set index.engine to the engine that is to be used. What TO held before goes.
    """
    _check_engines(FROM=source, TO=target)
    loaded = load(context, home, config)
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace, showing_progress():
        info = workspace.copy_index(source, target, replace=replace)
    _print(info, as_json=as_json)
    if not as_json and loaded.deployment.index.engine != target:
        print_line(f"to search it, set index.engine: {target} in the deployment file")


def _check_engines(**given: str) -> None:
    """Raise `UsageError` unless these are two different engines."""
    from pneuma_assets.core.config.engines import engine_named

    for argument, name in given.items():
        try:
            engine_named(name)
        except ValueError as error:
            raise UsageError(f"{argument}: {name!r} {error}") from error
    if len(set(given.values())) < len(given):
        raise UsageError(f"FROM and TO are both {given['FROM']}; name both engines")


def _print(info: "IndexInfo | None", *, as_json: bool) -> None:
    if as_json:
        from dataclasses import asdict

        print_json(None if info is None else asdict(info))
    else:
        print_index(info)
