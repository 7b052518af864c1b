"""Questions as `QueryEngine` asks them: how long they take, and how many requests they send."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

from pneuma_assets.core.index.base import Hit, IndexQuery, SearchIndex
from pneuma_assets.core.search.query import QueryEngine
from pneuma_bench.experiments.elasticsearch.server import Meter, counted_requests
from pneuma_bench.experiments.support.large_corpus import GivenVectors, LargeCorpus

ASKERS = 8
BATCH = 20
PROPOSED = 50  # blocks a side, as a question asks with k = 10 and n = 5
_WARM_UP = 20

FUSED_HEADER = (
    "| fused search | p50 ms | p95 ms | p50 about a block | p50 of unrelated sides "
    f"| cpu ms a question, own + server | {ASKERS} askers: p50 ms | p95 ms | questions/s |\n|"
    + " --- |"
    * 9
)


def fused_line(label: str, index: SearchIndex, corpus: LargeCorpus, meter: Meter) -> str:
    """Ask every question alone, then all of them by several askers at once; return the line."""
    engine = _engine(index, corpus)
    for question in corpus.questions[:_WARM_UP]:
        engine.ask(question)
    with meter.running():
        alone = [_milliseconds(engine.ask, question) for question in corpus.questions]
    start = perf_counter()
    with ThreadPoolExecutor(ASKERS) as pool:
        together = list(pool.map(lambda one: _milliseconds(engine.ask, one), corpus.questions))
    rate = len(corpus.questions) / (perf_counter() - start)
    cpu = [part / len(alone) * 1000 for part in (meter.own_cpu, meter.server_cpu)]
    return (
        f"| {label} | {_percentiles(alone)} | {np.median(alone[::2]):.1f} "
        f"| {np.median(alone[1::2]):.1f} | {cpu[0]:.1f} + {cpu[1]:.1f} "
        f"| {_percentiles(together)} | {rate:.0f} |"
    )


def print_overlap(index: SearchIndex, corpus: LargeCorpus) -> None:
    """Print how many blocks both sides find; a fused search scores the others once more."""
    queries = map(IndexQuery, corpus.questions, corpus.question_vectors)
    sides = index.search(list(queries), PROPOSED)
    shared = [len(_ids(side.lexical) & _ids(side.semantic)) for side in sides]
    print(
        f"\n{len(corpus.questions)} questions; of the {PROPOSED} blocks a side, both find "
        f"{np.mean(shared[::2]):.1f} in those about a block, "
        f"{np.mean(shared[1::2]):.1f} in those of unrelated sides (in real ones 11 to 14)"
    )


def count_round_trips(index: SearchIndex, corpus: LargeCorpus) -> None:
    """Print how many HTTP requests one question and a batch of them send."""
    engine = _engine(index, corpus)
    most: Sequence[str] = []
    for question in corpus.questions[:BATCH]:
        with counted_requests() as sent:
            engine.ask(question)
        most = max(most, sent, key=len)
    with counted_requests() as batch:
        engine.ask_many(corpus.questions[:BATCH])
    print(f"\nrequests of a question, at most: {len(most)} ({', '.join(most)})")
    print(f"requests of {BATCH} questions at once: {len(batch)} ({', '.join(batch)})", flush=True)


def _ids(hits: Sequence[Hit]) -> set[str]:
    return {hit.block.block_id for hit in hits}


def _engine(index: SearchIndex, corpus: LargeCorpus) -> QueryEngine:
    return QueryEngine(index, GivenVectors(corpus.questions, corpus.question_vectors))


def _milliseconds(ask: Callable[[str], object], question: str) -> float:
    start = perf_counter()
    ask(question)
    return (perf_counter() - start) * 1000


def _percentiles(times: Sequence[float]) -> str:
    p50, p95 = np.percentile(times, [50, 95])
    return f"{p50:.1f} | {p95:.1f}"
