"""How well, how fast and in how much memory the needle is found, over the size of the haystack.

As TARGET's figure 4 (Ji et al., 2025), which shows recall alone. Each size is indexed in a process
of its own and asked in another one: the most memory that a process had never shrinks again.
"""

import json
import multiprocessing
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.progress import working
from pneuma_assets.core.tables import content_hash
from pneuma_bench.files import whole
from pneuma_bench.keys import INDEXING, code_key, questions_key, tables_key
from pneuma_bench.lab import Lab
from pneuma_bench.outcome import peak_memory
from pneuma_bench.reading import read_files, read_tables
from pneuma_bench.run import measure
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import Setting, setting_of
from pneuma_bench.target.haystack import Haystack, haystack

SIZES = (100, 316, 1_000, 3_162, 10_000, 31_623, 100_000)
"""Half a power of ten apart."""

_TIMED = 100
_CODE = (*INDEXING, "pneuma_assets.core.search", "pneuma_bench.target.haystack")


@dataclass(frozen=True, slots=True)
class Curve:
    """What is measured.

    Attributes:
        tables: The file of the tables that are asked for, and of others.
        queries: The file of the questions.
        hay: Files of other real tables.
        questions: How many of the first are asked.
        seed: Decides which tables are made.
        setting: How tables are indexed and questions asked.
        folder: Keeps embeddings, indexes, and each size's figures.
    """

    tables: Path
    queries: Path
    hay: tuple[Path, ...]
    questions: int
    seed: int
    setting: Setting
    folder: Path


@dataclass(frozen=True, slots=True)
class Point:
    """The figures of one size, with 95 % intervals; times in milliseconds, sizes in bytes.

    `ms_cpu` is the mean of the processor's time for a question, all threads together: beside other
    work, it says more than the clock.
    """

    tables: int
    real: int
    questions: int
    hit_1: float
    hit_1_interval: tuple[float, float]
    hit_10: float
    hit_10_interval: tuple[float, float]
    ms_p50: float
    ms_p95: float
    ms_cpu: float
    index_bytes: int
    blocks: int
    seconds_to_index: float
    texts_embedded: int
    memory_to_index: int
    memory_to_ask: int


_OF_INDEXING = frozenset({"seconds_to_index", "texts_embedded", "memory_to_index"})
_OF_ASKING = frozenset(field.name for field in fields(Point)) - _OF_INDEXING
Work = Callable[[Curve, int], dict[str, Any]]


def measure_curve(curve: Curve, sizes: Sequence[int] = SIZES) -> list[Point]:
    """Return a point a size, the smallest first; what is kept of one is not measured again.

    Raises:
        BenchmarkError: A file cannot be read, or a process ended before its time, as where memory
            is short; the smaller sizes are kept.
    """
    key, points = _key(curve), []
    for size in sorted(set(sizes)):
        path = curve.folder / "curve" / f"{size}-{key}"
        with working(f"a haystack of {size:,} tables"):
            indexed = _once(path.with_suffix(".indexed.json"), _OF_INDEXING, _build, curve, size)
            asked = _once(path.with_suffix(".asked.json"), _OF_ASKING, _ask, curve, size)
        points.append(Point(**indexed, **asked))
    return points


def set_of(curve: Curve, size: int) -> RetrievalSet:
    """Return the tables and questions of one size."""
    dataset = read_files(curve.tables, curve.queries)
    hay = [read_tables(path) for path in curve.hay]
    return haystack(dataset, hay, curve.questions, size, curve.seed)


def _once(
    path: Path, names: Collection[str], work: Work, curve: Curve, size: int
) -> Mapping[str, Any]:
    """Return what some work came to before, or have it done and keep that."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(kept, dict) and kept.keys() == {*names}:
            return kept
    except (OSError, ValueError):
        pass  # never done, or not to its end
    found = _apart(work, curve, size)
    with whole(path) as stream:
        stream.write(json.dumps(found, indent=2).encode() + b"\n")
    return found


def _apart(work: Work, curve: Curve, size: int) -> Mapping[str, Any]:
    """Return what some work comes to in a new process."""
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            found: Mapping[str, Any] = pool.submit(work, curve, size).result()
    except BrokenProcessPool as error:
        raise BenchmarkError(
            f"the process for {size:,} tables ended before its time; is memory short?"
        ) from error
    return found


def _build(curve: Curve, size: int) -> dict[str, Any]:
    """Index a haystack, in a process of its own."""
    with Lab(set_of(curve, size), curve.folder, os.environ) as lab:
        index, built = lab.index(curve.setting)
        index.close()
    return {
        "seconds_to_index": built.seconds,
        "texts_embedded": built.embedded,
        "memory_to_index": peak_memory(),
    }


def _ask(curve: Curve, size: int) -> dict[str, Any]:
    """Ask a haystack that is indexed, in a process of its own."""
    dataset = set_of(curve, size)
    setting = setting_of(curve.setting.deployment, {**curve.setting.given, "k": 10})
    with Lab(dataset, curve.folder, os.environ) as lab:
        outcome = measure(lab, setting)
        cpu = _cpu(lab, setting)
    values, intervals, facts = outcome.figures.values, outcome.figures.intervals, outcome.facts
    return {
        "tables": size,
        "real": dataset.tables.real if isinstance(dataset.tables, Haystack) else size,
        "questions": len(dataset.questions),
        "hit_1": values["R@1"],
        "hit_1_interval": tuple(intervals["R@1"]),
        "hit_10": values["R@10"],
        "hit_10_interval": tuple(intervals["R@10"]),
        "ms_cpu": cpu,
        **{name: facts[name] for name in ("ms_p50", "ms_p95", "index_bytes", "blocks")},
        "memory_to_ask": facts["peak_memory_bytes"],
    }


def _cpu(lab: Lab, setting: Setting) -> float:
    """Return the milliseconds of processor time that a question takes by itself, on average."""
    questions = lab.dataset.questions[:_TIMED]
    index, _ = lab.index(setting)
    with closing(index):
        engine = lab.engine(setting, index, remembering=False)
        options = setting.ask_options(index.kinds())
        engine.ask_many(questions[:1], **options)
        began = time.process_time()
        for question in questions:
            engine.ask_many([question], **options)
        return (time.process_time() - began) * 1000 / len(questions)


def _key(curve: Curve) -> str:
    """Return a name for all that decides a point but its size."""
    dataset = read_files(curve.tables, curve.queries).first(curve.questions)
    sets = [tables_key(dataset), questions_key(dataset)]
    sets += [tables_key(read_tables(path)) for path in curve.hay]
    return content_hash(curve.setting.key, *sets, str(curve.seed), code_key(_CODE))[:16]
