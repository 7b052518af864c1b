"""What lies in the folder of an embedded index: who goes on with it, and when it goes."""

import json
import shutil
import sqlite3
from contextlib import closing
from threading import Thread

import pytest

from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.errors import IndexDamagedError, IndexMismatchError, SearchIndexError
from pneuma_assets.core.index import registry
from pneuma_assets.core.index.base import TableContents
from pneuma_assets.core.index.copy import copy_exactly
from pneuma_assets.core.index.embedded import lifecycle
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.file import FILE_NAME
from pneuma_assets.core.index.embedded.pointer import (
    POINTER,
    read_pointer,
)
from pneuma_assets.core.index.identity import OtherIdentityError
from pneuma_assets.core.index.registry import (
    begin_rebuild,
    inspect_index,
    open_index,
    publish_index,
    reindex,
)
from tests.support.index_blocks import file_of

CONFIG = IndexConfig()


def opened(home, encoder, *, building=True, analyzer="english"):
    config = IndexConfig(analyzer=analyzer)
    return closing(open_index(config, home, encoder, 4, building=building))


def begin(home, encoder="new") -> str:
    """Begin a build beside the index, and return its name."""
    begin_rebuild(CONFIG, home, encoder, 4)
    with opened(home, encoder) as index:
        return index.build


@pytest.fixture
def home(tmp_path):
    with opened(tmp_path, "old"):
        return tmp_path


@pytest.fixture
def folder(home):
    return home / "index"


def builds(folder) -> set[str]:
    return {path.name for path in folder.iterdir() if path.is_dir()}


def garble(file) -> None:
    for one in file.parent.iterdir():
        one.write_bytes(b"garbage" * 1000)


def test_of_what_is_replaced_nothing_is_left(home, folder):
    built = begin(home)
    assert builds(folder) == {file_of(folder).parent.name, built}
    assert publish_index(CONFIG, home, built)
    assert builds(folder) == {built}


@pytest.mark.parametrize(("encoder", "analyzer"), [("old", "english"), ("old", "german")])
def test_what_nobody_wants_any_more_goes(home, folder, encoder, analyzer):
    begun = begin(home)
    with opened(home, encoder, analyzer=analyzer):
        assert begun not in builds(folder)
        assert len(builds(folder)) == 1


def test_what_killed_processes_left_goes_with_the_next_change(home, folder):
    (folder / ("0" * 32)).mkdir()
    built = begin(home)
    assert builds(folder) == {file_of(folder).parent.name, built}


def test_a_copy_that_was_cut_off_goes_and_one_that_is_made_stays(home, folder, monkeypatch):
    def cut(*_):
        with opened(home, "old") as index:
            assert len(builds(folder)) == 2
            assert index.build == file_of(folder).parent.name
        raise KeyboardInterrupt

    monkeypatch.setattr(registry, "copy_exactly", cut)
    with pytest.raises(KeyboardInterrupt):
        reindex(CONFIG, home)
    assert len(builds(folder)) == 2
    with opened(home, "old"):
        assert builds(folder) == {file_of(folder).parent.name}


def test_what_is_built_for_another_stays_where_a_third_is_refused(home, folder):
    begun = begin(home)
    with pytest.raises(IndexMismatchError):
        open_index(CONFIG, home, "third", 4, building=True)
    assert begun in builds(folder)


def test_other_rules_of_words_during_a_rebuild_begin_it_again(home, folder):
    begun = begin(home)
    german = IndexConfig(analyzer="german")
    with pytest.raises(OtherIdentityError):
        open_index(german, home, "new", 4, building=True)
    begin_rebuild(german, home, "new", 4)
    with opened(home, "new", analyzer="german") as index:
        assert index.build != begun


def test_a_build_that_is_gone_is_damage(home, folder):
    shutil.rmtree(file_of(folder).parent)
    for use in (
        lambda: inspect_index(CONFIG, home),
        lambda: open_index(CONFIG, home, "old", 4, building=True),
    ):
        with pytest.raises(IndexDamagedError, match=r"is gone.*--rebuild"):
            use()
    begin_rebuild(CONFIG, home, "old", 4)
    with opened(home, "old") as index:
        assert index.list_tables() == {}


def test_a_rebuild_that_begins_before_a_copy_is_not_undone(home, folder, monkeypatch):
    kept = EmbeddedIndex.unchanging

    def begun_before(index):
        begin(home)
        return kept(index)

    monkeypatch.setattr(EmbeddedIndex, "unchanging", begun_before)
    with pytest.raises(SearchIndexError, match="is being rebuilt"):
        reindex(CONFIG, home)
    monkeypatch.undo()
    assert "being built" in inspect_index(CONFIG, home).details


def test_what_cannot_be_checked_now_stays_for_its_readers(home, folder, monkeypatch):
    def out_of_memory(*_):
        raise SearchIndexError("cannot be used (out of memory)")

    old = file_of(folder)
    monkeypatch.setattr(lifecycle, "check", out_of_memory)
    begin_rebuild(CONFIG, home, "new", 4)
    monkeypatch.undo()
    assert old.exists()
    assert file_of(folder) == old


def test_folders_of_others_stay(home, folder):
    (folder / "backup").mkdir()
    begin(home)
    assert "backup" in builds(folder)


def test_what_was_begun_and_is_damaged_is_begun_again(home, folder):
    begun = begin(home)
    with closing(sqlite3.connect(folder / begun / FILE_NAME)) as connection, connection:
        connection.execute("UPDATE meta SET checksum = 7")
    assert begin(home) != begun
    assert builds(folder) == {file_of(folder).parent.name, begin(home)}


@pytest.mark.parametrize("spoil", ["file", "pointer", "names"])
def test_of_a_damaged_index_nothing_is_kept(home, folder, spoil):
    begin(home)
    if spoil == "file":
        garble(file_of(folder))
    elif spoil == "pointer":
        (folder / POINTER).write_bytes(b"garbage")
    else:
        outside = {"current": "../../other", "successor": None, "copying": False}
        (folder / POINTER).write_text(json.dumps(outside))
    with pytest.raises(IndexDamagedError, match="--rebuild"):
        inspect_index(CONFIG, home)
    begin_rebuild(CONFIG, home, "new", 4)
    assert (read_pointer(folder), builds(folder)) == (None, set())
    with opened(home, "new") as index:
        assert index.list_tables() == {}


def test_a_damaged_index_gives_its_place_to_one_that_is_complete(home, folder):
    built = begin(home)
    garble(file_of(folder))
    assert publish_index(CONFIG, home, built)
    assert inspect_index(CONFIG, home).encoder == "new"


def test_what_is_being_built_is_told(home):
    begin(home)
    told = inspect_index(CONFIG, home).details["being built"]
    assert told == "for encoder new, 0 tables so far"


def test_who_was_slower_than_a_replacement_is_told_to_ask_again(home, folder):
    """Whoever asks an engine does so; to be told that the index was closed would end it."""
    with closing(EmbeddedIndex(folder, "old", 4)) as index:
        slow, _ = index._current()
        reindex(CONFIG, home)
        assert index.list_tables() == {}
        with pytest.raises(IndexMismatchError, match="ask again"), slow.reading():
            pass


def test_a_writer_that_waited_for_a_copy_writes_to_it(home, monkeypatch):
    """What it had opened is gone by then, and what it wrote would be, too."""
    with opened(home, "old") as writer:
        thread = Thread(target=writer.replace_tables, args=({"s/a": TableContents(())},))

        def copy(*indexes):
            thread.start()
            thread.join(0.2)
            assert thread.is_alive(), "it does not wait"
            copy_exactly(*indexes)

        monkeypatch.setattr(registry, "copy_exactly", copy)
        before = writer.build
        reindex(CONFIG, home)
        thread.join()
        assert writer.build != before
    with opened(home, "old", building=False) as index:
        assert index.list_tables() == {"s/a": 0}
