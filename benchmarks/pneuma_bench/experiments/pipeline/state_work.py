"""What the stages of one run ask of the state, timed step by step; see `state`.

    python benchmarks/pneuma_bench/experiments/pipeline/state_work.py TABLES FOLDER

Run as a file, with PYTHONPATH naming the program that is measured, of today or of an earlier
commit. The state is a file in FOLDER, or, where STATE_URL names a server, there. Prints one JSON
object: CPU and wall seconds a step.
"""

import inspect
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from pneuma_assets.core.store import Store
from pneuma_assets.core.store import narrations as store_narrations
from pneuma_assets.core.store.queue import Finished, Sampled
from pneuma_assets.core.tables import (
    Column,
    Description,
    Document,
    DocumentKind,
    Provenance,
    RowMark,
    Table,
    TableRef,
)

RUN = "run"
COLUMNS = 10
TOGETHER = 64
"""So many tables the stages hand over at once."""
ASKED = 32
"""So many narrations are kept at once."""
MODEL = "model|prompt 2|40 tokens"
KEY: Any = getattr(store_narrations, "AnswerKey", str)(MODEL)  # earlier versions take the text

_Item = TypeVar("_Item")


class Watch:
    """CPU and wall seconds a step."""

    def __init__(self) -> None:
        self.steps: dict[str, tuple[float, float]] = {}

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time what is done inside the `with` block."""
        cpu, wall = time.process_time(), time.perf_counter()
        yield
        self.steps[name] = (time.process_time() - cpu, time.perf_counter() - wall)


def profile(number: int) -> Table:
    """Return a table; every second one has a schema of its own."""
    columns = [Column(f"column_{place}", "VARCHAR") for place in range(COLUMNS - 1)]
    columns.append(Column(f"measure_{number // 2}", "DOUBLE"))
    return Table(
        f"lake/folder{number % 50}/table{number}", tuple(columns), number, f"/{number}.csv"
    )


def sample(table: Table) -> Sampled:
    """Return five rows and what they say; by kind, or, as it was earlier, just so."""
    rows = [
        f"column_0: {place} | column_1: a name of a thing | column_2: 2024" for place in range(5)
    ]
    documents: Any = [Document(table.table_id, DocumentKind.ROWS, row) for row in rows]
    if get_type_hints(Sampled)["documents"] != Sequence[Document]:
        documents = {DocumentKind.ROWS: documents}
    return Sampled(
        table.table_id, table.row_count, [RowMark(n, n * 7) for n in range(5)], documents
    )


def pieces(items: Sequence[_Item], size: int) -> Iterator[Sequence[_Item]]:
    """Cut a sequence."""
    for begin in range(0, len(items), size):
        yield items[begin : begin + size]


def of_run(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method as it is called now; earlier ones took no run."""
    if "run_id" in inspect.signature(method).parameters:
        return lambda *given: method(RUN, *given)
    return method


def narrate(store: Store, tables: Sequence[Table]) -> None:
    """Ask what is known, keep answers, and say whose they are."""
    answers = []
    for table in tables:
        if not store.narrations.known(KEY, table):
            store.narrations.carry_over(KEY, table)
            told = f"What the column of {table.table_id} is about."
            answers += [(table.schema_hash, place, told) for place in range(COLUMNS)]
    for some in pieces(answers, ASKED):
        store.narrations.save(KEY, some)
    answers = getattr(store.narrations, "answers", store.narrations.known)
    for chunk in pieces(tables, TOGETHER):
        said = [
            (table, {p: Description("", Provenance.MODEL, MODEL) for p in known}, known)
            for table in chunk
            if (known := answers(KEY, table))
        ]
        store.narrations.assign(KEY, said)


def work(where: Any, count: int) -> Watch:
    """Do all that a run over new tables asks of the state, and open it again."""
    watch = Watch()
    tables = [profile(number) for number in range(count)]
    refs = [TableRef(t.table_id, "lake", t.location, "csv", "1") for t in tables]
    with watch.step("make"):
        store = Store(where)
    with watch.step("list"):
        store.queue.use_recipe("recipe")
        store.listings.sync("lake", refs)
    with watch.step("claim"):
        store.queue.claim(RUN, count, 3, ["lake"])
    with watch.step("profiles"):
        store.runs.begin(RUN)
        for chunk in pieces(tables, TOGETHER):
            for table in chunk:
                store.runs.reading(RUN, table.table_id)
            of_run(store.queue.save_profiles)(chunk)
    with watch.step("claimed"):
        store.queue.claimed(RUN)
    with watch.step("samples"):
        for chunk in pieces([sample(table) for table in tables], TOGETHER):
            of_run(store.queue.save_samples)(chunk)
    with watch.step("narrations"):
        narrate(store, tables)
    with watch.step("documents"):
        for table in tables:
            store.documents.of_table(table.table_id)
    with watch.step("finish"):
        for chunk in pieces(tables, TOGETHER):
            of_run(store.queue.finish)([Finished(t.table_id, t.schema_hash, 2) for t in chunk])
    with watch.step("list again"):
        store.listings.sync("lake", refs)
    with watch.step("records"):
        store.tables.records()
    store.close()
    with watch.step("open"):
        Store(where).close()
    return watch


def main() -> None:
    """Measure and print."""
    where: Any = Path(sys.argv[2]) / "state.db"
    if url := os.environ.get("STATE_URL"):
        from sqlalchemy import make_url

        from pneuma_assets.core.store.postgresql_database import PostgreSQL

        where = PostgreSQL(make_url(url), password=make_url(url).password)
    print(json.dumps(work(where, int(sys.argv[1])).steps))


if __name__ == "__main__":
    main()
