import os
import subprocess
import sys
from pathlib import Path

import pytest

from pneuma_assets.core.errors import SourceError, TableReadError
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from tests.support.lake_tables import let_others_enter

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def source(folder: Path) -> FileSource:
    return FileSource("s", FolderStorage(folder))


@pytest.mark.parametrize(
    ("name", "cause"),
    [("absent", r"no such file.*; check the source's path"), ("a.csv", "not a directory")],
)
def test_a_root_that_is_no_folder_is_an_error_and_not_a_deletion(tmp_path: Path, name, cause):
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(SourceError, match=cause) as caught:
        source(tmp_path / name).list_tables()
    assert "\n" not in str(caught.value)


def test_linked_folders_are_listed_once(tmp_path: Path):
    lake, elsewhere = tmp_path / "lake", tmp_path / "elsewhere"
    (lake / "real").mkdir(parents=True)
    elsewhere.mkdir()
    (lake / "real" / "a.csv").write_text("a\n1\n")
    (elsewhere / "b.csv").write_text("b\n1\n")
    (lake / "a_link").symlink_to(lake / "real")  # Sorts first, yet the real name wins.
    (lake / "real" / "up").symlink_to(lake)
    (lake / "out").symlink_to(elsewhere)
    (lake / "out2").symlink_to(elsewhere)
    listing = FileSource("s", FolderStorage(lake, follow_links=True)).list_tables()
    assert len(listing.tables) == 2
    assert listing.tables[1].table_id == "s/real/a"
    assert not listing.problems
    walled = source(lake).list_tables()
    assert [ref.table_id for ref in walled.tables] == ["s/real/a"]
    assert sorted(one.subject for one in walled.problems) == ["s/out", "s/out2"]
    assert not walled.unlisted  # what such links led to before is no part of it any more


def test_dangling_folder_link_hides_no_deletion(tmp_path: Path):
    (tmp_path / "disk").symlink_to(tmp_path / "unmounted")
    listing = source(tmp_path).list_tables()
    assert listing.unlisted == ["s/disk/"]
    assert "repair or remove the link" in listing.problems[0].cause


def test_version_follows_size_time_and_documents(tmp_path: Path):
    path, document = tmp_path / "a.csv", tmp_path / "a.md"
    versions = []

    def note_version() -> None:
        (ref,) = source(tmp_path).list_tables().tables
        versions.append(ref.version)

    path.write_text("a\n1\n")
    os.utime(path, ns=(1, 1))
    note_version()
    note_version()
    os.utime(path, ns=(2, 2))
    note_version()
    path.write_text("a\n11\n")
    os.utime(path, ns=(2, 2))
    note_version()
    document.write_text("About a.")
    note_version()
    assert versions[0] == versions[1]
    assert len(set(versions)) == 4


def test_file_replaced_by_a_folder_after_listing(tmp_path: Path):
    (tmp_path / "a.csv").write_text("a\n1\n")
    lake = source(tmp_path)
    (ref,) = lake.list_tables().tables
    (tmp_path / "a.csv").unlink()
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(TableReadError, match="not a regular file"):
        lake.profile(ref)


@needs_root
def test_what_another_user_may_not_read(tmp_path: Path):
    lake = tmp_path / "lake"
    (lake / "secret").mkdir(parents=True)
    for name in ("open.csv", "closed.csv", "secret/a.csv"):
        (lake / name).write_text("a\n1\n")
    (lake / "closed.csv").chmod(0)
    (lake / "secret").chmod(0)
    let_others_enter(lake)
    script = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from pneuma_assets.core.errors import TableReadError\n"
        "from pneuma_assets.core.sources.files.source import FileSource\n"
        "from pneuma_assets.core.sources.files.folder import FolderStorage\n"
        "from pneuma_assets.core.sources.files import text_reader\n"
        "os.setuid(65534)\n"
        "lake = FileSource('s', FolderStorage(Path(sys.argv[1])))\n"
        "listing = lake.list_tables()\n"
        "print(listing.problems, listing.unlisted)\n"
        "for ref in listing.tables:\n"
        "    try:\n"
        "        print(ref.table_id, lake.profile(ref).row_count)\n"
        "    except TableReadError as error:\n"
        "        print(ref.table_id, error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(lake)], capture_output=True, text=True, check=True
    )
    listed, closed, opened = done.stdout.splitlines()
    assert "permission denied" in listed
    assert "['s/secret/']" in listed
    assert closed.startswith("s/closed")
    assert "allow this user to read it" in closed
    assert opened == "s/open 1"
