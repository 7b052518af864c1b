"""Retrievers measured beside each other, and this project's own search among them."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.evaluation.metrics import Interval, first_place, mean_intervals
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_bench.keys import code_key, tables_key
from pneuma_bench.lab import Lab
from pneuma_bench.retrieval import table_documents
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import Setting

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
    """A retriever; one object indexes and answers for one set.

    `key` is equal for those that give the same answers to the same questions about the same set.
    What cannot run here, or fails, raises `BenchmarkError` that says why.
    """

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def key(self) -> str:
        """See the class."""

    def prepare(self, dataset: RetrievalSet, folder: Path) -> Prepared:
        """Index the tables; `folder` is for its files alone."""

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Return at most `k` ids of tables of each question, best first."""

    def close(self) -> None:
        """Release what is held; the object is not used afterwards."""


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

    def hit_rate(self, k: int, kind: str | None = None) -> tuple[float, Interval]:
        """Return the hit rate (section 7.1) and its 95 % interval; NaN without questions."""
        pairs = zip(self.places, self.kinds, strict=True)
        hits = np.array([0 < place <= k for place, one in pairs if kind in (None, one)], np.float64)
        mean = float(hits.mean()) if len(hits) else float("nan")
        return mean, mean_intervals({"hits": hits})["hits"]


def measured(
    contestant: Contestant, dataset: RetrievalSet, folder: Path, k: int, *, rounds: int = 0
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
    for found, one in zip(answers, dataset.asked, strict=True):
        if one.relevant:
            places.append(first_place([*dict.fromkeys(found)][:k], one.relevant) or 0)
            kinds.append(one.kind)
    facts = asdict(prepared) | {"tables": len(dataset.tables)}
    if rounds:
        rates = _rates(contestant, dataset.questions, k, rounds)
        facts |= {"questions_a_second": float(np.mean(rates)), "rounds": rounds}
        facts["questions_a_second_spread"] = float(np.std(rates))
    return Measured(places, kinds, facts)


def _rates(
    contestant: Contestant, questions: Sequence[str], k: int, rounds: int
) -> Sequence[float]:
    """Return questions a second of each round, asked one by one.

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
    return rates


class Labs(Closing):
    """A `Lab` a set, all with the same loaded encoders.

    Args:
        folder: Keeps embeddings and indexes.
        environ: Holds the secrets that the deployment names.
        encoders: Opens an encoder.
    """

    def __init__(
        self,
        folder: Path,
        environ: Mapping[str, str],
        encoders: Callable[[EncoderConfig], Encoder] = open_encoder,
    ) -> None:
        self._folder, self._environ, self._open = folder, environ, encoders
        self._encoders: dict[str, Encoder] = {}
        self._labs: dict[str, Lab] = {}
        self._stack = ExitStack()

    def of(self, dataset: RetrievalSet) -> Lab:
        """Return the set's lab, whose embeddings are kept."""
        key = tables_key(dataset)
        if key not in self._labs:
            lab = Lab(dataset, self._folder, self._environ, self.encoder)
            self._labs[key] = self._stack.enter_context(lab)
        return self._labs[key]

    def fresh(self, dataset: RetrievalSet) -> Lab:
        """Return a lab that remembers nothing, to be closed by the caller: for measures of time."""
        return Lab(dataset, None, self._environ, self.encoder)

    def encoder(self, config: EncoderConfig) -> Encoder:
        """Return an encoder, loaded once for all sets."""
        key = config.model_dump_json()
        if key not in self._encoders:
            self._encoders[key] = self._open(config)
        return self._encoders[key]

    def close(self) -> None:
        """Close every lab."""
        self._stack.close()


class OurSearch(Closing):
    """A setting of this project's search; keeps `Contestant`.

    Args:
        name: What people call it.
        setting: The configuration.
        labs: Where it is indexed.
        fresh: Whether every text is embedded anew, so that the seconds are those of a first time.
    """

    def __init__(self, name: str, setting: Setting, labs: Labs, *, fresh: bool = False) -> None:
        self.name, self._setting, self._labs, self._fresh = name, setting, labs, fresh
        self._stack = ExitStack()

    @property
    def key(self) -> str:
        """Equal for settings that give the same answers, by the same code."""
        return f"ours {code_key()} {self._setting.key} {self._fresh}"

    def prepare(self, dataset: RetrievalSet, folder: Path) -> Prepared:  # noqa: ARG002 (its lab has a folder)
        """Build the setting's index, or use one that is kept."""
        setting = self._setting
        fresh = self._stack.enter_context(self._labs.fresh(dataset)) if self._fresh else None
        lab = fresh or self._labs.of(dataset)
        lab.encoder(setting)
        index, built = lab.index(setting)
        self._stack.callback(index.close)
        self._options = setting.ask_options(index.kinds())
        self._options.pop("k", None)
        self._plain = lab.engine(setting, index, remembering=False)
        self._quick = lab.engine(setting, index, remembering=True)
        info = index.info()
        about = "" if self._fresh else "embeddings may have been kept"
        documents = count_documents(dataset, setting)
        return Prepared(built.seconds, info.size_bytes, documents, info.blocks, about)

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Ask; of several questions, those that were embedded before are not embedded again."""
        engine = self._plain if len(questions) == 1 else self._quick
        found = engine.ask_many(questions, k=k, **self._options)
        return [[result.table_id for result in one] for one in found]

    def close(self) -> None:
        """Close the index."""
        self._stack.close()


def count_documents(dataset: RetrievalSet, setting: Setting) -> int:
    """Return how many texts stand for the tables before they are packed (figure 12).

    All columns of a table are one text here, described or not, so no description is needed.
    """
    sampling, kinds = setting.deployment.sampling, setting.given.get("kinds")
    every = (
        document
        for table, rows in dataset.tables
        for document in table_documents(dataset, table, rows, sampling)
    )
    return sum(kinds is None or one.kind in kinds for one in every)
