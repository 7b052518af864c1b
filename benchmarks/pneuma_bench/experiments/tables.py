"""Index many tiny CSV files with narration off, and print the CPU time a table, a stage each.

What is counted is what a table costs beside its models. The encoder is the packaged one, timed by
itself, or with `--encoder none` a stand-in that costs next to nothing. The processes that read
tables are counted in the whole; of the stages, only what this process spends.
"""

import argparse
import hashlib
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np

import pneuma_assets.resources.models
from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.models.encoder.encoder import SentenceEncoder
from pneuma_assets.core.store.runs import Runs, StageRecord
from pneuma_assets.core.tables import Vector
from pneuma_assets.index_run import run_indexing
from pneuma_bench.experiments.support.timing import timed

COLUMNS = ("id", "name", "city", "amount", "day")
ROWS = 12


class NoEncoder:
    """Keeps `models.base.Encoder` at next to no cost: a direction a text, a token a word."""

    name = "none"
    dimension = 384
    window = 254

    def token_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return where each word starts and ends."""
        return [[match.span() for match in re.finditer(r"\w+|[^\w\s]", text)] for text in texts]

    def encode_documents(self, texts: Sequence[str]) -> Vector:
        """Return a unit vector a text."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            digest = hashlib.blake2b(text.encode(), digest_size=4).digest()
            vectors[row, int.from_bytes(digest, "big") % self.dimension] = 1.0
        return vectors

    encode_queries = encode_documents


def counted(spent: Counter[str], name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, its CPU time added under `name`."""

    @wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        started = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            spent[name] += time.process_time() - started

    return call


def watch(spent: Counter[str], encoder: type[Encoder]) -> None:
    """Count the stages' CPU time, and within it that of the encoder and of Dagster's events."""
    record = Runs.record
    last = time.process_time()

    def recorded(runs: Runs, run_id: str, stage: StageRecord) -> None:
        nonlocal last
        now = time.process_time()
        spent[f"stage {stage.stage}"] += now - last
        last = now
        record(runs, run_id, stage)

    Runs.record = recorded  # type: ignore[method-assign]
    for owner, name, what in (
        (encoder, "encode_documents", "of it: encoder"),
        (encoder, "token_spans", "of it: encoder"),
        (dg.DagsterInstance, "handle_new_event", "of it: Dagster's events"),
    ):
        setattr(owner, name, counted(spent, what, getattr(owner, name)))


def deployment(folder: Path, count: int) -> LoadedDeployment:
    """Return a deployment over files that differ in their cells and, in part, in their columns."""
    lake = folder / "lake"
    lake.mkdir()
    for number in range(count):
        header = ",".join((*COLUMNS, f"extra_{number % 50}"))
        rows = "\n".join(
            f"{row},name {row * number},city {row % 7},{row * number / 8},2024-01-{row + 1:02},x"
            for row in range(ROWS)
        )
        (lake / f"table{number}.csv").write_text(f"{header}\n{rows}\n")
    file = folder / "pneuma.yaml"
    file.write_text("home: home\nsources: [{name: lake, type: folder, path: lake}]\n")
    return load_deployment(config=file, environ={}, cwd=folder)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--encoder", choices=["packaged", "none"], default="packaged")
    options = parser.parse_args()
    os.environ.pop("DAGSTER_HOME", None)
    spent: Counter[str] = Counter()
    if options.encoder == "none":
        pneuma_assets.resources.models.open_encoder = lambda _: NoEncoder()
    watch(spent, NoEncoder if options.encoder == "none" else SentenceEncoder)
    with tempfile.TemporaryDirectory() as folder:
        loaded = deployment(Path(folder), options.tables)
        for name in ("first run", "second run, nothing changed"):
            _, took = timed(lambda: run_indexing(loaded))
            each = took.cpu / options.tables * 1e3
            print(f"{name:32}{took.cpu:9.2f} s CPU {took.wall:9.2f} s {each:9.2f} ms a table")
            if name == "first run":
                for part, seconds in spent.items():
                    each = seconds / options.tables * 1e3
                    print(f"  {part:30}{seconds:9.2f} s CPU {'':11} {each:9.2f} ms a table")


if __name__ == "__main__":
    main()
