"""Columns narrated a second: this project's back ends, and plain transformers.

All get the same columns of real tables, the same prompt and the same SmolLM2-135M, in one run;
the rounds alternate, so that a noisy machine is unfair to all alike. All but the last of ours
write whole answers; a run asks for the first sentence only (`narrate_columns`).
"""

from argparse import Namespace
from itertools import islice

from pneuma_assets.core.describe.narrate import NARRATION_TOKENS, NarrationRequest, narrate_columns
from pneuma_assets.core.describe.prompts import column_prompt
from pneuma_assets.core.models.language.smollm2 import converted_folder
from pneuma_bench.experiments.support.language_models import (
    Plain,
    arguments,
    median,
    our_llamacpp,
    our_transformers,
    real_tables,
    timed,
)

FIXED_BATCHES = (8, 16, 32, 64)


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, default=96)
    parser.add_argument("--alone", type=int, default=12, help="columns prompted one at a time")
    options = parser.parse_args()

    tables = [(name, tuple(columns)) for name, columns, _ in real_tables(options.folder)]
    requests = list(
        islice(
            (
                NarrationRequest(f"lake/{name}", columns, at)
                for name, columns in tables
                for at in range(len(columns))
            ),
            options.columns,
        )
    )
    speeds = compare(requests, options)
    show(speeds)


def compare(requests: list[NarrationRequest], options: Namespace) -> dict[str, list[float]]:
    """Return columns a second of each way, one figure a round."""
    prompts = [column_prompt(request.columns, request.position) for request in requests]
    length = NARRATION_TOKENS
    transformers, llamacpp = our_transformers(options.cache, options.dtype), our_llamacpp()
    for model in (transformers, llamacpp):
        list(model.generate(prompts[:2], 2))  # loads it
    plain = Plain(converted_folder(options.cache), transformers._loaded.model.dtype)
    plain.generate(prompts[:2], 2, 2)
    best = max(
        FIXED_BATCHES,
        key=lambda size: size / timed(lambda: plain.generate(prompts[:size], length, size)),
    )
    alone = prompts[: options.alone]
    ways = {
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
        "ours, llama.cpp": (
            len(prompts),
            lambda: list(llamacpp.generate(prompts, length)),
        ),
        "ours, transformers, to the end of the first sentence": (
            len(prompts),
            lambda: list(narrate_columns(transformers, requests)),
        ),
    }
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(options.rounds):
        for name, (count, work) in ways.items():
            speeds[name].append(count / timed(work))
            print(f"round {number + 1}: {speeds[name][-1]:6.2f} columns/s  {name}", flush=True)
    return speeds


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
