"""How many questions templates answer without any model, and how many of these rightly.

    python -m pneuma_bench.experiments.answers.templates --config FILE --home HOME --url URL \
        --questions FILE
    python -m pneuma_bench.experiments.answers.templates --config FILE --home HOME --lake

Asks an index of the schemas of `pneuma_bench.experiments.warehouse`, and runs what is written in
the database (URL: postgresql://user@host/database). Each question with an answer is asked of its
gold tables, with the joins that the state has of these, and of the tables that `find_groups` puts
first; those without an answer of the latter alone. A draft is right if its rows are those of a gold
statement, in any order and with numbers rounded to two digits; `wider` counts those that have other
columns beside the gold's. Questions fall into halves by a hash of their words: half 0 was looked at
while templates were written, the other one was not.

With --lake, the questions of `lake.tsv` (table, question, a statement that answers it; `-`: nothing
does) are asked of their tables, files of CSV or Parquet, in DuckDB.
"""

import argparse
import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from statistics import median
from typing import Any

import duckdb
import psycopg

from pneuma_assets import open_workspace
from pneuma_assets.core.answers.guard import checked
from pneuma_assets.core.answers.refusing import ReadTable
from pneuma_assets.core.answers.tables import AnswerColumn, AnswerSet, AnswerTable, Draft, NoDraft
from pneuma_assets.core.answers.templates import draft
from pneuma_assets.core.joins.graph import JoinGraph
from pneuma_assets.core.tables import Evidence, TableRef
from pneuma_assets.core.text.analysis import ENGLISH

GOLD = (Path(__file__).with_name("lake.tsv"), Path(__file__).with_name("lake2.tsv"))
NULLS = "nullstr=['', 'NA']"
MOST_ROWS = 1_000
THRESHOLDS = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
Rows = list[tuple[Any, ...]]


@dataclass(frozen=True)
class Asked:
    """A question, what was written for it, and what came of it: right, wider, wrong, or why not."""

    question: str
    draft: Draft | None
    came: str
    seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--url")
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--lake", action="store_true")
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--show", action="store_true", help="print each question; not of half 1")
    options = parser.parse_args()
    if options.lake:
        with open_workspace(options.config, options.home) as workspace:
            lake = Lake(workspace)
            for gold in GOLD:
                report_lake(lake, gold)
        return
    lines = options.questions.read_text("utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    with (
        open_workspace(options.config, options.home) as workspace,
        psycopg.connect(options.url, autocommit=True) as connection,
    ):
        connection.execute("SET default_transaction_read_only = on; SET statement_timeout = 10000")
        lake = Lake(workspace)
        for half in (0, 1) if options.half is None else (options.half,):
            some = [one for one in questions if half_of(one["question"]) == half]
            report(half, some, lake, connection, show=options.show and half == 0)


def half_of(question: str) -> int:
    return hashlib.sha256(question.encode()).digest()[0] % 2


class Lake:
    """The tables of a deployment, as an answer is given them."""

    def __init__(self, workspace: Any) -> None:
        store = workspace.store
        self._workspace, self._store = workspace, store
        ids = store.tables.indexed()
        evidence = workspace.query_engine()._index.evidence(ids)
        self.tables = {
            one.table_id: _table(one, evidence.get(one.table_id, Evidence()))
            for one in store.tables.profiles(ids)
        }

    def gold(self, names: Iterable[str]) -> AnswerSet:
        """Return the tables that are named, with the joins between them."""
        wanted = {name.replace(".", "/") for name in names}
        ids = [one for one in self.tables if one.split("/", 1)[1] in wanted]
        graph = JoinGraph(self._store.joins.of_tables(ids))
        joins = graph.joins(ids) if graph_connects(graph, ids) else ()
        return AnswerSet(tuple(self.tables[one] for one in ids), tuple(joins))

    def found(self, question: str) -> AnswerSet:
        """Return the set of tables that ranks first."""
        group = self._workspace.find_groups(question, k=1)[0]
        return AnswerSet(tuple(self.tables[one] for one in group.tables), tuple(group.joins))


def report_lake(lake: Lake, gold: Path) -> None:
    """Print what is written for each question of the lake's tables, and what came of it."""
    came = []
    for line in gold.read_text("utf-8").splitlines():
        name, question, statement = line.split("\t")
        table = lake.tables[f"lake/{name}"]
        best = draft(question, AnswerSet((table,)), "duckdb", ENGLISH)
        if isinstance(best, NoDraft):
            came.append("none" if statement != "-" else "rightly none")
            print(f"{came[-1]:12} {name}: {question}")
            continue
        sql = checked(best.sql, [table.read], "duckdb", MOST_ROWS).sql
        connection = duckdb.connect()
        for called in (table.read.name, "t"):
            file = table.ref.location.replace("'", "''")
            read = f"'{file}'" if file.endswith("parquet") else f"read_csv('{file}', {NULLS})"
            connection.execute(f'CREATE VIEW "{called}" AS FROM {read}')
        mine = connection.execute(sql).fetchall()
        golds = [] if statement == "-" else [connection.execute(statement).fetchall()]
        came.append(judged(mine, golds))
        print(f"{came[-1]:12} {name}: {question} {best.sure:.2f}\n      {best.sql} {mine[:2]}")
    print({one: came.count(one) for one in sorted(set(came))})


def graph_connects(graph: JoinGraph, ids: Sequence[str]) -> bool:
    return len(ids) == 1 or any(
        set(group) == set(ids) for group in graph.connected(ids, ids, len(ids), 10_000)
    )


def _table(profile: Any, evidence: Evidence) -> AnswerTable:
    _, *schemas, name = profile.table_id.split("/")
    schema = schemas[0] if schemas else ""
    columns = tuple(AnswerColumn(one.name, one.type) for one in profile.columns)
    read = ReadTable(name, tuple(one.name for one in columns), schema)
    ref = TableRef(profile.table_id, "", profile.location, "", "")
    return AnswerTable(profile.table_id, ref, read, columns, profile.row_count, evidence)


def report(half: int, asked: Sequence[Any], lake: Lake, connection: Any, *, show: bool) -> None:
    answerable = [one for one in asked if one["answerable"]]
    others = [one for one in asked if not one["answerable"]]
    print(f"\nhalf {half}: {len(answerable)} questions with an answer, {len(others)} without")
    for way in ("gold tables", "tables found"):
        came = [ask(one, lake, connection, gold=way == "gold tables") for one in answerable]
        nothing = [] if way == "gold tables" else [ask(one, lake, connection, gold=False)
                                                   for one in others]  # fmt: skip
        if show:
            for one in sorted([*came, *nothing], key=lambda one: one.came):
                sure = f"{one.draft.sure:.2f} {one.draft.made_by[9:]}" if one.draft else ""
                print(f"  {one.came:6} {sure:12} {one.question}")
                if one.draft is not None:
                    print(f"      {one.draft.sql}")
        print(f"  {way}: {1000 * median(one.seconds for one in came):.1f} ms a question, "
              f"{1000 * max(one.seconds for one in came):.1f} at most")  # fmt: skip
        print("    sure  answered  right  wider  wrong  error  share right  without an answer")
        for least in THRESHOLDS:
            kept = [one.came for one in came if one.draft and one.draft.sure >= least]
            right, wider = kept.count("right"), kept.count("wider")
            share = (right + wider) / len(kept) if kept else 0.0
            false = sum(one.draft is not None and one.draft.sure >= least for one in nothing)
            print(f"    {least:.2f}  {len(kept):8}  {right:5}  {wider:5}  {kept.count('wrong'):5}"
                  f"  {kept.count('error'):5}  {share:11.2f}  {false}")  # fmt: skip


def ask(one: dict[str, Any], lake: Lake, connection: Any, *, gold: bool) -> Asked:
    question = one["question"]
    tables = lake.gold(one["tables"]) if gold else lake.found(question)
    began = time.process_time()
    best = draft(question, tables, "postgres", ENGLISH, least_sure=0.0)
    seconds = time.process_time() - began
    if isinstance(best, NoDraft):
        return Asked(question, None, "none", seconds)
    safe = checked(best.sql, [table.read for table in tables.tables], "postgres", MOST_ROWS)
    schema = tables.tables[0].read.schema
    try:
        mine = rows_of(connection, schema, safe.sql)
    except psycopg.Error as error:
        return Asked(question, best, "error" if gold or one["answerable"] else f"error {error}",
                     seconds)  # fmt: skip
    if not one["answerable"]:
        return Asked(question, best, "false", seconds)
    return Asked(question, best, judged(mine, gold_rows(one, connection)), seconds)


def gold_rows(one: dict[str, Any], connection: Any) -> Iterator[Rows]:
    for statement in one["gold"]:
        try:
            yield rows_of(connection, one["schema"], statement)
        except psycopg.Error:
            continue


def rows_of(connection: Any, schema: str, statement: str) -> Rows:
    connection.execute(psycopg.sql.SQL("SET search_path TO {}").format(
        psycopg.sql.Identifier(schema)))  # fmt: skip
    rows: Rows = connection.execute(statement).fetchmany(MOST_ROWS)
    return rows


def judged(mine: Rows, golds: Iterable[Rows]) -> str:
    wider = False
    for gold in golds:
        if _same(mine, gold):
            return "right"
        wider = wider or _has_columns(mine, gold)
    return "wider" if wider else "wrong"


def _same(mine: Rows, gold: Rows) -> bool:
    return _sorted(mine) == _sorted(gold) or (
        bool(mine and gold) and len(mine[0]) == len(gold[0]) and _has_columns(mine, gold)
    )


def _has_columns(mine: Rows, gold: Rows) -> bool:
    """Tell whether some of the columns have the gold's rows."""
    if len(mine) != len(gold) or not mine or len(mine[0]) < len(gold[0]) or len(mine[0]) > 6:
        return False
    wanted = _sorted(gold)
    return any(
        _sorted([tuple(row[place] for place in places) for row in mine]) == wanted
        for places in permutations(range(len(mine[0])), len(gold[0]))
    )


def _sorted(rows: Rows) -> list[str]:
    return sorted(str([_plain(cell) for cell in row]) for row in rows)


def _plain(cell: Any) -> str:
    if cell is None or isinstance(cell, bool):
        return str(cell)
    try:
        return str(round(float(cell), 2))
    except (TypeError, ValueError):
        return str(cell)


if __name__ == "__main__":
    main()
