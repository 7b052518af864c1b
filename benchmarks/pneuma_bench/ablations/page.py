"""Writes the figures as one page of Markdown, each with its table and its plot."""

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.text.safe import printable
from pneuma_bench.ablations.cells import BenchSet, run
from pneuma_bench.ablations.contestants import Measured
from pneuma_bench.ablations.figures import PageOptions, PaperFigure, Shown, fill
from pneuma_bench.ablations.paper_figures import NOT_HERE, figure_of
from pneuma_bench.ablations.plots import colours_of, draw
from pneuma_bench.files import write_text

_COUNTED = 100
"""From here on a number is shown whole."""
_WIDE = 6
"""Places of a table from which on there is no room for intervals."""


def reproduce(
    options: PageOptions,
    figures: Sequence[str],
    folder: Path,
    out: Path,
    notes: Sequence[str] = (),
    *,
    kept_only: bool = False,
) -> list[Shown]:
    """Measure what was not measured yet, and write the page and its plots; return all values.

    Args:
        options: Sets and contestants.
        figures: Their numbers, from `chosen`.
        folder: Keeps measurements; killed, the next call goes on with them.
        out: The page; plots go into a folder beside it that is called as it is.
        notes: Sentences to stand above the figures.
        kept_only: The page is of what was measured before; nothing is measured now.

    Raises:
        BenchmarkError: The folder or the page cannot be written.
    """
    pictures = out.with_suffix("")
    if pictures == out:
        raise BenchmarkError(f"{out} must have an ending, such as {out.name}.md; plots go there")
    made = [figure_of(number, options) for number in figures]
    cells = [point.cell for figure in made for point in figure.points]
    results = run(cells, folder, kept_only=kept_only)
    filled = [(figure, fill(figure, results)) for figure in made]
    about = {
        cell.make().name: found.facts["about"]
        for cell in cells
        if cell.rounds and isinstance(found := results[cell.key], Measured)
    }
    every = [one for _, shown in filled for one in shown]
    lines, colours = [*_head(options, notes, about)], colours_of(every)
    for figure, shown in filled:
        drawn = draw(pictures / f"{figure.name}.svg", figure, shown, colours)
        lines += _section(figure, shown, f"{pictures.name}/{figure.name}.svg" if drawn else "")
    lines += ["## Not measured", "", *(f"- {line}" for line in NOT_HERE)]
    write_text(out, "\n".join(lines).rstrip() + "\n")
    return every


def _head(options: PageOptions, notes: Sequence[str], about: dict[str, str]) -> Iterator[str]:
    yield "# The paper's figures, measured here\n"
    yield (
        "Written by `pneuma-bench paper` ([how](README.md#sets)): section "
        "7 of Pneuma's paper, on the sets below. A hit rate is the share of questions of which a "
        "right table is among the first k; in brackets its 95 % bootstrap interval.\n"
    )
    yield from (f"{printable(note)}\n" for note in notes)
    headings = ["set", "tables", "questions that a table answers", "of kinds"]
    yield from _table(headings, map(_set_row, options.sets))
    encoder = printable(options.encoder.name)
    yield f"This process embeds with {encoder}, on {os.cpu_count()} cores.\n"
    said = [f"- {printable(name)}: {printable(one)}" for name, one in about.items() if one]
    yield from [*said, ""] if said else []


def _set_row(one: BenchSet) -> list[str]:
    answered = [asked.kind for asked in one.dataset.asked if asked.relevant]
    counts = [f"{answered.count(kind):,} {kind}" for kind in one.kinds]
    return [one.name, f"{len(one.dataset.tables):,}", f"{len(answered):,}", ", ".join(counts)]


def _section(figure: PaperFigure, every: Sequence[Shown], picture: str) -> Iterator[str]:
    heading = f"Figure {figure.number}" if figure.number.isdigit() else figure.number.capitalize()
    yield f"## {heading}: {figure.title}\n"
    if figure.said:
        yield from (*map(printable, figure.said), "")
    if picture:
        yield f"![{figure.title}]({picture})\n"
    for panel in dict.fromkeys(one.point.panel for one in every):
        shown = [one for one in every if one.point.panel == panel]
        if panel:
            yield f"**{printable(panel)}**\n"
        yield from _points(shown) if figure.shape == "points" else _crossed(shown)
    reasons: dict[str, dict[str, None]] = {}
    for one in every:
        if one.missing:
            reason = f"{one.point.series}: {one.missing}"
            reasons.setdefault(reason, {})[_place(one.point.x)] = None
    for reason, places in reasons.items():
        yield f"- not measured ({', '.join(places)}): {printable(reason)}"
    yield from [""] if reasons else []


def _crossed(shown: Sequence[Shown]) -> Iterator[str]:
    """Yield a table of series by places."""
    places = [*dict.fromkeys(one.point.x for one in shown)]
    by_spot = {(one.point.series, one.point.x): one for one in shown}
    wide = len(places) > _WIDE
    rows = [
        [name, *(_cell(by_spot.get((name, place)), wide=wide) for place in places)]
        for name in dict.fromkeys(one.point.series for one in shown)
    ]
    yield from _table(["", *map(_place, places)], rows)


def _points(shown: Sequence[Shown]) -> Iterator[str]:
    """Yield a table of both sizes of every point."""
    rows = [
        [one.point.series, str(one.point.x), _number(one.across), _number(one.value)]
        for one in shown
        if not one.missing
    ]
    yield from _table(["", "tables", "seconds", "bytes"], rows)


def _cell(one: Shown | None, *, wide: bool) -> str:
    if one is None or math.isnan(one.value):
        return ""
    if one.interval is None:
        return _number(one.value)
    value, low, high = (f"{x:.3f}".replace("0.", ".", 1) for x in (one.value, *one.interval))
    return value if wide else f"{value} ({low} to {high})"


def _place(place: str | float) -> str:
    return place if isinstance(place, str) else f"{place:g}"


def _number(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if value >= _COUNTED or value == int(value) else f"{value:.3g}"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in (headings, ["---"] * len(headings), *rows):
        cells = (printable(one).replace("\\", "\\\\").replace("|", "\\|") for one in row)
        yield f"| {' | '.join(cells)} |"
    yield ""
