"""A retriever for the package `target_benchmark` that asks a process of pneuma-assets.

This file runs in the package's own environment, where pneuma-assets cannot be installed: it needs
the standard library and the package alone. `pneuma-bench target client` prints it.

    from target_benchmark.evaluators import TARGET
    with PneumaRetriever(["/path/to/pneuma/bin/python", "-m", "pneuma_bench.cli"]) as retriever:
        print(TARGET(("Table Retrieval Task", "fetaqa")).run(retriever, top_k=10))
"""

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any

from target_benchmark.retrievers.AbsCustomEmbeddingRetriever import AbsCustomEmbeddingRetriever
from target_benchmark.retrievers.RetrieversDataModels import RetrievalResultDataModel

COMMAND = "PNEUMA_COMMAND"
"""Environment variable: how to call pneuma-bench where nothing says; parted by blanks."""


class PneumaRetriever(AbsCustomEmbeddingRetriever):  # type: ignore[misc] # untyped package
    """Retrieves tables by pneuma-assets; close it, or use it in a `with` statement.

    Args:
        command: How to call pneuma-bench; `PNEUMA_COMMAND`, or `pneuma-bench`, if None.
        options: Of `pneuma-bench target serve`, such as `["--config", "pneuma.yaml"]`.
        hide_names: Whether a table's ids are not what people call it, as in data of web pages.
    """

    def __init__(
        self,
        command: Sequence[str] | None = None,
        options: Sequence[str] = (),
        *,
        hide_names: bool = False,
    ) -> None:
        super().__init__(expected_corpus_format="nested array")
        called = command or os.environ.get(COMMAND, "pneuma-bench").split()
        self._hide_names = hide_names
        self._known: dict[str, dict[tuple[str, str], tuple[Any, Any]]] = {}
        self._process = subprocess.Popen(  # noqa: S603 (the user's own command)
            [*called, "target", "serve", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def embed_corpus(self, dataset_name: str, corpus: Iterable[dict[str, Any]]) -> None:
        """Send all tables, a batch at a time, and have them indexed."""
        known = self._known[dataset_name] = {}
        self._ask(do="embed", dataset=dataset_name, hide_names=self._hide_names)
        keys = ("database_id", "table_id", "table", "context")
        for batch in corpus:
            tables = [
                dict(zip(keys, one, strict=True))
                for one in zip(*(batch[key] for key in keys), strict=True)
            ]
            for one in tables:
                ids = one["database_id"], one["table_id"]
                known[str(ids[0]), str(ids[1])] = ids
            self._ask(do="tables", dataset=dataset_name, tables=tables)
        self._ask(do="end", dataset=dataset_name)

    def retrieve(
        self, query: str, dataset_name: str, top_k: int, **_kwargs: Any
    ) -> list[tuple[Any, Any]]:
        """Return database and id of the best tables for one question."""
        return self._retrieve([query], dataset_name, top_k)[0]

    def retrieve_batch(
        self, queries: dict[str, list[Any]], dataset_name: str, top_k: int, **_kwargs: Any
    ) -> list[RetrievalResultDataModel]:
        """Return the same for many questions, which are encoded together."""
        found = self._retrieve([*queries["query"]], dataset_name, top_k)
        return [
            RetrievalResultDataModel(
                dataset_name=dataset_name, query_id=query_id, retrieval_results=tables
            )
            for query_id, tables in zip(queries["query_id"], found, strict=True)
        ]

    def close(self) -> None:
        """End the process."""
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._process.wait()

    def __enter__(self) -> "PneumaRetriever":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _retrieve(
        self, questions: list[str], dataset_name: str, top_k: int
    ) -> list[list[tuple[Any, Any]]]:
        known = self._known[dataset_name]
        reply = self._ask(do="ask", dataset=dataset_name, questions=questions, k=top_k)
        # Ids go back with the type they came in: the package compares them with its own.
        return [[known[database, table] for database, table in one] for one in reply["tables"]]

    def _ask(self, **request: Any) -> dict[str, Any]:
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the process has no pipes")
        with suppress(BrokenPipeError):  # it ended; reading tells
            stdin.write(json.dumps(request, default=str).encode() + b"\n")
            stdin.flush()
        line = stdout.readline()
        if not line:
            raise RuntimeError("pneuma-assets ended; what it said stands on standard error")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise RuntimeError(f"pneuma-assets: {reply['error']}")
        return reply
