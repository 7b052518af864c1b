"""The needs of the suite: what people say of them, the state that meets each, and its answer."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import duckdb
import yaml

SLOTS = ("measure", "filter", "window", "grain")
"""What a person knows of their need, in the order in which they tell it."""

MOST_OF_WAREHOUSE = 18
_FILE = Path(__file__).with_suffix(".yaml")

Rows = Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Need:
    """A need, as `needs.yaml` has it.

    Attributes:
        told: The opening words, then what is told of each slot, by its name.
        of: Of each name that steps read by, the ids of the tables; several of a family.
        answer: The rows that the right query has.
    """

    name: str
    told: Mapping[str, str]
    of: Mapping[str, tuple[str, ...]]
    sql: str
    answer: Rows
    said: Mapping[str, Any]

    @property
    def in_warehouse(self) -> bool:
        """Whether its tables are those of the warehouse."""
        return "question" in self.said

    @property
    def is_trap(self) -> bool:
        """Whether there is a wrong state for it that a rule has to find."""
        return "wrong" in self.said

    @property
    def is_small(self) -> bool:
        """Whether one step makes its table of one table or family."""
        steps = self.said["steps"]
        return len(self.of) == 1 and (isinstance(steps, str) or len(steps) == 1)

    @property
    def question(self) -> str:
        """All that a person knows of it, which whoever plays them must not give away at once."""
        return "; ".join(self.told[slot] for slot in SLOTS if slot in self.told)

    def state(self, *, wrong: bool = False) -> dict[str, Any]:
        """Return the state that meets it, or that which falls into its trap."""
        said = {**self.said, **(self.said["wrong"] if wrong else {})}
        names = (one.rpartition(" ") for one in said["columns"].split(", "))
        table = {
            "name": "result",
            "columns": [{"name": one[0], "type": one[2]} for one in names],
            "steps": [*_steps(said["steps"], " ".join(self.of))],
        }
        sources = [{"name": name, "table_ids": ids} for name, ids in self.of.items()]
        queries = [{"name": "answer", "sql": said["sql"]}]
        return {"sources": sources, "tables": [table], "queries": queries}


def _steps(said: str | Sequence[Sequence[Any]], every: str) -> Iterator[dict[str, Any]]:
    for one in [("sql", every, "result", said)] if isinstance(said, str) else said:
        key = "code" if isinstance(one[3], str) else "options"
        yield {"operator": one[0], "reads": one[1].split(), "makes": one[2], key: one[3]}


def read_needs(folder: Path, warehouse: Path | None) -> list[Need]:
    """Return the needs about a lake that `lake.build` made in a folder; those it can answer."""
    recorded = chosen(warehouse / "questions.jsonl") if warehouse else []
    found = []
    for one in yaml.safe_load(_FILE.read_text(encoding="utf-8")):
        told = {slot: str(one[slot]) for slot in ("say", *SLOTS) if slot in one}
        if "question" not in one:
            of = {name: _ids(folder / "lake", table) for name, table in one["of"].items()}
            answer = _asked(folder, one["answer"])
        elif known := [q for q in recorded if q["question"].startswith(one["question"])]:
            places = [table.replace(".", "/") for table in known[0]["tables"]]
            of = {place.split("/")[1]: (f"lake/warehouse/{place}",) for place in places}
            answer = known[0]["answer"]
        else:
            continue
        found.append(Need(one["id"], told, of, one["sql"], answer, one))
    return found


def chosen(questions: Path) -> list[dict[str, Any]]:
    """Return those of a warehouse that are taken: of several tables, with recorded rows.

    They are taken from one schema after the other, each time that with the least SHA-256.
    """
    of_schema: dict[str, list[dict[str, Any]]] = {}
    lines = map(json.loads, questions.read_text(encoding="utf-8").splitlines())
    for one in sorted(lines, key=lambda q: hashlib.sha256(q["question"].encode()).hexdigest()):
        if len(one["tables"]) > 1 and one["answer"]:
            of_schema.setdefault(one["schema"], []).append(one)
    turns = zip_longest(*(of_schema[name] for name in sorted(of_schema)))
    return [one for one in chain.from_iterable(turns) if one][:MOST_OF_WAREHOUSE]


def _ids(lake: Path, table: str) -> tuple[str, ...]:
    if "*" not in table:
        return (f"lake/{table}",)
    files = sorted(lake.glob(f"{table}.csv"))
    return tuple(f"lake/{one.relative_to(lake).with_suffix('')}" for one in files)


def _asked(folder: Path, sql: str) -> Rows:
    with duckdb.connect() as connection:
        connection.execute(f"SET file_search_path = '{folder / 'whole'}'")
        return connection.execute(sql).fetchall()


def same(rows: Rows, others: Rows, digits: int = 6) -> bool:
    """Tell whether rows are the same in any order; of numbers that are not whole so many digits."""
    mine, theirs = (
        [[_cell(one, digits) for one in row] for row in some] for some in (rows, others)
    )
    return sorted(mine) == sorted(theirs)


def _cell(value: Any, digits: int) -> str:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return str(value)
    return f"{number:.6g}" if number.is_integer() else f"{number:.{digits}g}"
