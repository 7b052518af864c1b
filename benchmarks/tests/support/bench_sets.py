"""A small set of tables and questions whose answers anyone can see, for tests of measurements."""

import json
from pathlib import Path

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.tables import Column, Table
from pneuma_bench.sets import RetrievalSet

TABLES = {
    "rivers": (["river", "length_km"], [["Danube", "2850"], ["Rhine", "1230"]]),
    "lakes": (["lake", "depth_m"], [["Baikal", "1642"], ["Vostok", "510"]]),
    "authors": (["author", "born"], [["Woolf", "1882"], ["Joyce", "1882"]]),
    "papers": (["title", "cited"], [["Attention", "90000"], ["Dropout", "40000"]]),
    "salaries": (["employee", "salary"], [["Ann", "4200"], ["Bo", "3900"]]),
    "refunds": (["customer", "amount"], [["Cy", "12"], ["Di", "7"]]),
}
QUESTIONS = {
    "length of the river Danube": ["rivers"],
    "depth of lake Baikal": ["lakes"],
    "author Woolf born": ["authors"],
    "paper title Attention cited": ["papers"],
    "employee Ann salary": ["salaries"],
    "customer refund amount": ["refunds"],
    "river length and lake depth": ["rivers", "lakes"],
    "wind speed at the harbour": [],
}

SIDES = Deployment().model_copy(update={"query": QueryOptions(alpha=0.5, k=3)})
"""Asks the two sides alone."""


def small_set() -> RetrievalSet:
    """Return the set."""
    tables = [
        (
            Table(f"small/{name}", tuple(Column(one, "VARCHAR") for one in columns), len(rows), ""),
            [tuple(row) for row in rows],
        )
        for name, (columns, rows) in TABLES.items()
    ]
    relevant = [frozenset(f"small/{one}" for one in wanted) for wanted in QUESTIONS.values()]
    return RetrievalSet("small", tables, [*QUESTIONS], relevant)


def write_small_set(folder: Path) -> tuple[Path, Path]:
    """Write the set's two files; return their paths."""
    tables, queries = folder / "small.tables.jsonl", folder / "small.queries.jsonl"
    records = [{"id": i, "columns": c, "rows": r} for i, (c, r) in TABLES.items()]
    tables.write_text("".join(json.dumps(one) + "\n" for one in records))
    asked = [{"question": q, "tables": t} for q, t in QUESTIONS.items()]
    queries.write_text("".join(json.dumps(one) + "\n" for one in asked))
    return tables, queries
