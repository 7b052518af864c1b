"""Homes on full and read-only disks, and at odd paths: each command says what a person needs."""

import subprocess
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from pneuma_assets.cli.app import app
from tests.integration.test_cli_end_to_end import make_lake

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


@pytest.mark.parametrize("arguments", [INDEX, SEARCH])
def test_a_read_only_disk_asks_for_a_right_and_not_for_room(root, indexed, arguments):
    subprocess.run(["mount", "-o", "remount,ro", indexed], check=True)
    try:
        done = at(indexed / "home", *arguments, root=root)
    finally:
        subprocess.run(["mount", "-o", "remount,rw", indexed], check=True)
    check_told(done, FIXED)
    assert "space" not in done.stderr


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
