"""Code computes, and gets nowhere else: over a hundred ways out, each with the guard that holds."""

import errno
from pathlib import Path

import pyarrow as pa
import pytest

from pneuma_assets.core.sandbox.run import (
    SERVER,
    Bounds,
    CodeFailedError,
    SandboxUnavailableError,
    run_python,
    why_unavailable,
)
from tests.support.sandbox_escapes import ENDS, ESCAPES, LANDLOCK, LIMIT, SECCOMP
from tests.support.waiting import wait_until

pytestmark = pytest.mark.skipif(
    why_unavailable() is not None, reason=f"no sandbox here: {why_unavailable()}"
)

_TRY = """
import os, sys, socket, subprocess, signal, numpy, pandas
def told(error):
    found = []
    while error is not None and len(found) < 9:
        found.append(f"{type(error).__name__} {getattr(error, 'errno', None)} {error}")
        error = error.__cause__ or error.__context__
    return " | ".join(found)[:2000]
outcomes = []
for name, code in CODES.items():
    try:
        exec(code, {**globals()})
        outcomes.append((name, "got out"))
    except BaseException as error:
        outcomes.append((name, told(error)))
result = pandas.DataFrame(outcomes, columns=["name", "outcome"])
"""
_NUMBERS = {LANDLOCK: errno.EACCES, SECCOMP: errno.EPERM}
_WORDS = {LANDLOCK: "Permission denied", SECCOMP: "Operation not permitted"}
_LIMITS = ("MemoryError", "OSError 12", "OSError 24", "ValueError")


@pytest.fixture(scope="module")
def outcomes():
    """What came of every way out, all tried in one process."""
    codes = {name: code for name, (_, code) in ESCAPES.items()}
    ran = run_python(f"CODES = {codes!r}\n{_TRY}", {}, Bounds(seconds=60))
    rows = ran.tables["result"].to_pylist()
    return {row["name"]: row["outcome"] for row in rows}


@pytest.mark.parametrize("name", ESCAPES)
def test_a_guard_holds(outcomes, name):
    guard = ESCAPES[name][0]
    outcome = outcomes[name]
    if guard == LIMIT:
        assert any(one in outcome for one in _LIMITS), outcome
    else:
        assert f" {_NUMBERS[guard]} " in outcome or _WORDS[guard] in outcome, outcome


@pytest.mark.parametrize("name", ENDS)
def test_how_code_ends_is_told(name):
    code, said = ENDS[name]
    with pytest.raises(CodeFailedError, match=said):
        run_python(code, {}, Bounds(seconds=1, result_bytes=1_000_000))


def test_tables_go_in_and_come_out():
    given = {
        "sales": pa.table({"region": ["a", "b", "a", None], "net": [1.5, 2.0, 3.0, None]}),
        "nested": pa.table({"a": [[1], [2, 3]]}),
        "t": _one(),
    }
    code = """
print("grouping")
result = {
    "sums": sales.groupby("region", as_index=False).net.sum(),
    "lengths": nested.assign(a=nested.a.map(len)),
    "renamed": t.rename(columns={"a": 3}),
    "texts": t.assign(c=t.a.astype(str).astype("category"), n=None),
}
"""
    ran = run_python(code, given)
    assert ran.printed == "grouping\n"
    assert {name: table.to_pydict() for name, table in ran.tables.items()} == {
        "sums": {"region": ["a", "b"], "net": [4.5, 2.0]},
        "lengths": {"a": [1, 2]},
        "renamed": {"3": [1]},
        "texts": {"a": [1], "c": ["1"], "n": [None]},
    }
    assert str(ran.tables["texts"].schema.field("n").type) == "string"


def test_code_starts_no_thread():
    code = """
import threading
waiting, started = threading.Event(), 0
try:
    for _ in range(7_000):
        threading.Thread(target=waiting.wait, daemon=True).start()
        started += 1
except RuntimeError as error:
    print(error)
waiting.set()
result = t.assign(started=started)
"""
    ran = run_python(code, {"t": _one()})
    assert ran.printed == "can't start new thread\n"
    assert ran.tables["result"].column("started").to_pylist() == [0]


def test_what_arrow_does_by_threads_of_its_own_ends():
    code = """
import io, pandas, pyarrow as pa
file = io.BytesIO()
t.to_parquet(file)
sums = pa.Table.from_pandas(pandas.read_parquet(file)).group_by("a").aggregate([("a", "sum")])
result = sums.join(sums, "a", right_suffix="_too")
"""
    assert run_python(code, {"t": _one()}).tables["result"].column("a_sum").to_pylist() == [1]


def test_each_run_draws_other_numbers():
    code = "result = t.assign(a=np.random.rand())"
    first, second = (run_python(code, {"t": _one()}).tables["result"] for _ in range(2))
    assert first != second


def test_code_that_closes_its_channel_ends_in_time():
    code = "import os\nos.closerange(3, 20)\nwhile 1: pass"
    with pytest.raises(CodeFailedError, match="did not end within 1 seconds"):
        run_python(code, {"t": _one()}, Bounds(seconds=1))


def test_an_error_names_the_line_of_the_code():
    with pytest.raises(CodeFailedError, match=r"KeyError \(line 2\): 'b'"):
        run_python("x = 1\nresult = t['b']", {"t": _one()})


def test_what_code_prints_is_bounded_and_tells_nothing_of_us(monkeypatch):
    monkeypatch.setenv("A_SECRET", "canary")
    ran = run_python("import os; print(dict(os.environ), os.listdir); result = t", {"t": _one()})
    assert "canary" not in ran.printed
    ran = run_python("print('x' * 10**6); result = t", {"t": _one()})
    assert len(ran.printed) == 20_000


def test_a_machine_without_a_thread_left_is_told(threads_run_out):
    with pytest.raises(CodeFailedError, match="does not start"):
        run_python("result = t", {"t": _one()})


def test_without_confinement_nothing_runs(monkeypatch):
    monkeypatch.setattr("pneuma_assets.core.sandbox.run.why_unavailable", lambda: "no Landlock")
    with pytest.raises(SandboxUnavailableError, match="no Landlock"):
        run_python("result = t", {"t": _one()})


def test_a_guard_that_is_missing_is_told(monkeypatch):
    escapes = "import pandas; result = pandas.DataFrame({'door': ['a socket']})"
    monkeypatch.setattr("pneuma_assets.core.sandbox.run._ESCAPES", escapes)
    why_unavailable.cache_clear()
    try:
        assert why_unavailable() == "the self-test got out by: a socket"
    finally:
        why_unavailable.cache_clear()


def test_no_process_is_left(outcomes):
    pid = SERVER._running[0].pid
    children = Path(f"/proc/{pid}/task/{pid}/children")
    wait_until(lambda: not children.read_text(), "a process is left")


def _one() -> pa.Table:
    return pa.table({"a": [1]})
