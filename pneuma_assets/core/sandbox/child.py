"""The process in which code runs (`core.worker`): it locks itself in, and runs it.

`core.sandbox.run` sends the code and its tables and reads what came of it.
"""

import contextlib
import io
import os
import socket
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pneuma_assets.core.sandbox import guards
from pneuma_assets.core.worker import frames

MOST_PRINTED = 20_000
_MOST_TRACEBACK = 4_000
_FILE = "<code>"
_LOADED = ("numpy", "pandas", "pyarrow.compute", "datetime", "decimal", "fractions", "json", "math")
_LOADED_TOO = ("re", "statistics", "string", "unicodedata", "zoneinfo", "encodings.idna")


class _Printed(io.StringIO):
    """Keeps the beginning of what is printed."""

    def write(self, text: str) -> int:
        room = MOST_PRINTED - self.tell()
        super().write(text[: max(0, room)])
        return len(text)


for _module in (*_LOADED, *_LOADED_TOO):
    with contextlib.suppress(ModuleNotFoundError):
        import_module(_module)


def answer(line: socket.socket) -> None:
    """Answer one message by one, confined."""
    number = line.detach()  # of whose calls reading and writing are left
    with os.fdopen(number, "rb") as asked, os.fdopen(os.dup(number), "wb") as channel:
        most = int.from_bytes(asked.read(8), "big")
        given, tables = frames.read(asked, most, trusted=True)
        pa.set_cpu_count(1)
        pa.set_io_thread_count(1)
        for name in {*os.environ} - {"LANG", "TZ"}:
            del os.environ[name]
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed()  # or every run draws the same
        try:
            bounds = int(given["seconds"]), int(given["megabytes"])
            guards.lock(*bounds, guards.library_folders(), _start_threads)
        except guards.SandboxUnavailableError as error:
            frames.write(channel, {"unavailable": str(error)}, {})
            return
        frames.write(channel, {"ready": True}, {})
        frames.write(channel, *_run(str(given["code"]), tables))


def _start_threads() -> None:
    """Start the two threads of Arrow, which waits for ever for one that cannot be made later."""
    file = io.BytesIO()
    pq.write_table(pa.table({"a": [1]}), file)
    pq.read_table(file)


def _run(code: str, tables: Mapping[str, pa.Table]) -> tuple[dict[str, Any], dict[str, pa.Table]]:
    """Run code with its tables as data frames; returns what to say, and its `result`."""
    printed = _Printed()
    try:
        import numpy as np
        import pandas as pd

        frames = {name: table.to_pandas(use_threads=False) for name, table in tables.items()}
        names: dict[str, Any] = {"__name__": "__main__", "pd": pd, "np": np}
        names |= {"tables": frames, **frames}
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            exec(compile(code, _FILE, "exec"), names)  # noqa: S102 (what this process is for)
            results = _results(names.get("result"))
    except BaseException as error:  # noqa: BLE001 (also SystemExit: the code is told of every end)
        return {"error": _told(error), "printed": printed.getvalue()}, {}
    return {"error": None, "printed": printed.getvalue()}, results


def _results(result: Any) -> dict[str, pa.Table]:
    if result is None:
        raise ValueError("assign the table that you made to the variable: result")
    named = result if isinstance(result, dict) else {"result": result}
    return {str(name): _table(one) for name, one in named.items()}


def _table(frame: Any) -> pa.Table:
    if isinstance(frame, pa.Table):
        return _plain(frame)
    import pandas as pd

    if isinstance(frame, pd.Series):
        frame = frame.to_frame()
    if not isinstance(frame, pd.DataFrame):
        raise TypeError(f"result must be a DataFrame, or a dict of several, not {type(frame)}")
    frame = frame.rename(columns=str)
    return _plain(pa.Table.from_pandas(frame, preserve_index=False, nthreads=1))


def _plain(table: pa.Table) -> pa.Table:
    """Return a table of columns that are taken: categories as what they stand for, none as text."""
    fields = []
    for one in table.schema:
        kind = one.type.value_type if pa.types.is_dictionary(one.type) else one.type
        fields.append((one.name, pa.string() if pa.types.is_null(kind) else kind))
    return table.cast(pa.schema(fields))


def _told(error: BaseException) -> str:
    """Return an error with the lines of the code, not of this process, that led to it."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == _FILE]
    at = f" (line {frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}{at}: {error}"[:_MOST_TRACEBACK]
