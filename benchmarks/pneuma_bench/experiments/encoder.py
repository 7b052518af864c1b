"""Our use of the encoder against sentence-transformers' own `encode` of the same texts.

    python -m pneuma_bench.experiments.encoder FOLDER [--texts 400] [--device cuda]

FOLDER holds NAME.tables.jsonl and NAME.queries.jsonl (benchmarks/README.md); the tables' packed
blocks are the texts.
Ours is measured in the type that the hardware multiplies, which is the default, and in float32.
All take turns in one process, so that a busy machine slows all; medians are compared.
"""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer

from pneuma_assets.core.config.models import PACKAGED_ENCODER
from pneuma_assets.core.config.small_sections import SamplingConfig
from pneuma_assets.core.describe.packing import pack_blocks
from pneuma_assets.core.models.encoder.encoder import SentenceEncoder
from pneuma_assets.core.models.encoder.files import locate_encoder
from pneuma_assets.core.tables import Vector
from pneuma_bench.experiments.support.timing import timed
from pneuma_bench.reading import read_set
from pneuma_bench.retrieval import table_documents


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--name", default="fetaqa_dev")
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", default="cpu", help="cuda, say")
    options = parser.parse_args()
    files = locate_encoder(PACKAGED_ENCODER)
    ours = SentenceEncoder(files, options.device)
    single = SentenceEncoder(files, options.device, "float32")
    theirs = SentenceTransformer(files.model, device=options.device, local_files_only=True)
    dataset = read_set(options.folder, options.name)
    documents = [
        document
        for table, rows in dataset.tables
        for document in table_documents(dataset, table, rows, SamplingConfig())
    ]
    blocks, took = timed(lambda: pack_blocks(documents, ours))
    print(f"packed {len(documents)} documents into {len(blocks)} blocks in {took.wall:.2f} s")
    texts = [block.text for block in blocks[: options.texts]]
    ways: dict[str, Callable[[], Vector]] = {
        "raw": lambda: np.asarray(theirs.encode(texts, normalize_embeddings=True)),
        "ours, float32": lambda: single.encode_documents(texts),
        "ours": lambda: ours.encode_documents(texts),
    }
    vectors = {name: encode() for name, encode in ways.items()}  # warms them up
    rounds = [[timed(encode)[1] for encode in ways.values()] for _ in range(options.rounds)]
    medians = np.median(rounds, axis=0)
    for (name, made), (wall, cpu) in zip(vectors.items(), medians, strict=True):
        cosine = (made * vectors["raw"]).sum(axis=1).min()
        print(
            f"{name:14} {len(texts) / wall:6.1f} texts/s, {1000 * cpu / len(texts):5.1f} ms of"
            f" processor time a text, lowest cosine to raw {cosine:.6f}"
        )
    wall, cpu = 100 * medians[0] / medians[2]
    print(f"ours is {wall:.0f} % as fast ({cpu:.0f} % by processor)")


if __name__ == "__main__":
    main()
