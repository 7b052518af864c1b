"""`pneuma-assets reindex` and `copy-index`: a whole index made anew, without a model."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.failures import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import print_json, print_line
from pneuma_assets.cli.progress import showing_progress
from pneuma_assets.cli.status import print_index

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import IndexInfo


class Engine(StrEnum):
    """As `core.config_index.Engine`, whose import would slow `--help` down."""

    EMBEDDED = "embedded"
    ELASTICSEARCH = "elasticsearch"


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


def copy_index(
    context: typer.Context,
    source: Annotated[Engine, typer.Argument(metavar="FROM", help="embedded or elasticsearch.")],
    target: Annotated[Engine, typer.Argument(metavar="TO", help="The other one.")],
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
    if source == target:
        raise UsageError(f"FROM and TO are both {source.value}; name both engines")
    loaded = load(context, home, config)
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace, showing_progress():
        info = workspace.copy_index(source.value, target.value, replace=replace)
    _print(info, as_json=as_json)
    if not as_json and loaded.deployment.index.engine != target.value:
        print_line(f"to search it, set index.engine: {target.value} in the deployment file")


def _print(info: "IndexInfo | None", *, as_json: bool) -> None:
    if as_json:
        from dataclasses import asdict

        print_json(None if info is None else asdict(info))
    else:
        print_index(info)
