"""What only a state in a file promises: one of another version, or none at all, is told apart."""

import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from sqlalchemy import text

from pneuma_assets.core.errors import StateDamagedError, StateError
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.schema import FORMAT
from pneuma_assets.core.store.sqlite_database import backup_of
from tests.support.damage import spoil_name
from tests.support.waiting import LONGEST


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as opened:
        yield opened


def test_a_name_in_the_schema_that_is_no_text_is_damage(tmp_path):
    Store(tmp_path / "state.db").close()
    spoil_name(tmp_path / "state.db")
    with pytest.raises(StateDamagedError, match="is damaged"):
        Store(tmp_path / "state.db")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE meta SET value = '99' WHERE key = 'format'", f"format 99, this is {FORMAT}"),
        ("DELETE FROM meta WHERE key = 'format'", f"format unknown, this is {FORMAT}"),
    ],
)
def test_a_state_file_of_another_format_is_refused_and_left_as_it_is(tmp_path, change, told):
    file = tmp_path / "state.db"
    with Store(file) as store:
        store.correct("lake/a", None, "Ferries.", "Ann")
        with store._db.write() as connection:
            connection.execute(text(change))
    shutil.copy(file, backup_of(file))
    before = file.read_bytes()
    with pytest.raises(StateError, match=rf"{told}\): move it away, a file with its backup, and"):
        Store(file)
    assert file.read_bytes() == before
    for moved in (file, backup_of(file)):
        moved.rename(tmp_path / f"old {moved.name}")
    with Store(file) as store:
        assert [one.text for one in store.descriptions.corrections()] == ["Ferries."]


def test_a_file_that_another_is_about_to_make_is_waited_for(tmp_path):
    """SQLite itself refuses at once to change such a file to WAL, whatever its timeout."""
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with ThreadPoolExecutor(1) as pool:
            opened = pool.submit(lambda: Store(path).close())
            with pytest.raises(TimeoutError):
                opened.result(0.5)
            other.execute("COMMIT")
            opened.result(LONGEST)


def test_a_closed_state_says_so(tmp_path):
    store = Store(tmp_path / "state.db")
    for _ in range(2):
        store.close()
    with pytest.raises(StateError, match="is closed"):
        store.tables.known()
    with pytest.raises(StateError, match="is closed"):
        store.queue.use_recipe("one")


@pytest.mark.parametrize(
    "statement", ["INSERT INTO meta VALUES ('format', '9')", "INSERT INTO no_such_table VALUES (1)"]
)
def test_a_fault_of_this_program_is_not_told_as_damage(store, statement):
    with (
        pytest.raises(StateError, match="file is whole: report this") as raised,
        store._db.write() as connection,
    ):
        connection.execute(text(statement))
    assert not isinstance(raised.value, StateDamagedError)
    assert store.tables.known() == set()


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "state.db").write_bytes(b"not a database, " * 1000)
    with pytest.raises(StateError, match=r"state\.db"):
        Store(tmp_path / "state.db")


def test_a_run_that_is_interrupted_within_a_statement_has_ended(store, monkeypatch):
    def interrupt_the_next() -> None:
        monkeypatch.setattr(store._db._engine.dialect, "do_execute", interrupted)

    def interrupted(*_):
        monkeypatch.undo()
        raise KeyboardInterrupt

    def work() -> None:
        with store.runs.alive("run"):
            store.runs.begin("run")
            interrupt_the_next()
            store.runs.reading("run", "lake/a")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert store.runs.dead(["run"]) == []
    interrupt_the_next()
    with pytest.raises(KeyboardInterrupt):
        store.now()
    assert store.now() > 0
