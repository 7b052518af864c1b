"""What a figure of the paper is here: points, each a value of one measurement; a page's options."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.evaluation.metrics import Interval
from pneuma_assets.core.models.base import Encoder
from pneuma_bench.ablations.cells import BenchSet, Cell, Results
from pneuma_bench.ablations.contestants import Contestant, Labs, Measured, OurSearch
from pneuma_bench.ablations.whole_tables import RowVectors, WholeTableVectors, WholeTableWords
from pneuma_bench.settings import setting_of

Given = Mapping[str, Any]
RATE = "hit rate"
"""What the y axis of most figures is: a share, from 0 to 1."""
OURS = "this project"
_K = 10
_LOADING = [" ".join(["ready"] * 300)] * 8
"""So many tokens that the whole encoder is loaded for them, not the part that questions need."""


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Sets and contestants of a page.

    Attributes:
        sets: Tables and questions.
        deployment: Its models, sampling, engine and weights are "this project".
        labs: Where its settings are indexed.
        keywords: Sets whose questions repeat the tables' own words (figure 19).
        others: Contestants of other packages.
        compared: Names of the sets of which every row is embedded, and that others are asked; all
            of them if empty. Both take much longer than the rest.
        varied: Names of the sets on which settings are varied; all of them if empty.
        rounds: How often 100 questions are timed.
        most_rows: Rows of a table where all rows are indexed.
        scaled: Name of the set that is cut to smaller ones (figures 9, 10); empty: the largest.
    """

    sets: Sequence[BenchSet]
    deployment: Deployment
    labs: Labs
    keywords: Sequence[BenchSet] = ()
    others: Sequence[Callable[[], Contestant]] = ()
    compared: Sequence[str] = ()
    varied: Sequence[str] = ()
    rounds: int = 10
    most_rows: int = 1_000
    scaled: str = ""

    @property
    def encoder(self) -> Encoder:
        """The deployment's encoder, shared by all that embeds in this process."""
        return self.labs.encoder(self.deployment.encoder)

    @property
    def varying(self) -> list[BenchSet]:
        """The sets on which settings are varied."""
        return [one for one in self.sets if not self.varied or one.name in self.varied]

    def ours(self, given: Given, on: BenchSet, k: int) -> Cell:
        """Return a measurement of the deployment with these options (`settings`)."""
        setting = setting_of(self.deployment, given)
        return Cell(lambda: OurSearch(OURS, setting, self.labs), on, k)

    def timed(self, one: BenchSet) -> Iterator[tuple[str, Cell]]:
        """Yield every contestant with its measurement on a set, times included."""
        setting = setting_of(self.deployment, {})
        makers: list[Callable[[], Contestant]] = [
            lambda: OurSearch(OURS, setting, self.labs, fresh=True),
            WholeTableWords,
            lambda: WholeTableVectors(self.encoder),
        ]
        if not self.compared or one.name in self.compared:
            makers += [partial(RowVectors, self.encoder, self.most_rows), *self.others]
        load = partial(self.encoder.encode_documents, _LOADING)
        for make in makers:
            yield make().name, Cell(make, one, _K, self.rounds, load)


Value = Callable[[Measured], tuple[float, Interval | None]]
"""What is read of a measurement, and its 95 % interval if it has one."""


def rate(k: int, kind: str | None = None) -> Value:
    """Read the hit rate among the first `k`, of questions of one kind if it is given."""
    return lambda found: found.hit_rate(k, kind)


def fact(name: str) -> Value:
    """Read a size or time; NaN where it was not measured."""
    return lambda found: (float(found.facts.get(name, math.nan)), None)


class Point(NamedTuple):
    """One value of a figure: which line or bar it belongs to, where it stands, what it is.

    `across` is the value along the x axis of a figure of points; elsewhere `x` says it.
    """

    panel: str
    series: str
    x: str | float
    cell: Cell
    value: Value
    across: Value | None = None


@dataclass(frozen=True, slots=True)
class PaperFigure:
    """A figure or table of the paper, as it is measured here.

    Attributes:
        number: As the paper has it, such as `6` or `table 2`.
        title: What is shown.
        shape: How it is drawn: bars, lines, points; a table is not.
        x, y: What the axes are.
        points: Its values.
        said: What a reader must know: how this differs from the paper, and what is not measured.
    """

    number: str
    title: str
    shape: str
    x: str
    y: str
    points: Sequence[Point]
    said: Sequence[str] = ()

    @property
    def name(self) -> str:
        """The name of its file, such as `figure-6`."""
        return f"figure-{self.number}" if self.number.isdigit() else self.number.replace(" ", "-")


class Shown(NamedTuple):
    """A point with what was measured; NaN where nothing was, and then `missing` says why."""

    point: Point
    value: float
    interval: Interval | None = None
    across: float = math.nan
    missing: str = ""


def fill(figure: PaperFigure, results: Results) -> list[Shown]:
    """Return the values of a figure."""
    shown = []
    for point in figure.points:
        found = results[point.cell.key]
        if isinstance(found, str):
            shown.append(Shown(point, math.nan, missing=found))
        else:
            across = point.across(found)[0] if point.across else math.nan
            shown.append(Shown(point, *point.value(found), across))
    return shown


def wards(sets: Sequence[BenchSet]) -> Iterator[tuple[str, BenchSet, str | None]]:
    """Yield each set, or each sort of questions of one that names any, with what it is called.

    Questions of a named set without a sort are one by themselves.
    """
    for one in sets:
        if not one.kinds:
            yield one.name, one, None
            continue
        others = any(asked.relevant and not asked.kind for asked in one.dataset.asked)
        for kind in [*one.kinds, *([""] if others else [])]:
            yield f"{one.name}, {kind or 'of no kind'}", one, kind
