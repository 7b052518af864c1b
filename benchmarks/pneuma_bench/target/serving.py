"""Answers questions for another process, by lines of JSON: a request, then its reply.

The package `target_benchmark` and this project need other versions of numpy, pandas, pyarrow and
transformers, and can never be in one environment; so its retriever (`client`) asks this here.

    {"do": "embed", "dataset": D, "hide_names": false}      begins a data set, or begins it anew
    {"do": "tables", "dataset": D, "tables": [T, ...]}      tables in TARGET's format, any number
    {"do": "end", "dataset": D}                             indexes them
    {"do": "ask", "dataset": D, "questions": [Q, ...], "k": 10}

The reply to `ask` is `{"tables": [[[DATABASE, TABLE], ...], ...]}`, a list a question, best first;
to the others, `{"tables": N}`, how many tables there are. What is wrong with a request is the reply
to it, `{"error": TEXT}`, and the next one is answered all the same.
"""

import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.errors import BenchmarkError, PneumaError
from pneuma_assets.core.search.query import QueryEngine
from pneuma_bench.lab import Lab
from pneuma_bench.reading import read_tables
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import Setting
from pneuma_bench.target.writing import Place


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    do: Literal["embed", "tables", "end", "ask"]
    dataset: str
    hide_names: bool = False
    tables: list[dict[str, Any]] = []
    questions: list[str] = []
    k: int = 10


class TargetServer(Closing):
    """Indexes data sets in TARGET's format, and answers questions about each.

    Args:
        setting: How tables are indexed and questions asked.
        lab: Opens where a set is indexed; it is closed with this.
    """

    def __init__(self, setting: Setting, lab: Callable[[RetrievalSet], Lab]) -> None:
        self._setting, self._lab = setting, lab
        self._sets: dict[str, _Dataset] = {}

    def answer(self, line: bytes) -> dict[str, Any]:
        """Return the reply to a request; what is wrong with it is a reply, too."""
        try:
            return self._answer(_Request.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            return {"error": f"the request cannot be used: {place}: {first['msg']}"}
        except PneumaError as error:
            return {"error": str(error)}

    def close(self) -> None:
        """Close all that was opened."""
        for dataset in self._sets.values():
            dataset.close()
        self._sets.clear()

    def _answer(self, request: _Request) -> dict[str, Any]:
        if request.do == "embed":
            if before := self._sets.pop(request.dataset, None):
                before.close()
            self._sets[request.dataset] = _Dataset(hide_names=request.hide_names)
            return {"tables": 0}
        dataset = self._sets.get(request.dataset)
        if dataset is None:
            raise BenchmarkError(f"no data set is called {request.dataset!r}; send `embed` first")
        if request.do == "ask":
            return {"tables": dataset.ask(request.questions, request.k)}
        if request.do == "tables":
            return {"tables": dataset.add(request.tables)}
        return {"tables": dataset.index(self._setting, self._lab)}


class _Dataset(Closing):
    """The tables of one data set: a file first, then an index of them."""

    def __init__(self, *, hide_names: bool) -> None:
        self._hide_names = hide_names
        self._stack = ExitStack()
        scratch = self._stack.enter_context(tempfile.TemporaryDirectory(prefix="pneuma-target-"))
        self._file = Path(scratch) / "target.tables.jsonl"
        self._stream = self._stack.enter_context(self._file.open("w", encoding="utf-8"))
        self._sent: list[Place] = []
        self._places: dict[str, Place] = {}
        self._engine: QueryEngine | None = None
        self._options: Mapping[str, Any] = {}

    def add(self, tables: list[dict[str, Any]]) -> int:
        """Keep tables until they are indexed; return how many there are."""
        self._refuse_once_ended()
        for table in tables:
            place = Place(str(table.get("database_id", "")), str(table.get("table_id", "")))
            record: dict[str, Any] = {"database_id": place.database, "table_id": place.table}
            record |= {key: table[key] for key in ("table", "context") if key in table}
            record["name"] = list(place)
            self._stream.write(json.dumps(record, default=str) + "\n")
            self._sent.append(place)
        return len(self._sent)

    def index(self, setting: Setting, open_lab: Callable[[RetrievalSet], Lab]) -> int:
        """Index what was added; return how many tables that is."""
        self._refuse_once_ended()
        self._stream.close()
        read = read_tables(self._file, hide_names=self._hide_names)
        known = (table.table_id for table, _ in read.tables)
        self._places = dict(zip(known, self._sent, strict=True))
        lab = self._stack.enter_context(open_lab(read))
        self._options = setting.ask_options(lab.index(setting)[0].kinds())
        self._engine = lab.engine(setting, remembering=False)
        return len(self._sent)

    def ask(self, questions: list[str], k: int) -> list[list[Place]]:
        """Return the tables that may answer each question, best first."""
        if self._engine is None:
            raise BenchmarkError("the data set is not indexed yet; send `end` after its tables")
        answers = self._engine.ask_many(questions, **{**self._options, "k": k})
        return [[self._places[one.table_id] for one in found] for found in answers]

    def close(self) -> None:
        """Close the index, and remove the file."""
        self._stack.close()

    def _refuse_once_ended(self) -> None:
        if self._stream.closed:
            raise BenchmarkError("the data set was ended already; send `embed` to begin it anew")


def serve(requests: BinaryIO, replies: BinaryIO, server: TargetServer) -> None:
    """Answer every line of `requests` with one line, until there are no more."""
    for line in requests:
        replies.write(json.dumps(server.answer(line)).encode() + b"\n")
        replies.flush()
