"""Candidates judged a second: one forward pass against the authors' two-token generation.

The authors let the model write two tokens, two prompts at a time, and read whether the answer
starts with yes. Blocks are built from real tables: column names and first rows.
"""

from argparse import Namespace
from collections.abc import Callable, Iterator
from itertools import islice

from pneuma_assets.core.search.judge import judge_blocks, judge_prompt
from pneuma_assets.core.tables import Block, DocumentKind
from pneuma_bench.experiments.support.language_models import (
    Plain,
    arguments,
    median,
    model_folder,
    our_llamacpp,
    our_transformers,
    real_tables,
    timed,
)

QUESTION = "How did carbon dioxide emissions change over the years?"
BLOCK_CHARACTERS = 800
TWO_TOKENS = "two tokens, batches of 2"


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--candidates", type=int, default=48)
    options = parser.parse_args()

    blocks = list(islice(real_blocks(options), options.candidates))
    prompts = [judge_prompt(QUESTION, block) for block in blocks]
    transformers = our_transformers(options)
    transformers.yes_probability(prompts[:1])  # loads it
    plain = Plain(model_folder(options), transformers._loaded.model.dtype, options.device)
    plain.generate(prompts[:2], 2, 2)
    single = Plain(model_folder(options), "float32", options.device)
    single.generate(prompts[:2], 2, 2)
    ways: dict[str, Callable[[], object]] = {
        TWO_TOKENS: lambda: plain.generate(prompts, 2, 2),
        "the same in float32": lambda: single.generate(prompts, 2, 2),
        "ours, transformers": lambda: judge_blocks(transformers, QUESTION, blocks),
    }
    if options.device == "cpu" and options.model is None:
        llamacpp = our_llamacpp()
        llamacpp.yes_probability(prompts[:1])
        ways["ours, llama.cpp"] = lambda: judge_blocks(llamacpp, QUESTION, blocks)
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(options.rounds):
        for name, work in ways.items():
            speeds[name].append(len(blocks) / timed(work))
            print(f"round {number + 1}: {speeds[name][-1]:6.2f} candidates/s  {name}", flush=True)
    base = speeds[TWO_TOKENS]
    print("\n| way | candidates/s | times |\n| --- | ---: | ---: |")
    for name, values in speeds.items():
        times = median([mine / theirs for mine, theirs in zip(values, base, strict=False)])
        print(f"| {name} | {median(values):.2f} | {times:.1f} |")


def real_blocks(options: Namespace) -> Iterator[Block]:
    for name, columns, rows in real_tables(options.folder):
        yield Block(f"lake/{name}", DocumentKind.SCHEMA, " | ".join(columns)[:BLOCK_CHARACTERS])
        text = "\n".join(
            " | ".join(f"{column}: {cell}" for column, cell in zip(columns, row, strict=False))
            for row in rows
        )
        yield Block(f"lake/{name}", DocumentKind.ROWS, text[:BLOCK_CHARACTERS])


if __name__ == "__main__":
    main()
