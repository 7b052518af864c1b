"""LlamaIndex's retriever over the rows of a database, as `pneuma-bench paper --beside` asks it.

    pneuma-bench paper ... --beside LlamaIndex=PYTHON,benchmarks/pneuma_bench/experiments/contestants/llamaindex_script.py

PYTHON is of an environment with `llama-index-core`, `llama-index-readers-database` and
`sentence-transformers`; nothing of this project is imported here. As in the paper (section 7.1)
every row becomes a document by `DatabaseReader` and is embedded into a `VectorStoreIndex`; tables
are those of the nearest rows. The paper then has a model of 7B name the table: left out here.
"""  # noqa: E501 (a command to be copied)

import json
import sqlite3
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from llama_index.core import Settings, VectorStoreIndex
from llama_index.core.embeddings import BaseEmbedding
from llama_index.core.schema import Document
from llama_index.readers.database import DatabaseReader
from sentence_transformers import SentenceTransformer
from serving import serve

ROWS_A_TABLE = 5
"""Rows looked at for each table asked for; twice as many where these are of too few tables."""


class Sentences(BaseEmbedding):
    """A sentence-transformers model in the form that LlamaIndex asks for."""

    _model: Any = None

    def __init__(self, folder: str) -> None:
        super().__init__(model_name=Path(folder).name, embed_batch_size=64)
        self._model = SentenceTransformer(folder, device="cpu")

    def _get_text_embedding(self, text: str) -> list[float]:
        return self._get_text_embeddings([text])[0]

    def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
        vectors = self._model.encode(texts, batch_size=64, show_progress_bar=False)
        return vectors.tolist()  # type: ignore[no-any-return]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class Retriever:
    """Indexes tables and answers questions; a request is a method."""

    def prepare(
        self, tables: str, folder: str, encoder: str, rows: int
    ) -> dict[str, float | int | str]:
        """Write the tables into a database, read its rows, and embed each."""
        records = [json.loads(line) for line in Path(tables).read_text("utf-8").splitlines()]
        self.ids = [record["id"] for record in records]
        database = Path(folder) / "tables.db"
        load(database, records, rows)
        Settings.llm = None
        embedding = Sentences(encoder)
        embedding.get_text_embedding("ready")
        began = time.perf_counter()
        reader = DatabaseReader(uri=f"sqlite:///{database}")
        documents: list[Document] = []
        for number in range(len(records)):
            found = reader.load_data(query=f'SELECT * FROM "t{number}"')
            for row, document in enumerate(found):
                document.id_ = f"{number}/{row}"
            documents += found
        self.index = VectorStoreIndex.from_documents(documents, embed_model=embedding)
        kept = Path(folder) / "index"
        self.index.storage_context.persist(str(kept))
        seconds = time.perf_counter() - began
        self.nodes = len(self.index.index_struct.nodes_dict)
        return {
            "seconds": seconds,
            "bytes": sum(path.stat().st_size for path in kept.rglob("*")),
            "documents": len(documents),
            "vectors": self.nodes,
            "about": f"llama-index-core {version('llama-index-core')}, at most {rows} rows of a "
            "table, the retriever alone",
        }

    def answer(self, questions: Sequence[str], k: int) -> dict[str, list[list[str]]]:
        """Answer each question by itself."""
        return {"tables": [self.tables_of(question, k) for question in questions]}

    def tables_of(self, question: str, k: int) -> list[str]:
        """Return the tables of the nearest rows, until there are enough."""
        top = ROWS_A_TABLE * k
        while True:
            retriever = self.index.as_retriever(similarity_top_k=min(top, self.nodes))
            nearest = retriever.retrieve(question)
            tables = [int(one.node.ref_doc_id.partition("/")[0]) for one in nearest]
            distinct = list(dict.fromkeys(tables))[:k]
            if len(distinct) == k or top >= self.nodes:
                return [self.ids[number] for number in distinct]
            top *= 2


def load(database: Path, records: Sequence[dict[str, Any]], rows: int) -> None:
    """Write the tables into an SQLite file, the first so many rows of each."""
    connection = sqlite3.connect(database)
    for number, record in enumerate(records):
        columns = names_of(record["columns"])
        if not columns:
            connection.execute(f'CREATE TABLE "t{number}" (empty TEXT)')
            continue
        quoted = ", ".join('"{}" TEXT'.format(name.replace('"', '""')) for name in columns)
        connection.execute(f'CREATE TABLE "t{number}" ({quoted})')
        marks = ", ".join("?" * len(columns))
        some = record["rows"][:rows]
        connection.executemany(f'INSERT INTO "t{number}" VALUES ({marks})', some)
    connection.commit()
    connection.close()


def names_of(columns: Sequence[str]) -> list[str]:
    """Return the names, numbered where SQLite, which ignores case, would see one twice."""
    taken: set[str] = set()
    names = []
    for at, column in enumerate(columns):
        name = column.replace("\0", "") or f"column {at}"
        if name.lower() in taken:
            name = f"{name} {at}"
        taken.add(name.lower())
        names.append(name)
    return names


if __name__ == "__main__":
    serve(Retriever())
