"""`pneuma-assets bench`: how well questions with known answers are answered."""

from pathlib import Path
from typing import Annotated

import typer

from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import print_json, print_table
from pneuma_assets.cli.progress import showing_progress

app = typer.Typer(rich_markup_mode=None, help="Measure answers against known ones.")


@app.callback()
def _bench() -> None:
    """Keep `bench` a group, also while it has one command."""


@app.command()
def run(
    context: typer.Context,
    tables: Annotated[
        Path,
        typer.Option(
            parser=given_path, metavar="T.jsonl", help="The tables, a JSON object a line."
        ),
    ],
    queries: Annotated[
        Path,
        typer.Option(
            parser=given_path, metavar="Q.jsonl", help="The questions, a JSON object a line."
        ),
    ],
    k: Annotated[int | None, typer.Option("-k", "--k", help="Tables of an answer.")] = None,
    n: Annotated[
        int | None, typer.Option("-n", "--n", help="Candidates a side: n times k.")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="Weight of words against meaning: 1 is words only.")
    ] = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Index tables apart from everything else, ask the questions, and say how well they fared."""
    loaded = load(context, home, config)
    from pneuma_assets.core.bench.reading import read_files
    from pneuma_assets.core.bench.run import run as run_bench

    dataset = read_files(tables, queries)
    with showing_progress(lasting=False):
        outcome = run_bench(loaded.deployment, dataset, {"k": k, "n": n, "alpha": alpha})
    if as_json:
        print_json(outcome)
    else:
        print_table(["figure", "value"], [[name, str(value)] for name, value in outcome.items()])
