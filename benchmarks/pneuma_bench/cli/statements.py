"""`pneuma-bench statements`: true and false statements about tables."""

from pathlib import Path
from typing import Annotated

import typer

from pneuma_assets.cli.options import JsonOption, given_path
from pneuma_assets.cli.output import print_json, print_line, showing_progress
from pneuma_bench.cli.shared import app


@app.command()
def statements(
    tables: Annotated[
        Path,
        typer.Option(parser=given_path, metavar="T.jsonl", help="Tables, a JSON object a line."),
    ],
    out: Annotated[
        Path, typer.Option(parser=given_path, metavar="Q.jsonl", help="The file to write.")
    ],
    number: Annotated[int, typer.Option(min=2, max=100_000, help="How many.")] = 400,
    seed: Annotated[int, typer.Option(help="Decides which.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Make statements about these tables, half of them false, for tasks that verify facts.

    No model is asked: queries are drawn by chance and run, and their results put in plain words.
    """
    from pneuma_bench.reading import read_tables
    from pneuma_bench.target.statements import statements_about, write_statements

    with showing_progress():
        made = statements_about(read_tables(tables), number, seed)
        write_statements(out, made)
    true = sum(one.is_true for one in made)
    if as_json:
        print_json({"statements": len(made), "true": true})
        return
    print_line(f"{len(made):,} statements written to {out}, {true:,} of them true")
    if len(made) < number:
        print_line(f"{number:,} were asked for; these tables give no more")
