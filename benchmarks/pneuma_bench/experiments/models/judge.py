"""Candidates judged a second: one forward pass against the authors' two-token generation.

The authors let the model write two tokens, two prompts at a time, and read whether the answer
starts with yes. Blocks are built from real tables: column names and first rows.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from pneuma_assets.core.search.judge import judge_blocks, judge_prompt
from pneuma_assets.core.tables import Block, DocumentKind
from pneuma_bench.experiments.support.language_models import (
    Plain,
    Ways,
    arguments,
    compare,
    model_folder,
    our_llamacpp,
    our_transformers,
    real_tables,
)

QUESTION = "How did carbon dioxide emissions change over the years?"
BLOCK_CHARACTERS = 800


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, default=48)
    options = parser.parse_args()
    blocks = list(islice(real_blocks(options.folder), options.candidates))
    prompts = [judge_prompt(QUESTION, block) for block in blocks]
    transformers = our_transformers(options)
    transformers.yes_probability(prompts[:1])  # loads it
    dtypes = (transformers._loaded.model.dtype, "float32")
    plain, single = (Plain(model_folder(options), dtype, options.device) for dtype in dtypes)
    for one in (plain, single):
        one.generate(prompts[:2], 2, 2)
    count = len(blocks)
    ways: Ways = {
        "two tokens, batches of 2": (count, lambda: plain.generate(prompts, 2, 2)),
        "the same in float32": (count, lambda: single.generate(prompts, 2, 2)),
        "ours, transformers": (count, lambda: judge_blocks(transformers, QUESTION, blocks)),
    }
    if options.device == "cpu" and options.model is None:
        llamacpp = our_llamacpp()
        llamacpp.yes_probability(prompts[:1])
        ways |= {"ours, llama.cpp": (count, lambda: judge_blocks(llamacpp, QUESTION, blocks))}
    compare(ways, options.rounds, "candidates")


def real_blocks(folder: Path) -> Iterator[Block]:
    for name, columns, rows in real_tables(folder):
        yield Block(f"lake/{name}", DocumentKind.SCHEMA, " | ".join(columns)[:BLOCK_CHARACTERS])
        text = "\n".join(
            " | ".join(f"{column}: {cell}" for column, cell in zip(columns, row, strict=False))
            for row in rows
        )
        yield Block(f"lake/{name}", DocumentKind.ROWS, text[:BLOCK_CHARACTERS])


if __name__ == "__main__":
    main()
