"""Our use of the encoder against sentence-transformers' own `encode` of the same texts.

    python benchmarks/encoder.py FOLDER [--texts 400] [--rounds 5]

FOLDER holds tables as `benchmarks/retrieval.py` reads them; their packed blocks are the texts.
Both take turns in one process, so that a busy machine slows both; medians are compared.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

from pneuma_assets.core.bench.retrieval import read_set, table_documents
from pneuma_assets.core.blocks import pack_blocks
from pneuma_assets.core.config import EncoderConfig, SamplingConfig
from pneuma_assets.core.embedding import SentenceEncoder
from pneuma_assets.core.models.encoder_files import locate_encoder
from pneuma_assets.core.tables import Vector


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", default="fetaqa_dev")
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    files = locate_encoder(EncoderConfig().model)
    ours = SentenceEncoder(files)
    theirs = SentenceTransformer(files.model, local_files_only=True)

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
    return compare(ours, theirs, texts, arguments.rounds)


def compare(
    ours: SentenceEncoder, theirs: SentenceTransformer, texts: list[str], rounds: int
) -> int:
    """Time both, after a round that warms them up, and print the ratio of their medians."""

    def encode_raw() -> Vector:
        return np.asarray(theirs.encode(texts, normalize_embeddings=True))

    def encode_ours() -> Vector:
        return ours.encode_documents(texts)

    difference = np.abs(encode_raw() - encode_ours()).max()
    timings = [(*timed(encode_raw), *timed(encode_ours)) for _ in range(rounds)]
    raw, raw_cpu, own, own_cpu = map(statistics.median, zip(*timings, strict=True))
    print(f"largest difference of any coordinate {difference:.1e}")
    print(f"raw  {len(texts) / raw:7.1f} texts/s, {raw_cpu:.2f} s of processor time")
    print(f"ours {len(texts) / own:7.1f} texts/s, {own_cpu:.2f} s of processor time")
    print(f"ours is {100 * raw / own:.0f} % as fast ({100 * raw_cpu / own_cpu:.0f} % by processor)")
    return 0 if raw / own >= 0.9 else 1


def timed(encode: Callable[[], Vector]) -> tuple[float, float]:
    """Return how long it took on the clock, and in seconds of all the processor's cores."""
    start, busy = time.perf_counter(), time.process_time()
    encode()
    return time.perf_counter() - start, time.process_time() - busy


if __name__ == "__main__":
    raise SystemExit(main())
