"""Sets of tables and questions in a folder, and means over them, as the experiments print them."""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from pneuma_assets.core.evaluation.metrics import mean_intervals
from pneuma_bench.reading import read_files
from pneuma_bench.sets import RetrievalSet

UNNAMED = ("fetaqa_dev", "tabfact_val")
"""Sets whose ids are no names, so that names are hidden; elsewhere they are (`schema.table`)."""
_DOCUMENTS = ", documents"
T = TypeVar("T")


def arguments(about: str) -> argparse.ArgumentParser:
    """Return a parser that takes a folder of sets, and where embeddings and indexes are kept."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("folder", type=Path, help="with NAME.tables.jsonl and NAME.queries.jsonl")
    parser.add_argument("--keep", type=Path, help="keeps embeddings and indexes")
    return parser


def sets_of(folder: Path, *, documents: bool = False) -> dict[str, RetrievalSet]:
    """Return the sets of a folder by their names.

    With `documents`, sets whose columns are described a second time, with a data dictionary beside
    each table.
    """
    found = {}
    for queries in sorted(folder.glob("*.queries.jsonl")):
        name = queries.name.split(".")[0]
        tables, hidden = folder / f"{name}.tables.jsonl", name in UNNAMED
        found[name] = read_files(tables, queries, hide_names=hidden)
        if documents and any(found[name].described.values()):
            again = read_files(tables, queries, hide_names=hidden, documents=True)
            found[name + _DOCUMENTS] = again
    return found


def files_of(name: str) -> str:
    """Return what the files of a set of `sets_of` are called."""
    return name.removesuffix(_DOCUMENTS)


def left_out(sets: Mapping[str, T], name: str) -> dict[str, T]:
    """Return the sets of other tables: what is fitted to them is measured on this one."""
    return {other: one for other, one in sets.items() if files_of(other) != files_of(name)}


def copies_of(folder: Path, name: str, dataset: RetrievalSet) -> dict[str, str]:
    """Return of each table of `NAME.copies.jsonl`, if there is one, which one it is a copy of."""
    path = folder / f"{files_of(name)}.copies.jsonl"
    if not path.exists():
        return {}
    ids = {dataset.spelled(table.table_id): table.table_id for table, _ in dataset.tables}
    lines = (json.loads(line)["tables"] for line in path.read_text("utf-8").splitlines())
    same = ([ids[one] for one in some if one in ids] for some in lines)
    return {one: some[0] for some in same for one in some}


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
