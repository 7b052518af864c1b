"""Recall on sets of tables and questions, narration off, against the floor of plain fusion.

    python -m benchmarks.retrieval FOLDER [NAME ...]

FOLDER holds `NAME.tables.jsonl` and `NAME.queries.jsonl` (see `core.bench.retrieval.read_set`).
Nothing is kept between runs: every table is represented, packed, embedded and indexed anew.
"""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pneuma_assets.core.bench.retrieval import RetrievalSet, evaluate, index_set, read_set
from pneuma_assets.core.config.indexing import SamplingConfig
from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.tables import DocumentKind

FLOOR = {"fetaqa_dev": (0.362, 0.612), "tabfact_val": (0.530, 0.760)}
"""R@1 and R@10 of BM25 and MiniLM over five rows a table, min-max fused at alpha 0.5."""

VARIANTS = {
    "all blocks, alpha 0.5": (0.5, NO_FILTER),
    "all blocks, alpha 0.3": (0.3, NO_FILTER),
    "all blocks, alpha 0.7": (0.7, NO_FILTER),
    "words only": (1.0, NO_FILTER),
    "meaning only": (0.0, NO_FILTER),
    "rows only, alpha 0.5": (0.5, IndexFilter(kinds=(DocumentKind.ROWS,))),
    "schema only, alpha 0.5": (0.5, IndexFilter(kinds=(DocumentKind.SCHEMA,))),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", default=list(FLOOR))
    parser.add_argument("--rows", type=int, default=5, help="rows sampled from a table")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    sampling = SamplingConfig(rows=arguments.rows, seed=arguments.seed)
    results = [measure(read_set(arguments.folder, name), sampling) for name in arguments.names]
    return 0 if all(results) else 1


def measure(dataset: RetrievalSet, sampling: SamplingConfig) -> bool:
    """Index a set, print every variant's figures, and say whether the default reaches the floor."""
    encoder = open_encoder(EncoderConfig())
    print(f"\n{dataset.name}: {len(dataset.tables)} tables, {len(dataset.questions)} questions")
    with tempfile.TemporaryDirectory() as folder:
        index = EmbeddedIndex(Path(folder) / "index", encoder.name, encoder.dimension)
        with timed("represented, packed, embedded and indexed"):
            blocks = index_set(index, encoder, dataset, sampling)
        print(f"{len(blocks)} blocks, {index.info().size_bytes / 1e6:.1f} MB")
        engine = QueryEngine(index, encoder)
        figures = {}
        for variant, (alpha, where) in VARIANTS.items():
            with timed("asked"):
                figures[variant] = evaluate(engine, dataset, alpha=alpha, where=where)
            shown = "  ".join(f"{name} {value:.3f}" for name, value in figures[variant].items())
            print(f"{variant:24} {shown}", flush=True)
        index.close()
    reached = next(iter(figures.values()))
    floor = FLOOR.get(dataset.name, (0.0, 0.0))
    passed = reached["R@1"] >= floor[0] and reached["R@10"] >= floor[1]
    print(f"floor R@1 {floor[0]:.3f} R@10 {floor[1]:.3f}: {'reached' if passed else 'MISSED'}")
    return passed


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Print how long the block took."""
    start = time.perf_counter()
    yield
    print(f"{what} in {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    raise SystemExit(main())
