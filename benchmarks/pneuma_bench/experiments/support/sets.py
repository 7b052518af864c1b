"""Sets of tables and questions in a folder, and means over them, as the experiments print them."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pneuma_assets.core.evaluation.metrics import mean_intervals
from pneuma_bench.reading import read_files
from pneuma_bench.sets import RetrievalSet

UNNAMED = ("fetaqa_dev", "tabfact_val")
"""Sets whose ids are no names, so that names are hidden; elsewhere they are (`schema.table`)."""


def arguments(about: str) -> argparse.ArgumentParser:
    """Return a parser that takes a folder of sets, and where embeddings and indexes are kept."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with NAME.tables.jsonl and NAME.queries.jsonl")
    parser.add_argument("--keep", type=Path, help="keeps embeddings and indexes")
    return parser


def sets_of(folder: Path) -> dict[str, RetrievalSet]:
    """Return the sets of a folder by their names."""
    found = {}
    for queries in sorted(folder.glob("*.queries.jsonl")):
        name = queries.name.split(".")[0]
        tables = folder / f"{name}.tables.jsonl"
        found[name] = read_files(tables, queries, hide_names=name in UNNAMED)
    return found


def means(figures: Mapping[str, Sequence[float]], *, counted: bool = False) -> str:
    """Return means with 95 % intervals: `recall 0.918 (0.910 to 0.926)`; NaN is not counted."""
    told = []
    for name, values in figures.items():
        known = np.array(values, np.float64)
        known = known[~np.isnan(known)]
        low, high = mean_intervals({"": known})[""]
        of = f" of {len(known)}" if counted else ""
        if len(known):
            told.append(f"{name} {known.mean():.3f} ({low:.3f} to {high:.3f}){of}")
    return "; ".join(told)
