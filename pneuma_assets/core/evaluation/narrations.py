"""Whether what is said of columns is true, as far as embeddings tell.

A description is true as far as its embedding is nearest to what people wrote of its own column,
among all that they wrote of the table's columns (`gold`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pneuma_assets.core.describe.columns import searched_text
from pneuma_assets.core.describe.texts import column_text
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.evaluation.evaluate import json_lines, refuse
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.tables import Description

FEWEST_GOLDS = 3
"""Different descriptions that a table needs, so that to find the right one is a question."""

_EQUAL = 1e-6

Gold = Mapping[str, Mapping[str, str]]
"""What people wrote of columns, by table and column."""


class Said(NamedTuple):
    """A column, what people wrote of it, and what is shown of it, if anything."""

    name: str
    gold: str
    shown: Description | None


def read_gold(path: Path) -> Gold:
    """Read `{"table", "column", "gold"}`, a JSON object a line, of tables that pose a question.

    Raises:
        BenchmarkError: It cannot be read, a line is wrong, or no table poses a question.
    """
    found: dict[str, dict[str, str]] = {}
    for number, record in json_lines(path):
        table, column, gold = (record.get(key) for key in ("table", "column", "gold"))
        if not (isinstance(table, str) and isinstance(column, str) and isinstance(gold, str)):
            refuse(path, number, "'table', 'column' and 'gold' must be texts")
        found.setdefault(table, {})[column] = gold
    posed = {table: of for table, of in found.items() if len({*of.values()}) >= FEWEST_GOLDS}
    if not posed:
        raise BenchmarkError(
            f"{path}: no table has {FEWEST_GOLDS} columns with different descriptions"
        )
    return posed


def figures_of(tables: Iterable[Sequence[Said]], encoder: Encoder) -> dict[str, Any]:
    """Return the share of columns whose gold is found by name, description, and both.

    Both is the text that is indexed. A column of which nothing is shown counts with its name.
    Golds that are equal count as one; where several are equally near, the column counts in part.
    """
    hits: dict[str, list[float]] = {"name": [], "description": [], "both": []}
    shown: list[Description | None] = []
    for columns in tables:
        names, golds = [one.name for one in columns], [one.gold for one in columns]
        said = [one.shown.text if one.shown else "" for one in columns]
        indexed = [searched_text(one.shown) if one.shown else "" for one in columns]
        both = [column_text(name, text) for name, text in zip(names, indexed, strict=True)]
        alone = [text or name for name, text in zip(names, said, strict=True)]
        for way, asked in zip(hits, (names, alone, both), strict=True):
            hits[way] += _hits(encoder, asked, golds)
        shown += [one.shown for one in columns]
    seen = {
        way: [hit for hit, one in zip(found, shown, strict=True) if one and one.text]
        for way, found in hits.items()
    }
    return {
        **{way: _mean(found) for way, found in hits.items()},
        "shown": _mean([float(bool(one and one.text)) for one in shown]),
        "where_shown": {way: _mean(found) for way, found in seen.items()},
        "columns": len(shown),
        "shown_by": dict(Counter(str(one.provenance) for one in shown if one)),
        "where_nothing_is_shown": "the name stands in",
    }


def _hits(encoder: Encoder, asked: Sequence[str], golds: Sequence[str]) -> list[float]:
    different = list(dict.fromkeys(golds))
    vectors = encoder.encode_documents([*asked, *different])
    cosines = vectors[: len(asked)] @ vectors[len(asked) :].T
    nearest = cosines >= cosines.max(axis=1, keepdims=True) - _EQUAL
    own = np.array([different.index(gold) for gold in golds])
    right = nearest[np.arange(len(asked)), own]
    return [float(value) for value in right / nearest.sum(axis=1)]


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None
