"""`pneuma-assets optimise`: compact the index."""

import typer

from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import print_json, print_table
from pneuma_assets.cli.progress import showing_progress


def optimise(
    context: typer.Context,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Compact the index: reclaim disk space of removed tables.

    Never needed for correct answers; it answers meanwhile. May take minutes for a large index.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.pipeline.optimise import optimise_index
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace, showing_progress():
        done = optimise_index(workspace.search_index)
    if as_json:
        print_json(done.named())
    else:
        print_table(["figure", "value"], [[name, f"{n:,}"] for name, n in done.named().items()])
