"""How many foreign keys that nobody declared are found, and how often a question's set of tables.

    python -m pneuma_bench.experiments.joins --data FOLDER
    python -m pneuma_bench.experiments.joins --scale 10000
    python -m pneuma_bench.experiments.joins --config FILE --home HOME --questions FILE

The first infers the joins of each database of a folder: schemas of which names alone are known
(`spider_schemas_dev`, `beaver_dw`: `NAME.tables.jsonl`, `NAME.joins.jsonl`), folders of CSV files
(`databases`), and the seven schemas of `pneuma_bench.experiments.warehouse`
(`warehouse.tables.jsonl`, with `joins.tsv`, which was written by hand). Each is also
looked at as people name it who prefix, glue and shorten words (`support.shortened_names`). Keys of
several columns count a column each. A join that follows from two known keys, be it that both
columns refer to a third, counts as wrong, and its share is told beside. The benchmark joins of
`beaver_dw` are those that its questions need, so that its precision is a lower bound.
`--list KIND` prints what is wrong and missed.

The second makes so many tables of 12 columns, of which each refers to five others, and times what
a run and a question do with them.

The third asks an index that is there. Each question names the tables that it needs (`tables`,
as `schema.table`); a set of tables is a hit if it has all of these (Octopus, section 7.1), and
exact if it has no other. Beside the sets as they are ranked: by the paper's equation 10 alone, and
by how well tables were found alone.
"""

import argparse
import json
import random
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from pneuma_assets import open_workspace
from pneuma_assets.core.measure.metrics import Interval, Values, drawn, interval_of
from pneuma_assets.core.relations import rank_groups
from pneuma_assets.core.relations.infer_joins import infer_joins
from pneuma_assets.core.relations.join_columns import JoinColumn
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinGraph
from pneuma_bench.experiments.support.key_databases import Edge, KeyDatabase, read_databases
from pneuma_bench.experiments.support.shortened_names import renamed

GOLD = Path(__file__).with_suffix(".tsv")
DEPTHS = (1, 5, 10)
WAYS: Mapping[str, Mapping[str, float]] = {
    "as they are ranked": rank_groups.WEIGHTS,
    "equation 10 alone": {"columns": 1.0, "values": 1.0, "best": 0.0, "mean": 0.0, "more": 0.0},
    "found for themselves alone": {**rank_groups.WEIGHTS, "columns": 0.0, "values": 0.0},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--list", default="", metavar="KIND")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--scale", type=int)
    options = parser.parse_args()
    if options.scale:
        scale(options.scale)
    elif options.data:
        report_joins(databases_of(options.data), options.list)
    else:
        with open_workspace(options.config, options.home) as workspace:
            asked = list(answered(options.questions))
            for way, weights in WAYS.items():
                rank_groups.WEIGHTS = weights
                report_groups(way, asked, workspace)


def databases_of(folder: Path) -> list[KeyDatabase]:
    """Return the databases of a folder, and those that are no others with fewer facts, renamed."""
    read = list(read_databases(folder, GOLD))
    names_only = {one.kind for one in read if one.kind.endswith("names alone")}
    plain = [one for one in read if one.kind not in names_only or one.kind.startswith("Spider")]
    return [*read, *(other for one in plain for other in renamed(one))]


Found = Callable[[KeyDatabase], set[Edge]]


def infer(database: KeyDatabase) -> set[Edge]:
    return {
        (edge.table[2:], mine, edge.other[2:], theirs)
        for edge in infer_joins(database.lake, database.overlap.share)
        for mine, theirs in zip(edge.columns, edge.other_columns, strict=True)
    }


class Counts(NamedTuple):
    """Of one database: joins found, right ones, those that follow from others, and known keys."""

    found: int
    right: int
    implied: int
    known: int


def count(database: KeyDatabase, found: set[Edge]) -> Counts:
    wrong = found - right_of(database)
    of_key = equal_columns(database.gold)
    implied = [one for one in wrong if one[:2] in of_key and of_key[one[:2]] == of_key.get(one[2:])]
    hit = {one if one in database.gold else (*one[2:], *one[:2]) for one in found - wrong}
    return Counts(len(found), len(hit), len(implied), len(database.gold))


def right_of(database: KeyDatabase) -> set[Edge]:
    turned = set() if database.directed else {(*one[2:], *one[:2]) for one in database.gold}
    return {*database.gold, *turned}


def equal_columns(gold: Iterable[Edge]) -> dict[tuple[str, str], int]:
    """Return a number for each column, the same where keys say that they hold the same things."""
    of: dict[tuple[str, str], int] = {}
    for number, edge in enumerate(gold):
        ends = edge[:2], edge[2:]
        merged = {of[one] for one in ends if one in of}
        of |= {column: number for column, old in of.items() if old in merged}
        of |= dict.fromkeys(ends, number)
    return of


def report_joins(databases: Sequence[KeyDatabase], listed: str, found: Found = infer) -> None:
    kinds: dict[str, list[tuple[KeyDatabase, set[Edge]]]] = defaultdict(list)
    for database in databases:
        kinds[database.kind].append((database, found(database)))
    print(f"{'':45}  {'databases':>9} {'joins':>6}  {'precision':22} {'recall':22} implied")
    for kind, each in kinds.items():
        counts = np.array([count(database, joins) for database, joins in each], np.float64)
        (precision, recall, implied) = ratios(counts.sum(axis=0)[np.newaxis])[0]
        samples = np.concatenate([ratios(weights @ counts) for weights in drawn(len(each))])
        low = [interval_of(samples[:, place]) for place in range(2)]
        print(f"{kind:45}  {len(each):9} {int(counts[:, 3].sum()):6}  {said(precision, low[0])}  "
              f"{said(recall, low[1])}  {implied:.3f}", flush=True)  # fmt: skip
        if listed and kind.startswith(listed):
            list_errors(each)


def ratios(sums: Values) -> Values:
    """Return precision, recall and the share of implied joins of each row of summed counts."""
    found, right, implied, known = np.maximum(sums, [1, 0, 0, 1]).T
    return np.stack([right / found, right / known, implied / found], axis=1)


def said(value: float, interval: Interval) -> str:
    return f"{value:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def list_errors(each: Iterable[tuple[KeyDatabase, set[Edge]]]) -> None:
    for database, found in each:
        right = right_of(database)
        missed = {one for one in database.gold if not {one, (*one[2:], *one[:2])} & found}
        for what, some in (("wrong", found - right), ("missed", missed)):
            for table, mine, other, theirs in sorted(some):
                print(f"  {what}: {database.name}: {table}.{mine} -> {other}.{theirs}")


def answered(path: Path) -> Iterator[tuple[str, frozenset[str]]]:
    for line in path.read_text("utf-8").splitlines():
        one = json.loads(line)
        if one["tables"]:
            yield one["question"], frozenset(t.replace(".", "/") for t in one["tables"])


def report_groups(way: str, asked: Sequence[tuple[str, frozenset[str]]], workspace: object) -> None:
    hits: dict[object, list[list[int]]] = defaultdict(list)
    seconds = []
    for question, needed in asked:
        began = time.perf_counter()
        found = workspace.find_groups(question, k=max(DEPTHS))  # type: ignore[attr-defined]
        seconds.append(time.perf_counter() - began)
        sets = [{table.split("/", 1)[1] for table in one.tables} for one in found]
        row = [any(needed <= some for some in sets[:k]) for k in DEPTHS]
        row += [any(needed == some for some in sets[:k]) for k in DEPTHS]
        row.append(len(sets[0]) if sets else 0)
        for kind in ("all", "one table" if len(needed) == 1 else "several", len(needed)):
            hits[kind].append(row)
    print(f"\n{way} ({1000 * median(seconds):.0f} ms a question, the search included)")
    print("  tables      questions  Hit@1  @5    @10    exact@1  @5    @10   tables in the first")
    for kind, rows in sorted(hits.items(), key=lambda one: str(one[0])):
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        shown = "  ".join(f"{value:.3f}" for value in means[:-1])
        print(f"  {kind!s:10}  {len(rows):9}  {shown}  {means[-1]:.2f}")


def scale(tables: int) -> None:
    drawn = random.Random(0)
    lake = {}
    for number in range(tables):
        keys = [f"thing{drawn.randrange(tables)}_id" for _ in range(5)]
        names = [f"thing{number}_id", *keys, *(f"measure_{n}" for n in range(6))]
        lake[f"wh/s{number % 20}/thing{number}"] = [
            column(f"wh/s{number % 20}/thing{number}", name, place)
            for place, name in enumerate(names)
        ]
    columns = sum(map(len, lake.values()))
    began = time.process_time()
    edges = infer_joins(lake)
    print(f"{tables:,} tables, {columns:,} columns: {len(edges):,} joins, "
          f"{time.process_time() - began:.1f} s of processor", flush=True)  # fmt: skip
    tracemalloc.start()
    infer_joins(lake)
    print(f"{tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB beside the columns", flush=True)
    tracemalloc.stop()
    linked = [
        JoinEdge(f"t{drawn.randrange(tables)}", ("a",), f"t{drawn.randrange(tables)}", ("b",),
                 edges[0].kind, drawn.random()) for _ in range(5 * tables)
    ]  # fmt: skip
    times = []
    for _ in range(200):
        found = {
            f"t{drawn.randrange(tables)}": drawn.random() for _ in range(rank_groups.CANDIDATES)
        }
        near = [edge for edge in linked if not set(found).isdisjoint(edge.tables)]
        asked = [
            rank_groups.Mention(
                str(n), 1.0, {t: drawn.random() for t in drawn.sample(list(found), 5)}
            )
            for n in range(8)
        ]
        began = time.process_time()
        rank_groups.rank_groups(JoinGraph(near), found, asked, 10)
        times.append(1000 * (time.process_time() - began))
    print(f"ranking sets over {len(linked):,} joins: {median(times):.1f} ms of processor, "
          f"{sorted(times)[int(0.95 * len(times))]:.1f} for one in 20")  # fmt: skip


def column(table_id: str, name: str, place: int) -> JoinColumn:
    cells = np.arange(1, 33, dtype=np.uint64) * np.uint64(1 << 20)
    return JoinColumn(table_id, name, place, 4000, cells, whole=False)


if __name__ == "__main__":
    main()
