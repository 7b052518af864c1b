"""Writes the figures as one page of Markdown, each with its table and its plot."""

import math
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.text.safe import printable
from pneuma_bench.ablations.all_figures import FIGURES, NOT_HERE
from pneuma_bench.ablations.cells import BenchSet, run
from pneuma_bench.ablations.contestants import Measured
from pneuma_bench.ablations.figures import Filled, PageOptions, Shown, fill
from pneuma_bench.ablations.plots import colours_of, draw
from pneuma_bench.files import check_writable, whole

_COUNTED = 100
"""From here on a number is shown whole."""


def reproduce(
    options: PageOptions,
    figures: Sequence[str],
    folder: Path,
    out: Path,
    notes: Sequence[str] = (),
    *,
    kept_only: bool = False,
) -> list[Filled]:
    """Measure what was not measured yet, and write the page and its plots.

    Args:
        options: Sets, models and contestants.
        figures: Their numbers, from `all_figures.chosen`.
        folder: Keeps measurements; killed, the next call goes on with them.
        out: The page; plots go into a folder beside it that is called as it is.
        notes: Sentences to stand above the figures.
        kept_only: The page is of what was measured before; nothing is measured now.

    Raises:
        BenchmarkError: The folder or the page cannot be written; of the page it is told before
            anything is measured.
    """
    pictures = out.parent / out.stem
    _check_page(out, pictures)
    made = [FIGURES[number](options) for number in figures]
    cells = [point.cell for figure in made for point in figure.points]
    results = run(cells, folder, kept_only=kept_only)
    filled = [fill(figure, results) for figure in made]
    about = {
        cell.make().name: found.facts["about"]
        for cell in cells
        if isinstance(found := results[cell.key], Measured) and cell.rounds
    }
    lines, colours = [*_head(options, notes, about)], colours_of(filled)
    for one in filled:
        drawn = draw(pictures / f"{one.figure.name}.svg", one, colours)
        picture = f"{pictures.name}/{one.figure.name}.svg" if drawn else ""
        lines += _section(one, picture)
    lines += ["## Not measured", "", *(f"- {line}" for line in NOT_HERE)]
    with whole(out) as stream:
        stream.write(("\n".join(lines).rstrip() + "\n").encode("utf-8"))
    return filled


def _check_page(out: Path, pictures: Path) -> None:
    """Refuse a page, or a folder of plots beside it, that could not be written in the end."""
    check_writable(out)
    if pictures == out:
        raise BenchmarkError(f"{out} must have an ending, such as {out.name}.md; plots go there")
    if pictures.exists() and not pictures.is_dir():
        raise BenchmarkError(f"{pictures} is no folder, and plots go there; rename one of the two")


def _head(options: PageOptions, notes: Sequence[str], about: dict[str, str]) -> Iterator[str]:
    yield "# The paper's figures, measured here"
    yield ""
    yield (
        "Written by `pneuma-bench paper` ([how](README.md#sets)): section "
        "7 of Pneuma's paper, on the sets below. A hit rate is the share of questions of which a "
        "right table is among the first k; in brackets its 95 % bootstrap interval."
    )
    yield ""
    yield from (f"{printable(note)}\n" for note in notes)
    yield from _table(
        ["set", "tables", "questions that a table answers", "of kinds"], map(_set_row, options.sets)
    )
    yield f"This process embeds with {printable(options.encoder.name)}, on {os.cpu_count()} cores."
    yield ""
    said = [f"- {printable(name)}: {printable(one)}" for name, one in about.items() if one]
    yield from [*said, ""] if said else []


def _set_row(one: BenchSet) -> list[str]:
    answered = [
        kind
        for kind, relevant in zip(
            one.dataset.kinds or [""] * len(one.dataset.questions),
            one.dataset.relevant,
            strict=True,
        )
        if relevant
    ]
    counts = [f"{answered.count(kind):,} {kind}" for kind in one.kinds]
    return [one.name, f"{len(one.dataset.tables):,}", f"{len(answered):,}", ", ".join(counts)]


def _section(filled: Filled, picture: str) -> Iterator[str]:
    figure = filled.figure
    heading = f"Figure {figure.number}" if figure.number.isdigit() else figure.number.capitalize()
    yield f"## {heading}: {figure.title}"
    yield ""
    if figure.said:
        yield from (*map(printable, figure.said), "")
    if picture:
        yield f"![{figure.title}]({picture})"
        yield ""
    for panel in dict.fromkeys(one.point.panel for one in filled.shown):
        shown = [one for one in filled.shown if one.point.panel == panel]
        if panel:
            yield f"**{printable(panel)}**"
            yield ""
        yield from _points(shown) if figure.shape == "points" else _crossed(shown)
    reasons: dict[str, list[str]] = {}
    for one in filled.shown:
        if one.missing:
            reasons.setdefault(f"{one.point.series}: {one.missing}", []).append(_place(one.point.x))
    for reason, places in reasons.items():
        yield f"- not measured ({', '.join(dict.fromkeys(places))}): {printable(reason)}"
    if reasons:
        yield ""


def _crossed(shown: Sequence[Shown]) -> Iterator[str]:
    """Yield a table of series by places."""
    places = [*dict.fromkeys(one.point.x for one in shown)]
    series = [*dict.fromkeys(one.point.series for one in shown)]
    by_spot = {(one.point.series, one.point.x): one for one in shown}
    wide = len(places) > 6
    rows = [
        [name, *(_cell(by_spot.get((name, place)), wide=wide) for place in places)]
        for name in series
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
    if wide:
        return _rate(one.value)
    return f"{_rate(one.value)} ({_rate(one.interval.low)} to {_rate(one.interval.high)})"


def _place(place: str | float) -> str:
    return place if isinstance(place, str) else f"{place:g}"


def _rate(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)


def _number(value: float) -> str:
    if math.isnan(value):
        return ""
    return f"{value:,.0f}" if value >= _COUNTED or value == int(value) else f"{value:.3g}"


def _table(
    headings: Sequence[str], rows: Iterator[list[str]] | Sequence[list[str]]
) -> Iterator[str]:
    yield f"| {' | '.join(map(_escaped, headings))} |"
    yield f"| {' | '.join('---' for _ in headings)} |"
    for row in rows:
        yield f"| {' | '.join(map(_escaped, row))} |"
    yield ""


def _escaped(text: str) -> str:
    return printable(text).replace("\\", "\\\\").replace("|", "\\|")
