"""Homes on full and read-only disks, and at odd paths: each command says what a person needs."""

import gc
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from pneuma_assets.cli.app import app
from tests.integration.test_cli_end_to_end import make_lake
from tests.support.served_home import client_of, local_app
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder", "read_here")]

FULL = "the disk is full: free some space on the disk of"
FIXED = "and its folder (Read-only file system), or choose another home by --home"
INDEX, SEARCH, STATUS = ("index", "lake"), ("search", "how much rain fell in Kiel"), ("status",)


def mount(place: Path, options: str) -> None:
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=False, capture_output=True
    )
    if done.returncode:
        pytest.skip("no disk can be mounted here")


@contextmanager
def disk(place: Path, size: str) -> Iterator[Path]:
    place.mkdir()
    mount(place, f"size={size}")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def fill(place: Path) -> None:
    with suppress(OSError), (place / "rest").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 12))


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    root = make_lake(tmp_path_factory.mktemp("homes"))
    (root / "lake" / "empty.csv").unlink()
    return root


@pytest.fixture(scope="module")
def indexed(root, small_encoder, read_here) -> Iterator[Path]:
    """A home on a disk of its own, with an index of three tables."""
    with disk(root / "disk", "64m") as place:
        done = at(place / "home", *INDEX, root=root)
        assert done.exit_code == 0, done.stderr
        yield place


def at(home: Path | str, *arguments: str, root: Path) -> Result:
    with chdir(root):
        return CliRunner().invoke(app, ["--home", str(home), *arguments])


def check_told(done: Result, *words: str) -> None:
    """Nothing but progress and one error, which has these words; no advice to destroy anything."""
    assert done.exit_code == 1
    told = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(told) == 1, done.stderr
    for word in words:
        assert word in told[0]
    assert "Traceback" not in done.stderr
    assert "--rebuild" not in done.stderr
    assert "PNEUMA_DEBUG" not in done.stderr


@pytest.mark.parametrize("arguments", [INDEX, SEARCH, STATUS])
def test_on_a_disk_that_is_full_now_room_is_the_cure(root, indexed, arguments):
    (root / "lake" / "rain.jsonl").write_text(f'{{"station":"{arguments[0]}","rain_mm":3.2}}\n')
    fill(indexed)
    try:
        check_told(at(indexed / "home", *arguments, root=root), FULL, str(indexed))
    finally:
        (indexed / "rest").unlink()
    done = at(indexed / "home", *arguments, root=root)  # as it says
    assert done.exit_code == 0, done.stderr


def test_a_server_on_a_full_disk_answers_and_does_not_say_that_it_is_ready(indexed):
    with client_of(local_app(indexed / "home" / "pneuma.yaml")) as client:
        assert client.get("/readyz").status_code == 200
        fill(indexed)
        try:
            assert client.get("/api/v1/search?q=rain").status_code == 200
            wait_until(lambda: client.get("/readyz").status_code == 503, "the disk is looked at")
            assert client.get("/readyz").json()["missing"] == ["disk"]
        finally:
            (indexed / "rest").unlink()
        wait_until(lambda: client.get("/readyz").status_code == 200, "the room is seen")


@pytest.mark.slow
@pytest.mark.parametrize("size", ["1400k", "2400k"])
def test_a_disk_that_fills_up_in_a_run_is_told_without_the_words_of_libraries(root, tmp_path, size):
    with disk(tmp_path / "small", size) as place:
        done = subprocess.run(
            [sys.executable, "-m", "pneuma_assets.cli", "--home", str(place / "home"), *INDEX],
            cwd=root, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert FULL in done.stderr
    assert "Dagster's history lacks an event: " in done.stderr
    for word in ("[SQL", "sqlalche", "OperationalError", "Exception"):
        assert word not in done.stderr


@contextmanager
def fixed(place: Path) -> Iterator[None]:
    subprocess.run(["mount", "-o", "remount,ro", place], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", place], check=True)


CHANGES = [
    *(INDEX, ("confirm", "rain", "lake/rain"), ("describe", "lake/rain", "--text", "Rain.")),
    *(("keys", "create", "ana"), ("seek", "start", "rain"), ("changed", "lake/rain")),
]
ASKS = [
    *(
        SEARCH,
        STATUS,
        ("status", "--tables"),
        ("describe", "lake/rain"),
        ("answer", "rain in Kiel"),
    ),
    *(("groups", "rain"), ("joins", "lake/rain"), ("lineage", "lake/rain"), ("keys", "list")),
    *(("seek", "list"), ("confirmed",), ("sources",)),
]


@pytest.mark.parametrize("arguments", CHANGES, ids=" ".join)
def test_a_read_only_disk_asks_for_a_right_and_not_for_room(root, indexed, arguments):
    with fixed(indexed):
        done = at(indexed / "home", *arguments, root=root)
    check_told(done, FIXED)
    assert "space" not in done.stderr


@pytest.mark.parametrize("arguments", ASKS, ids=" ".join)
def test_a_home_on_a_read_only_disk_answers_as_one_that_can_be_written(root, indexed, arguments):
    written = at(indexed / "home", *arguments, "--json", root=root)
    with fixed(indexed):
        done = at(indexed / "home", *arguments, "--json", root=root)
    assert (done.exit_code, done.stderr) == (0, written.stderr)
    assert timeless(done.stdout) == timeless(written.stdout)


def timeless(text: str) -> str:
    return re.sub(r'"seconds": [0-9.e-]+', "", text)


def test_a_home_that_cannot_be_written_is_served_and_what_cannot_be_kept_is_told(indexed):
    with fixed(indexed), client_of(local_app(indexed / "home" / "pneuma.yaml")) as client:
        assert client.get("/readyz").json() == {"status": "ready", "missing": []}
        for path in ("/", "/?q=rain", "/?q=zzz", "/tables/lake/rain", "/status", "/answer?q=rain"):
            assert client.get(path).status_code == 200, path
        text = {"table_id": "lake/rain", "column": "rain_mm", "text": "Rain."}
        done = client.put("/api/v1/table/description", json=text)
        assert (done.status_code, done.json()["code"]) == (503, "state-away")
        assert "can only be read" in done.json()["detail"]
        call = {"name": "find_tables", "arguments": {"question": "zzz"}}
        given = {"Accept": "application/json, text/event-stream"}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        assert "lake/rain" in client.post("/mcp", json=asked, headers=given).text
        call |= {"name": "converse", "arguments": {"text": "rain"}}
        assert "can only be read" in client.post("/mcp", json=asked, headers=given).text


@pytest.mark.parametrize("lost", ["", "-shm"])
def test_what_a_killed_process_left_in_a_log_is_read_or_asked_for_and_never_left_out(
    root, indexed, tmp_path, lost
):
    with disk(tmp_path / "other", "64m") as place:
        shutil.copytree(indexed / "home", place / "home")
        state = place / "home" / "state.db"
        if (pid := os.fork()) == 0:
            connection = sqlite3.connect(state, isolation_level=None)
            connection.execute("UPDATE tables SET comment = 'Of the log.'")
            os._exit(9)
        os.waitpid(pid, 0)
        assert state.with_name("state.db-wal").stat().st_size
        if lost:
            state.with_name(f"state.db{lost}").unlink()
        with fixed(place):
            done = at(place / "home", "describe", "lake/rain", "--json", root=root)
        if lost:
            check_told(done, FIXED)
        else:
            assert "Of the log." in done.stdout
        del done  # its traceback holds the connection, and so the disk
        gc.collect()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("size", "words"), [("40k", ("cannot be written", FULL)), ("400k", (FULL,)), ("1400k", (FULL,))]
)
def test_a_disk_that_is_full_at_some_time_of_the_first_run(root, tmp_path, size, words):
    with disk(tmp_path / "small", size) as place:
        check_told(at(place / "home", *INDEX, root=root), *words)


def file_in_its_place(folder: Path) -> Path:
    (folder / "file").write_text("x")
    return folder / "file"


def link_to_nothing(folder: Path) -> Path:
    (folder / "link").symlink_to(folder / "nothing")
    return folder / "link"


def link_to_itself(folder: Path) -> Path:
    (folder / "loop").symlink_to("loop")
    return folder / "loop"


HOMES: list[tuple[Callable[[Path], Path], tuple[str, ...]]] = [
    (file_in_its_place, ("is not a folder", "name a folder for the state")),
    (lambda folder: file_in_its_place(folder) / "h", ("Not a directory", "name a folder")),
    (link_to_nothing, ("is a link to nothing", "name a folder for the state")),
    (link_to_itself, ("symbolic links", "name a folder for the state")),
    (lambda folder: folder / ("x" * 300), ("File name too long", "name a folder for the state")),
]


@pytest.mark.parametrize(("home", "words"), HOMES)
def test_a_home_that_cannot_be_is_refused_and_nothing_is_made(root, tmp_path, home, words):
    place = home(tmp_path)
    before = sorted(tmp_path.iterdir())
    check_told(at(place, *INDEX, root=root), *words)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("sign", ["%", "?"])
def test_a_path_that_dagster_misreads_is_refused_and_nothing_is_made_beside_it(
    root, tmp_path, sign
):
    home = tmp_path / f"a{sign}20b"
    check_told(at(home, *INDEX, root=root), f"whose path has {sign}", "another home by --home")
    assert [one.name for one in tmp_path.iterdir()] == [home.name]


@pytest.mark.slow
def test_any_other_name_serves(root, tmp_path):
    name = "it's a größe#b&c;d\ne"
    done = at(tmp_path / name, *INDEX, root=root)
    assert done.exit_code == 0, done.stderr
    found = at(tmp_path / name, *SEARCH, root=root)
    assert "lake/rain" in found.stdout
    assert [one.name for one in tmp_path.iterdir()] == [name]
