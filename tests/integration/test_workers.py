"""Each statement has a process of its own, of which nothing is left, whoever ends first."""

import os
import signal
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

import pyarrow as pa
import pytest
from sqlglot import exp

from pneuma_assets.core.answers.ask_duckdb import SERVER
from pneuma_assets.core.answers.run_duckdb import Given, RunBounds, run
from pneuma_assets.core.answers.statements import Checked, ReadTable
from pneuma_assets.core.errors import SqlStoppedError
from tests.support.waiting import wait_until

pytestmark = pytest.mark.integration

NUMBERS = ReadTable("numbers", ("n",))


def asked(sql, *numbers, seconds=20.0):
    given = [Given(NUMBERS, [pa.record_batch({"n": numbers})])]
    return run(Checked(sql, "duckdb", 10, (), (), exp.Select()), given, RunBounds(seconds)).rows


def total(*numbers):
    return asked("SELECT sum(n)::BIGINT FROM numbers", *numbers)[0][0]


def endless(seconds=20.0):
    return asked("SELECT count(*) FROM range(10000000000) a, numbers", 1, 2, seconds=seconds)


def server():
    """The process from which others are forked; it is started where it is not there."""
    total(1)
    return SERVER._running[0].pid


def forked(pid):
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def ended(*pids):
    """Tell whether processes are no more; whose are nobody's, may still be listed as ended."""
    stats = [Path(f"/proc/{pid}/stat") for pid in pids]
    return all(not one.exists() or ") Z " in one.read_text() for one in stats)


def opened(pid):
    """What a process has open beside /dev/null, sockets and pipes."""
    found = set()
    for one in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # it has closed that meanwhile
            found.add(str(one.readlink()).partition(":")[0])
    return found - {"/dev/null", "socket", "pipe"}


@contextmanager
def one_running():
    """Yields the server, a statement's two processes of which the second runs it, and its rows."""
    with ThreadPoolExecutor() as pool:
        pid = server()
        wait_until(lambda: not forked(pid), "the one before")
        answer: Future = pool.submit(endless)
        wait_until(lambda: forked(pid) and forked(forked(pid)[0]), "its processes")
        (keeper,) = forked(pid)
        (child,) = forked(keeper)
        wait_until(lambda: "(deleted)" in str(opened(child)), "the rows of its table")
        yield pid, keeper, child, answer


@pytest.mark.parametrize(
    ("ended_by", "said"),
    [(signal.SIGKILL, "too much memory"), (signal.SIGBUS, "no room left for its rows")],
)
def test_a_process_has_its_own_tables_and_what_it_is_forked_from_has_none(
    ended_by, said, monkeypatch
):
    SERVER.end()
    monkeypatch.setenv("PNEUMA_SECRET", "canary")
    with one_running() as (pid, keeper, child, answer):
        wait_until(lambda: len(opened(child)) == 1, "DuckDB has looked at the machine")
        assert all(one.endswith("(deleted)") for one in opened(child)), "the rows of its table"
        assert opened(pid) == opened(keeper) == set()
        assert len(list(Path(f"/proc/{pid}/task").iterdir())) == 1, "threads are not forked"
        for one in (pid, keeper, child):
            assert b"canary" not in Path(f"/proc/{one}/environ").read_bytes()
            assert Path(f"/proc/{one}/cwd").readlink() == Path("/")
        os.kill(child, ended_by)
        with pytest.raises(SqlStoppedError, match=said):
            answer.result(30)
        wait_until(lambda: not forked(pid), "it is a zombie")
        assert server() == pid, "the next statement is run as if nothing had happened"


def test_threads_ask_at_once_and_each_gets_its_own_rows():
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda n: total(n, 1), range(16))) == list(range(1, 17))


def test_a_statement_that_nobody_waits_for_any_more_is_killed():
    pid = server()
    with pytest.raises(SqlStoppedError, match=r"more than 0\.5 s"):
        endless(seconds=0.5)
    wait_until(lambda: not forked(pid), "it goes on")


def test_a_server_that_was_killed_is_started_anew_and_what_it_forked_is_not_lost():
    with one_running() as (pid, keeper, child, answer):
        os.kill(pid, signal.SIGKILL)
        wait_until(lambda: ended(pid), "it was killed")
        assert server() != pid
        assert not Path(f"/proc/{pid}").exists(), "it is no zombie"
        assert not answer.done()
        os.kill(keeper, signal.SIGKILL)
        os.kill(child, signal.SIGKILL)
        with pytest.raises(SqlStoppedError, match="ended from outside"):
            answer.result(30)


SCRIPT = """
import os, sys, threading
from tests.integration.test_workers import *
first = server()
if os.fork() == 0:  # as a server of the web or an executor does
    print(server(), flush=True)
    os._exit(0)
os.wait()
assert server() == first, "the fork has one of its own and left this one alone"
threading.Thread(target=endless, daemon=True).start()
wait_until(lambda: forked(first) and forked(forked(first)[0]), "the statement")
print(first, *forked(first), *forked(forked(first)[0]), flush=True)
exec(sys.argv[1])
"""


@pytest.mark.parametrize("end", ["sys.exit()", "os.kill(os.getpid(), 9)"])
def test_nothing_outlives_whoever_asked(end):
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, end], capture_output=True, text=True, check=False
    )
    pids = done.stdout.split()
    assert len(set(pids)) == 4, done.stderr
    wait_until(lambda: ended(*pids), "a process is left")
