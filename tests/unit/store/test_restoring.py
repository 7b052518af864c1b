"""A damaged state file is named; its backup goes on, and nothing that people said is lost."""

import json
import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from pneuma_assets.core.errors import StateDamagedError, StateError
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.service.access_keys import create_key
from pneuma_assets.core.store import Store
from pneuma_assets.core.store import user_edits_journal as journal
from pneuma_assets.core.store.narrations import AnswerKey, Subject
from pneuma_assets.core.store.restore import restore

MODEL = AnswerKey("model")
JOIN = JoinEdge("lake/a", ("x",), "lake/b", ("y",), JoinKind.PERSON, 1.0)


@pytest.fixture
def path(tmp_path) -> Path:
    """Backed up; then people said more."""
    path = tmp_path / "state.db"
    with Store(path) as store:
        store.add_context("lake/a", "note", "Caf\u00e9 \ud800 \u2028 " + "long " * 2000)
        store.narrations.save(
            MODEL, [(Subject("", "hash"), n, f"what column {n} is" * 9) for n in range(400)]
        )
        store.check()
        store.back_up()
        store.correct("lake/a", "x", "How far.", "Ann")
        store.joins.judge(JOIN, confirmed=True, author="Ben")
    return path


def said(path: Path) -> tuple:
    with Store(path) as store:
        return (
            store.documents.user_contexts(["lake/a"])["lake/a"],
            store.descriptions.corrections(),
            store.joins.verdicts(),
        )


def narrated(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute("SELECT count(*) FROM narrations").fetchone()[0]


def zeroed(start: float, size: int):
    def damage(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(int(path.stat().st_size * start) // 4096 * 4096)
            file.write(bytes(size))

    return damage


DAMAGES = {
    "header": zeroed(0, 100),
    "first page": zeroed(0, 4096),
    "a page in the middle": zeroed(0.5, 4096),
    "truncated": lambda path: os.truncate(path, path.stat().st_size // 2),
    "empty": lambda path: os.truncate(path, 0),
    "another file": lambda path: path.write_bytes(b"not a database, " * 1000),
    "missing": Path.unlink,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_the_backup_goes_on_with_all_that_people_said_since(path, damage, tmp_path):
    before = said(path)
    damage(path)
    with pytest.raises(StateDamagedError, match=r"pneuma-assets restore.*state\.db\.backup"):
        check(path)
    found = restore(path)
    assert (found.from_backup, found.said) == (True, 3)
    assert (found.kept is not None and found.kept.exists()) == (damage is not Path.unlink)
    assert (said(path), narrated(path)) == (before, 400)
    assert restore(path) is None, "it is whole"
    assert not list(tmp_path.glob("*.restored*"))


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_without_a_backup_people_need_not_say_it_again(path, damage):
    before = said(path)
    path.with_name("state.db.backup").unlink()
    damage(path)
    if damage not in {Path.unlink, DAMAGES["empty"]}:  # then a new one begins by itself
        with pytest.raises(StateDamagedError, match="restore`, which begins anew"):
            check(path)
        found = restore(path)
        assert (found.from_backup, found.said) == (False, 3)
    assert (said(path), narrated(path)) == (before, 0)


@pytest.mark.parametrize("backed_up", [True, False])
def test_keys_outlive_the_state_and_those_that_were_revoked_stay_so(path, backed_up):
    with Store(path) as store:
        old, _ = create_key(store, "old", ["finance"], may_edit=True, days=30)
        store.back_up()
        create_key(store, "new", is_operator=True)
        store.keys.revoke("old")
        written = path.with_name("said.jsonl").read_bytes()
        store.keys.note_used([old.key_id])
        assert path.with_name("said.jsonl").read_bytes() == written, "no use of a key writes it"
        before = [replace(one, used_at=None) for one in store.keys.all()]
    path.unlink()
    if backed_up:
        restore(path)
    else:
        path.with_name("state.db.backup").unlink()
    with Store(path) as store:
        assert [replace(one, used_at=None) for one in store.keys.all()] == before
    assert [one.revoked_at is None for one in before] == [False, True]


def test_a_key_of_a_damaged_line_is_that_of_the_backup(path):
    with Store(path) as store:
        create_key(store, "ana")
        store.back_up()
    file = path.with_name("said.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"ana"', b"7"))
    path.unlink()
    restore(path)
    with Store(path) as store:
        assert [one.name for one in store.keys.all()] == ["ana"]


def check(path: Path) -> None:
    with Store(path) as store:
        store.check()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-9],
        lambda data: data[: data.rindex(b"\n", 0, -1) + 1] + b"\xff\xfe",
        lambda data: data + b"[" * 100_000,
        lambda data: data + b'{"said": "tables", "table_id": "lake/a"}\n',
        lambda data: data + b'{"said": ["corrections"]}\n',
        lambda data: data + b'{"said": "user_contexts", "table_id": 7, "name": "", "text": ""}\n',
        lambda data: data + b"7\n",
    ],
    ids=["cut off", "no text", "deep", "another table", "no name", "another type", "no row"],
)
def test_of_a_damaged_file_of_what_people_said_all_other_lines_count(path, spoil, caplog):
    contexts, corrections, _ = said(path)
    file = path.with_name("said.jsonl")
    damaged = spoil(file.read_bytes())
    file.write_bytes(damaged)
    DAMAGES["header"](path)
    restore(path)
    assert said(path)[:2] == (contexts, corrections)
    (kept,) = file.parent.glob("said.jsonl.damaged-*")
    assert kept.read_bytes() == damaged
    assert str(kept) in caplog.text
    assert [json.loads(line) for line in file.read_bytes().splitlines()]


def test_what_is_withdrawn_is_in_no_file_any_more(path, tmp_path):
    with Store(path) as store:
        store.add_context("lake/a", "secret", "Zanzibar")
        store.correct("lake/a", None, "Madagascar", "Ann")
        store.back_up()
        assert left(tmp_path, b"Zanzibar") == {"state.db", "state.db.backup", "said.jsonl"}
        store.remove_context("lake/a", "secret")
        assert left(tmp_path, b"Zanzibar") == set()
        store.back_up()
        store.withdraw_correction("lake/a", None)
        assert left(tmp_path, b"Madagascar") == set()


def left(folder: Path, word: bytes) -> set[str]:
    return {file.name for file in folder.iterdir() if word in file.read_bytes()}


def test_what_was_said_of_a_renamed_column_is_restored_under_its_new_name(path):
    with Store(path) as store:
        store.renaming.columns("lake/a", {"x": "km"})
    before = said(path)
    DAMAGES["header"](path)
    restore(path)
    assert said(path) == before
    assert [one.column for one in before[1]] == ["km"]


def test_what_cannot_be_kept_is_not_said_and_what_was_lost_is_kept_with_the_next_backup(path):
    before, file = said(path), path.with_name("said.jsonl")
    lines = file.read_bytes()
    file.unlink()
    path.with_name("said.jsonl.new").mkdir()
    with Store(path) as store:
        with pytest.raises(StateError, match="cannot be kept"):
            store.correct("lake/a", None, "The distances.", "Ben")
        path.with_name("said.jsonl.new").rmdir()
        store.back_up()
    assert (said(path), file.read_bytes()) == (before, lines)


@pytest.mark.parametrize("torn", [0, 9], ids=["whole", "torn"])
def test_what_a_killed_process_added_and_did_not_commit_was_never_said(path, torn):
    file = path.with_name("said.jsonl")
    with Store(path) as store:
        store.correct("lake/a", "y", "How high.", "Ann")
    before, lines, inode = said(path), file.read_bytes(), file.stat().st_ino
    if (pid := os.fork()) == 0:
        try:
            with Store(path) as store:
                journal.os.fsync = lambda _: os._exit(9)
                store.correct("lake/a", "z", "Never said.", "Ann")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 9
    added = file.read_bytes()
    assert b"Never said." in added
    assert added.startswith(lines), "it is appended"
    os.truncate(file, len(added) - torn)
    assert (said(path), file.stat().st_ino) == (before, inode)
    with Store(path) as store:
        store.correct("lake/a", None, "The distances.", "Ben")
    now = file.read_bytes()
    assert now.count(b"\n") == lines.count(b"\n") + 1
    assert b"Never said." not in now
    path.unlink()
    restore(path)
    assert len(said(path)[1]) == len(before[1]) + 1


def test_there_must_be_something_and_a_damaged_backup_is_named(path, tmp_path):
    with pytest.raises(StateError, match="nothing to restore"):
        restore(tmp_path / "other" / "state.db")
    for one in (path, path.with_name("state.db.backup")):
        DAMAGES["header"](one)
    with pytest.raises(StateError, match="damaged, too; move it away"):
        restore(path)
