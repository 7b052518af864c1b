"""Runs in the environment of the package `pneuma` 0.0.4 and times what `narration.py` asks for.

Its argument is a file that names the model's folder and the job: columns of tables for the
package's summarizer, or prompts for its judge. Prints the seconds, loading not counted.
"""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import torch
from pneuma.summarizer.summarizer import Summarizer
from pneuma.utils.pipeline_initializer import initialize_pipeline
from pneuma.utils.prompting_interface import prompt_pipeline


def readable_by_older_transformers(model: Path, folder: Path) -> Path:
    """Copy the model, with what transformers 5 renamed under its former names."""
    copy = folder / "model"
    shutil.copytree(model, copy)
    config = json.loads((copy / "config.json").read_text())
    config["rope_theta"] = config["rope_parameters"]["rope_theta"]
    config["torch_dtype"] = config["dtype"]
    (copy / "config.json").write_text(json.dumps(config))
    tokenizer = json.loads((copy / "tokenizer_config.json").read_text())
    tokenizer["tokenizer_class"] = "PreTrainedTokenizerFast"
    (copy / "tokenizer_config.json").write_text(json.dumps(tokenizer))
    return copy


def distinct(names: list[str]) -> list[str]:
    """Return the names, numbered where DuckDB, which ignores case, would see one twice."""
    lower = [name.lower() for name in names]
    return [
        f"{name} {at}" if lower[at] in lower[:at] else name or f"unnamed {at}"
        for at, name in enumerate(names)
    ]


def narrating(job: dict[str, Any], pipe: Any, folder: Path) -> Callable[[], object]:
    """Return the package's summarizer, set on tables with these columns and no rows."""
    database = str(folder / "tables.duckdb")
    left, names = job["columns"], []
    with duckdb.connect(database) as connection:
        for number, columns in enumerate(job["tables"].values()):
            kept, left = columns[:left], left - len(columns[:left])
            if kept:
                quoted = ('"{}" INT'.format(name.replace('"', '""')) for name in distinct(kept))
                connection.sql(f"CREATE TABLE t{number} ({', '.join(quoted)})")
                names.append(f"t{number}")
    summarizer = Summarizer(pipe, SimpleNamespace(tokenizer=pipe.tokenizer), database)

    def work() -> None:
        narrations = summarizer._Summarizer__batch_generate_column_narrations(names)
        if sorted(narrations) != sorted(names):
            raise SystemExit(f"The summarizer described {sorted(narrations)} of {names}")

    return work


def judging(job: dict[str, Any], pipe: Any) -> Callable[[], object]:
    """Return the package's call for its judge, as its query processor makes it."""
    conversations = [[{"role": "user", "content": prompt}] for prompt in job["prompts"]]

    def work() -> None:
        answers = prompt_pipeline(
            pipe,
            conversations,
            batch_size=2,
            context_length=8192,
            max_new_tokens=2,
            temperature=None,
            top_p=None,
            top_k=None,
        )
        if len(answers) != len(conversations):
            raise SystemExit("The package failed; see its warning")

    return work


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = readable_by_older_transformers(Path(job["model"]), folder)
        pipe = initialize_pipeline(str(model), torch.bfloat16)  # as the package's own class does
        pipe.tokenizer.padding_side = "left"
        work = judging(job, pipe) if "prompts" in job else narrating(job, pipe, folder)
        start = time.perf_counter()
        work()
        print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
