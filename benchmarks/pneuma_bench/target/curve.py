"""How well a needle is found among ever more tables, measured and drawn."""

import json
import multiprocessing
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.progress import working
from pneuma_assets.core.tables import content_hash
from pneuma_bench.files import kept_json, write_text
from pneuma_bench.keys import code_key, questions_key, tables_key
from pneuma_bench.lab import Lab
from pneuma_bench.outcome import peak_memory
from pneuma_bench.plot import save
from pneuma_bench.reading import read_files, read_tables
from pneuma_bench.run import measure
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import Setting, setting_of
from pneuma_bench.target.haystack import Haystack, haystack

SIZES = (100, 316, 1_000, 3_162, 10_000, 31_623, 100_000)
"""Half a power of ten apart."""

Point = Mapping[str, Any]
"""The figures of one size, with 95 % intervals; times in milliseconds, sizes in bytes."""


@dataclass(frozen=True, slots=True)
class Curve:
    """What is measured.

    Attributes:
        tables: The file of the tables that are asked for, and of others.
        queries: The file of the questions.
        hay: Files of other real tables.
        questions: How many of the first are asked.
        seed: Decides which tables are made.
        setting: How tables are indexed and questions asked.
        folder: Keeps embeddings, indexes, and each size's figures.
    """

    tables: Path
    queries: Path
    hay: tuple[Path, ...]
    questions: int
    seed: int
    setting: Setting
    folder: Path

    @property
    def key(self) -> str:
        """A name for all that decides a point but its size."""
        dataset = read_files(self.tables, self.queries).first(self.questions)
        sets = [tables_key(dataset), questions_key(dataset)]
        sets += [tables_key(read_tables(path)) for path in self.hay]
        return content_hash(self.setting.key, *sets, str(self.seed), code_key())[:16]

    def set_of(self, size: int) -> RetrievalSet:
        """Return the tables and questions of one size."""
        hay = [read_tables(path) for path in self.hay]
        dataset = read_files(self.tables, self.queries)
        return haystack(dataset, hay, self.questions, size, self.seed)


def measure_curve(curve: Curve, sizes: Sequence[int] = SIZES) -> list[Point]:
    """Return a point a size, the smallest first; what is kept of one is not measured again.

    Raises:
        BenchmarkError: A file cannot be read, or a process ended before its time, as where memory
            is short; the smaller sizes are kept.
    """
    key = curve.key
    points: list[Point] = []
    for size in sorted(set(sizes)):
        point: dict[str, Any] = {}
        with working(f"a haystack of {size:,} tables"):
            for name, work in (("indexed", _build), ("asked", _ask)):
                path = curve.folder / "curve" / f"{size}-{key}.{name}.json"
                if (found := kept_json(path)) is None:
                    found = _apart(work, curve, size)
                    write_text(path, json.dumps(found, indent=2) + "\n")
                point |= found
        points.append(point)
    return points


def _apart(work: Callable[[Curve, int], dict[str, Any]], curve: Curve, size: int) -> dict[str, Any]:
    """Return what some work comes to in a new process, whose memory is its own."""
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            return pool.submit(work, curve, size).result()
    except BrokenProcessPool as error:
        raise BenchmarkError(
            f"the process for {size:,} tables ended before its time; is memory short?"
        ) from error


def _build(curve: Curve, size: int) -> dict[str, Any]:
    with Lab(curve.set_of(size), curve.folder, os.environ) as lab:
        index, built = lab.index(curve.setting)
        index.close()
    return {
        "seconds_to_index": built.seconds,
        "texts_embedded": built.embedded,
        "memory_to_index": peak_memory(),
    }


def _ask(curve: Curve, size: int) -> dict[str, Any]:
    dataset = curve.set_of(size)
    setting = setting_of(curve.setting.deployment, {**curve.setting.given, "k": 10})
    with Lab(dataset, curve.folder, os.environ) as lab:
        outcome = measure(lab, setting)
    figures, facts = outcome.figures, outcome.facts
    point = {
        "tables": size,
        "real": len(dataset.tables.real) if isinstance(dataset.tables, Haystack) else size,
        "questions": len(dataset.questions),
        **{name: facts[name] for name in ("ms_p50", "ms_p95", "ms_cpu", "index_bytes", "blocks")},
        "memory_to_ask": facts["peak_memory_bytes"],
    }
    for name, figure in (("hit_1", "R@1"), ("hit_10", "R@10")):
        point |= {name: figures.values[figure], f"{name}_interval": [*figures.intervals[figure]]}
    return point


_BLUE, _RED, _GREY = "#2f5d8a", "#b2432f", "#6b7280"
_PANELS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "share of questions": [("R@1", _RED, "hit_1"), ("R@10", _BLUE, "hit_10")],
    "milliseconds a question": [
        ("median", _BLUE, "ms_p50"), ("95 of 100", _RED, "ms_p95"), ("processor", _GREY, "ms_cpu")
    ],
    "megabytes": [
        ("memory to ask", _BLUE, "memory_to_ask"), ("memory to index", _RED, "memory_to_index"),
        ("index on disk", _GREY, "index_bytes"),
    ],
}  # fmt: skip
"""Lines of each panel: their name, their colour, and which figure of a point they are."""


def draw_curve(path: Path, points: Sequence[Point]) -> None:
    """Draw a panel for each kind of figure; bands are 95 % intervals over the questions.

    Raises:
        BenchmarkError: The file cannot be written.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.2), layout="constrained")
    sizes = [point["tables"] for point in points]
    panels = figure.subplots(1, len(_PANELS), squeeze=False)[0]
    for panel, (title, lines) in zip(panels, _PANELS.items(), strict=True):
        unit = 1e6 if title == "megabytes" else 1
        for name, colour, key in lines:
            values = [point[key] / unit for point in points]
            panel.plot(sizes, values, "o-", color=colour, ms=4, label=name)
            if bounds := [
                point[f"{key}_interval"] for point in points if f"{key}_interval" in point
            ]:
                low, high = zip(*bounds, strict=True)
                panel.fill_between(sizes, low, high, color=colour, alpha=0.12, linewidth=0)
        panel.set(title=title, xscale="log", xlabel="tables")
        if title == "share of questions":
            panel.set_ylim(0, 1)
        else:
            panel.set_yscale("log")
        panel.grid(visible=True, linewidth=0.4)
        panel.legend(frameon=False, fontsize=8)
    save(figure, path)
