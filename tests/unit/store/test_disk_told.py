"""What SQLite cannot write is told by its cause: a full disk, or one that is not to be written."""

import os
import sqlite3
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from pneuma_assets.core.sqlite_codes import remedy_of


def failed(code: int) -> sqlite3.Error:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    return error


@pytest.fixture
def full(tmp_path):
    """A disk of a megabyte without room."""
    place = tmp_path / "full"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], check=False, capture_output=True
    )
    if made.returncode:
        pytest.skip("no disk can be mounted here")
    try:
        with suppress(OSError), (place / "rest").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 14))
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def test_an_error_of_reading_on_a_full_disk_is_of_the_disk(full: Path):
    for code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_FULL):
        assert "free some space" in str(remedy_of(failed(code), full / "state.db"))


def test_the_same_on_a_disk_with_room_is_no_matter_of_room(tmp_path: Path):
    assert remedy_of(failed(sqlite3.SQLITE_IOERR), tmp_path / "state.db") is None
    assert remedy_of(failed(sqlite3.SQLITE_CORRUPT), tmp_path / "state.db") is None


@pytest.fixture
def read_only(tmp_path):
    """A disk on which nothing may be written, by root neither."""
    place = tmp_path / "fixed"
    place.mkdir()
    options = ["mount", "-t", "tmpfs", "-o", "size=1m,ro", "tmpfs", place]
    if subprocess.run(options, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield place
    subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize(
    "code", [sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY]
)
def test_a_disk_that_takes_nothing_is_told_as_such(read_only: Path, code: int):
    told = str(remedy_of(failed(code), read_only / "state.db"))
    assert "let this user write" in told
    assert "space" not in told


def test_what_may_not_be_written_asks_for_the_right_and_not_for_space(tmp_path: Path):
    told = str(remedy_of(failed(sqlite3.SQLITE_READONLY), tmp_path / "state.db"))
    assert "let this user write" in told
    assert "space" not in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_the_right_is_told(tmp_path: Path):
    tmp_path.chmod(0o500)
    told = str(remedy_of(failed(sqlite3.SQLITE_IOERR), tmp_path / "state.db"))
    tmp_path.chmod(0o700)
    assert "let this user write" in told
