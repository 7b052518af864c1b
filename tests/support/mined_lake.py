"""A small lake whose tables can be asked about in every way, and an index of it in no time."""

import csv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished
from pneuma_assets.core.tables import Column, Document, DocumentKind, Table, TableRef
from tests.support.indexed_tables import index_tables
from tests.support.word_encoder import WordEncoder

SUBJECTS = {
    "harbour": "barrels",
    "orchard": "apples",
    "quarry": "slabs",
    "meadow": "lambs",
    "chapel": "hymns",
    "foundry": "girders",
    "lagoon": "oysters",
    "terrace": "vines",
    "viaduct": "arches",
    "windmill": "sacks",
}
ROWS = 40


def table_ids() -> list[str]:
    return [f"lake/{_folder(number)}/{place}_register" for number, place in enumerate(SUBJECTS)]


def columns_of(place: str) -> list[str]:
    return [f"{place}_warden", f"{SUBJECTS[place]}_counted", "survey_remark"]


def rows_of(place: str) -> list[tuple[str, str, str]]:
    number = list(SUBJECTS).index(place)
    return [
        (f"{_name(row)}{place[:4]}", str(row * (number + 2)), "wet" if row % 3 else "dry")
        for row in range(ROWS)
    ]


def document_of(place: str) -> str:
    thing = SUBJECTS[place]
    return (
        f"The wardens counted {thing} every morning beside the old {place} wall, because taxes on "
        f"{thing} were due each quarter of the year."
    )


def write_lake(folder: Path) -> Path:
    """Write the tables as CSV files in two folders, with a document beside each."""
    lake = folder / "lake"
    for table_id, place in zip(table_ids(), SUBJECTS, strict=True):
        path = folder / f"{table_id}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([columns_of(place), *rows_of(place)])
        path.with_suffix(".md").write_text(document_of(place))
    return lake


@dataclass
class Mined:
    """A store and an index of the same tables."""

    store: Store
    index: EmbeddedIndex
    encoder: WordEncoder

    @property
    def engine(self) -> QueryEngine:
        return QueryEngine(self.index, self.encoder)

    def put(self, version: str, rows: dict[str, Sequence[tuple[str, ...]]] | None = None) -> None:
        """Index all tables as a run does, some with other rows."""
        refs, tables, texts, names = [], [], {}, {}
        for table_id, place in zip(table_ids(), SUBJECTS, strict=True):
            given = (rows or {}).get(table_id, rows_of(place))
            columns = tuple(Column(name, "VARCHAR") for name in columns_of(place))
            changed = version if table_id in (rows or {}) else "1"
            refs.append(TableRef(table_id, "lake", f"/{table_id}.csv", "csv", changed))
            tables.append((Table(table_id, columns, len(given), ""), list(given)))
            texts[table_id] = [document_of(place)]
            names[table_id] = tuple(table_id.split("/"))
        index_tables(self.index, self.encoder, tables, names, texts)
        self.store.listings.sync("lake", refs)
        self.store.queue.claim(version, 100, 3, ["lake"])
        self.store.queue.save_profiles(version, [table for table, _ in tables])
        kind = DocumentKind.CONTEXT
        documents = {i: [Document(i, kind, text) for text in some] for i, some in texts.items()}
        self.store.documents.replace(kind, list(documents.items()))
        shown = DocumentKind.ROWS
        sampled = [
            (t.table_id, [Document(t.table_id, shown, " | ".join(row)) for row in some[:5]])
            for t, some in tables
        ]
        self.store.documents.replace(shown, sampled)
        done = [Finished(table.table_id, table.schema_hash, 3) for table, _ in tables]
        self.store.queue.finish(version, done)


@contextmanager
def mined_lake(folder: Path) -> Iterator[Mined]:
    encoder = WordEncoder()
    index = EmbeddedIndex(folder / "index", encoder.name, encoder.dimension)
    with Store(folder / "state.db") as store:
        made = Mined(store, index, encoder)
        made.put("1")
        try:
            yield made
        finally:
            index.close()


def _folder(number: int) -> str:
    return "north" if number % 2 else "south"


def _name(row: int) -> str:
    return "".join("bdfgklmnprst"[row // 12**power % 12] + "aeiou"[power] for power in range(2))
