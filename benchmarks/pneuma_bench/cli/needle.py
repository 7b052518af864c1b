"""`pneuma-bench target needle`: the same questions of ever more tables."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import print_json, print_table, showing_progress
from pneuma_bench.cli.ablate import check_plot
from pneuma_bench.cli.shared import QueriesOption, listed, narrating, settings_of
from pneuma_bench.cli.target import SetOption, TablesOption, app

if TYPE_CHECKING:
    from pneuma_bench.target.curve import Point


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
    from pneuma_bench.target.curve import SIZES, Curve, measure_curve
    from pneuma_bench.target.drawing import draw_curve

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
