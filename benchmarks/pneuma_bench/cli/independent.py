"""`pneuma-bench independent`: all tables that answer made questions, and their cells."""

from pathlib import Path
from typing import Annotated

import typer

from pneuma_assets.cli.options import JsonOption, given_path
from pneuma_assets.cli.output import counted, print_json, print_line, print_table, showing_progress
from pneuma_bench.cli.shared import QueriesOption, app


@app.command()
def independent(
    tables: Annotated[
        Path,
        typer.Option(parser=given_path, metavar="T.jsonl", help="Tables, a JSON object a line."),
    ],
    queries: QueriesOption,
    out: Annotated[
        Path, typer.Option(parser=given_path, metavar="C.jsonl", help="The file to write.")
    ],
    rows: Annotated[
        int, typer.Option(min=1, max=100_000, help="Most rows that a table may answer with.")
    ] = 1_000,
    as_json: JsonOption = False,
) -> None:
    """Run the SQL of made questions on all tables, and write which answer, with their cells.

    No model is asked. The questions are those of `pneuma-bench generate`.
    """
    from pneuma_bench.discovery.independent import independent_benchmark
    from pneuma_bench.discovery.records import read_discovery, write_discovery
    from pneuma_bench.files import check_writable
    from pneuma_bench.reading import read_tables

    check_writable(out)
    with showing_progress():
        found = independent_benchmark(read_tables(tables), read_discovery(queries), rows)
        write_discovery(out, found.kept)
    if as_json:
        changed = {"more": found.more, "fewer": found.fewer}
        told = {"kept": len(found.kept), "left_out": found.left_out, "tables": found.tables}
        print_json(told | changed)
        return
    print_line(f"{counted(len(found.kept), 'question', 'questions')} written to {out}")
    for reason, number in found.left_out.items():
        print_line(f"left out: {counted(number, 'question', 'questions')}: {reason}")
    print_line(
        f"{found.more:,} are answered by tables that {queries.name} does not name, {found.fewer:,} "
        "not by all that it names"
    )
    shown = [[f"{several:,}", f"{number:,}"] for several, number in found.tables.items()]
    print_table(["tables that answer", "questions"], shown, numbers=["questions"])
