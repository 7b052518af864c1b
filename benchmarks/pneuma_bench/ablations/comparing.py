"""Figures 6 to 10 and 19: this project beside other retrievers."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from pneuma_bench.ablations.cells import BenchSet, Cell
from pneuma_bench.ablations.contestants import Contestant, OurSearch
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
from pneuma_bench.ablations.whole_tables import (
    RowVectors,
    WholeTableVectors,
    WholeTableWords,
)
from pneuma_bench.settings import setting_of

OURS, TWO_SIDES = "this project", "this project, the paper's two sides"
_K = 10
_PARTS = (16, 8, 4, 2, 1)
_SOLO = "Solo is no package that can be installed."


def figure_6(options: PageOptions) -> PaperFigure:
    """Hit rates over all questions."""
    points = [
        point
        for hit in (1, 5)
        for one in options.sets
        for point in _rates(options, one, hit, None, f"k = {hit}")
    ]
    said = [
        "The paper's k counts texts, this one tables. Only the two sides have candidates by k.",
        *_of_compared(options),
        _SOLO,
    ]
    return PaperFigure("6", "Hit rate, all questions", "bars", "set", RATE, points, said)


def figure_7(options: PageOptions) -> PaperFigure:
    """Hit rates of context questions."""
    return _of_kind(options, "7", "context")


def figure_8(options: PageOptions) -> PaperFigure:
    """Hit rates of content questions."""
    return _of_kind(options, "8", "content")


def figure_9(options: PageOptions) -> PaperFigure:
    """Questions a second over the number of tables."""
    points = [
        Point("", series, float(len(one.dataset.tables)), cell, Fact("questions_a_second"))
        for one in _sizes(options)
        for series, cell in timed_cells(options, one)
    ]
    said = [
        f"100 questions one by one, k = {_K}, mean of {options.rounds} rounds; models were loaded "
        "before.",
        _SOLO,
    ]
    return PaperFigure(
        "9", "Questions a second", "lines", "tables", "questions a second", points, said,
        logarithmic=True,
    )  # fmt: skip


def figure_10(options: PageOptions) -> PaperFigure:
    """Seconds of indexing against bytes of what is kept."""
    points = [
        Point("", series, f"{len(one.dataset.tables):,}", cell, Fact("size_bytes"), Fact("seconds"))
        for one in _sizes(options)
        for series, cell in timed_cells(options, one)
    ]
    said = ["Without a language model; each contestant embedded every text anew."]
    return PaperFigure(
        "10", "Indexing time and storage", "points", "seconds to index", "bytes", points, said,
        logarithmic=True,
    )  # fmt: skip


def figure_19(options: PageOptions) -> PaperFigure:
    """Hit rates of questions in the tables' own words."""
    points = [
        point
        for name, one, kind in wards(options.keywords)
        for point in _rates(options, one, 1, kind, "", name)
    ]
    said = [_SOLO] if points else ["No set of such questions was given (--keywords)."]
    return PaperFigure(
        "19", "Hit rate, questions in the tables' own words, k = 1", "bars", "set", RATE,
        points, said,
    )  # fmt: skip


def costs(options: PageOptions) -> PaperFigure:
    """Storage, indexing time and query time of every set."""
    columns = (
        ("seconds to index", "seconds"),
        ("bytes", "size_bytes"),
        ("texts", "documents"),
        ("vectors", "vectors"),
        ("questions a second", "questions_a_second"),
    )
    points = [
        Point(f"{one.name}, {len(one.dataset.tables):,} tables", series, heading, cell, Fact(fact))
        for one in options.sets
        for series, cell in timed_cells(options, one)
        for heading, fact in columns
    ]
    return PaperFigure("costs", "Storage and time of every set", "table", "", "", points)


def timed_cells(options: PageOptions, one: BenchSet) -> Iterator[tuple[str, Cell]]:
    """Yield every contestant with its measurement on a set, times included."""
    for make in _contestants(options, one):
        yield make().name, Cell(make, one, _K, options.rounds, options.load)


def _contestants(options: PageOptions, one: BenchSet) -> list[Callable[[], Contestant]]:
    setting = setting_of(options.deployment, {})
    usual: list[Callable[[], Contestant]] = [
        lambda: OurSearch(OURS, setting, options.labs, fresh=True),
        WholeTableWords,
        lambda: WholeTableVectors(options.encoder),
    ]
    if not options.compares(one):
        return usual
    rows = partial(RowVectors, options.encoder, options.most_rows)
    return [*usual, rows, *options.others]


def _rates(
    options: PageOptions, one: BenchSet, hit: int, kind: str | None, panel: str, name: str = ""
) -> Iterator[Point]:
    """Yield the hit rate of every contestant on a set."""
    (series, cell), *others = timed_cells(options, one)
    x, rate = name or one.name, Rate(hit, kind)
    yield Point(panel, series, x, cell, rate)
    yield Point(panel, TWO_SIDES, x, options.ours(TWO_SIDES, SIDES, one, hit), rate)
    for other, its in others:
        yield Point(panel, other, x, its, rate)


def _of_compared(options: PageOptions) -> list[str]:
    if not options.compared:
        return []
    return [
        f"Every row is embedded, and other packages are asked, of {', '.join(options.compared)} "
        "alone: both take long."
    ]


def _of_kind(options: PageOptions, number: str, kind: str) -> PaperFigure:
    asked = [one for one in options.sets if kind in one.kinds]
    points = [point for one in asked for point in _rates(options, one, 1, kind, "")]
    said = [_SOLO] if points else [f"No set that was given has questions of the kind {kind}."]
    title = f"Hit rate, {kind} questions, k = 1"
    return PaperFigure(number, title, "bars", "set", RATE, points, said)


def _sizes(options: PageOptions) -> Sequence[BenchSet]:
    """Return one set cut to a sixteenth, an eighth, ... of its tables, and whole."""
    named = [one for one in options.sets if one.name == options.scaled]
    one = max(named or options.sets, key=lambda one: len(one.dataset.tables))
    total = len(one.dataset.tables)
    cuts = [one.cut(max(1, round(total / part))) for part in _PARTS]
    return [cut for cut in cuts if cut.dataset.questions]
