"""What lies beside an embedded index: who goes on with it, and when it goes."""

import errno
import sqlite3
from contextlib import closing

import pytest

from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.errors import IndexMismatchError, SearchIndexError
from pneuma_assets.core.index.embedded import folder as folders
from pneuma_assets.core.index.embedded import lifecycle
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.folder import exchange, staging_path
from pneuma_assets.core.index.embedded.lifecycle import EmbeddedKind, identity_of
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import NOBODY, IndexPlace
from pneuma_assets.core.text.analysis import ENGLISH

OLD, NEW, THIRD = (Identity(name, 4, "english-2") for name in ("old", "new", "third"))


KIND = EmbeddedKind()


def place(folder) -> IndexPlace:
    return IndexPlace(Section(), folder.parent, ENGLISH, NOBODY)


def begin(folder, identity) -> None:
    KIND.begin_rebuild(place(folder), identity)


def clear_up(folder, identity) -> None:
    """Remove what is left over, as opening for indexing does."""
    lifecycle._clear_up(folder, identity)


def publish(folder, identity, tables) -> bool:
    return KIND.publish(place(folder), identity, tables)


def make(folder, identity) -> None:
    EmbeddedIndex(folder, identity.encoder, identity.dimension).close()


@pytest.fixture
def folder(tmp_path):
    make(tmp_path / "index", OLD)
    return tmp_path / "index"


@pytest.fixture
def begun(folder):
    begin(folder, NEW)
    make(staging_path(folder), NEW)
    return staging_path(folder)


def test_folders_change_places_in_one_act(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for path in (one, other):
        path.mkdir()
        (path / path.name).touch()
    if not exchange(one, other):
        pytest.skip("this system cannot")
    assert ((one / "other").exists(), (other / "one").exists()) == (True, True)
    with pytest.raises(OSError, match="one"):
        exchange(one, tmp_path / "missing")


@pytest.mark.parametrize("number", [errno.EINVAL, errno.ENOSYS])
def test_a_system_that_cannot_says_so(tmp_path, monkeypatch, number):
    def refuse(*_):
        folders.ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(folders, "_renameat2", lambda: refuse)
    assert not exchange(tmp_path, tmp_path)


@pytest.mark.parametrize("able", [True, False])
def test_what_was_built_takes_its_place_and_nothing_is_left(folder, begun, monkeypatch, able):
    if not able:
        monkeypatch.setattr(folders, "exchange", lambda *_: False)
    assert publish(folder, NEW, 0)
    assert identity_of(folder) == NEW
    assert not publish(folder, NEW, 0)
    assert [path.name for path in folder.parent.iterdir()] == ["index"]


def test_what_was_begun_is_gone_on_with_unless_a_third_is_wanted(folder, begun):
    assert not publish(folder, OLD, 0)
    assert not publish(folder, THIRD, 0)
    assert not publish(folder, NEW, 1), "the caller saw more than there is"
    assert (identity_of(folder), identity_of(begun)) == (OLD, NEW)
    (begun / "mark").touch()
    begin(folder, NEW)
    clear_up(folder, NEW)
    assert (begun / "mark").exists()
    begin(folder, THIRD)
    assert identity_of(folder) == OLD
    assert list(begun.iterdir()) == []


@pytest.mark.parametrize("wanted", [OLD, Identity("old", 4, "german-2")])
def test_what_nobody_wants_any_more_goes(folder, begun, wanted):
    clear_up(folder, wanted)
    assert identity_of(folder) == OLD
    assert [path.name for path in folder.parent.iterdir()] == ["index"]


@pytest.mark.parametrize("left", ["index.renewing", "index.discarded-1"])
def test_what_killed_processes_left_goes(folder, left):
    (folder.parent / left).mkdir()
    clear_up(folder, OLD)
    assert [path.name for path in folder.parent.iterdir()] == ["index"]


def test_what_another_process_copies_stays_until_it_ends(folder, monkeypatch):
    monkeypatch.setattr(lifecycle, "_LOCK_TIMEOUT", 0.1)
    (folder.parent / "index.renewing").mkdir()
    with closing(EmbeddedIndex(folder, "old", 4)) as index, index._opened[0].writing():
        with pytest.raises(SearchIndexError, match="locked"):
            clear_up(folder, OLD)
        assert (folder.parent / "index.renewing").exists()


def test_what_was_begun_and_is_damaged_is_begun_again(folder, begun):
    with sqlite3.connect(begun / "index.db") as connection:
        connection.execute("UPDATE meta SET checksum = 7")
    connection.close()
    assert identity_of(begun) == NEW
    begin(folder, NEW)
    assert identity_of(folder) == OLD
    assert list(begun.iterdir()) == []


def test_of_a_damaged_index_nothing_is_kept(folder, begun):
    for file in folder.glob("index.db*"):
        file.write_bytes(b"garbage" * 1000)
    assert identity_of(folder) is None
    begin(folder, NEW)
    assert list(folder.parent.iterdir()) == []


def test_a_damaged_index_gives_its_place_to_one_that_is_complete(folder, begun):
    for file in folder.glob("index.db*"):
        file.write_bytes(b"garbage" * 1000)
    assert publish(folder, NEW, 0)
    assert identity_of(folder) == NEW


def test_who_was_slower_than_a_replacement_is_told_to_ask_again(folder):
    """Whoever asks an engine does so; to be told that the index was closed would end it."""
    with closing(EmbeddedIndex(folder, OLD.encoder, OLD.dimension)) as index:
        slow, _ = index._current()
        KIND.reindex(place(folder), OLD)
        assert index.list_tables() == {}
        with pytest.raises(IndexMismatchError, match="ask again"), slow.reading():
            pass
