"""What a page is made from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.models.base import Encoder
from pneuma_bench.ablations.cells import BenchSet, Cell
from pneuma_bench.ablations.contestants import Contestant
from pneuma_bench.ablations.ours import Labs, OurSearch
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
