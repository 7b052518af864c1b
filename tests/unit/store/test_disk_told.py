"""What SQLite cannot write is told by its cause: a full disk, or one that is not to be written."""

import os
import sqlite3
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from pneuma_assets.core.sqlite_codes import remedy_of


def remedy(code: int, folder: Path) -> str:
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    return str(remedy_of(error, folder / "state.db"))


@pytest.fixture
def disk(request, tmp_path):
    """A disk of a megabyte, mounted with the options that the test gives."""
    options = ["mount", "-t", "tmpfs", "-o", request.param, "tmpfs", tmp_path]
    if subprocess.run(options, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.parametrize("disk", ["size=1m"], indirect=True)
def test_an_error_of_reading_on_a_full_disk_is_of_the_disk(disk):
    with suppress(OSError), (disk / "rest").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 14))
    for code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR_SHMSIZE, sqlite3.SQLITE_FULL):
        assert "free some space" in remedy(code, disk)


@pytest.mark.parametrize("disk", ["size=1m,ro"], indirect=True)
def test_a_disk_that_takes_nothing_by_root_neither_is_told_as_such(disk):
    for code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY):
        told = remedy(code, disk)
        assert "let this user write" in told
        assert "space" not in told


def test_what_may_not_be_written_asks_for_the_right_and_other_errors_for_nothing(tmp_path):
    told = remedy(sqlite3.SQLITE_READONLY, tmp_path)
    assert "let this user write" in told
    assert "space" not in told
    for code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CORRUPT):
        assert remedy(code, tmp_path) == "None"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_the_right_is_told(tmp_path):
    tmp_path.chmod(0o500)
    told = remedy(sqlite3.SQLITE_IOERR, tmp_path)
    tmp_path.chmod(0o700)
    assert "let this user write" in told
