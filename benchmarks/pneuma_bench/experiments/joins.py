"""How many foreign keys that nobody declared are found, and how often a question's set of tables.

    python -m pneuma_bench.experiments.joins --config FILE --home HOME --questions FILE
    python -m pneuma_bench.experiments.joins --scale 10000

The first asks an index that is there, of PostgreSQL with the schemas of
`pneuma_bench.experiments.warehouse` say. Joins are inferred anew, declared keys unseen, and
compared with `joins.tsv` (table, column, other table, its column; ids without the source),
which was written by hand from the schemas. Each question names the tables that it needs (`tables`,
as `schema.table`); a set of tables is a hit if it has all of these (Octopus, section 7.1), and
exact if it has no other. Beside the sets as they are ranked: by the paper's equation 10 alone, and
by how well tables were found alone. `--descriptions` names a file of what is said of columns (lines
of `table`, `column`, `gold`), in the place of what the index holds; `--names-alone` looks at no
cells.

The second makes so many tables of 12 columns, of which each refers to five others, and times what
a run and a question do with them.
"""

import argparse
import json
import random
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np

from pneuma_assets import open_workspace
from pneuma_assets.core.pipeline.relate import ValueOverlap, columns_of_all
from pneuma_assets.core.relations import rank_groups
from pneuma_assets.core.relations.infer_joins import infer_joins
from pneuma_assets.core.relations.join_columns import JoinColumn
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinGraph

GOLD = Path(__file__).with_suffix(".tsv")
Lake = Mapping[str, Sequence[JoinColumn]]
DEPTHS = (1, 5, 10)
WAYS: Mapping[str, Mapping[str, float]] = {
    "as they are ranked": rank_groups.WEIGHTS,
    "equation 10 alone": {"columns": 1.0, "values": 1.0, "best": 0.0, "mean": 0.0, "more": 0.0},
    "found for themselves alone": {**rank_groups.WEIGHTS, "columns": 0.0, "values": 0.0},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--questions", type=Path)
    parser.add_argument("--gold", type=Path, default=GOLD)
    parser.add_argument("--descriptions", type=Path)
    parser.add_argument("--names-alone", action="store_true")
    parser.add_argument("--scale", type=int)
    options = parser.parse_args()
    if options.scale:
        scale(options.scale)
        return
    with open_workspace(options.config, options.home) as workspace:
        kept = ValueOverlap(workspace.search_index)
        tables: Lake = columns_of_all(workspace.store)
        tables = {**tables, **kept.whole(tables)}
        if options.descriptions:
            tables = described(tables, options.descriptions)
        if options.names_alone:
            tables = without_cells(tables)
        edges = infer_joins(tables, kept.share)
        report_edges(edges, options.gold)
        if options.questions:
            asked = list(answered(options.questions))
            for way, weights in WAYS.items():
                rank_groups.WEIGHTS = weights
                report_groups(way, asked, workspace)


def described(tables: Lake, path: Path) -> Lake:
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    said = {(one["table"], one["column"]): one["gold"] for one in lines}
    return {
        i: [replace(one, said=said.get((bare(i), one.name), "")) for one in columns]
        for i, columns in tables.items()
    }


def without_cells(tables: Lake) -> Lake:
    return {
        i: [replace(one, cells=one.cells[:0], whole=False) for one in columns]
        for i, columns in tables.items()
    }


def report_edges(edges: Sequence[JoinEdge], gold: Path) -> None:
    lines = gold.read_text("utf-8").splitlines()
    right = {tuple(line.split("\t")) for line in lines if line}
    found = {
        (bare(e.table), ",".join(e.columns), bare(e.other), ",".join(e.other_columns))
        for e in edges
    }
    print(f"{len(found)} joins inferred, {len(right)} by hand")
    for what, mine, theirs in (
        ("columns", found, right),
        ("tables", pairs(found), pairs(right)),
    ):
        both = len(mine & theirs)
        precision, recall = both / max(1, len(mine)), both / max(1, len(theirs))
        f1 = 2 * both / max(1, len(mine) + len(theirs))
        print(f"  {what:8} precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}")
    for way, some in (("wrong", found - right), ("missed", right - found)):
        for table, column, other, theirs in sorted(some):
            print(f"  {way}: {table}.{column} -> {other}.{theirs}")


def bare(table_id: str) -> str:
    return table_id.split("/", 1)[1]


def pairs(joins: Iterable[tuple[str, ...]]) -> set[frozenset[str]]:
    return {frozenset((one[0], one[2])) for one in joins}


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
        sets = [{bare(table) for table in one.tables} for one in found]
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
