"""Gathers which parts of a deployment answers do without, as far as who asks may know it."""

import logging
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError, StateError
from pneuma_assets.core.missing_parts import EFFECTS, MissingPart, Part

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store

logger = logging.getLogger(__name__)

_HIDDEN = "it is away or fails; ask who keeps this catalog"
"""The cause for who may not see all: the real one may name paths, servers and hidden tables."""


class Missing:
    """The parts that one answer does without, each once; call it with each that is away.

    Args:
        loaded: The deployment.
        sees_all: Whether who asks may see all, and so the causes.
    """

    def __init__(self, loaded: LoadedDeployment, *, sees_all: bool) -> None:
        self._loaded, self._sees_all = loaded, sees_all
        self._found: dict[tuple[Part, str], MissingPart] = {}

    def __call__(self, part: Part, error: PneumaError, effect: str | None = None) -> None:
        """Note that a part is away, and why."""
        self.add(part, self._name_of(part), str(error), effect)

    def add(self, part: Part, name: str, cause: str, effect: str | None = None) -> None:
        """Note that the part of this name is away."""
        if (part, name) not in self._found:
            one = MissingPart(str(part), name, self.cause(cause), effect or EFFECTS[part])
            self._found[part, name] = one

    def cause(self, told: str) -> str:
        """Return why something fails as far as who asks may know it; else the log alone has it."""
        if self._sees_all or told == _HIDDEN:
            return told
        logger.warning("%s", told)
        return _HIDDEN

    @contextmanager
    def state(self) -> Iterator[None]:
        """Note that the state is away where what is read of it in the block says so."""
        try:
            yield
        except StateError as error:
            self(Part.STATE, error)

    def sources(self, store: "Store", names: Iterable[str]) -> None:
        """Note which of these sources could not be listed when they were last tried."""
        wanted = set(names)
        for problem in store.problems.of_listing():
            if problem.subject in wanted:
                listed = store.listings.listed_at().get(problem.subject)
                self.add(Part.SOURCE, problem.subject, problem.cause, _as_of(listed))

    @property
    def parts(self) -> tuple[MissingPart, ...]:
        """All that are away, in the order in which that was noted."""
        return tuple(self._found.values())

    def without(self, *parts: Part) -> bool:
        """Tell whether any of these is away."""
        return any(part in parts for part, _ in self._found)

    def _name_of(self, part: Part) -> str:
        deployment = self._loaded.deployment
        if part is Part.INDEX:
            return deployment.index.engine
        if part is Part.STATE:
            return "file" if deployment.state.url is None else "server"
        models = {
            Part.ENCODER: deployment.encoder.model,
            Part.JUDGE: deployment.judge.model,
            Part.MODEL: deployment.answers.model,
        }
        model = models.get(part)
        return model.model if model is not None and self._sees_all else str(part)


def _as_of(listed_at: float | None) -> str:
    if listed_at is None:
        return "it was never listed, so that its tables cannot be found"
    at = datetime.fromtimestamp(listed_at, UTC).isoformat(timespec="seconds")
    return f"its tables are shown as of {at}"


def listed_sources(loaded: LoadedDeployment, only: Collection[str]) -> set[str]:
    """Return the sources of a deployment that a filter leaves; an empty one leaves all."""
    names = {source.name for source in loaded.deployment.sources}
    return names & set(only) if only else names
