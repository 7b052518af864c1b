"""`pneuma-bench narrations`: whether what would be said of a folder's columns is true."""

import os
from pathlib import Path
from typing import Annotated

import typer

from pneuma_assets.cli.measure import GoldOption
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import print_json, print_table, showing_progress
from pneuma_bench.cli.shared import app


@app.command()
def narrations(
    context: typer.Context,
    gold: GoldOption,
    lake: Annotated[
        Path | None,
        typer.Option(
            parser=given_path,
            metavar="DIR",
            help="Folder of the tables. [default: none; only their names are known]",
        ),
    ] = None,
    documents: Annotated[
        bool,
        typer.Option("--documents/--no-documents", help="Read documents beside the tables."),
    ] = False,
    limit: Annotated[
        int | None, typer.Option(min=1, help="About so many columns, of tables drawn by chance.")
    ] = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Measure how often a column's description leads to what people wrote of it.

    Columns are described as indexing would with the deployment's narration section.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.models.encoder.encoder import open_encoder
    from pneuma_assets.core.models.language.registry import open_language_model
    from pneuma_assets.core.service.state import models_folder
    from pneuma_bench.narrations import drawn, measure

    section = loaded.deployment.narration
    wanted = drawn(gold, limit)
    model = (
        open_language_model(section, models_folder(loaded), os.environ) if section.enabled else None
    )
    try:
        with showing_progress():
            encoder = open_encoder(loaded.deployment.encoder)
            figures = measure(wanted, lake, encoder, model, section, documents=documents)
    finally:
        if model is not None:
            model.close()
    if as_json:
        print_json(figures)
    else:
        print_table(["figure", "value"], [[name, str(value)] for name, value in figures.items()])
