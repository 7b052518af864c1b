"""Runs in the environment of the package `pneuma` 0.0.4: times its summarizer on given columns.

Its argument is a file that names the model's folder, the tables with their columns, and how many
columns of them to narrate. Prints the seconds, loading not counted. See `narration.py`.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import duckdb
import torch
from pneuma.summarizer.summarizer import Summarizer
from pneuma.utils.pipeline_initializer import initialize_pipeline


def readable_by_older_transformers(model: Path, folder: Path) -> Path:
    """Copy the model with the two keys of its configuration under their former names."""
    copy = folder / "model"
    shutil.copytree(model, copy)
    config = json.loads((copy / "config.json").read_text())
    config["rope_theta"] = config["rope_parameters"]["rope_theta"]
    config["torch_dtype"] = config["dtype"]
    (copy / "config.json").write_text(json.dumps(config))
    return copy


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    with tempfile.TemporaryDirectory() as folder:
        model = readable_by_older_transformers(Path(job["model"]), Path(folder))
        pipe = initialize_pipeline(str(model), torch.bfloat16)  # as the package's own class does
        pipe.tokenizer.padding_side = "left"
        database = Path(folder) / "tables.duckdb"
        left = job["columns"]
        names = []
        with duckdb.connect(str(database)) as connection:
            for number, columns in enumerate(job["tables"].values()):
                kept, left = columns[:left], left - len(columns[:left])
                if kept:
                    quoted = (f'"{column.replace(chr(34), chr(34) * 2)}" INT' for column in kept)
                    connection.sql(f"CREATE TABLE t{number} ({', '.join(quoted)})")
                    names.append(f"t{number}")
        summarizer = Summarizer(pipe, SimpleNamespace(tokenizer=pipe.tokenizer), str(database))
        start = time.perf_counter()
        narrations = summarizer._Summarizer__batch_generate_column_narrations(names)
        seconds = time.perf_counter() - start
    if sorted(narrations) != sorted(names):
        raise SystemExit(f"The summarizer described {sorted(narrations)} of {names}")
    print(seconds)


if __name__ == "__main__":
    main()
