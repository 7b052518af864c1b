"""Results in the files that TARGET's package reads in place of asking (`target_benchmark` 0.1.3).

`retrieved/NAME/K.jsonl` and `answered/NAME/K.jsonl` hold an object a question, in the order of the
questions. The package pairs them by their place, so a file that held only some would be taken for
the first ones: each appears whole or not at all.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pneuma_bench.files import whole
from pneuma_bench.target.downstream import Answer
from pneuma_bench.target.writing import Place


@dataclass(frozen=True, slots=True)
class ResultFiles:
    """The folders that the package is given."""

    retrieved: Path
    answered: Path


def write_results(
    folder: Path,
    name: str,
    k: int,
    ids: Sequence[int],
    found: Sequence[Sequence[Place]],
    answers: Sequence[Answer] | None = None,
) -> ResultFiles:
    """Write what was retrieved and answered.

    Args:
        folder: Where to.
        name: Of the data set.
        k: How many tables an answer had at most.
        ids: Of the questions, as in the file that the package reads.
        found: The tables of each, best first.
        answers: To each; none are written if None.

    Raises:
        BenchmarkError: A file cannot be written.
    """
    files = ResultFiles(folder / "retrieved", folder / "answered")
    pairs = zip(ids, found, strict=True)
    retrieved = ((at, {"retrieval_results": [list(one) for one in some]}) for at, some in pairs)
    _write(files.retrieved / name / f"{k}.jsonl", name, retrieved)
    if answers is not None:
        said = zip(ids, answers, strict=True)
        answered = ((at, {"generated_results": one}) for at, one in said)
        _write(files.answered / name / f"{k}.jsonl", name, answered)
    return files


def _write(path: Path, name: str, records: Iterable[tuple[int, dict[str, Any]]]) -> None:
    with whole(path) as stream:
        for query_id, more in records:
            record = {"dataset_name": name, "query_id": query_id, **more}
            stream.write(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
