"""Requests of narration answered a second: this project's back ends, and plain transformers.

    python -m pneuma_bench.experiments.narration [--device cuda --memory 12 --max-batch 512]

All get the same prompts about the same tables and the same model, in one run, and write `--tokens`
of an answer at most. Rounds alternate, so that a noisy machine is unfair to all; medians are shown.

With `--memory` the GPU grants this process so many GB and no more, so that batches run out of it.
"""

import csv
import logging
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np

from pneuma_assets.core.config.models import PACKAGED_MODEL
from pneuma_assets.core.describe.narrate import requests_of
from pneuma_assets.core.models.batching import release_memory
from pneuma_assets.core.models.language.llamacpp import LlamaCppModel
from pneuma_assets.core.models.language.smollm2 import converted_folder, find_gguf
from pneuma_assets.core.models.language.transformers.model import TransformersModel
from pneuma_assets.core.tables import Column, Table
from pneuma_bench.experiments.support.timing import timed

LAKE = Path(__file__).resolve().parents[3].parent / "shared/data/lake"
CACHE = Path(tempfile.gettempdir()) / "pneuma-assets-benchmarks"
FIXED_BATCHES = (8, 16, 32, 64, 128, 256)
Ways = Mapping[str, tuple[int, Callable[[], object]]]
"""By name, how many prompts a way answers, and what does it."""


def main() -> None:
    parser = ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=LAKE, help="a folder tree of CSV files")
    parser.add_argument("--cache", type=Path, default=CACHE, help="keeps the converted model")
    parser.add_argument("--model", type=Path, help="a folder of another model than SmolLM2")
    parser.add_argument("--device", default="cpu", help="of transformers, ours and plain")
    parser.add_argument("--dtype", default="auto", help="of transformers, ours and plain")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tables", type=int, default=96)
    parser.add_argument("--tokens", type=int, default=48, help="most of an answer")
    parser.add_argument("--alone", type=int, default=12, help="tables prompted one at a time")
    parser.add_argument("--max-batch", type=int, default=128, help="rows our search may try")
    parser.add_argument("--memory", type=float, help="GB of the GPU that may be used")
    options = parser.parse_args()
    logging.basicConfig(format="%(message)s")  # batches that did not fit
    ways = ways_of(list(islice(prompts_of(options.folder), options.tables)), options)
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(options.rounds):
        for name, (count, work) in ways.items():
            speeds[name].append(count / timed(work)[1].wall)
            print(f"round {number + 1}: {speeds[name][-1]:6.2f} tables/s  {name}", flush=True)
    first = np.array(next(iter(speeds.values())))
    print("\n| way | tables/s | times the first |\n| --- | ---: | ---: |")
    for name, values in speeds.items():
        print(f"| {name} | {np.median(values):.2f} | {np.median(values / first):.1f} |")


def prompts_of(folder: Path) -> Iterator[str]:
    """Yield what is asked about CSV files by their columns, every seventh first, for variety."""
    files = sorted(folder.rglob("*.csv"))
    for file in (file for start in range(7) for file in files[start::7]):
        with file.open(encoding="utf-8", errors="replace", newline="") as lines:
            columns = tuple(Column(name, "VARCHAR") for name in next(csv.reader(lines), ()))
        if len(columns) <= 60:
            table = Table(file.stem, columns, 0, "")
            yield from (one.prompt for one in requests_of(table, {*range(len(columns))}, None))


def ways_of(prompts: list[str], options: Namespace) -> Ways:
    """Return the ways to answer, the best fixed batch of the library's own among them."""
    alone, count, length = prompts[: options.alone], len(prompts), options.tokens
    folder, device = options.model or converted_folder(options.cache), options.device
    ours = TransformersModel(
        folder.name, lambda: folder, device=device, dtype=options.dtype, max_batch=options.max_batch
    )
    list(ours.generate(prompts[:2], 2))  # loads it
    dtype = ours._loaded.model.dtype
    plain = Plain(folder, dtype, device)
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
    }  # fmt: skip
    if device == "cpu" and options.model is None:
        llamacpp = LlamaCppModel(PACKAGED_MODEL, find_gguf, device="cpu")
        ways |= {"ours, llama.cpp": (count, lambda: list(llamacpp.generate(prompts, length)))}
    if options.memory:
        less = lambda: with_less_memory(ours, prompts, options)  # noqa: E731
        ways |= {"ours, with less memory": (count, less)}
    return ways


class Plain:
    """The library's own `generate`, as its documentation shows it: fixed batches, left padding."""

    def __init__(self, folder: Path, dtype: object, device: str) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._tokenizer = AutoTokenizer.from_pretrained(folder, padding_side="left")
        self._tokenizer.pad_token = self._tokenizer.pad_token or self._tokenizer.eos_token
        self._model = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).eval().to(device)

    def generate(self, prompts: Sequence[str], max_new_tokens: int, batch: int) -> list[str]:
        """Return the answers in order; every batch runs until its last row ends."""
        answers: list[str] = []
        for start in range(0, len(prompts), batch):
            inputs = self._tokenizer.apply_chat_template(
                [[{"role": "user", "content": p}] for p in prompts[start : start + batch]],
                add_generation_prompt=True,
                padding=True,
                return_tensors="pt",
                return_dict=True,
            ).to(self._model.device)
            written = self._model.generate(**inputs, max_new_tokens=max_new_tokens, do_sample=False)
            answers += self._tokenizer.batch_decode(
                written[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True
            )
        return answers


def with_less_memory(model: TransformersModel, prompts: list[str], options: Namespace) -> None:
    """Let the GPU grant less, and check that each prompt has an answer all the same."""
    import torch

    release_memory()
    model.sizer.history.clear()
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(options.memory * 1e9 / total)
    try:
        answers = list(model.generate(prompts, options.tokens))
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    done = {answer.index for answer in answers if answer.problem is None}
    sizes = [round(size) for size in model.sizer.history]
    print(f"{len(done)} of {len(prompts)} answered, in batches of {sizes}")


if __name__ == "__main__":
    main()
