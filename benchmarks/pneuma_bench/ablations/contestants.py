"""Retrievers measured beside each other: each indexes a set, then answers its questions."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pneuma_assets.core.measure.metrics import Interval, Values, first_place, mean_intervals
from pneuma_bench.sets import RetrievalSet

_TIMED = 100
"""Questions asked one by one to learn how long one takes (section 7.2.2)."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What indexing a set took.

    Attributes:
        seconds: From tables to what can be asked; models were loaded before.
        size_bytes: Of what is kept to answer questions.
        documents: Texts that stand for the tables.
        vectors: How many of them, or of parts of them, were embedded.
        about: What else a reader must know of it, such as its version or a limit that it met.
    """

    seconds: float
    size_bytes: int
    documents: int
    vectors: int
    about: str = ""


class Contestant(Protocol):
    """A retriever; one object indexes and answers for one set."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def key(self) -> str:
        """Equal for those that give the same answers to the same questions about the same set."""
        ...

    def prepare(self, dataset: RetrievalSet, folder: Path) -> Prepared:
        """Index the tables; `folder` is for its files alone.

        Raises:
            BenchmarkError: It cannot run here; the message says why.
        """
        ...

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Return at most `k` ids of tables of each question, best first, without repetition.

        Raises:
            BenchmarkError: It failed; the message says why.
        """
        ...

    def close(self) -> None:
        """Release what is held; the object is not used afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class Measured:
    """What one contestant did on one set.

    Attributes:
        places: Of each question that a table answers, the place of the first right one, from 1;
            0 where none was found. In the order of the set.
        kinds: What sort each of these questions is; `""` where that is not known.
        facts: Sizes and times by name.
    """

    places: Sequence[int]
    kinds: Sequence[str]
    facts: Mapping[str, Any]

    def hits(self, k: int, kind: str | None = None) -> Values:
        """Return 1 for each question found among the first `k`, else 0; of one kind, if given."""
        kept = [
            0 < place <= k
            for place, one in zip(self.places, self.kinds, strict=True)
            if kind is None or one == kind
        ]
        return np.array(kept, np.float64)

    def hit_rate(self, k: int, kind: str | None = None) -> tuple[float, Interval]:
        """Return the hit rate (section 7.1) and its 95 % interval; NaN without questions."""
        hits = self.hits(k, kind)
        mean = float(hits.mean()) if len(hits) else float("nan")
        return mean, mean_intervals({"hits": hits})["hits"]


def measured(
    contestant: Contestant,
    dataset: RetrievalSet,
    folder: Path,
    k: int,
    *,
    rounds: int = 0,
) -> Measured:
    """Let a contestant index a set and answer every question; count, and time if asked to.

    Args:
        contestant: Who.
        dataset: Tables and questions.
        folder: For its files.
        k: Tables of an answer.
        rounds: How often 100 questions are asked one by one to be timed; 0: they are not.

    Raises:
        BenchmarkError: The contestant cannot run here, or failed.
    """
    prepared = contestant.prepare(dataset, folder)
    answers = contestant.answer(dataset.questions, k)
    places, kinds = [], []
    of_kind = dataset.kinds or [""] * len(dataset.questions)
    for found, relevant, kind in zip(answers, dataset.relevant, of_kind, strict=True):
        if relevant:
            places.append(first_place(distinct(found)[:k], relevant) or 0)
            kinds.append(kind)
    facts = asdict(prepared) | {"tables": len(dataset.tables)}
    if rounds:
        facts |= timed(contestant, dataset.questions, k, rounds)
    return Measured(places, kinds, facts)


def timed(
    contestant: Contestant, questions: Sequence[str], k: int, rounds: int
) -> dict[str, float]:
    """Return questions a second, asked one by one: the mean of the rounds and their spread.

    Section 7.2.2: 100 questions, 10 rounds. Fewer questions are asked again until there are 100;
    one more is asked before, uncounted.
    """
    step = max(1, len(questions) // _TIMED)
    some = [*islice(cycle(questions[::step]), _TIMED)]
    contestant.answer(some[:1], k)
    rates = []
    for _ in range(rounds):
        began = time.perf_counter()
        for question in some:
            contestant.answer([question], k)
        rates.append(len(some) / (time.perf_counter() - began))
    return {
        "questions_a_second": float(np.mean(rates)),
        "questions_a_second_spread": float(np.std(rates)),
        "rounds": float(rounds),
    }


def distinct(ids: Collection[str]) -> list[str]:
    """Return ids without repetition, each where it first stands."""
    return [*dict.fromkeys(ids)]


def size_of(folder: Path) -> int:
    """Return how many bytes the files below a folder have."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
