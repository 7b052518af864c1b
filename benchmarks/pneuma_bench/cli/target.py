"""`pneuma-bench target`: the TARGET benchmark's data, retriever and needle."""

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import counted, print_json, print_line, print_table, showing_progress
from pneuma_bench.cli.ablate import check_plot
from pneuma_bench.cli.shared import QueriesOption, listed, narrating, settings_of
from pneuma_bench.cli.shared import app as bench_app

if TYPE_CHECKING:
    from pneuma_bench.target.curve import Point


app = typer.Typer(rich_markup_mode=None, help="Take part in the TARGET benchmark.")
bench_app.add_typer(app, name="target")

TablesOption = Annotated[
    Path, typer.Option(parser=given_path, metavar="T.jsonl", help="Tables, a JSON object a line.")
]
KeepOption = Annotated[
    Path | None,
    typer.Option(parser=given_path, metavar="DIR", help="Keep embeddings and indexes here."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A key of the deployment file, or of a question."
    ),
]


@app.command()
def write(
    tables: TablesOption,
    queries: QueriesOption,
    out: Annotated[
        Path, typer.Option(parser=given_path, metavar="DIR", help="The folder to write to.")
    ],
    split: Annotated[str, typer.Option(help="What the package is to take it for.")] = "validation",
) -> None:
    """Write a set in TARGET's format, for its package."""
    from pneuma_bench.reading import read_files
    from pneuma_bench.target.writing import write_target

    dataset = read_files(tables, queries)
    files = write_target(dataset, out, split)
    print_line(f"{counted(len(dataset.tables), 'table', 'tables')} written to {files.corpus}")
    print_line(f"{counted(files.questions, 'question', 'questions')} written to {files.queries}")
    if files.left_out:
        gone = counted(files.left_out, "question", "questions")
        print_line(f"left out: {gone} that no table answers")


@app.command()
def serve(
    context: typer.Context,
    keep: KeepOption = None,
    narrate: Annotated[
        bool, typer.Option("--narrate/--no-narrate", help="Have columns described, too.")
    ] = False,
    more: SetOption = None,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Answer the package's retriever: requests on standard input, replies on standard output."""
    loaded = load(context, home, config)
    from pneuma_bench.lab import Lab
    from pneuma_bench.settings import setting_of
    from pneuma_bench.target.serving import TargetServer
    from pneuma_bench.target.serving import serve as answer

    setting = setting_of(narrating(loaded.deployment, enabled=narrate), settings_of(more or ()))
    # Whatever else prints does so on standard error: a reply must be alone on its line.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as replies:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        with (
            showing_progress(lasting=False),
            TargetServer(setting, lambda dataset: Lab(dataset, keep, os.environ)) as server,
        ):
            answer(sys.stdin.buffer, replies, server)


@app.command()
def client() -> None:
    """Print the retriever for the package's own environment; it asks `target serve`."""
    from importlib.resources import files

    text = (files("pneuma_bench.target") / "client.py").read_text(encoding="utf-8")
    sys.stdout.write(text)


@app.command()
def needle(
    context: typer.Context,
    tables: TablesOption,
    queries: QueriesOption,
    keep: Annotated[
        Path,
        typer.Option(
            parser=given_path, metavar="DIR", help="Keeps what was embedded and measured."
        ),
    ],
    hay: Annotated[
        list[Path] | None,
        typer.Option(
            parser=given_path, metavar="T.jsonl", help="Other real tables; again for more."
        ),
    ] = None,
    sizes: Annotated[
        list[str] | None,
        typer.Option(metavar="N,...", help="How many tables. [default: 100 to 100,000]"),
    ] = None,
    questions: Annotated[int, typer.Option(min=1, help="The first of them are asked.")] = 100,
    seed: Annotated[int, typer.Option(help="Decides which tables are made.")] = 0,
    plot: Annotated[
        Path | None,
        typer.Option(parser=given_path, metavar="FILE", help="Draw it: .png, .svg or .pdf."),
    ] = None,
    more: SetOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Ask the same questions of ever more tables: real ones first, then ones made of these.

    Each size is kept as soon as it is measured: stopped or killed, the same command goes on.
    """
    if plot is not None:
        check_plot(plot)
    loaded = load(context, home, config)
    from pneuma_bench.settings import setting_of
    from pneuma_bench.target.curve import SIZES, Curve, draw_curve, measure_curve

    setting = setting_of(narrating(loaded.deployment, enabled=False), settings_of(more or ()))
    curve = Curve(tables, queries, tuple(hay or ()), questions, seed, setting, keep)
    with showing_progress():
        points = measure_curve(curve, [*map(_size, listed(sizes) or map(str, SIZES))])
    if plot is not None:
        draw_curve(plot, points)
    if as_json:
        print_json([asdict(point) for point in points])
        return
    headings = ["tables", "real", "R@1", "R@10", "ms p50", "p95", "CPU", "MB to ask", "to index",
                "on disk", "s to index"]  # fmt: skip
    print_table(headings, [_shown(point) for point in points], numbers=headings)


def _size(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 1_000_000:
        raise UsageError(f"--sizes takes numbers of tables, 1 to 1,000,000, not {text!r}")
    return int(text)


def _shown(point: "Point") -> list[str]:
    in_mb = (point.memory_to_ask, point.memory_to_index, point.index_bytes)
    return [
        *(f"{point.tables:,}", f"{point.real:,}", f"{point.hit_1:.3f}", f"{point.hit_10:.3f}"),
        *(f"{point.ms_p50:.1f}", f"{point.ms_p95:.1f}", f"{point.ms_cpu:.1f}"),
        *(f"{number / 1e6:,.0f}" for number in in_mb),
        f"{point.seconds_to_index:,.0f}",
    ]
