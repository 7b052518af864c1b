"""A lake of many tables with the same columns: one a shop, a station or a year of one thing.

    python -m pneuma_bench.experiments.answers.like_schemas OUT [--families 12] [--tables 10] \
        [--seed 0]

Writes OUT/lake, a folder of CSV files a family, and OUT/asked.jsonl: questions with the query of
which each is made, five a family. Which tables answer a question, and with which cells, is then
told by `pneuma-bench independent`, as benchmarks/README.md says. Columns are more than a model is
shown whole, so that leaving some out matters; things of one family occur in some of its tables
alone, so that one to ten answer. The families are those of `like_schemas.json`.
"""

import argparse
import csv
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pneuma_bench.files import write_lines
from pneuma_bench.generator.queries import Condition, Selected, SqlQuery

ROWS = (40, 80)
"""Of one table, at least and at most."""
_THERE = 0.45
"""How probable it is that a thing is in a table of its family."""

Rows = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Family:
    """Tables of the same columns.

    Their names begin with `name` and end with one of `members`. Rows are about a `thing`, one of
    `things`; two more columns are of sorts of it, and `measures` of numbers, with their bounds.
    """

    name: str
    members: Sequence[str]
    thing: str
    things: Sequence[str]
    sort: str
    sorts: Sequence[str]
    other: str
    others: Sequence[str]
    measures: Mapping[str, Sequence[int]]

    @property
    def columns(self) -> list[str]:
        """The columns of each table."""
        return [self.thing, self.sort, self.other, *self.measures]


FAMILIES = [
    Family(**one)
    for one in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
]
THING, SORT, OTHER = range(3)
"""The places of a table's first columns; measures follow."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--families", type=int, default=len(FAMILIES))
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    asked = []
    for family in FAMILIES[: options.families]:
        tables = tables_of(family, options.tables, options.seed)
        for member, drawn in tables.items():
            path = options.out / "lake" / family.name / f"{family.name}_{member}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("w", newline="", encoding="utf-8") as stream:
                csv.writer(stream).writerows([family.columns, *drawn])
        asked += list(questions(family, tables, options.seed))
    write_lines(options.out / "asked.jsonl", asked)
    print(f"{options.families * options.tables} tables, {len(asked)} questions in {options.out}")


def tables_of(family: Family, number: int, seed: int) -> dict[str, Rows]:
    return {member: list(rows(family, member, seed)) for member in family.members[:number]}


def rows(family: Family, member: str, seed: int) -> Iterator[list[str]]:
    """Yield the rows of one table, always the same; each thing is in some tables alone."""
    chance = random.Random(f"{seed}/{family.name}/{member}")
    there = [one for one in family.things if chance.random() < _THERE] or [family.things[0]]
    for _ in range(chance.randint(*ROWS)):
        sorts = [chance.choice(family.sorts), chance.choice(family.others)]
        numbers = [str(chance.randint(low, high)) for low, high in family.measures.values()]
        yield [chance.choice(there), *sorts, *numbers]


def questions(family: Family, tables: Mapping[str, Rows], seed: int) -> Iterator[dict[str, object]]:
    """Yield five questions about a family, each of another kind, with its query."""
    chance = random.Random(f"{seed}/{family.name}/questions")
    first, second, rarest = things_asked(family, tables, chance)
    sort, other = chance.choice(family.sorts), chance.choice(family.others)
    one, two, three = chance.sample(range(OTHER + 1, len(family.columns)), 3)
    top = family.measures[family.columns[three]][1] * 97 // 100
    said = [column.replace("_", " ") for column in family.columns]
    is_first = Condition(Selected(THING), "=", first)
    of_second = (
        Condition(Selected(THING), "=", second.lower()),
        Condition(Selected(SORT), "=", sort.lower()),
    )
    many = (Condition(Selected(OTHER), "=", other), Condition(Selected(three), ">=", top))
    is_rarest = Condition(Selected(THING), "=", rarest)
    asked = {
        "highest": (
            f"What is the highest {said[one]} where the {said[THING]} is {first}?",
            SqlQuery((Selected(one, "MAX"),), (is_first,)),
        ),
        "other capitals": (
            f"What is the average {said[two]} where the {said[THING]} is {second.lower()} and the "
            f"{said[SORT]} is {sort.lower()}?",
            SqlQuery((Selected(two, "AVG"),), of_second),
        ),
        "list": (
            f"What are the {said[THING]} and the {said[three]} where the {said[OTHER]} is {other} "
            f"and the {said[three]} is at least {top}?",
            SqlQuery((Selected(THING), Selected(three)), many),
        ),
        "rarest": (
            f"What is the total {said[one]} of {rarest}?",
            SqlQuery((Selected(one, "SUM"),), (is_rarest,)),
        ),
        "groups": (
            f"What is the lowest {said[two]} for each {said[SORT]} where the {said[THING]} is "
            f"{first}?",
            SqlQuery((Selected(SORT), Selected(two, "MIN")), (is_first,), group_by=SORT),
        ),
    }
    for kind, (question, query) in asked.items():
        sql = query.sql(family.columns)
        yield {"question": question, "tables": [], "kind": kind, "made": {"sql": sql}}


def things_asked(
    family: Family, tables: Mapping[str, Rows], chance: random.Random
) -> tuple[str, str, str]:
    """Return two things that several tables have, and the one that the fewest have."""
    having = {
        thing: sum(any(row[THING] == thing for row in drawn) for drawn in tables.values())
        for thing in family.things
    }
    there = [thing for thing, number in having.items() if number]
    several = [thing for thing in there if having[thing] > 1] or there
    return chance.choice(several), chance.choice(several), min(there, key=having.__getitem__)


if __name__ == "__main__":
    main()
