"""Figures 11 to 17 and table 2: this project's own settings, varied as the paper varies its own."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from pneuma_bench.ablations.cells import BenchSet, bench_set
from pneuma_bench.ablations.figures import (
    RATE,
    SIDES,
    Fact,
    PageOptions,
    PaperFigure,
    Point,
    Rate,
    wards,
)

_ALPHAS = tuple(step / 10 for step in range(11))
_DEPTHS = (1, 5, 10, 30, 50)
_CANDIDATES = (1, 5, 10, 15, 20)
_TWO, _ALL = "two sides", "all signals"
_NAMES_ALONE = {"narration.facts": False}
_WITHOUT_NARRATORS = (
    'No model described the columns (--narrator): "names and values spelt out" is what this '
    "project says of a column without one."
)

Given = dict[str, Any]


def table_2(options: PageOptions) -> PaperFigure:
    """One side of the search, the other, and both."""
    sides: dict[str, Given] = {
        "words alone": {"alpha": 1.0, "n": 5},
        "meaning alone": {"alpha": 0.0, "n": 5},
        "both, alpha .5": SIDES,
        _ALL: {},
    }
    points = [
        Point("", name, series, options.ours(name, given, one, 1), Rate(1, kind))
        for series, one, kind in wards(options.varying)
        for name, given in sides.items()
    ]
    return PaperFigure("table 2", "Words, meaning, and both, k = 1", "bars", "set", RATE, points)


def figure_11(options: PageOptions) -> PaperFigure:
    """What stands for a table's content; without names of tables and without documents."""
    points = [
        Point("", name, series, options.ours(name, SIDES | given, one, 1), Rate(1, kind))
        for series, one, kind in wards([_bare(one) for one in options.varying])
        for name, given in _summaries(options, one)
    ]
    said = [
        "Names of tables and documents about them are left out, as in the paper.",
        f'"all rows" are at most {options.most_rows:,} a table.',
    ]
    return PaperFigure(
        "11", "What stands for a table's content, k = 1", "bars", "set", RATE, points,
        [*said, *_of_narrators(options)],
    )  # fmt: skip


def figure_12(options: PageOptions) -> PaperFigure:
    """How many texts stand for the tables."""
    shown = ("columns and 5 rows", "all rows")
    points = [
        Point("", name, one.name, options.ours(name, SIDES | given, one, 1), Fact("documents"))
        for one in map(_bare, options.varying)
        for name, given in _summaries(options, one)
        if name in shown
    ]
    said = ["All columns of a table are one text here; the paper counts each."]
    return PaperFigure("12", "Number of texts", "bars", "set", "texts", points, said)


def figure_13(options: PageOptions) -> PaperFigure:
    """With and without a judge."""
    judges: dict[str, Given] = {
        judge: {"judge": True, "judge.model": judge} for judge in options.judges
    }
    some = [one.spread(options.judged) for one in options.varying] if judges else []
    asked: dict[str, Given] = {"no judge": {}, **judges}
    points = [
        Point("", name, series, options.ours(name, SIDES | given, one, 1), Rate(1, kind))
        for series, one, kind in wards(some)
        for name, given in asked.items()
    ]
    said = [
        f"Of each set {options.judged} questions, five candidates each." if judges
        else "No model judged (--judge).",
        "The paper's rerankers (BGE, Stella) are not measured: their weights are not at hand.",
    ]  # fmt: skip
    return PaperFigure("13", "Judges, k = 1", "bars", "set", RATE, points, said)


def figure_14(options: PageOptions) -> PaperFigure:
    """How much the words' side counts."""
    points = [
        Point(
            "", series, alpha, options.ours(series, {"alpha": alpha, "n": 5}, one, 1), Rate(1, kind)
        )
        for series, one, kind in wards(options.varying)
        for alpha in _ALPHAS
    ]
    return PaperFigure("14", "Alpha, k = 1, n = 5", "lines", "alpha", RATE, points)


def figure_15(options: PageOptions) -> PaperFigure:
    """How many tables are returned."""
    points = [
        Point(panel, series, float(k), options.ours(series, given, one, k), Rate(k, kind))
        for panel, given in ((_TWO, SIDES), (_ALL, {}))
        for series, one, kind in wards(options.varying)
        for k in _DEPTHS
    ]
    return PaperFigure("15", "k", "lines", "k", RATE, points)


def figure_16(options: PageOptions) -> PaperFigure:
    """How many candidates each side brings."""
    points = [
        Point(
            panel, series, float(n), options.ours(series, {**given, "n": n}, one, 1), Rate(1, kind)
        )
        for panel, given in ((_TWO, {"alpha": 0.5}), (_ALL, {}))
        for series, one, kind in wards(options.varying)
        for n in _CANDIDATES
    ]
    return PaperFigure("16", "n, k = 1", "lines", "n", RATE, points)


def figure_17(options: PageOptions) -> PaperFigure:
    """Who describes the columns."""
    points = [
        Point("", name, series, options.ours(name, SIDES | given, one, 1), Rate(1, kind))
        for series, one, kind in wards(options.varying)
        for name, given in _described(options, one).items()
    ]
    return PaperFigure(
        "17", "Who describes the columns, k = 1", "bars", "set", RATE, points,
        _of_narrators(options),
    )  # fmt: skip


def parts(options: PageOptions) -> PaperFigure:
    """Each kind of document left out of this project's own search."""
    kinds = ("schema", "rows", "context", "names", "values")
    left: dict[str, Given] = {"nothing left out": {}}
    left |= {f"without {kind}": {"without": [kind]} for kind in kinds}
    points = [
        Point("", name, series, options.ours(name, given, one, 10), Rate(1, kind))
        for series, one, kind in wards(options.varying)
        for name, given in left.items()
        if given.get("without") != ["context"] or any(one.dataset.contexts.values())
    ]
    said = ["All signals, k = 10; `context` is what people wrote, `values` the words of all rows."]
    return PaperFigure(
        "parts", "This project without a part of it, hit rate at 1", "bars", "set", RATE,
        points, said,
    )  # fmt: skip


def _bare(one: BenchSet) -> BenchSet:
    """Return a set of which nothing is known but columns and rows."""
    return bench_set(one.name, replace(one.dataset, names={}, contexts={}))


def _described(options: PageOptions, one: BenchSet) -> dict[str, Given]:
    by_models: dict[str, Given] = {
        f"described by {model}": {"narration.model": model}
        for model in (options.narrators if options.narrates(one) else ())
    }
    return {"names alone": _NAMES_ALONE, "names and values spelt out": {}, **by_models}


def _summaries(options: PageOptions, one: BenchSet) -> Iterator[tuple[str, Given]]:
    yield "5 rows", {"kinds": ["rows"]}
    for name, given in _described(options, one).items():
        yield f"columns, {name}", {**given, "kinds": ["schema"]}
    yield "all rows", {"kinds": ["rows"], "sampling.rows": options.most_rows}
    yield "columns and 5 rows", {"kinds": ["schema", "rows"]}


def _of_narrators(options: PageOptions) -> Sequence[str]:
    if not options.narrators:
        return [_WITHOUT_NARRATORS]
    if options.narrated:
        return [f"Models described the columns of {', '.join(options.narrated)} alone."]
    return []
