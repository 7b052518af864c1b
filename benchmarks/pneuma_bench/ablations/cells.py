"""Measurements by name, each kept as soon as it is there, so that a page goes on after a kill."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.progress import report
from pneuma_assets.core.tables import content_hash
from pneuma_assets.core.text.safe import one_line
from pneuma_bench.ablations.contestants import Contestant, Measured, measured
from pneuma_bench.files import kept_json, write_lines
from pneuma_bench.keys import questions_key, tables_key
from pneuma_bench.sets import RetrievalSet


class BenchSet:
    """A set by the name that a page gives it.

    Attributes:
        name: This name.
        dataset: The set.
        kinds: The sorts of its questions; empty where it names none.
        tables: Equal for equal tables.
        key: Equal for equal tables and questions.
    """

    def __init__(self, name: str, dataset: RetrievalSet) -> None:
        self.name, self.dataset = name, dataset
        self.kinds = sorted({*dataset.kinds} - {""})
        self.tables = tables_key(dataset)
        self.key = content_hash(self.tables, questions_key(dataset))

    def cut(self, tables: int) -> "BenchSet":
        """Return the set with so many tables, drawn, and the questions that these answer whole."""
        dataset = self.dataset
        if tables >= len(dataset.tables):
            return self
        drawn = random.Random(0).sample(range(len(dataset.tables)), tables)  # noqa: S311
        kept = [dataset.tables[at] for at in sorted(drawn)]
        ids = {table.table_id for table, _ in kept}
        asked = [one for one in dataset.asked if one.relevant and ids.issuperset(one.relevant)]
        some = replace(
            dataset,
            tables=kept,
            questions=[one.text for one in asked],
            relevant=[one.relevant for one in asked],
            kinds=[one.kind for one in asked] if dataset.kinds else (),
        )
        return BenchSet(self.name, some)


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


Results = Mapping[str, Measured | str]
"""What was measured, by the cells' keys; a text says why it was not."""


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
    results: dict[str, Measured | str] = {}
    for key, cell in by_key.items():
        path = folder / "paper-cells" / f"{key}.json"
        if (kept := kept_json(path)) is not None:
            results[key] = Measured(**kept)
        else:
            results[key] = "not measured yet" if kept_only else _measure(cell, path, folder)
        report("measuring", len(results), len(by_key))
    return results


def _measure(cell: Cell, path: Path, folder: Path) -> Measured | str:
    contestant = cell.make()
    files = folder / "contestants" / content_hash(contestant.key, cell.on.tables)[:16]
    try:
        cell.ready()
        found = measured(contestant, cell.on.dataset, files, cell.k, rounds=cell.rounds)
    except PneumaError as error:
        return one_line(str(error))
    finally:
        contestant.close()
    write_lines(path, [asdict(found)])
    return found
