"""What a salvage saves, refuses and says."""

import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import update

from pneuma_assets.core.errors import StateDamagedError, StateError
from pneuma_assets.core.store import Store, database
from pneuma_assets.core.store.mined import MinedQuestion
from pneuma_assets.core.store.narrations import AnswerKey
from pneuma_assets.core.store.salvage import salvage
from pneuma_assets.core.store.schema import meta
from pneuma_assets.core.store.worklist.items import Finished
from pneuma_assets.core.tables import TableRef
from tests.support.damage import spoil

MODEL = AnswerKey("model")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "state.db"
    with Store(path) as store:
        for number in range(9):
            store.add_context("lake/a", f"note {number}", f"Caf\u00e9 {number} " + "long " * 2000)
        store.narrations.save(MODEL, [("hash", n, f"what column {n} is") for n in range(40)])
        store.correct("lake/a", "x", "How far.", "Ann")
    return path


def test_questions_about_tables_and_their_history_are_saved(path):
    asked = MinedQuestion("1", "name", "lake/a", "Which table has a?", {"needs": {}}, "1")
    with Store(path) as store:
        ref = TableRef("lake/a", "lake", "/a.csv", "csv", "1")
        store.inventory.reconcile("lake", [ref])
        store.work.claim("run", 1, 3, ["lake"])
        store.results.finish("run", [Finished("lake/a", "hash", 1)])
        store.mined.replace([asked], store.mined.seen(["lake/a"]))
        measured = store.mined.add("key", {"R@1": 1.0}, {"1": 1})
    with path.open("r+b") as file:
        file.write(b"\0" * 4096)
    assert salvage(path).lost == {}
    with Store(path) as store:
        assert store.mined.questions() == [asked]
        assert store.mined.measurements() == [measured]


def test_a_whole_file_is_left_alone(path):
    before = path.read_bytes()
    assert salvage(path) is None
    assert path.read_bytes() == before


def test_there_must_be_a_file(tmp_path):
    with pytest.raises(StateError, match="no state file"):
        salvage(tmp_path / "state.db")


def test_a_file_without_its_first_page_keeps_everything(path):
    with path.open("r+b") as file:
        file.write(b"\0" * 4096)
    with pytest.raises(StateDamagedError, match="pneuma-assets salvage"):
        Store(path)
    salvaged = salvage(path)
    assert salvaged.saved == {"corrections": 1, "meta": 1, "narrations": 40, "user_contexts": 9}
    assert salvaged.lost == {}
    assert salvaged.kept.read_bytes()[:4096] == b"\0" * 4096
    with Store(path) as store:
        assert [c.name for c in store.user_contexts("lake/a")] == [f"note {n}" for n in range(9)]
        assert [c.text for c in store.corrections.all()] == ["How far."]
        assert store.user_contexts("lake/a")[3].text.startswith("Caf\u00e9 3 long")


@pytest.mark.parametrize(("zeroed", "everything"), [(1, True), (8, False)])
def test_pages_whose_headers_are_damaged_are_searched(path, zeroed, everything):
    pages = bytearray(path.read_bytes())
    for start in range(0, len(pages), 4096):
        pages[start : start + zeroed] = bytes(zeroed)
    path.write_bytes(pages)
    salvaged = salvage(path)
    assert salvaged.saved["narrations"] == 40
    assert (salvaged.saved.get("user_contexts") == 9) == everything  # they go on on other pages
    assert not salvaged.all_known
    assert not salvaged.lost or not everything


def test_what_an_emptied_file_held_is_not_said_to_be_nothing(path):
    path.write_bytes(b"")
    salvaged = salvage(path)
    assert (salvaged.saved, salvaged.lost, salvaged.all_known) == ({}, {}, False)


def test_a_changed_context_is_shown_and_not_saved(path):
    spoil(path, "UPDATE user_contexts SET text = 'odd' WHERE name = 'note 3'")
    with pytest.raises(StateDamagedError, match="user_contexts"):
        Store(path)
    salvaged = salvage(path)
    assert salvaged.lost == {"user_contexts": 1}
    assert salvaged.all_known
    assert salvaged.contexts_unsure == (("lake/a", "note 3", "odd"),)
    assert salvaged.saved["user_contexts"] == 8


def test_a_changed_correction_is_noticed_at_once_shown_and_not_saved(path):
    with Store(path) as store:
        store.correct("lake/a", None, "The distances.", "Ben")
    spoil(path, "UPDATE corrections SET author = 'odd'")
    with pytest.raises(StateDamagedError, match="corrections"):
        Store(path)
    salvaged = salvage(path)
    assert salvaged.lost == {"corrections": 2}
    unsure = [(c.table_id, c.column, c.text, c.author) for c in salvaged.corrections_unsure]
    assert unsure == [
        ("lake/a", None, "The distances.", "odd"),
        ("lake/a", "x", "How far.", "odd"),
    ]
    assert salvaged.contexts_unsure == ()


def test_a_context_that_was_removed_does_not_come_back(path):
    with Store(path) as store:
        assert store.remove_context("lake/a", "note 4")
    spoil(path, "DELETE FROM narrations WHERE position = 3")
    assert salvage(path).lost == {"narrations": 1}
    with Store(path) as store:
        assert "note 4" not in [c.name for c in store.user_contexts("lake/a")]


def test_damage_is_not_written_over(path):
    spoil(path, "UPDATE narrations SET text = 'odd' WHERE position = 3")
    with Store(path) as store:
        with pytest.raises(StateDamagedError, match="not as it was written"):
            store.narrations.save(MODEL, [("hash", 3, "anew")])
        with pytest.raises(StateDamagedError):
            store.check()


def test_what_sqlite_would_take_for_a_new_file_is_named(path):
    path.write_bytes(b"")
    with pytest.raises(StateDamagedError, match="empty"):
        Store(path)
    salvaged = salvage(path)
    assert (salvaged.saved, salvaged.lost) == ({}, {})
    Store(path).close()


def test_a_removed_file_begins_anew(path):
    path.unlink()
    with Store(path) as store:
        assert store.tables.records() == []


def test_a_run_at_work_is_waited_for(path):
    with Store(path) as store, store.runs.alive("run"):
        spoil(path, "UPDATE user_contexts SET text = 'odd' WHERE name = 'note 3'")
        with pytest.raises(StateError, match="at work"):
            salvage(path)
    assert salvage(path) is not None


def test_the_log_of_a_killed_process_is_salvaged_too(path, tmp_path):
    killed = tmp_path / "killed"
    killed.mkdir()
    with Store(path) as store:
        store.narrations.save(MODEL, [("later", 0, "said last")])
        for name in ("state.db", "state.db-wal"):
            (killed / name).write_bytes((tmp_path / name).read_bytes())
    with (killed / "state.db").open("r+b") as file:
        file.write(b"\0" * 4096)
        file.seek(0)
    log = (killed / "state.db-wal").read_bytes()
    assert len(log) > 4096
    (killed / "state.db").write_bytes(b"\0" * 4096 + (killed / "state.db").read_bytes()[4096:])
    saved = {"corrections": 1, "meta": 1, "narrations": 41, "user_contexts": 9}
    assert salvage(killed / "state.db").saved == saved


def test_a_locked_file_in_a_folder_of_that_name_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(database, "BUSY_TIMEOUT_S", 0.1)
    path = tmp_path / "salvage" / "state.db"
    Store(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        assert salvage(path) is None  # what is read is whole; whoever writes is not waited for
    assert not list(path.parent.glob("*.damaged-*"))


def test_a_whole_file_of_another_format_is_left_alone(path):
    with Store(path) as store, store._db.write() as connection:
        connection.execute(update(meta).where(meta.c.key == "format").values(value="99"))
    before = path.read_bytes()
    for use in (Store, salvage):
        with pytest.raises(StateError, match=r"another version.*format 99.*move it away"):
            use(path)
    assert path.read_bytes() == before


def test_a_damaged_file_that_calls_itself_of_another_format_is_salvaged(path):
    with Store(path) as store, store._db.write() as connection:
        connection.execute(update(meta).where(meta.c.key == "format").values(value="99"))
    spoil(path, "UPDATE user_contexts SET text = 'odd' WHERE name = 'note 3'")
    with pytest.raises(StateDamagedError):
        Store(path)
    assert salvage(path).lost == {"user_contexts": 1}
