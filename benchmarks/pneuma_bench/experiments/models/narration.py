"""Columns narrated a second: this project's back ends, and plain transformers.

    python -m pneuma_bench.experiments.models.narration [--device cuda --memory 12 --max-batch 512]

All get the same columns of real tables, the same prompt and the same model, in one run; the rounds
alternate, so that a noisy machine is unfair to all alike. All but the last of ours write whole
answers; a run asks for the first sentence only (`narrate_columns`).

With `--memory` the GPU grants this process so many GB and no more, so that batches run out of it.
"""

import logging
from argparse import Namespace
from collections.abc import Callable
from itertools import islice

from pneuma_assets.core.describe.narrate import NARRATION_TOKENS, NarrationRequest, narrate_columns
from pneuma_assets.core.describe.prompts import column_prompt
from pneuma_assets.core.models.batching import release_memory
from pneuma_assets.core.models.language.transformers.model import TransformersModel
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

FIXED_BATCHES = (8, 16, 32, 64, 128, 256)


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, default=96)
    parser.add_argument("--alone", type=int, default=12, help="columns prompted one at a time")
    parser.add_argument("--max-batch", type=int, default=128, help="rows our search may try")
    parser.add_argument("--memory", type=float, help="GB of the GPU that may be used")
    options = parser.parse_args()
    logging.basicConfig(format="%(message)s")  # batches that did not fit

    requests = list(
        islice(
            (
                NarrationRequest(f"lake/{name}", tuple(columns), at)
                for name, columns, _ in real_tables(options.folder)
                for at in range(len(columns))
            ),
            options.columns,
        )
    )
    show(compare(requests, options))


def compare(requests: list[NarrationRequest], options: Namespace) -> dict[str, list[float]]:
    """Return columns a second of each way, one figure a round."""
    prompts = [column_prompt(request.columns, request.position) for request in requests]
    length = NARRATION_TOKENS
    transformers = our_transformers(options, options.max_batch)
    list(transformers.generate(prompts[:2], 2))  # loads it
    plain = Plain(model_folder(options), transformers._loaded.model.dtype, options.device)
    plain.generate(prompts[:2], 2, 2)
    best = max(
        (size for size in FIXED_BATCHES if size <= len(prompts)),
        key=lambda size: size / timed(lambda: plain.generate(prompts[:size], length, size)),
    )
    alone = prompts[: options.alone]
    ways: dict[str, tuple[int, Callable[[], object]]] = {
        "(a) one prompt at a time": (
            len(alone),
            lambda: plain.generate(alone, length, 1),
        ),
        f"(b) plain generate, batches of {best}": (
            len(prompts),
            lambda: plain.generate(prompts, length, best),
        ),
        f"ours, transformers in {transformers._loaded.model.dtype}": (
            len(prompts),
            lambda: list(transformers.generate(prompts, length)),
        ),
        "ours, transformers, to the end of the first sentence": (
            len(prompts),
            lambda: list(narrate_columns(transformers, requests)),
        ),
    }
    if options.device == "cpu" and options.model is None:
        llamacpp = our_llamacpp()
        ways["ours, llama.cpp"] = len(prompts), lambda: list(llamacpp.generate(prompts, length))
    if options.memory:
        ways["ours, with less memory"] = (
            len(prompts),
            lambda: with_less_memory(transformers, prompts, options.memory),
        )
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(options.rounds):
        for name, (count, work) in ways.items():
            speeds[name].append(count / timed(work))
            print(f"round {number + 1}: {speeds[name][-1]:6.2f} columns/s  {name}", flush=True)
    return speeds


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


def show(speeds: dict[str, list[float]]) -> None:
    """Print the medians, and how many times each of the others our ways are."""
    names = list(speeds)
    print("\n| way | columns/s |", *(f"times {name[:3]} |" for name in names if name[0] == "("))
    print("| --- | ---: |", *("---: |" for name in names if name[0] == "("))
    for name in names:
        cells = [f"{median(speeds[name]):.2f}"]
        for other in names:
            if other.startswith("("):
                pairs = zip(speeds[name], speeds[other], strict=False)
                cells.append(f"{median([mine / theirs for mine, theirs in pairs]):.1f}")
        print(f"| {name} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
