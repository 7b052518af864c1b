"""Every figure of section 7 that can be measured here, by its number, and why others cannot."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

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
_PARTS = (16, 8, 4, 2, 1)
_SOLO = "Solo is no package that can be installed."
_COSTS = {
    "seconds to index": "seconds",
    "bytes": "size_bytes",
    "texts": "documents",
    "vectors": "vectors",
    "questions a second": "questions_a_second",
}
Settings = Mapping[str, Given]
_WORDS_AND_MEANING: Settings = {
    "words alone": {"alpha": 1.0, "n": 5},
    "meaning alone": {"alpha": 0.0, "n": 5},
    "both, alpha .5": SIDES,
    _ALL: {},
}
_DESCRIBED: Settings = {
    "names alone": {"narration.facts": False},
    "names and values spelt out": {},
}
_NO_MODEL = (
    'No model described the columns: "names and values spelt out" is what this project says of a '
    "column without one."
)
_WITHOUT: Settings = {
    "nothing left out": {},
    **{f"without {kind}": {"without": [kind]} for kind in
       ("schema", "rows", "context", "names", "values")},
}  # fmt: skip


def _rates(
    options: PageOptions, sets: Iterable[tuple[str, BenchSet, str | None]], hit: int, panel: str
) -> Iterator[Point]:
    """Yield the hit rate of every contestant on sets, or on a sort of their questions."""
    for name, one, kind in sets:
        (series, cell), *others = options.timed(one)
        yield Point(panel, series, name, cell, rate(hit, kind))
        yield Point(panel, TWO_SIDES, name, options.ours(SIDES, one, hit), rate(hit, kind))
        for other, its in others:
            yield Point(panel, other, name, its, rate(hit, kind))


def _all_questions(options: PageOptions) -> Iterator[Point]:
    for hit in (1, 5):
        sets = ((one.name, one, None) for one in options.sets)
        yield from _rates(options, sets, hit, f"k = {hit}")


def _of_kind(kind: str, options: PageOptions) -> Iterator[Point]:
    sets = ((one.name, one, kind) for one in options.sets if kind in one.kinds)
    return _rates(options, sets, 1, "")


def _sizes(options: PageOptions) -> Sequence[BenchSet]:
    """Return one set cut to a sixteenth, an eighth, ... of its tables, and whole."""
    named = [one for one in options.sets if one.name == options.scaled]
    one = max(named or options.sets, key=lambda one: len(one.dataset.tables))
    cuts = [one.cut(max(1, round(len(one.dataset.tables) / part))) for part in _PARTS]
    return [cut for cut in cuts if cut.dataset.questions]


def _speed(options: PageOptions) -> Iterator[Point]:
    for one in _sizes(options):
        for series, cell in options.timed(one):
            tables = float(len(one.dataset.tables))
            yield Point("", series, tables, cell, fact("questions_a_second"))


def _storage(options: PageOptions) -> Iterator[Point]:
    for one in _sizes(options):
        for series, cell in options.timed(one):
            tables = f"{len(one.dataset.tables):,}"
            yield Point("", series, tables, cell, fact("size_bytes"), fact("seconds"))


def _costs(options: PageOptions) -> Iterator[Point]:
    for one in options.sets:
        panel = f"{one.name}, {len(one.dataset.tables):,} tables"
        for series, cell in options.timed(one):
            for heading, name in _COSTS.items():
                yield Point(panel, series, heading, cell, fact(name))


def _bars(
    options: PageOptions, sets: Sequence[BenchSet], settings: Settings, more: Given, k: int = 1
) -> Iterator[Point]:
    """Yield the hit rate at 1 of settings beside each other, on every sort of questions."""
    for series, one, kind in wards(sets):
        for name, given in settings.items():
            if given.get("without") != ["context"] or any(one.dataset.contexts.values()):
                cell = options.ours({**more, **given}, one, k)
                yield Point("", name, series, cell, rate(1, kind))


_Values = dict[float, tuple[Given, int]]
"""What is asked at each place along the x axis, and k."""


def _lines(options: PageOptions, panels: Mapping[str, _Values]) -> Iterator[Point]:
    """Yield hit rates over a number."""
    for panel, values in panels.items():
        for series, one, kind in wards(options.varying):
            for x, (given, k) in values.items():
                yield Point(panel, series, x, options.ours(given, one, k), rate(k, kind))


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


def _texts(options: PageOptions) -> Iterator[Point]:
    for one in _bare(options):
        for name, given in _contents(options).items():
            if name in ("columns and 5 rows", "all rows"):
                cell = options.ours({**SIDES, **given}, one, 1)
                yield Point("", name, one.name, cell, fact("documents"))


_ALPHAS: _Values = {step / 10: ({"alpha": step / 10, "n": 5}, 1) for step in range(11)}
_DEPTHS: Mapping[str, _Values] = {
    way: {k: (given, k) for k in (1, 5, 10, 30, 50)} for way, given in ((_TWO, SIDES), (_ALL, {}))
}
_BOTH_SIDES: Given = {"alpha": 0.5}
_CANDIDATES: Mapping[str, _Values] = {
    way: {n: ({**given, "n": n}, 1) for n in (1, 5, 10, 15, 20)}
    for way, given in ((_TWO, _BOTH_SIDES), (_ALL, {}))
}


class _Told(NamedTuple):
    """A figure without its number; `said` is formatted with the options' values."""

    title: str
    shape: str
    x: str
    y: str
    points: Callable[[PageOptions], Iterable[Point]]
    said: Sequence[str] = ()
    empty: str = ""


_NO_KIND = "No set that was given has questions of the kind {}."
FIGURES: Mapping[str, _Told] = {
    "6": _Told(
        "Hit rate, all questions", "bars", "set", RATE, _all_questions,
        ["The paper's k counts texts, this one tables. Only the two sides have candidates by k.",
         "Every row is embedded, and other packages are asked, of {compared}: both take long.",
         _SOLO],
    ),
    "7": _Told(
        "Hit rate, context questions, k = 1", "bars", "set", RATE, partial(_of_kind, "context"),
        [_SOLO], _NO_KIND.format("context"),
    ),
    "8": _Told(
        "Hit rate, content questions, k = 1", "bars", "set", RATE, partial(_of_kind, "content"),
        [_SOLO], _NO_KIND.format("content"),
    ),
    "9": _Told(
        "Questions a second", "lines", "tables", "questions a second", _speed,
        ["100 questions one by one, k = 10, mean of {rounds} rounds; models were loaded before.",
         _SOLO],
    ),
    "10": _Told(
        "Indexing time and storage", "points", "seconds to index", "bytes", _storage,
        ["Without a language model; each contestant embedded every text anew."],
    ),
    "costs": _Told("Storage and time of every set", "table", "", "", _costs),
    "11": _Told(
        "What stands for a table's content, k = 1", "bars", "set", RATE,
        lambda options: _bars(options, _bare(options), _contents(options), SIDES),
        ["Names of tables and documents about them are left out, as in the paper.",
         '"all rows" are at most {most_rows:,} a table.', _NO_MODEL],
    ),
    "12": _Told(
        "Number of texts", "bars", "set", "texts", _texts,
        ["All columns of a table are one text here; the paper counts each."],
    ),
    "table 2": _Told(
        "Words, meaning, and both, k = 1", "bars", "set", RATE,
        lambda options: _bars(options, options.varying, _WORDS_AND_MEANING, {}),
    ),
    "14": _Told(
        "Alpha, k = 1, n = 5", "lines", "alpha", RATE,
        lambda options: _lines(options, {"": _ALPHAS}),
    ),
    "15": _Told("k", "lines", "k", RATE, lambda options: _lines(options, _DEPTHS)),
    "16": _Told("n, k = 1", "lines", "n", RATE, lambda options: _lines(options, _CANDIDATES)),
    "17": _Told(
        "Who describes the columns, k = 1", "bars", "set", RATE,
        lambda options: _bars(options, options.varying, _DESCRIBED, SIDES), [_NO_MODEL],
    ),
    "19": _Told(
        "Hit rate, questions in the tables' own words, k = 1", "bars", "set", RATE,
        lambda options: _rates(options, wards(options.keywords), 1, ""),
        [_SOLO], "No set of such questions was given (--keywords).",
    ),
    "parts": _Told(
        "This project without a part of it, hit rate at 1", "bars", "set", RATE,
        lambda options: _bars(options, options.varying, _WITHOUT, {}, 10),
        ["All signals, k = 10; `context` is what people wrote, `values` the words of all rows."],
    ),
}  # fmt: skip
NOT_HERE = (
    "Figure 13 (judges) is not measured: no model at hand judges, and the weights of the paper's "
    "rerankers (BGE, Stella) are not; `pneuma-bench ablate` compares `judge.model`.",
    "Figure 18 (a narrator that hallucinates, by its temperature) is not measured: models are "
    "asked greedily here, by promise, and there is no temperature to raise.",
    "BIRD (figure 8b) is not at hand.",
)


def figure_of(number: str, options: PageOptions) -> PaperFigure:
    """Return a figure, of which measurements it is made, and what must be said of it."""
    told = FIGURES[number]
    points = [*told.points(options)]
    compared = f"{', '.join(options.compared)} alone" if options.compared else "all sets"
    values = {"compared": compared, "rounds": options.rounds, "most_rows": options.most_rows}
    said = [one.format(**values) for one in told.said]
    said = [told.empty] if told.empty and not points else said
    return PaperFigure(number, told.title, told.shape, told.x, told.y, points, said)


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
