"""The process that reads tables: what it may send, what ends it, and what it leaves."""

import os
import pickle
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import SourceError, TableReadError
from pneuma_assets.core.pipeline.list import list_sources
from pneuma_assets.core.sources.base import Listing, Statement
from pneuma_assets.core.sources.isolation import reader_handle
from pneuma_assets.core.sources.isolation import source as isolation
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.sources.kinds.duckdb import DuckDBSourceConfig
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig
from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import Block, DocumentKind, TableRef
from tests.support.hostile_lake import PEOPLE
from tests.support.waiting import wait_until


def opened(path: Path, **limits: float) -> IsolatedSource:
    config: SourceConfig = FolderSourceConfig(name="s", path=path)
    if path.is_file():
        config = DuckDBSourceConfig(name="s", path=path, external_views=True)
    return IsolatedSource(config, os.environ, LimitsConfig().model_copy(update=limits))


def waiting_of(source: IsolatedSource) -> list[reader_handle.Reader]:
    return [one for one, of in isolation._waiting.items() if of is source]


def pid_of(reader: reader_handle.Reader) -> int:
    """Return the process that has its folder: a reader begins to write there what it says."""
    said = Path(reader._folder, "stderr").resolve()
    (found,) = (
        int(one.parts[2]) for one in Path("/proc").glob("[0-9]*/fd/2") if one.resolve() == said
    )
    return found


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    lake = tmp_path / "lake"
    lake.mkdir()
    (lake / "people.csv").write_bytes(PEOPLE)
    (lake / "people.md").write_text("Who works here.")
    pq.write_table(pa.table({"n": range(25)}), lake / "numbers.parquet")
    return lake


@pytest.fixture
def source(lake: Path) -> Iterator[IsolatedSource]:
    source = opened(lake)
    yield source
    source.close()


def test_a_process_that_dies_between_two_tables_costs_none_of_them(source):
    numbers, people = source.list_tables().tables
    source.profile(people)
    os.kill(pid_of(waiting_of(source)[0]), signal.SIGSEGV)
    assert source.profile(numbers).row_count == 25
    assert source.profile(people).row_count == 2


def test_a_fork_leaves_the_process_that_waits_to_whoever_started_it(source):
    numbers, people = source.list_tables().tables
    source.profile(people)
    (waiting,) = waiting_of(source)
    if (pid := os.fork()) == 0:
        os._exit(0 if waiting.ended and source.close() is None else 1)
    assert os.waitpid(pid, 0)[1] == 0, "it would use that one"
    assert sum(one.num_rows for one in source.scan(numbers)) == 25
    assert waiting_of(source) == [waiting]


def test_a_number_of_rows_that_nobody_can_keep_is_a_problem_of_its_table(source, monkeypatch):
    numbers, _ = source.list_tables().tables
    many = replace(source.profile(numbers), row_count=2**63)
    monkeypatch.setattr(source, "_ask_of", lambda *_: many)
    with pytest.raises(TableReadError, match="9,223,372,036,854,775,808 rows"):
        source.profile(numbers)


def test_a_table_that_breaks_the_database_is_the_problem_of_itself_alone(lake):
    """DuckDB gives up a database in which it met a struct nested 300 deep."""
    kind = pa.int64()
    for _ in range(300):
        kind = pa.struct([("a", kind)])
    pq.write_table(pa.table({"n": pa.nulls(3, kind)}), lake / "a_nested.parquet")
    for number in range(8):
        pq.write_table(pa.table({"n": range(number + 1)}), lake / f"good_{number}.parquet")
    with closing(opened(lake)) as source:
        refs = source.list_tables().tables
        assert "nested" in refs[0].table_id
        with pytest.raises(TableReadError, match=r"Information loss.*flatten its nested"):
            source.evidence(refs[0], 0)
        read = [source.profile(ref).row_count for ref in refs if "good" in ref.table_id]
        assert read == list(range(1, 9))


def test_a_table_is_read_again_where_an_earlier_one_took_the_memory(lake, monkeypatch, tmp_path):
    """The process is one that has no room left after its first table, as after a huge one."""
    start = tmp_path / "start"
    start.mkdir()
    (start / "sitecustomize.py").write_text(
        "from pneuma_assets.core.sources.files import source\n"
        "plain, seen = source.FileSource.profile, []\n"
        "def profile(self, ref, kept=()):\n"
        "    seen.append(ref)\n"
        "    if len(seen) > 1:\n"
        "        raise MemoryError\n"
        "    return plain(self, ref, kept)\n"
        "source.FileSource.profile = profile\n"
    )
    monkeypatch.setattr(sys, "path", [str(start), *sys.path])
    with started_anew(), closing(opened(lake)) as source:
        counts = [source.profile(ref).row_count for ref in source.list_tables().tables * 2]
    assert counts == [25, 2, 25, 2]


@pytest.mark.parametrize(
    "ask",
    [
        IsolatedSource.list_tables,
        lambda shop: shop.run_statement(Statement("SELECT 1", (), 1, 1, 1)),
    ],
    ids=["list", "statement"],
)
def test_what_keeps_a_source_from_being_opened_is_said_as_it_is(ask):
    config = SqlSourceConfig(name="shop", url="postgresql://host/shop", password_env="SHOP")
    with closing(IsolatedSource(config, {}, LimitsConfig())) as source:
        with pytest.raises(SourceError, match="variable SHOP is not set") as caught:
            ask(source)
        assert "crashed" not in str(caught.value)


def test_a_missing_driver_is_said_once():
    config = SqlSourceConfig(name="shop", url="foodb://host/shop")
    with closing(IsolatedSource(config, {}, LimitsConfig())) as source:
        with pytest.raises(SourceError, match="without its driver") as caught:
            source.list_tables()
        assert str(caught.value).count("cannot be read") == 1


def test_nothing_is_left_of_a_reader(source):
    (_, people) = source.list_tables().tables
    source.profile(people)
    (waiting,) = waiting_of(source)
    pid, folder = pid_of(waiting), Path(waiting._folder)
    assert folder.is_dir()
    source.close()
    assert not Path(f"/proc/{pid}").exists()
    assert not folder.exists()
    assert source.profile(people).row_count == 2


def test_a_reader_ends_with_its_parent(lake):
    script = (
        "import os, sys\n"
        "from tests.unit.sources.test_sources_reader import opened, Path, pid_of, waiting_of\n"
        "source = opened(Path(sys.argv[1]))\n"
        "source.profile(source.list_tables().tables[0])\n"
        "(waiting,) = waiting_of(source)\n"
        "print(pid_of(waiting), waiting._folder, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(lake)], capture_output=True, text=True, check=False
    )
    pid, folder = done.stdout.split()
    stat = Path(f"/proc/{pid}/stat")  # whose it is nobody's, may still be listed as ended
    wait_until(lambda: not stat.exists() or ") Z " in stat.read_text(), "it goes on")
    wait_until(lambda: not Path(folder).exists(), "its files are left")


def test_few_readers_wait_at_a_time(lake, monkeypatch):
    monkeypatch.setattr(isolation, "MOST_READERS", 1)
    first, second = opened(lake), opened(lake)
    ref = first.list_tables().tables[0]
    assert first.profile(ref) == second.profile(ref) == first.profile(ref)
    assert list(isolation._waiting.values()) == [first]
    first.close()


def test_tables_are_read_by_one_process_after_another_and_each_as_it_is_now(source, lake):
    _, people = source.list_tables().tables
    list(source.scan(people))
    (first,) = waiting_of(source)
    (lake / "people.csv").write_text("other\nx\ny\nz\n")
    assert pa.Table.from_batches(source.scan(people)).to_pydict() == {"other": ["x", "y", "z"]}
    assert waiting_of(source) == [first]


def test_a_process_reads_one_table_at_a_time_and_none_goes_on_for_nobody(source):
    numbers, _ = source.list_tables().tables
    scans = [source.scan(numbers, 1) for _ in range(2)]
    assert [next(scan).num_rows for scan in scans] == [1, 1]
    assert not waiting_of(source)
    assert [len(list(scan)) for scan in scans] == [24, 24]
    assert len(waiting_of(source)) == 2, "the next two start no process"
    left = source.scan(numbers, 1)
    next(left)
    left.close()
    assert len(waiting_of(source)) == 1, "the other is in the middle of a table"


@contextmanager
def started_anew() -> Iterator[None]:
    """Let readers be forked from another process in the block, which sees this one's path."""
    reader_handle.SERVER.end()
    yield
    reader_handle.SERVER.end()


class Evil:
    def __reduce__(self):
        return os.system, ("false",)


@pytest.mark.parametrize(
    "message",
    [
        pickle.dumps(("done", Evil())),
        b"",
        b"\x80\x05.",
        pickle.dumps(("done", StrEnum)),
        pickle.dumps(("done", Block("t", DocumentKind.ROWS, "x"))),
        b"(Vdone\ncpneuma_assets.core.tables\nColumn\n)Rt.",
        b"(Vdone\ncpneuma_assets.core.tables\nhashlib\nt.",
        b"\x80\x04\x8c\x04done\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
        b"Nr\xff\xff\xff\x07.",  # keeps None at the place 134,217,727
        pickle.dumps("done"),
        pickle.dumps((["done"], None)),
        pickle.dumps(("finished", None)),
        pickle.dumps(("size", "much")),
        pickle.dumps(("batch", None)),
        pickle.dumps(("problem", "SourceError")),
        pickle.dumps(("unforeseen", ("a", 1))),
    ],
)
def test_a_reader_that_sends_anything_but_tables_is_broken(message):
    with pytest.raises(EOFError):
        reader_handle._unpickled(message)
    assert reader_handle._unpickled(pickle.dumps(("size", 5))) == ("size", 5)


@given(st.binary(max_size=60), st.integers(0, 200))
def test_a_damaged_message_is_a_broken_reader(noise, place):
    whole = pickle.dumps(("done", Listing([TableRef("a", "b", "c", "d", "e")])))
    with suppress(EOFError):
        kind, _ = reader_handle._unpickled(whole[:place] + noise + whole[place + len(noise) :])
        assert kind in {"ready", "done"}


def test_a_message_that_says_nothing_ends_its_reader_alone(source, monkeypatch):
    monkeypatch.setattr(reader_handle, "_END_SECONDS", 0.1)
    numbers, _ = source.list_tables().tables
    source.profile(numbers)
    for message in ("ready", None), ("batch", b"garbage"), ("size", -1), ("size", 10**400):
        (broken,) = waiting_of(source)
        broken._connection = SimpleNamespace(
            send=lambda _: None,
            poll=lambda _: True,
            recv_bytes=lambda _, message=message: pickle.dumps(message),
        )
        with pytest.raises(TableReadError, match="sent what is no message"):
            source.profile(numbers)
        assert source.profile(numbers).row_count == 25, message


def test_a_database_is_read_without_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("MY_SECRET", "s3cr3t")
    path = tmp_path / "v.duckdb"
    with duckdb.connect(path) as connection:
        connection.execute("CREATE VIEW v AS SELECT * FROM read_text('/proc/self/environ')")
    source = opened(path)
    (ref,) = source.list_tables().tables
    shown = str(source.sample(ref, 5, 0))
    source.close()
    assert "PATH=" in shown
    assert "s3cr3t" not in shown


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[IsolatedSource]:
    """A database whose reader fails unexpectedly, by what Python runs when it starts."""
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "sitecustomize.py").write_text(
        "import os\n"
        "from pneuma_assets.core.sources.duckdb import database\n"
        "def fail_strangely(*_):\n"
        "    raise KeyError('strange')\n"
        "database.DuckDBFileSource.list_tables = fail_strangely\n"
        "def crash(*_):\n"
        "    os.write(2, b'first words\\nlast words\\n')\n"
        "    os._exit(3)\n"
        "database.DuckDBFileSource.profile = crash\n"
    )
    monkeypatch.setattr(sys, "path", [str(tmp_path / "start"), *sys.path])
    with duckdb.connect(tmp_path / "x.duckdb") as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    with started_anew(), closing(opened(tmp_path / "x.duckdb")) as source:
        yield source


def test_what_nobody_foresaw_is_logged_and_stops_no_other_source(broken, source, tmp_path, caplog):
    with Store(tmp_path / "state.db") as store:
        listed = list_sources(store, [source, broken])
        (problem,) = store.problems.all()
    assert (listed.tables, listed.unreachable) == (2, 1)
    assert "Unexpected KeyError: 'strange'" in problem.cause
    assert "in fail_strangely" in caplog.text


def test_what_keeps_a_reader_from_beginning_is_said(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(FolderSourceConfig, "environment", lambda *_: {"A=B": "c"})
    (tmp_path / "a.csv").write_text("a\n1\n")
    with closing(opened(tmp_path)) as source:
        ref = source.list_tables().tables[0]
        with pytest.raises(TableReadError, match=r"illegal environment variable name"):
            source.profile(ref)
    assert "Traceback" in caplog.text


def test_a_reader_works_in_the_folder_of_whoever_asks(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (numbers, _) = source.list_tables().tables
    source.profile(numbers)
    (waiting,) = waiting_of(source)
    pid = pid_of(waiting)
    assert Path(f"/proc/{pid}/cwd").resolve() == tmp_path.resolve()
    assert Path(f"/proc/{pid}/fd/0").resolve() == Path("/dev/null")


def test_a_reader_that_crashes_has_a_last_word(broken, caplog):
    ref = TableRef("s/main/t", "s", "x.duckdb#main.t", "table", "1")
    with pytest.raises(TableReadError, match=r"\(exit code 3, last words\)"):
        broken.profile(ref)
    assert "first words" in caplog.text


def test_a_reader_that_cannot_be_started_is_the_problem_of_its_table(source, tmp_path, monkeypatch):
    ref = source.list_tables().tables[0]
    source.profile(ref)
    source.close()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for more in range(4):  # two sockets, each with its other end
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + more, hard))
        try:
            with pytest.raises(TableReadError, match="Too many open files"):
                source.profile(ref)
            with pytest.raises(TableReadError, match="Too many open files"):
                list(source.scan(ref))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert not list((tmp_path / "temporary").iterdir())
    assert source.profile(ref).row_count == 25


def test_a_reader_without_room_is_the_problem_of_its_source(broken, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(SourceError, match=r"No such file.*TMPDIR"):
        broken.list_tables()


@pytest.mark.parametrize("slow", ["caller", "reader"])
def test_a_scan_counts_the_time_of_its_reader_alone(lake, monkeypatch, slow):
    clock, receive = SimpleNamespace(now=0.0), reader_handle.Reader._receive
    clock.monotonic = lambda: clock.now
    left: list[float] = []

    def received(self):
        left.append(self._begun + self._granted - clock.now)
        clock.now += 50.0 if slow == "reader" else 0.0
        return receive(self)

    source = opened(lake, seconds_per_table=9000, seconds_per_gigabyte=0)
    numbers = source.list_tables().tables[0]
    monkeypatch.setattr(reader_handle, "time", clock)
    monkeypatch.setattr(reader_handle.Reader, "_receive", received)
    for batch in source.scan(numbers, 1):
        assert batch.num_rows == 1
        clock.now += 50.0 if slow == "caller" else 0.0
    assert len(left) > 25
    assert min(left[1:]) == (9000 if slow == "caller" else 9000 - 50 * (len(left) - 2))


def test_holes_in_a_file_grant_no_time(lake):
    big = lake / "holes.csv"
    with big.open("wb") as file:
        file.write(b"a,b\n" + b"1,2\n" * 100_000)
        file.truncate(10**12)
    source = opened(lake, seconds_per_table=1, seconds_per_gigabyte=1)
    ref = next(ref for ref in source.list_tables().tables if "holes" in ref.table_id)
    with pytest.raises(TableReadError, match=r"more than 1 s and was stopped.*limits\.sec"):
        source.profile(ref)
    source.close()
