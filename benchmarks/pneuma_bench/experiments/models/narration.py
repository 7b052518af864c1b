"""Columns narrated a second: this project's back ends, and plain transformers.

    python -m pneuma_bench.experiments.models.narration [--device cuda --memory 12 --max-batch 512]

All get the same columns of real tables, the same prompt and the same model, in one run. All but the
last of ours write whole answers; a run asks for the first sentence only (`narrate_columns`).

With `--memory` the GPU grants this process so many GB and no more, so that batches run out of it.
"""

import logging
from argparse import Namespace
from itertools import islice

from pneuma_assets.core.describe.narrate import NARRATION_TOKENS, NarrationRequest, narrate_columns
from pneuma_assets.core.describe.prompts import column_prompt
from pneuma_assets.core.models.batching import release_memory
from pneuma_assets.core.models.language.transformers.model import TransformersModel
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
from pneuma_bench.experiments.support.timing import timed

FIXED_BATCHES = (8, 16, 32, 64, 128, 256)


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, default=96)
    parser.add_argument("--alone", type=int, default=12, help="columns prompted one at a time")
    parser.add_argument("--max-batch", type=int, default=128, help="rows our search may try")
    parser.add_argument("--memory", type=float, help="GB of the GPU that may be used")
    options = parser.parse_args()
    logging.basicConfig(format="%(message)s")  # batches that did not fit
    every = (
        NarrationRequest(f"lake/{name}", tuple(columns), at)
        for name, columns, _ in real_tables(options.folder)
        for at in range(len(columns))
    )
    compare(ways_of(list(islice(every, options.columns)), options), options.rounds, "columns")


def ways_of(requests: list[NarrationRequest], options: Namespace) -> Ways:
    """Return the ways to describe columns, the best fixed batch of the library's own among them."""
    prompts = [column_prompt(request.columns, request.position) for request in requests]
    alone, count, length = prompts[: options.alone], len(prompts), NARRATION_TOKENS
    ours = our_transformers(options, options.max_batch)
    list(ours.generate(prompts[:2], 2))  # loads it
    dtype = ours._loaded.model.dtype
    plain = Plain(model_folder(options), dtype, options.device)
    plain.generate(prompts[:2], 2, 2)

    def speed(size: int) -> float:
        return size / timed(lambda: plain.generate(prompts[:size], length, size))[1].wall

    best = max((size for size in FIXED_BATCHES if size <= count), key=speed)
    ways: Ways = {
        "one prompt at a time": (len(alone), lambda: plain.generate(alone, length, 1)),
        f"plain generate, batches of {best}": (
            count, lambda: plain.generate(prompts, length, best)
        ),
        f"ours, transformers in {dtype}": (count, lambda: list(ours.generate(prompts, length))),
        "ours, transformers, to the end of the first sentence": (
            count, lambda: list(narrate_columns(ours, requests))
        ),
    }  # fmt: skip
    if options.device == "cpu" and options.model is None:
        llamacpp = our_llamacpp()
        ways |= {"ours, llama.cpp": (count, lambda: list(llamacpp.generate(prompts, length)))}
    if options.memory:
        less = lambda: with_less_memory(ours, prompts, options.memory)  # noqa: E731
        ways |= {"ours, with less memory": (count, less)}
    return ways


def with_less_memory(model: TransformersModel, prompts: list[str], gigabytes: float) -> None:
    """Let the GPU grant less, and check that each prompt has an answer all the same."""
    import torch

    release_memory()
    model.sizer.history.clear()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(gigabytes * 1e9 / total)
    try:
        answers = list(model.generate(prompts, NARRATION_TOKENS))
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    done = {answer.index for answer in answers if answer.problem is None}
    sizes = [round(size) for size in model.sizer.history]
    print(f"{len(done)} of {len(prompts)} answered, in batches of {sizes}")


if __name__ == "__main__":
    main()
