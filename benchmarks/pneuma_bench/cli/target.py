"""`pneuma-bench target`: the TARGET benchmark's data, retriever and needle."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import JsonOption
from pneuma_assets.cli.output import counted, print_json, print_line, print_table, showing_progress
from pneuma_bench.cli.shared import (
    KeepOption,
    NarrateOption,
    PlotOption,
    QueriesOption,
    SeedOption,
    SetOption,
    TablesOption,
    deployed,
    listed,
    names,
    narrating,
    path,
    settings_of,
)
from pneuma_bench.cli.shared import app as bench_app

if TYPE_CHECKING:
    from pneuma_assets.core.config.load import LoadedDeployment

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
@deployed
def serve(
    loaded: "LoadedDeployment",
    keep: Annotated[Path | None, path("DIR", "Keep embeddings and indexes here.")] = None,
    narrate: NarrateOption = False,
    more: SetOption = None,
) -> None:
    """Answer the package's retriever: requests on standard input, replies on standard output."""
    from pneuma_bench.lab import Lab
    from pneuma_bench.settings import setting_of
    from pneuma_bench.target.serving import TargetServer
    from pneuma_bench.target.serving import serve as answer

    setting = setting_of(narrating(loaded.deployment, enabled=narrate), settings_of(more))
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
@deployed
def needle(
    loaded: "LoadedDeployment",
    tables: TablesOption,
    queries: QueriesOption,
    keep: KeepOption,
    hay: Annotated[list[Path] | None, path("T.jsonl", "Other real tables; again for more.")] = None,
    sizes: Annotated[
        list[str] | None, names("N,...", "How many tables. [default: 100 to 100,000]")
    ] = None,
    questions: Annotated[int, typer.Option(min=1, help="The first of them are asked.")] = 100,
    seed: SeedOption = 0,
    plot: PlotOption = None,
    more: SetOption = None,
    as_json: JsonOption = False,
) -> None:
    """Ask the same questions of ever more tables: real ones first, then ones made of these.

    Each size is kept as soon as it is measured: stopped or killed, the same command goes on.
    """
    from pneuma_bench.settings import setting_of
    from pneuma_bench.target.curve import SIZES, Curve, draw_curve, measure_curve

    setting = setting_of(narrating(loaded.deployment, enabled=False), settings_of(more))
    curve = Curve(tables, queries, tuple(hay or ()), questions, seed, setting, keep)
    with showing_progress():
        points = measure_curve(curve, [*map(_size, listed(sizes) or map(str, SIZES))])
    if plot is not None:
        draw_curve(plot, points)
    if as_json:
        print_json(points)
    else:
        rows = [_shown(point) for point in points]
        print_table([*rows[0]], [[*row.values()] for row in rows], numbers=[*rows[0]])


def _size(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= 1_000_000:
        raise UsageError(f"--sizes takes numbers of tables, 1 to 1,000,000, not {text!r}")
    return int(text)


def _shown(point: Mapping[str, Any]) -> dict[str, str]:
    counts = {"tables": "tables", "real": "real"}
    shares = {"R@1": "hit_1", "R@10": "hit_10"}
    times = {"ms p50": "ms_p50", "p95": "ms_p95", "CPU": "ms_cpu"}
    sizes = {"MB to ask": "memory_to_ask", "to index": "memory_to_index", "on disk": "index_bytes"}
    return {
        **{name: f"{point[key]:,}" for name, key in counts.items()},
        **{name: f"{point[key]:.3f}" for name, key in shares.items()},
        **{name: f"{point[key]:.1f}" for name, key in times.items()},
        **{name: f"{point[key] / 1e6:,.0f}" for name, key in sizes.items()},
        "s to index": f"{point['seconds_to_index']:,.0f}",
    }
