"""Writes a set as the TARGET benchmark publishes its data (Ji et al., 2025)."""

from pathlib import Path
from typing import Any, NamedTuple

from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.files import write_lines
from pneuma_bench.sets import RetrievalSet

SPLITS = ("test", "train", "validation")
"""The parts of a data set that the package knows."""

NO_DATABASE = "0"
"""The database of tables that lie in none, as in TARGET's own files."""


class Place(NamedTuple):
    """What TARGET calls a table: a database, and a table in it."""

    database: str
    table: str


def place_of(dataset: RetrievalSet, table_id: str) -> Place:
    """Return what TARGET calls a table of a set.

    Where the set's files call it `schema.table`, and that is its name, the schema is its database.
    """
    spelled, name = dataset.spelled(table_id), dataset.names.get(table_id, ())
    if len(name) > 1 and spelled == ".".join(name):
        return Place(".".join(name[:-1]), name[-1])
    return Place(NO_DATABASE, spelled)


def write_target(
    dataset: RetrievalSet, folder: Path, split: str = "validation"
) -> tuple[Path, Path, int]:
    """Write a set in TARGET's format; each file appears whole or not at all.

    Questions that no table answers are left out. `table_id` of a question is a text where each has
    one table, and else a list for all: one column of the package's data has one type.

    Returns:
        The files of the tables and of the questions, and how many questions are written.

    Raises:
        BenchmarkError: The split is none of the package's, a question has tables of two databases,
            or a file cannot be written.
    """
    if split not in SPLITS:
        raise BenchmarkError(f"{split!r} is no split of TARGET's; use one of: {', '.join(SPLITS)}")
    queries = [_query(dataset, at) for at, relevant in enumerate(dataset.relevant) if relevant]
    if all(len(query["table_id"]) == 1 for query in queries):
        queries = [{**query, "table_id": query["table_id"][0]} for query in queries]
    corpus, asked = (folder / kind / f"{split}.jsonl" for kind in ("corpus", "queries"))
    write_lines(corpus, (_table(dataset, at) for at in range(len(dataset.tables))))
    write_lines(asked, queries)
    return corpus, asked, len(queries)


def _table(dataset: RetrievalSet, at: int) -> dict[str, Any]:
    table, rows = dataset.tables[at]
    place = place_of(dataset, table.table_id)
    return {
        "database_id": place.database,
        "table_id": place.table,
        "table": [[column.name for column in table.columns], *map(list, rows)],
        # An object without a key has no type in the package's columns.
        "context": {"text": "\n\n".join(dataset.contexts.get(table.table_id, ()))},
    }


def _query(dataset: RetrievalSet, at: int) -> dict[str, Any]:
    places = sorted(place_of(dataset, table_id) for table_id in dataset.relevant[at])
    databases = sorted({place.database for place in places})
    if len(databases) > 1:
        raise BenchmarkError(
            f"question {at + 1} needs tables of several databases ({', '.join(databases[:5])}), "
            "and TARGET's format names one; leave it out"
        )
    return {
        "query_id": at,
        "database_id": databases[0],
        "table_id": [place.table for place in places],
        "query": dataset.questions[at],
        "answer": "",
    }
