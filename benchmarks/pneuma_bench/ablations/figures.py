"""What a figure of the paper is here: points, each a value of one measurement; a page's options."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.measure.metrics import Interval
from pneuma_assets.core.models.base import Encoder
from pneuma_bench.ablations.cells import BenchSet, Cell, NotRun, Results
from pneuma_bench.ablations.contestants import Contestant, Labs, Measured, OurSearch
from pneuma_bench.settings import setting_of

SIDES: dict[str, Any] = {"alpha": 0.5, "n": 5}
"""The paper's own search: two sides of equal weight, five candidates a place (section 7.1)."""

_LOADING = [" ".join(["ready"] * 300)] * 8
"""So many tokens that the whole encoder is loaded for them, not the part that questions need."""


@dataclass(frozen=True, slots=True)
class PageOptions:
    """Sets, models and contestants of a page.

    Attributes:
        sets: Tables and questions.
        deployment: Its models, sampling, engine and weights are "this project".
        labs: Where its settings are indexed.
        keywords: Sets whose questions repeat the tables' own words (figure 19).
        others: Contestants of other packages.
        compared: Names of the sets of which every row is embedded, and that others are asked; all
            of them if empty. Both take much longer than the rest.
        varied: Names of the sets on which settings are varied; all of them if empty.
        narrators: Models that describe columns, as `narration.model` names them.
        narrated: Names of the sets whose columns they describe; all of them if empty.
        judges: Models that judge, as `judge.model` names them.
        judged: Questions of a set that are judged.
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
    narrators: Sequence[str] = ()
    narrated: Sequence[str] = ()
    judges: Sequence[str] = ()
    judged: int = 100
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

    def load(self) -> None:
        """Load the encoder, as texts of tables need it."""
        self.encoder.encode_documents(_LOADING)

    def ours(self, name: str, given: Mapping[str, Any], on: BenchSet, k: int) -> Cell:
        """Return a measurement of the deployment with these options (`bench.settings`)."""
        setting = setting_of(self.deployment, given)
        return Cell(lambda: OurSearch(name, setting, self.labs), on, k)

    def narrates(self, one: BenchSet) -> bool:
        """Return whether models describe the columns of a set."""
        return not self.narrated or one.name in self.narrated

    def compares(self, one: BenchSet) -> bool:
        """Return whether every row of a set is embedded, and others are asked it."""
        return not self.compared or one.name in self.compared


RATE = "hit rate"
"""What the y axis of most figures is: a share, from 0 to 1."""

Shape = Literal["bars", "lines", "points", "table"]


class Value(Protocol):
    """What is read of a measurement."""

    def of(self, found: Measured) -> tuple[float, Interval | None]:
        """Return the value, and its 95 % interval if it has one."""
        ...


@dataclass(frozen=True, slots=True)
class Rate:
    """The hit rate among the first `k`, of questions of one kind if it is given."""

    k: int
    kind: str | None = None

    def of(self, found: Measured) -> tuple[float, Interval | None]:
        """Return it with its interval over the questions."""
        return found.hit_rate(self.k, self.kind)


@dataclass(frozen=True, slots=True)
class Fact:
    """A size or time by its name."""

    name: str

    def of(self, found: Measured) -> tuple[float, Interval | None]:
        """Return it; NaN where it was not measured."""
        return float(found.facts.get(self.name, math.nan)), None


@dataclass(frozen=True, slots=True)
class Point:
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
        shape: How it is drawn; a table is not.
        x, y: What the axes are.
        points: Its values.
        said: What a reader must know: how this differs from the paper, and what is not measured.
        logarithmic: Whether both axes are.
    """

    number: str
    title: str
    shape: Shape
    x: str
    y: str
    points: Sequence[Point]
    said: Sequence[str] = ()
    logarithmic: bool = False

    @property
    def name(self) -> str:
        """The name of its file, such as `figure-6`."""
        return (
            self.number.replace(" ", "-") if self.number[0].isalpha() else f"figure-{self.number}"
        )


@dataclass(frozen=True, slots=True)
class Shown:
    """A point with what was measured; NaN where nothing was, and then `missing` says why."""

    point: Point
    value: float
    interval: Interval | None = None
    across: float = math.nan
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Filled:
    """A figure with its values."""

    figure: PaperFigure
    shown: Sequence[Shown] = field(default_factory=tuple)


def fill(figure: PaperFigure, results: Results) -> Filled:
    """Return a figure with the values of what was measured."""
    return Filled(figure, [_shown(point, results[point.cell.key]) for point in figure.points])


def _shown(point: Point, found: Measured | NotRun) -> Shown:
    if isinstance(found, NotRun):
        return Shown(point, math.nan, missing=found.reason)
    value, interval = point.value.of(found)
    across = point.across.of(found)[0] if point.across else math.nan
    return Shown(point, value, interval, across)


def wards(sets: Sequence[BenchSet]) -> list[tuple[str, BenchSet, str | None]]:
    """Return each set, or each sort of questions of one that names any, with what it is called.

    Questions of a named set without a sort are one by themselves.
    """
    return [
        (one.name if kind is None else f"{one.name}, {kind or 'of no kind'}", one, kind)
        for one in sets
        for kind in _kinds(one)
    ]


def _kinds(one: BenchSet) -> Sequence[str | None]:
    if not one.kinds:
        return [None]
    asked = zip(one.dataset.kinds, one.dataset.relevant, strict=True)
    return [*one.kinds, ""] if any(relevant and not kind for kind, relevant in asked) else one.kinds
