"""`pneuma-bench read`: made questions for people to read, and what they found."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import JsonOption, given_path
from pneuma_assets.cli.output import print_json, print_table
from pneuma_bench.cli.shared import app


@app.command()
def read(
    folder: Annotated[
        Path, typer.Argument(parser=given_path, metavar="DIR", help="What `generate` wrote.")
    ],
    sample: Annotated[int, typer.Option(min=1, help="How many questions.")] = 40,
    seed: Annotated[int, typer.Option(help="Decides which.")] = 0,
    ratings: Annotated[
        Path | None,
        typer.Option(parser=given_path, metavar="SHEET.md", help="Count this sheet's verdicts."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print a sheet of questions to read, or count the verdicts on one."""
    from pneuma_bench.generator.sheet import read_made, read_sheet, sheet_of, verdicts

    if ratings is None and as_json:
        raise UsageError("--json shows what --ratings counts; a sheet is Markdown")
    if ratings is not None:
        counted = verdicts(read_sheet(ratings))
        if as_json:
            print_json([asdict(one) for one in counted])
            return
        rows = [
            [one.verdict, str(one.number), f"{one.share:.2f}", f"{one.low:.2f} to {one.high:.2f}"]
            for one in counted
        ]
        print_table(["right", "number", "share", "95 %"], rows, numbers=["number", "share"])
        return
    files = sorted(folder.glob("*.queries.jsonl"))
    if not files:
        raise UsageError(f"{folder} has no .queries.jsonl; `pneuma-bench generate --out` writes it")
    made = [record for file in files for record in read_made(file)]
    typer.echo(sheet_of(made, sample, seed), nl=False)
