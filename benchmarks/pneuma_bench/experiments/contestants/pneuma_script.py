"""The package `pneuma` 0.0.4 without its language model, as `pneuma-bench paper --beside` asks it.

    pneuma-bench paper ... \
        --beside pneuma=PYTHON,benchmarks/pneuma_bench/experiments/contestants/pneuma_script.py

PYTHON is of an environment with `pneuma==0.0.4 "duckdb<1.2" "pandas<3"`, since later versions
refuse what it asks of them; nothing of this project is imported here. The package registers,
samples rows, packs, indexes and fuses as it does; changed, by name, is

- that a column is described by its name alone, and nothing is judged: both ask a model of 7B;
- that it embeds on the processor: 0.0.4 asks for CUDA whatever there is;
- that setting up does not install an extension of DuckDB from the network.

Its k counts texts; so that answers have enough tables, three texts a table are asked for.
"""

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ["ANONYMIZED_TELEMETRY"] = "False"  # chromadb reports its use otherwise

import duckdb
import pandas as pd
import pneuma.registrar.registrar as registrar_module
from pneuma.index_generator.index_generator import IndexGenerator
from pneuma.query_processor.query_processor import QueryProcessor
from pneuma.registrar.registrar import Registrar
from pneuma.summarizer.summarizer import Summarizer
from sentence_transformers import SentenceTransformer
from serving import serve

TEXTS_A_TABLE = 3
NAME = "tables"


class OnProcessor(SentenceTransformer):
    """Embeds on the processor whatever it is asked for."""

    def encode(self, *texts: Any, **options: Any) -> Any:
        """Embed."""
        return super().encode(*texts, **options | {"device": "cpu"})


class Offline:
    """A connection of DuckDB that installs nothing."""

    def __init__(self, path: str) -> None:
        self._connection = duckdb.connect(path)

    def __enter__(self) -> "Offline":
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, sql: str) -> None:
        """Execute what is no extension."""
        if not sql.startswith(("INSTALL", "LOAD")):
            self._connection.execute(sql)


class NamesAlone(Summarizer):
    """Describes a column by its name; packs names as the package packs descriptions."""

    def _Summarizer__batch_generate_column_narrations(  # noqa: N802 (the package's name)
        self, table_ids: Sequence[str]
    ) -> dict[str, list[str]]:
        with duckdb.connect(self.db_path) as connection:
            columns = {
                one: connection.sql(f"SELECT * FROM '{one}' LIMIT 0").columns for one in table_ids
            }
        return {one: self._Summarizer__block_column_narrations(columns[one]) for one in table_ids}

    def _Summarizer__generate_column_narrations(  # noqa: N802 (the package's name)
        self, table: pd.DataFrame
    ) -> list[str]:
        return self._Summarizer__block_column_narrations(list(map(str, table.columns)))


class Unjudged(QueryProcessor):
    """Leaves candidates in the order in which they were found."""

    def _QueryProcessor__rerank(  # noqa: N802 (the package's name)
        self,
        nodes: list[tuple[str, float, str]],
        query: str,  # noqa: ARG002 (the package's signature)
    ) -> list[tuple[str, float, str]]:
        return nodes


class Retriever:
    """Indexes tables and answers questions; a request is a method."""

    def prepare(
        self, tables: str, folder: str, encoder: str, rows: int
    ) -> dict[str, float | int | str]:
        """Register, sample, pack and index the tables."""
        records = [json.loads(line) for line in Path(tables).read_text("utf-8").splitlines()]
        place = Path(folder)
        files = place / "csv"
        files.mkdir()
        self.ids = {}
        for number, record in enumerate(records):
            path = files / f"t{number}.csv"
            self.ids[str(path)] = record["id"]
            cells = pd.DataFrame(record["rows"][:rows], columns=record["columns"])
            cells.to_csv(path, index=False)
        model = OnProcessor(encoder, device="cpu")
        model.encode(["ready"])
        began = time.perf_counter()
        self._register(place, records)
        self._said(NamesAlone(None, model, str(place / "storage.db")).summarize())
        generator = IndexGenerator(model, str(place / "storage.db"), str(place / "indexes"))
        self._said(generator.generate_index(NAME))
        seconds = time.perf_counter() - began
        self.queries = Unjudged(None, model, str(place / "indexes"))
        kept = [place / "storage.db", *(place / "indexes").rglob("*")]
        with duckdb.connect(str(place / "storage.db")) as connection:
            found = connection.sql("SELECT count(*) FROM table_summaries").fetchone()
            texts = found[0] if found else 0
        return {
            "seconds": seconds,
            "bytes": sum(path.stat().st_size for path in kept if path.is_file()),
            "documents": texts,
            "vectors": texts,
            "about": "pneuma 0.0.4 without its model: names of columns in place of narrations, no "
            f"judge; n = 5, alpha = .5; {TEXTS_A_TABLE} texts for each table of an answer",
        }

    def answer(self, questions: Sequence[str], k: int) -> dict[str, list[list[str]]]:
        """Let the package answer."""
        found = self._said(self.queries.query(NAME, list(questions), k * TEXTS_A_TABLE, 5, 0.5))
        return {
            "tables": [[self.ids[one] for one in each["retrieved_tables"]][:k] for each in found]
        }

    def _register(self, place: Path, records: Sequence[dict[str, Any]]) -> None:
        registrar = Registrar(str(place / "storage.db"))
        real, registrar_module.duckdb = registrar_module.duckdb, SimpleNamespace(connect=Offline)
        try:
            self._said(registrar.setup())
        finally:
            registrar_module.duckdb = real
        self._said(registrar.add_tables(str(place / "csv"), "bench", accept_duplicates=True))
        texts = place / "contexts"
        texts.mkdir()
        for number, record in enumerate(records):
            for at, context in enumerate(record["contexts"]):
                path = texts / f"t{number}-{at}.txt"
                path.write_text(context, encoding="utf-8")
                table = str(place / "csv" / f"t{number}.csv")
                self._said(registrar.add_metadata(str(path), table))

    @staticmethod
    def _said(answer: str) -> Any:
        """Return the data of one of the package's answers."""
        said = json.loads(answer)
        if "success" not in str(said["status"]).lower():
            raise RuntimeError(said["message"])
        return said.get("data")


if __name__ == "__main__":
    serve(Retriever())
