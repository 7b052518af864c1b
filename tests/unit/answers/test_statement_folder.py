"""The folder of a statement's rows: locked while it is used, and removed when nobody uses it."""

import os
import signal
import subprocess
import sys
import time

import pytest

from pneuma_assets.core.answers.statement_folder import statement_folder

HELD = """
import sys
from pneuma_assets.core.answers.statement_folder import statement_folder
with statement_folder() as folder:
    (folder / "0.arrow").write_text("secret")
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _temporary(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def aged(folder):
    before = time.time() - 3_600
    os.utime(folder, (before, before))


def test_a_folder_is_this_users_alone_and_goes(tmp_path):
    with statement_folder() as folder:
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_process_leaves_is_removed_and_what_a_living_one_uses_stays(tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", HELD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as process:
        left = tmp_path / process.stdout.readline().strip()
        aged(left)
        with statement_folder():
            assert (left / "0.arrow").exists()
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (left / "0.arrow").exists()
    with statement_folder():
        assert not left.exists()


def test_a_folder_of_this_process_that_another_thread_uses_stays():
    with statement_folder() as mine:
        aged(mine)
        with statement_folder():
            assert mine.exists()


def test_what_is_new_of_others_or_no_folder_of_ours_stays(tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    (elsewhere / "file").touch()
    kept = [tmp_path / f"pneuma-statement-{name}" for name in ("new", "open", "link", "file")]
    kept[0].mkdir(mode=0o700)
    kept[1].mkdir()
    kept[1].chmod(0o755)
    kept[2].symlink_to(elsewhere)
    kept[3].touch()
    for one in (elsewhere, kept[1], kept[3]):
        aged(one)
    with statement_folder():
        assert all(map(os.path.lexists, kept))
        assert (elsewhere / "file").exists()
