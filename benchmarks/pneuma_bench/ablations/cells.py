"""Measurements by name, each kept as soon as it is there, so that a page goes on after a kill."""

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.text.safe import one_line
from pneuma_bench.ablations.contestants import Contestant, Measured, measured
from pneuma_bench.files import whole
from pneuma_bench.keys import questions_key, tables_key
from pneuma_bench.sets import RetrievalSet

_CELLS, _FILES = "paper-cells", "contestants"


@dataclass(frozen=True, slots=True)
class BenchSet:
    """A set by the name that a page gives it; `key` is equal for equal tables and questions."""

    name: str
    dataset: RetrievalSet
    tables: str
    questions: str

    @property
    def key(self) -> str:
        """Equal for equal tables and questions."""
        return content_hash(self.tables, self.questions)

    @property
    def kinds(self) -> list[str]:
        """The sorts of its questions; empty where it names none."""
        return sorted({*self.dataset.kinds} - {""})

    def spread(self, questions: int) -> "BenchSet":
        """Return the set with so many of its questions, taken at equal distances."""
        total = len(self.dataset.questions)
        if total <= questions:
            return self
        return _asking(self, [at * total // questions for at in range(questions)], self.dataset)

    def cut(self, tables: int, seed: int = 0) -> "BenchSet":
        """Return the set with so many tables, drawn, and the questions that these answer whole."""
        if tables >= len(self.dataset.tables):
            return self
        drawn = random.Random(seed).sample(range(len(self.dataset.tables)), tables)  # noqa: S311
        kept = [self.dataset.tables[at] for at in sorted(drawn)]
        ids = {table.table_id for table, _ in kept}
        asked = [at for at, one in enumerate(self.dataset.relevant) if one and ids.issuperset(one)]
        return _asking(self, asked, replace(self.dataset, tables=kept))


def bench_set(name: str, dataset: RetrievalSet) -> BenchSet:
    """Return a set under a name."""
    return BenchSet(name, dataset, tables_key(dataset), questions_key(dataset))


def _asking(of: BenchSet, asked: Sequence[int], dataset: RetrievalSet) -> BenchSet:
    some = replace(
        dataset,
        questions=[dataset.questions[at] for at in asked],
        relevant=[dataset.relevant[at] for at in asked],
        kinds=[dataset.kinds[at] for at in asked] if dataset.kinds else (),
    )
    return bench_set(of.name, some)


@dataclass(frozen=True, slots=True)
class Cell:
    """One measurement.

    Attributes:
        make: Makes the contestant, which opens nothing before it is prepared.
        on: The set.
        k: Tables of an answer.
        rounds: How often 100 questions are timed; 0: they are not.
        ready: Called before it begins, to load what no measurement pays for.
    """

    make: Callable[[], Contestant]
    on: BenchSet
    k: int
    rounds: int = 0
    ready: Callable[[], object] = lambda: None

    @property
    def key(self) -> str:
        """Equal for measurements that come to the same."""
        return content_hash(self.make().key, self.on.key, str(self.k), str(self.rounds))


@dataclass(frozen=True, slots=True)
class NotRun:
    """Why a cell has no measurement."""

    reason: str


Results = Mapping[str, Measured | NotRun]
"""What was measured, by the cells' keys."""


def run(cells: Sequence[Cell], folder: Path, *, kept_only: bool = False) -> Results:
    """Measure every cell that was not yet; one that cannot be measured here says why.

    Killed, the next call goes on after the last cell that was finished. What failed is tried again
    by the next call.

    Args:
        cells: Those of one key are measured once.
        folder: Keeps what was measured, and the files of contestants.
        kept_only: Nothing is measured now; what is not kept has no measurement.

    Raises:
        BenchmarkError: The folder cannot be used.
    """
    by_key = {cell.key: cell for cell in cells}
    results: dict[str, Measured | NotRun] = {}
    for key, cell in by_key.items():
        report("measuring", len(results), len(by_key))
        path = folder / _CELLS / f"{key}.json"
        results[key] = _read(path) or (
            NotRun("not measured yet") if kept_only else _measure(cell, path, folder)
        )
    report("measuring", len(results), len(by_key))
    return results


def _measure(cell: Cell, path: Path, folder: Path) -> Measured | NotRun:
    contestant = cell.make()
    files = folder / _FILES / content_hash(contestant.key, cell.on.tables)[:16]
    try:
        cell.ready()
        found = measured(contestant, cell.on.dataset, files, cell.k, rounds=cell.rounds)
    except PneumaError as error:
        return NotRun(one_line(str(error)))
    finally:
        contestant.close()
    _write(path, found)
    return found


def _write(path: Path, found: Measured) -> None:
    record = {
        "places": list(found.places),
        "kinds": list(found.kinds),
        "facts": dict(found.facts),
    }
    with whole(path) as stream:
        stream.write(json.dumps(record).encode())


def _read(path: Path) -> Measured | None:
    """Return what was kept; None if there is nothing, or what is there is not a measurement."""
    try:
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        places, kinds, facts = (record[key] for key in ("places", "kinds", "facts"))
        is_whole = len(kinds) == len(places) and all(isinstance(one, int) for one in places)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return Measured(places, kinds, facts) if is_whole and isinstance(facts, dict) else None
