"""What a question is answered without, for each part of a deployment that may be away.

An answer that lacks a part says so; it is never passed off as a whole one.
"""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import TypeVar

from pneuma_assets.core.errors import PneumaError

T = TypeVar("T")

REST = 30.0
"""Seconds for which a part that failed is not tried again, as it may take long to fail."""


class Part(StrEnum):
    """What may be away."""

    ENCODER = "encoder"
    JUDGE = "judge"
    INDEX = "index"
    STATE = "state"
    MODEL = "model"
    SOURCE = "source"


EFFECTS = {
    Part.ENCODER: "tables are found by words alone, not by meaning",
    Part.JUDGE: "tables keep their places, as far as no model has judged them",
    Part.INDEX: "no question can be answered",
    Part.STATE: "joins, details of tables and confirmed answers are not shown",
    Part.MODEL: "no statement was written; rows are shown that the question names",
    Part.SOURCE: "its tables are shown as they were when it was last listed",
}
"""What an answer is like without each."""


@dataclass(frozen=True, slots=True)
class MissingPart:
    """A part that an answer does without.

    Attributes:
        part: Which (`Part`).
        name: Which of several: a source's name, a model's, the engine of an index.
        cause: Why it is away, and what to do, for people.
        effect: What the answer lacks.
    """

    part: str
    name: str
    cause: str
    effect: str

    def to_dict(self) -> dict[str, str]:
        """Return it for JSON."""
        return asdict(self)


OnMissing = Callable[[Part, PneumaError], None]
"""Is told of a part that is away, and why; the answer goes on without it."""


class Resting:
    """A part that is left alone for `REST` seconds after it failed, where answers do without it."""

    def __init__(self) -> None:
        self._failed: tuple[float, PneumaError] | None = None

    def use(
        self,
        act: Callable[[], T],
        failures: type[PneumaError] | tuple[type[PneumaError], ...],
    ) -> T:
        """Return what using the part gives; raises again what it raised a short while ago."""
        failed = self._failed
        if failed is not None and time.monotonic() < failed[0] + REST:
            raise failed[1].with_traceback(None)  # else it grows with each that is raised
        try:
            result = act()
        except failures as error:
            self._failed = time.monotonic(), error
            raise
        self._failed = None
        return result
