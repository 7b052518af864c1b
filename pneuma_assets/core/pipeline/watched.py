"""What a tick saw of sources, work list and index, and how it says so."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pneuma_assets.core.pipeline.budget import BUDGET_S
from pneuma_assets.core.pipeline.listing import RawTablesFigures
from pneuma_assets.core.store.queue import QueueCounts

_NAMED = 5
"""Sources of a kind that are told by name."""

_SHOWN = 300
"""Characters of a cause; the problem of the source has all of it."""


@dataclass(frozen=True, slots=True)
class Watched:
    """What was seen of the sources, the work list and the index.

    Attributes:
        figures: What the listed sources showed.
        listed: The sources that could be listed, in that order.
        unlisted: The sources that could not, and why.
        left: The sources for which no time was left; they come first the next time.
        seconds: What listing took.
        slowest: The source whose last listing took longest, and how long that was.
        to_do: What there is to work on.
        other_work: Reasons for a run besides tables that wait.
        no_source: Whether there is none to index at all, so that a run could only fail.
        unnamed: Sources that have tables, and that the deployment file did not name when this
            process read it.
        rested: Sources that were not listed, because events would have told of a change.
        slow: Sources that were not listed, because they take longer than a tick has time for.
        unheard: Of the rested ones, those whose events no time was left to take.
        elsewhere: Of the slow ones, those that another tick or run lists now, as far as can be
            told: what there is of them is not known yet.
    """

    figures: RawTablesFigures
    listed: Sequence[str]
    unlisted: Mapping[str, str]
    left: Sequence[str]
    seconds: float
    slowest: tuple[str, float] | None
    to_do: QueueCounts
    other_work: Sequence[str] = ()
    no_source: bool = False
    unnamed: Sequence[str] = ()
    rested: Sequence[str] = ()
    slow: Sequence[str] = ()
    unheard: Sequence[str] = ()
    elsewhere: Sequence[str] = ()

    @property
    def reasons(self) -> list[str]:
        """Why a run is needed at once; empty where none is, or where it could only fail."""
        if self.no_source:
            return []
        waiting, renamed = self.to_do.waiting, self.to_do.renamed
        counted = [_tables(waiting, "waits", "wait")] if waiting else []
        if renamed:
            counted.append(_tables(renamed, "has another name", "have other names"))
        if gone := self.to_do.gone - renamed:
            counted.append(_tables(gone, "has left its source", "have left their source"))
        if untold := self.to_do.unpublished:
            counted.append(_tables(untold, "has other readers", "have other readers"))
        return [*counted, *self.other_work]

    def told(self) -> str:
        """Return what was seen, in one line for people."""
        if not (self.listed or self.unlisted or self.rested or self.slow):
            return "there is no source to index: add one to the deployment file"
        waiting = self.to_do.waiting
        parts = [_tables(waiting, "waits", "wait") if waiting else "no table waits"]
        if self.to_do.claimed:
            parts.append(f"runs hold {self.to_do.claimed:,}")
        if self.to_do.settling:
            just_now = _tables(self.to_do.settling, "changed", "changed")
            parts.append(f"{just_now} just now and may rest")
        if self.to_do.failed or self.to_do.resting:
            failed = self.to_do.failed + self.to_do.resting
            parts.append(f"{failed:,} that failed will be tried again")
        parts.append(f"{_tables(self.figures.tables, 'listed', 'listed')} in {self.seconds:.1f} s")
        if self.figures.held:
            parts.append(f"{self.figures.held:,} absent ones are held")
        parts += self._told_of_listing()
        if self.unnamed:
            parts.append(
                f"the deployment file does not name {_some(self.unnamed)}, of which there are "
                "tables: the next run lets them go; or reload this location, if the file changed"
            )
        away = list(self.unlisted.items())[:_NAMED]
        parts += [f"{name} cannot be listed: {why[:_SHOWN]}" for name, why in away]
        return "; ".join(parts)

    def _told_of_listing(self) -> list[str]:
        """Return which sources this tick has not listed, and which may soon be too slow."""
        parts = []
        if silent := [name for name in self.rested if name not in self.unheard]:
            parts.append(f"no event tells of a change in {_some(silent)}")
        if self.unheard:
            parts.append(f"no time was left for the events of {_some(self.unheard)}")
        if self.elsewhere:
            parts.append(f"another tick or run lists {_some(self.elsewhere)} now")
        if slow := [name for name in self.slow if name not in self.elsewhere]:
            parts.append(f"{_some(slow)} is left to runs that list, and takes too long here")
        if self.left:
            parts.append(f"no time was left for {_some(self.left)}: first in the next tick")
        if self.slowest is not None and self.slowest[1] >= BUDGET_S / 4:
            parts.append(f"{self.slowest[0]} takes {self.slowest[1]:.0f} s to list")
        return parts


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + ("…" if len(names) > _NAMED else "")


def _tables(number: int, one: str, several: str) -> str:
    return f"{number:,} table {one}" if number == 1 else f"{number:,} tables {several}"
