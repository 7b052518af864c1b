# ruff: noqa: D102 (what the methods do is said once, by Candidate)
"""The engines that `index_engines` compares, each used as its own documents advise.

Every candidate keeps text and vectors in a folder, searches both sides, and replaces a table
under the eyes of a reader that is open.
"""

import sqlite3
from pathlib import Path
from typing import Protocol

import numpy as np

from pneuma_assets.core.index.base import IndexQuery, TableContents
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.search import cosines
from pneuma_assets.core.tables import EmbeddedBlock, Vector
from pneuma_bench.experiments.support.corpus import DIMENSION

Tables = dict[str, list[EmbeddedBlock]]


class Candidate(Protocol):
    """What is measured; making one for a folder that holds an index is the cold start."""

    name: str

    def __init__(self, folder: Path) -> None: ...

    def replace(self, tables: Tables) -> None:
        """Write tables, replacing what they had, and let this reader see them."""

    def lexical(self, question: str, limit: int) -> list[str]:
        """Return the best blocks by words, with something fetched for each."""

    def semantic(self, vector: Vector, limit: int) -> list[str]:
        """Return the best blocks by meaning."""

    def finish(self) -> None:
        """Do what is advised after a bulk load."""


class Embedded:
    """The project's own engine."""

    name = "embedded"

    def __init__(self, folder: Path) -> None:
        self._index = EmbeddedIndex(folder, "made", DIMENSION)

    def replace(self, tables: Tables) -> None:
        self._index.replace_tables({i: TableContents(blocks) for i, blocks in tables.items()})

    def lexical(self, question: str, limit: int) -> list[str]:
        hits = self._index.search([IndexQuery(question, None)], limit)[0].lexical
        return [hit.block.text for hit in hits]

    def semantic(self, vector: Vector, limit: int) -> list[str]:
        hits = self._index.search([IndexQuery(None, vector)], limit)[0].semantic
        return [hit.block.text for hit in hits]

    def finish(self) -> None:
        self._index.optimise()


class Vectors:
    """Exact search over vectors in memory; those of replaced tables stay, which costs nothing."""

    def __init__(self) -> None:
        self._buffer = np.empty((1024, DIMENSION), np.float32)
        self._used = 0

    def append(self, added: Vector) -> None:
        end = self._used + len(added)
        if end > len(self._buffer):
            larger = np.empty((2 * end, DIMENSION), np.float32)
            larger[: self._used] = self._buffer[: self._used]
            self._buffer = larger
        self._buffer[self._used : end] = added
        self._used = end

    def best(self, vector: Vector, limit: int) -> list[str]:
        scores = cosines(self._buffer[: self._used], vector[None])[0]
        top = np.argpartition(-scores, limit)[:limit]
        return [str(row) for row in top[np.argsort(-scores[top])]]


class Tantivy:
    """Tantivy for the words, a file of vectors beside it; no transaction spans both."""

    name = "tantivy + numpy"

    def __init__(self, folder: Path) -> None:
        import tantivy

        self._tantivy = tantivy
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("table", stored=True, tokenizer_name="raw")
        builder.add_text_field("text", stored=True, tokenizer_name="en_stem")
        (folder / "words").mkdir(parents=True, exist_ok=True)
        self._index = tantivy.Index(builder.build(), path=str(folder / "words"))
        self._writer = None
        self._path = folder / "vectors.f32"
        self._vectors = Vectors()
        if self._path.exists():
            self._vectors.append(np.fromfile(self._path, np.float32).reshape(-1, DIMENSION))

    def replace(self, tables: Tables) -> None:
        if self._writer is None:
            self._writer = self._index.writer(heap_size=128 << 20, num_threads=2)
        for table_id, blocks in tables.items():
            self._writer.delete_documents_by_term("table", table_id)
            for item in blocks:
                self._writer.add_document(
                    self._tantivy.Document(table=table_id, text=item.block.text)
                )
        self._writer.commit()
        self._index.reload()
        added = np.stack([item.vector for blocks in tables.values() for item in blocks])
        with self._path.open("ab") as file:
            file.write(added.tobytes())
        self._vectors.append(added)

    def lexical(self, question: str, limit: int) -> list[str]:
        searcher = self._index.searcher()
        query, _ = self._index.parse_query_lenient(question, ["text"])
        return [searcher.doc(hit)["text"][0] for _, hit in searcher.search(query, limit).hits]

    def semantic(self, vector: Vector, limit: int) -> list[str]:
        return self._vectors.best(vector, limit)

    def finish(self) -> None:
        pass


class Fts5:
    """SQLite's own full-text index; the vectors in the same file, and in memory."""

    name = "SQLite FTS5 + numpy"

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(folder / "fts.db", isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute(
            "CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(text, tokenize = 'porter')"
        )
        self._connection.execute(
            "CREATE TABLE IF NOT EXISTS blocks"
            " (id INTEGER PRIMARY KEY AUTOINCREMENT, table_id TEXT, vector BLOB)"
        )
        self._connection.execute("CREATE INDEX IF NOT EXISTS by_table ON blocks (table_id)")
        self._vectors = Vectors()
        self._last = 0
        self._load()

    def _load(self) -> None:
        rows = self._connection.execute(
            "SELECT id, vector FROM blocks WHERE id > ? ORDER BY id", (self._last,)
        ).fetchall()
        if rows:
            added = np.frombuffer(b"".join(row[1] for row in rows), np.float32)
            self._vectors.append(added.reshape(-1, DIMENSION))
            self._last = rows[-1][0]

    def replace(self, tables: Tables) -> None:
        run = self._connection.execute
        run("BEGIN IMMEDIATE")
        for table_id, blocks in tables.items():
            old = run("SELECT id FROM blocks WHERE table_id = ?", (table_id,)).fetchall()
            self._connection.executemany("DELETE FROM words WHERE rowid = ?", old)
            self._connection.executemany("DELETE FROM blocks WHERE id = ?", old)
            for item in blocks:
                row = run(
                    "INSERT INTO blocks (table_id, vector) VALUES (?, ?)",
                    (table_id, item.vector.tobytes()),
                ).lastrowid
                run("INSERT INTO words (rowid, text) VALUES (?, ?)", (row, item.block.text))
        run("COMMIT")
        self._load()

    def lexical(self, question: str, limit: int) -> list[str]:
        words = "".join(c if c.isalnum() else " " for c in question).split()
        match = " OR ".join(f'"{word}"' for word in words)
        return [
            text
            for (text,) in self._connection.execute(
                "SELECT text FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (match, limit)
            )
        ]

    def semantic(self, vector: Vector, limit: int) -> list[str]:
        return self._vectors.best(vector, limit)

    def finish(self) -> None:
        self._connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class Lance:
    """LanceDB with its full-text and HNSW indexes; a replacement is a delete and an add."""

    name = "LanceDB"

    def __init__(self, folder: Path) -> None:
        import lancedb

        self._database = lancedb.connect(folder)
        names = self._database.list_tables().tables
        self._table = self._database.open_table("blocks") if "blocks" in names else None

    def replace(self, tables: Tables) -> None:
        rows = [
            {"table_id": table_id, "text": item.block.text, "vector": item.vector}
            for table_id, blocks in tables.items()
            for item in blocks
        ]
        if self._table is None:
            self._table = self._database.create_table("blocks", data=rows)
            return
        wanted = ",".join(f"'{table_id}'" for table_id in tables)
        self._table.delete(f"table_id IN ({wanted})")
        self._table.add(rows)

    def lexical(self, question: str, limit: int) -> list[str]:
        found = (
            self._table.search(question, query_type="fts").limit(limit).select(["text", "_score"])
        )
        return found.to_arrow()["text"].to_pylist()

    def semantic(self, vector: Vector, limit: int) -> list[str]:
        found = self._table.search(vector).distance_type("cosine").limit(limit)
        found = found.select(["text", "_distance"])
        return found.to_arrow()["text"].to_pylist()

    def finish(self) -> None:
        self._table.create_fts_index("text", use_tantivy=False, stem=True, with_position=False)
        self._table.create_index(metric="cosine", index_type="IVF_HNSW_SQ")


CANDIDATES = (Embedded, Tantivy, Fts5, Lance)
