"""Which tables are asked which questions of the datasheet, and in which order."""

from collections import Counter
from collections.abc import Collection

from pneuma_assets.core.tables import content_hash
from pneuma_bench.generator.context_stages import ContextSpec
from pneuma_bench.generator.contexts import Pair
from pneuma_bench.generator.datasheet import DATASHEET
from pneuma_bench.generator.pages import Pages
from pneuma_bench.generator.stratifying import draw_evenly
from pneuma_bench.sets import RetrievalSet

OVERDRAWN = 2
"""Pairs that a model is asked about, for each question that is still wanted."""
BARREN = 16
"""Pairs of a question without one fit context, after which a model is asked no more of it."""


class Pairs:
    """The pairs that were not tried, in an order that the seed decides.

    Where contexts cost nothing, all are drawn at once; else a few more than are needed. A model
    that plays writes all that it may before anything is asked, as in the paper: which tables answer
    a question is told by the contexts that there are, and those must not depend on its turn.

    Attributes:
        numbers: Of the questions, in their order.
    """

    def __init__(self, dataset: RetrievalSet, spec: ContextSpec, pages: Pages) -> None:
        self._spec = spec
        seed = str(spec.seed)
        tables = [
            table.table_id
            for table, _ in dataset.tables
            if spec.contexts == "played" or pages.of_table(table.table_id)
        ]
        self.numbers = sorted(
            (one.number for one in DATASHEET), key=lambda one: content_hash(seed, str(one))
        )
        self._left = {
            number: sorted(
                (Pair(table_id, number) for table_id in tables),
                key=lambda pair: content_hash(seed, str(pair.number), pair.table_id),
            )
            for number in self.numbers
        }
        self._tried: Counter[int] = Counter()
        self._tables: Counter[str] = Counter()

    @property
    def are_left(self) -> bool:
        """Tell whether there are any, and a model may be asked about more."""
        within = self._tried.total() < self._spec.most_tried
        return any(self._left.values()) and (self._spec.is_free or within)

    def draw(self, wanted: int) -> list[Pair]:
        """Return pairs for so many questions, those of one table together: prompts begin alike."""
        if not self.are_left:
            return []
        if self._spec.is_free:
            pairs = [pair for some in self._left.values() for pair in some]
        else:
            played = self._spec.contexts == "played"
            most = self._spec.most_tried if played else OVERDRAWN * wanted
            pairs = draw_evenly(self._left, most, _table, self._tried, self._tables)
        drawn = {*pairs}
        for number, some in self._left.items():
            self._left[number] = [one for one in some if one not in drawn]
        self._tried.update(pair.number for pair in pairs)
        self._tables.update(pair.table_id for pair in pairs)
        return pairs if self._spec.is_free else sorted(pairs, key=_place)

    def leave_barren(self, fruitful: Collection[int]) -> None:
        """Leave out questions that were tried often, and are not among those that brought any."""
        for number, tried in self._tried.items():
            if tried >= BARREN and number not in fruitful:
                self._left[number] = []


def _table(pair: Pair) -> str:
    return pair.table_id


def _place(pair: Pair) -> tuple[str, int]:
    return pair.table_id, pair.number
