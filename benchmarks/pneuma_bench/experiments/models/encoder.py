"""Our use of the encoder against sentence-transformers' own `encode` of the same texts.

    python -m pneuma_bench.experiments.models.encoder FOLDER [--texts 400] [--device cuda]

FOLDER holds NAME.tables.jsonl and NAME.queries.jsonl (benchmarks/README.md); the tables' packed
blocks are the texts.
Ours is measured in the type that the hardware multiplies, which is the default, and in float32.
All take turns in one process, so that a busy machine slows all; medians are compared.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

from pneuma_assets.core.config.models import PACKAGED_ENCODER
from pneuma_assets.core.config.sections import SamplingConfig
from pneuma_assets.core.describe.packing import pack_blocks
from pneuma_assets.core.models.encoder.encoder import SentenceEncoder
from pneuma_assets.core.models.encoder.files import locate_encoder
from pneuma_assets.core.tables import Vector
from pneuma_bench.retrieval import read_set, table_documents


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", default="fetaqa_dev")
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu", help="cuda, say")
    arguments = parser.parse_args()
    files = locate_encoder(PACKAGED_ENCODER)
    ours = SentenceEncoder(files, arguments.device)
    theirs = SentenceTransformer(files.model, device=arguments.device, local_files_only=True)

    dataset = read_set(arguments.folder, arguments.name)
    documents = [
        document
        for table, rows in dataset.tables
        for document in table_documents(table, rows, SamplingConfig())
    ]
    start = time.perf_counter()
    blocks = pack_blocks(documents, ours)
    seconds = time.perf_counter() - start
    print(f"packed {len(documents)} documents into {len(blocks)} blocks in {seconds:.2f} s")

    texts = [block.text for block in blocks[: arguments.texts]]
    return compare(ours, theirs, texts, arguments.rounds, arguments.device)


def compare(
    ours: SentenceEncoder, theirs: SentenceTransformer, texts: list[str], rounds: int, device: str
) -> int:
    """Time all, after a round that warms them up, and print the ratio of the medians."""
    single = SentenceEncoder(locate_encoder(PACKAGED_ENCODER), device, "float32")
    ways: dict[str, Callable[[], Vector]] = {
        "raw": lambda: np.asarray(theirs.encode(texts, normalize_embeddings=True)),
        "ours, float32": lambda: single.encode_documents(texts),
        "ours": lambda: ours.encode_documents(texts),
    }
    vectors = {name: encode() for name, encode in ways.items()}
    rows = [{name: timed(encode) for name, encode in ways.items()} for _ in range(rounds)]
    medians = {
        name: tuple(map(statistics.median, zip(*(row[name] for row in rows), strict=True)))
        for name in ways
    }
    for name, (seconds, busy) in medians.items():
        cosine = (vectors[name] * vectors["raw"]).sum(axis=1).min()
        print(
            f"{name:14} {len(texts) / seconds:6.1f} texts/s, {1000 * busy / len(texts):5.1f} ms of"
            f" processor time a text, lowest cosine to raw {cosine:.6f}"
        )
    (raw, raw_cpu), (own, own_cpu) = medians["raw"], medians["ours"]
    print(f"ours is {100 * raw / own:.0f} % as fast ({100 * raw_cpu / own_cpu:.0f} % by processor)")
    return 0 if raw / own >= 0.9 else 1


def timed(encode: Callable[[], Vector]) -> tuple[float, float]:
    """Return how long it took on the clock, and in seconds of all the processor's cores."""
    start, busy = time.perf_counter(), time.process_time()
    encode()
    return time.perf_counter() - start, time.process_time() - busy


if __name__ == "__main__":
    raise SystemExit(main())
