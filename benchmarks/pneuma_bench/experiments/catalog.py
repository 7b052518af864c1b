"""What browsing costs: the catalogue of many tables in memory, beside a question to the index.

    python -m pneuma_bench.experiments.catalog [--tables 379 10000] [--columns 30] [--home FOLDER]

Prints milliseconds, the median of 20, of the calls of a desk that people and agents browse by, for
who may see all and for somebody who sees a fifth; how long the first one takes, which reads the
state; and what memory that takes. `--home` asks a state that there is.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pneuma_assets import IndexFilter, Workspace, open_workspace
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.service.catalog_types import Facets
from pneuma_assets.core.store import Store, schema
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock, TableFacts, TableTerms

_CALLS = 20
_WORDS = (
    *("account", "address", "amount", "balance", "batch", "city", "code", "country", "customer"),
    *("date", "department", "email", "employee", "invoice", "item", "order", "payment", "price"),
    *("product", "quantity", "region", "status", "store", "total"),
)


def _names(random: np.random.Generator, how_many: int) -> list[str]:
    drawn = random.integers(0, len(_WORDS), (how_many, 2))
    return [f"{_WORDS[a]}_{_WORDS[b]}_{n}" for n, (a, b) in enumerate(drawn)]


def _fill(home: Path, tables: int, columns: int) -> None:
    """Write the state and the index of a made-up warehouse, whose tables say little."""
    random = np.random.default_rng(7)
    names = _names(random, tables)
    ids = [f"w/s{n % 50}/{name}" for n, name in enumerate(names)]
    readers = [None if n % 5 == 0 else (f"w/role{n % 50}",) for n in range(tables)]
    heads = [_names(random, columns) for _ in ids]
    with Store(home / "state.db") as store, store._db.write() as connection:
        schema.insert_rows(connection, schema.tables, _rows(ids, readers, heads))
        said = (
            {"table_id": i, "model": "", "column_name": name, "column_type": "TEXT", "text": "x"}
            | {"provenance": "person" if n % 10 == 0 else "profile"}
            for i, some in zip(ids, heads, strict=True)
            for n, name in enumerate(some)
        )
        schema.insert_rows(connection, schema.table_narrations, said)
        edges = (
            {"origin": "x", "upstream": ids[n // 2], "downstream": ids[n], "kind": "view"}
            | {"columns": "[]"}
            for n in range(1, tables)
        )
        schema.insert_rows(connection, schema.edges, edges)
    with open_workspace(home=home) as workspace:
        encoder = workspace.encoder
        index = EmbeddedIndex(home / "index", encoder.name, encoder.dimension)
    for first in range(0, tables, 500):
        some = range(first, min(tables, first + 500))
        vectors = random.standard_normal((len(some), encoder.dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        index.replace_tables(
            {
                ids[n]: _contents(ids[n], heads[n], vector, readers[n])
                for n, vector in zip(some, vectors, strict=True)
            }
        )
    index.close()


def _rows(ids: list[str], readers: list[Any], heads: list[list[str]]) -> Iterator[dict[str, Any]]:
    for number, (table_id, may, names) in enumerate(zip(ids, readers, heads, strict=True)):
        yield {
            "table_id": table_id,
            "source": "w",
            "location": table_id,
            "format": ("table", "view", "csv")[number % 3],
            "version": "1",
            "context_locations": "[]",
            "state": "indexed",
            "comment": f"About {table_id}.",
            "readers": None if may is None else json.dumps(may),
            "columns": json.dumps([(name, "TEXT", "", "", False) for name in names]),
            "column_count": len(names),
            "row_count": number,
            "updated_at": time.time() - 86_400.0 * (number % 500),
            "indexed_at": 1.0,
        }


def _contents(table_id: str, names: list[str], vector: Any, readers: Any) -> TableContents:
    block = Block(table_id, DocumentKind.SCHEMA, f"{table_id} {' '.join(names)}")
    evidence = TableTerms(tuple(table_id.split("/")), tuple(names), rows=(("x",) * len(names),))
    return TableContents([EmbeddedBlock(block, vector)], evidence, TableFacts(readers))


def _timed(name: str, call: Callable[[], object]) -> None:
    spent = []
    for _ in range(_CALLS + 1):
        before = time.perf_counter()
        call()
        spent.append(1000 * (time.perf_counter() - before))
    print(f"  {name:28} first {spent[0]:8.1f} ms, then {np.median(spent[1:]):7.2f} ms")


def _measure(workspace: Workspace, readers: tuple[str, ...] | None) -> None:
    where = IndexFilter(readers=readers)
    facets = Facets(formats=("csv", "view"))
    table_id = workspace.browse(limit=1, sort="rows", readers=readers).tables[0].table_id
    question = "total amount of orders by region"
    _timed("ask", lambda: workspace.ask(question, where=where))
    _timed("search", lambda: workspace.search(question, where=where))
    _timed("search, words only", lambda: workspace.search(question, where=where, words_only=True))
    _timed("search, filtered", lambda: workspace.search(question, where=where, facets=facets))
    _timed("browse", lambda: workspace.browse(readers=readers))
    _timed("browse, filtered", lambda: workspace.browse(facets=facets, text="or", readers=readers))
    for typed in ("c", "cust", "order am", "custmer"):
        _timed(f"suggest {typed!r}", lambda typed=typed: workspace.suggest(typed, readers=readers))
    _timed("table", lambda: workspace.table(table_id, readers=readers))
    _timed("sample_rows", lambda: workspace.sample_rows(table_id, readers=readers))


def _memory_mb() -> float:
    pages = Path("/proc/self/statm").read_text("ascii").split()[1]
    return int(pages) * resource.getpagesize() / 2**20


def _report(home: Path) -> None:
    with open_workspace(home=home) as workspace:
        before = _memory_mb()
        began = time.perf_counter()
        total = workspace.browse().total
        listed = time.perf_counter()
        workspace.suggest("x")
        named = time.perf_counter()
        print(f"{total:,} tables: listed after {listed - began:.2f} s, suggested after", end=" ")
        print(f"{named - listed:.2f} s more, {_memory_mb() - before:.0f} MB")
        for readers in (None, ("w/role1",)):
            print(" may see all" if readers is None else f" {readers[0]}")
            _measure(workspace, readers)


def main() -> None:
    """Make states of several sizes, or take one, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, nargs="+", default=[379, 10_000])
    parser.add_argument("--columns", type=int, default=30)
    parser.add_argument("--home", type=Path)
    options = parser.parse_args()
    if options.home is not None:
        _report(options.home)
        return
    for tables in options.tables:
        with tempfile.TemporaryDirectory() as folder:
            _fill(Path(folder), tables, options.columns)
            of_its_own = [sys.executable, "-m", __spec__.name, "--home", folder]
            subprocess.run(of_its_own, check=True)  # where memory is the catalogue's alone


if __name__ == "__main__":
    main()
