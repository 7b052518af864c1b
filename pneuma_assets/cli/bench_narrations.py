"""`pneuma-assets bench narrations`: whether what is said of columns is true."""

from pathlib import Path
from typing import Annotated

import typer

from pneuma_assets.cli.bench import app
from pneuma_assets.cli.failures import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import print_json, print_table
from pneuma_assets.cli.progress import showing_progress

GoldOption = Annotated[
    Path,
    typer.Option(
        parser=given_path,
        metavar="G.jsonl",
        help='What people wrote of columns: {"table", "column", "gold"} a line.',
    ),
]


@app.command()
def narrations(
    context: typer.Context,
    gold: GoldOption,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Measure how often a column's description leads to what people wrote of it.

    Descriptions are those of the indexed tables, which are named by their ids.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.measure.narrations import Said, figures_of, read_gold
    from pneuma_assets.core.models.encoder.encoder import open_encoder
    from pneuma_assets.core.service.workspace import Workspace

    wanted = read_gold(gold)
    with showing_progress(), Workspace(loaded) as workspace:
        if unknown := {*wanted} - {*workspace.search_index.list_tables()}:
            raise UsageError(f"{gold}: no indexed table has the id {min(unknown)!r}")
        told = {one: workspace.store.narrations.of_table(one) for one in wanted}
        tables = [
            [Said(name, text, told[table].get(name)) for name, text in columns.items()]
            for table, columns in wanted.items()
        ]
        figures = figures_of(tables, open_encoder(loaded.deployment.encoder))
    if as_json:
        print_json(figures)
    else:
        print_table(["figure", "value"], [[name, str(value)] for name, value in figures.items()])
