"""`pneuma-bench target`: the TARGET benchmark's data, retriever and needle."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.options import command
from pneuma_assets.cli.output import counted, print_line, print_table, showing_progress
from pneuma_bench.cli.shared import (
    KeepOption,
    NarrateOption,
    QueriesOption,
    SeedOption,
    SetOption,
    TablesOption,
    narrating,
    path,
    settings_of,
    short,
)
from pneuma_bench.cli.shared import app as bench_app

if TYPE_CHECKING:
    from pneuma_assets.workspace import Workspace

app = typer.Typer(rich_markup_mode=None, help="Take part in the TARGET benchmark.")
bench_app.add_typer(app, name="target")


@app.command()
def write(
    tables: TablesOption,
    queries: QueriesOption,
    out: Annotated[Path, path("DIR", "The folder to write to.")],
    split: Annotated[str, typer.Option(help="What the package is to take it for.")] = "validation",
) -> None:
    """Write a set in TARGET's format, for its package."""
    from pneuma_bench.reading import read_files
    from pneuma_bench.target.writing import write_target

    dataset = read_files(tables, queries)
    corpus, asked, number = write_target(dataset, out, split)
    print_line(f"{counted(len(dataset.tables), 'table', 'tables')} written to {corpus}")
    print_line(f"{counted(number, 'question', 'questions')} written to {asked}")
    if left_out := len(dataset.questions) - number:
        gone = counted(left_out, "question", "questions")
        print_line(f"left out: {gone} that no table answers")


@app.command()
@command
def serve(
    workspace: "Workspace",
    keep: Annotated[Path | None, path("DIR", "Keep embeddings and indexes here.")] = None,
    narrate: NarrateOption = False,
    more: SetOption = None,
) -> None:
    """Answer the package's retriever: requests on standard input, replies on standard output."""
    from pneuma_bench.lab import Lab
    from pneuma_bench.settings import setting_of
    from pneuma_bench.target.serving import TargetServer
    from pneuma_bench.target.serving import serve as answer

    setting = setting_of(narrating(workspace, enabled=narrate), settings_of(more))
    # Whatever else prints does so on standard error: a reply must be alone on its line.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as replies:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        with (
            showing_progress(lasting=False),
            TargetServer(setting, lambda dataset: Lab(dataset, keep)) as server,
        ):
            answer(sys.stdin.buffer, replies, server)


@app.command()
def client() -> None:
    """Print the retriever for the package's own environment; it asks `target serve`."""
    from importlib.resources import files

    text = (files("pneuma_bench.target") / "client.py").read_text(encoding="utf-8")
    sys.stdout.write(text)


@app.command()
@command
def needle(
    workspace: "Workspace",
    tables: TablesOption,
    queries: QueriesOption,
    keep: KeepOption,
    size: Annotated[list[int], typer.Option(min=1, help="How many tables; again for more.")],
    hay: Annotated[list[Path] | None, path("T.jsonl", "Other tables; again for more.")] = None,
    questions: Annotated[int, typer.Option(min=1, help="The first of them are asked.")] = 100,
    seed: SeedOption = 0,
    more: SetOption = None,
) -> None:
    """Ask the same questions of ever more tables; what was measured is kept."""
    from pneuma_bench.lab import Lab
    from pneuma_bench.measure import compare
    from pneuma_bench.reading import read_files, read_tables
    from pneuma_bench.settings import setting_of
    from pneuma_bench.target.haystack import haystack

    setting = setting_of(narrating(workspace, enabled=False), settings_of(more))
    dataset = read_files(tables, queries, hide_names=True)
    others = [read_tables(one, hide_names=True) for one in hay or ()]
    shown = []
    for one in sorted(size):
        among = haystack(dataset, others, questions, one, seed)
        with showing_progress(), Lab(among, keep) as lab:
            outcome = compare(lab, {"needle": setting})[0].outcome
        facts, values = outcome.facts, outcome.figures.values
        row = [f"{one:,}", short(values["R@1"]), short(values["R@10"]), f"{facts['ms_cpu']:.1f}"]
        shown.append([*row, f"{facts['index_bytes'] / 1e6:,.1f}"])
    headings = ["tables", "R@1", "R@10", "CPU ms a question", "MB on disk"]
    print_table(headings, shown, numbers=headings)
