"""Every figure of section 7 that can be measured here, by its number, and why others cannot."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.ablations.cells import BenchSet
from pneuma_bench.ablations.figures import (
    RATE,
    Given,
    PageOptions,
    PaperFigure,
    Point,
    fact,
    rate,
    wards,
)

SIDES: Given = {"alpha": 0.5, "n": 5}
"""The paper's own search: two sides of equal weight, five candidates a place (section 7.1)."""
TWO_SIDES = "this project, the paper's two sides"
_TWO, _ALL = "two sides", "all signals"
_K = 10
_PARTS = (16, 8, 4, 2, 1)
_SOLO = "Solo is no package that can be installed."


def _rates(
    options: PageOptions, one: BenchSet, hit: int, kind: str | None, panel: str, name: str
) -> Iterator[Point]:
    """Yield the hit rate of every contestant on a set."""
    (series, cell), *others = options.timed(one)
    yield Point(panel, series, name, cell, rate(hit, kind))
    yield Point(panel, TWO_SIDES, name, options.ours(SIDES, one, hit), rate(hit, kind))
    for other, its in others:
        yield Point(panel, other, name, its, rate(hit, kind))


def _figure_6(options: PageOptions) -> PaperFigure:
    points = [
        point
        for hit in (1, 5)
        for one in options.sets
        for point in _rates(options, one, hit, None, f"k = {hit}", one.name)
    ]
    of = f"Every row is embedded, and other packages are asked, of {', '.join(options.compared)} "
    said = [
        "The paper's k counts texts, this one tables. Only the two sides have candidates by k.",
        *([f"{of}alone: both take long."] if options.compared else []),
        _SOLO,
    ]
    return PaperFigure("6", "Hit rate, all questions", "bars", "set", RATE, points, said)


def _of_kind(number: str, kind: str, options: PageOptions) -> PaperFigure:
    asked = [one for one in options.sets if kind in one.kinds]
    points = [p for one in asked for p in _rates(options, one, 1, kind, "", one.name)]
    said = [_SOLO] if points else [f"No set that was given has questions of the kind {kind}."]
    title = f"Hit rate, {kind} questions, k = 1"
    return PaperFigure(number, title, "bars", "set", RATE, points, said)


def _figure_19(options: PageOptions) -> PaperFigure:
    named = wards(options.keywords)
    points = [p for name, one, kind in named for p in _rates(options, one, 1, kind, "", name)]
    said = [_SOLO] if points else ["No set of such questions was given (--keywords)."]
    title = "Hit rate, questions in the tables' own words, k = 1"
    return PaperFigure("19", title, "bars", "set", RATE, points, said)


def _sizes(options: PageOptions) -> Sequence[BenchSet]:
    """Return one set cut to a sixteenth, an eighth, ... of its tables, and whole."""
    named = [one for one in options.sets if one.name == options.scaled]
    one = max(named or options.sets, key=lambda one: len(one.dataset.tables))
    cuts = [one.cut(max(1, round(len(one.dataset.tables) / part))) for part in _PARTS]
    return [cut for cut in cuts if cut.dataset.questions]


def _figure_9(options: PageOptions) -> PaperFigure:
    points = [
        Point("", series, float(len(one.dataset.tables)), cell, fact("questions_a_second"))
        for one in _sizes(options)
        for series, cell in options.timed(one)
    ]
    said = [
        f"100 questions one by one, k = {_K}, mean of {options.rounds} rounds; models were loaded "
        "before.",
        _SOLO,
    ]
    y = "questions a second"
    return PaperFigure("9", "Questions a second", "lines", "tables", y, points, said)


def _figure_10(options: PageOptions) -> PaperFigure:
    points = [
        Point("", series, f"{len(one.dataset.tables):,}", cell, fact("size_bytes"), fact("seconds"))
        for one in _sizes(options)
        for series, cell in options.timed(one)
    ]
    said = ["Without a language model; each contestant embedded every text anew."]
    title, x = "Indexing time and storage", "seconds to index"
    return PaperFigure("10", title, "points", x, "bytes", points, said)


_COSTS = {
    "seconds to index": "seconds",
    "bytes": "size_bytes",
    "texts": "documents",
    "vectors": "vectors",
    "questions a second": "questions_a_second",
}


def _costs(options: PageOptions) -> PaperFigure:
    points = [
        Point(f"{one.name}, {len(one.dataset.tables):,} tables", series, heading, cell, fact(name))
        for one in options.sets
        for series, cell in options.timed(one)
        for heading, name in _COSTS.items()
    ]
    return PaperFigure("costs", "Storage and time of every set", "table", "", "", points)


Settings = Mapping[str, Given]
_WORDS_AND_MEANING: Settings = {
    "words alone": {"alpha": 1.0, "n": 5},
    "meaning alone": {"alpha": 0.0, "n": 5},
    "both, alpha .5": SIDES,
    _ALL: {},
}
_NAMES_ALONE = {"narration.facts": False}
_DESCRIBED: Settings = {"names alone": _NAMES_ALONE, "names and values spelt out": {}}
_NO_MODEL = (
    'No model described the columns: "names and values spelt out" is what this project says of a '
    "column without one."
)
_WITHOUT: Settings = {
    "nothing left out": {},
    **{f"without {kind}": {"without": [kind]} for kind in
       ("schema", "rows", "context", "names", "values")},
}  # fmt: skip


def _bars(
    options: PageOptions, sets: Sequence[BenchSet], settings: Settings, more: Given, k: int = 1
) -> list[Point]:
    """Return the hit rate at 1 of settings beside each other, on every sort of questions."""
    return [
        Point("", name, series, options.ours({**more, **given}, one, k), rate(1, kind))
        for series, one, kind in wards(sets)
        for name, given in settings.items()
        if given.get("without") != ["context"] or any(one.dataset.contexts.values())
    ]


def _lines(
    options: PageOptions, panels: Mapping[str, Mapping[float, tuple[Given, int]]]
) -> list[Point]:
    """Return hit rates over a number; of each it is said what is asked, and k."""
    return [
        Point(panel, series, x, options.ours(given, one, k), rate(k, kind))
        for panel, values in panels.items()
        for series, one, kind in wards(options.varying)
        for x, (given, k) in values.items()
    ]


def _contents(options: PageOptions) -> Settings:
    """Return what may stand for a table's content."""
    return {
        "5 rows": {"kinds": ["rows"]},
        **{f"columns, {n}": {**given, "kinds": ["schema"]} for n, given in _DESCRIBED.items()},
        "all rows": {"kinds": ["rows"], "sampling.rows": options.most_rows},
        "columns and 5 rows": {"kinds": ["schema", "rows"]},
    }


def _bare(options: PageOptions) -> list[BenchSet]:
    """Return sets of which nothing is known but columns and rows."""
    return [
        BenchSet(one.name, replace(one.dataset, names={}, contexts={})) for one in options.varying
    ]


def _table_2(options: PageOptions) -> PaperFigure:
    points = _bars(options, options.varying, _WORDS_AND_MEANING, {})
    return PaperFigure("table 2", "Words, meaning, and both, k = 1", "bars", "set", RATE, points)


def _figure_11(options: PageOptions) -> PaperFigure:
    points = _bars(options, _bare(options), _contents(options), SIDES)
    said = [
        "Names of tables and documents about them are left out, as in the paper.",
        f'"all rows" are at most {options.most_rows:,} a table.',
        _NO_MODEL,
    ]
    title = "What stands for a table's content, k = 1"
    return PaperFigure("11", title, "bars", "set", RATE, points, said)


def _figure_12(options: PageOptions) -> PaperFigure:
    points = [
        Point("", name, one.name, options.ours({**SIDES, **given}, one, 1), fact("documents"))
        for one in _bare(options)
        for name, given in _contents(options).items()
        if name in ("columns and 5 rows", "all rows")
    ]
    said = ["All columns of a table are one text here; the paper counts each."]
    return PaperFigure("12", "Number of texts", "bars", "set", "texts", points, said)


def _figure_14(options: PageOptions) -> PaperFigure:
    alphas: dict[float, tuple[Given, int]] = {
        step / 10: ({"alpha": step / 10, "n": 5}, 1) for step in range(11)
    }
    points = _lines(options, {"": alphas})
    return PaperFigure("14", "Alpha, k = 1, n = 5", "lines", "alpha", RATE, points)


def _figure_15(options: PageOptions) -> PaperFigure:
    ways: Settings = {_TWO: SIDES, _ALL: {}}
    depths = (1, 5, 10, 30, 50)
    points = _lines(options, {way: {k: (given, k) for k in depths} for way, given in ways.items()})
    return PaperFigure("15", "k", "lines", "k", RATE, points)


def _figure_16(options: PageOptions) -> PaperFigure:
    ways: Settings = {_TWO: {"alpha": 0.5}, _ALL: {}}
    candidates = (1, 5, 10, 15, 20)
    panels: dict[str, dict[float, tuple[Given, int]]] = {
        way: {n: ({**given, "n": n}, 1) for n in candidates} for way, given in ways.items()
    }
    return PaperFigure("16", "n, k = 1", "lines", "n", RATE, _lines(options, panels))


def _figure_17(options: PageOptions) -> PaperFigure:
    points = _bars(options, options.varying, _DESCRIBED, SIDES)
    title = "Who describes the columns, k = 1"
    return PaperFigure("17", title, "bars", "set", RATE, points, [_NO_MODEL])


def _parts(options: PageOptions) -> PaperFigure:
    points = _bars(options, options.varying, _WITHOUT, {}, _K)
    said = ["All signals, k = 10; `context` is what people wrote, `values` the words of all rows."]
    title = "This project without a part of it, hit rate at 1"
    return PaperFigure("parts", title, "bars", "set", RATE, points, said)


FIGURES: Mapping[str, Callable[[PageOptions], PaperFigure]] = {
    "6": _figure_6,
    "7": partial(_of_kind, "7", "context"),
    "8": partial(_of_kind, "8", "content"),
    "9": _figure_9,
    "10": _figure_10,
    "costs": _costs,
    "11": _figure_11,
    "12": _figure_12,
    "table 2": _table_2,
    "14": _figure_14,
    "15": _figure_15,
    "16": _figure_16,
    "17": _figure_17,
    "19": _figure_19,
    "parts": _parts,
}
NOT_HERE = (
    "Figure 13 (judges) is not measured: no model at hand judges, and the weights of the paper's "
    "rerankers (BGE, Stella) are not; `pneuma-bench ablate` compares `judge.model`.",
    "Figure 18 (a narrator that hallucinates, by its temperature) is not measured: models are "
    "asked greedily here, by promise, and there is no temperature to raise.",
    "BIRD (figure 8b) is not at hand.",
)


def chosen(numbers: Sequence[str]) -> list[str]:
    """Return the figures that `6,11-13,table 2` names, in the page's order; all if none is named.

    Raises:
        BenchmarkError: There is no such figure.
    """
    wanted: set[str] = set()
    for one in numbers:
        first, _, last = one.partition("-")
        named = {one} & FIGURES.keys()
        if first.isdecimal() and last.isdecimal():
            named |= {str(number) for number in range(int(first), int(last) + 1)} & FIGURES.keys()
        if not named:
            raise BenchmarkError(f"there is no figure {one!r}; use some of: {', '.join(FIGURES)}")
        wanted |= named
    return [number for number in FIGURES if number in wanted or not numbers]
