"""What the benchmarks of narration and of the judge share: real columns, the model, rounds."""

import csv
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from pneuma_assets.core.config.models import PACKAGED_MODEL
from pneuma_assets.core.models.language.llamacpp import LlamaCppModel
from pneuma_assets.core.models.language.smollm2 import converted_folder, find_gguf
from pneuma_assets.core.models.language.transformers.model import TransformersModel
from pneuma_bench.experiments.support.timing import timed

LAKE = Path(__file__).resolve().parents[5] / "shared" / "data" / "lake"
CACHE = Path(tempfile.gettempdir()) / "pneuma-assets-benchmarks"


def arguments(description: str) -> ArgumentParser:
    parser = ArgumentParser(description=description)
    parser.add_argument("--folder", type=Path, default=LAKE, help="a folder tree of CSV files")
    parser.add_argument("--cache", type=Path, default=CACHE, help="keeps the converted model")
    parser.add_argument("--model", type=Path, help="a folder of another model than SmolLM2")
    parser.add_argument("--device", default="cpu", help="of transformers, ours and plain")
    parser.add_argument("--dtype", default="auto", help="of transformers, ours and plain")
    parser.add_argument("--rounds", type=int, default=3)
    return parser


def real_tables(folder: Path) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield name, columns and first rows of CSV files, every seventh first, for variety."""
    files = sorted(folder.rglob("*.csv"))
    if not files:
        raise SystemExit(f"There are no CSV files under {folder}; name a folder with --folder")
    for file in (file for start in range(7) for file in files[start::7]):
        with file.open(encoding="utf-8", errors="replace", newline="") as lines:
            rows = [row for row, _ in zip(csv.reader(lines), range(6), strict=False)]
        if rows and len(rows[0]) <= 60:
            yield file.stem, rows[0], rows[1:]


def model_folder(options: Namespace) -> Path:
    folder: Path = options.model or converted_folder(options.cache)
    return folder


def our_transformers(options: Namespace, max_batch: int = 128) -> TransformersModel:
    folder = model_folder(options)
    return TransformersModel(
        folder.name, lambda: folder, device=options.device, dtype=options.dtype, max_batch=max_batch
    )


def our_llamacpp() -> LlamaCppModel:
    return LlamaCppModel(PACKAGED_MODEL, find_gguf, device="cpu")


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


Ways = Mapping[str, tuple[int, Callable[[], object]]]
"""By name, how many things a way does, and what does them."""


def compare(ways: Ways, rounds: int, what: str) -> None:
    """Print how many things a second each way does, and how many times the first one's that is.

    Rounds alternate, so that a noisy machine is unfair to all alike; medians are shown.
    """
    speeds: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds):
        for name, (count, work) in ways.items():
            speeds[name].append(count / timed(work)[1].wall)
            print(f"round {number + 1}: {speeds[name][-1]:6.2f} {what}/s  {name}", flush=True)
    first = np.array(next(iter(speeds.values())))
    print(f"\n| way | {what}/s | times the first |\n| --- | ---: | ---: |")
    for name, values in speeds.items():
        print(f"| {name} | {np.median(values):.2f} | {np.median(values / first):.1f} |")
