"""The wheel, as a user installs it: all of the packages is inside, and it runs without the source.

Tests otherwise import the checkout, which hides a module or a file that the wheel lacks.
"""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests.support.waiting import LONGEST

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "pneuma_assets"
UNSET = ("PYTHON", "PNEUMA_", "DAGSTER_", "PIP_")


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command without anything of this checkout in its environment; return what it prints."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env={key: value for key, value in os.environ.items() if not key.startswith(UNSET)},
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stderr or done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    """The paths of all files and links of the project, which a commit now would hold."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("which files belong to the wheel is known in a checkout of git alone")
    # A checkout may belong to somebody else than who tests it.
    listing = run("git", "-c", f"safe.directory={ROOT}", "ls-files", "-z", cwd=ROOT)
    return [path for path in listing.split("\0") if path and os.path.lexists(ROOT / path)]


@pytest.fixture(scope="module")
def wheel(tracked, tmp_path_factory) -> Path:
    """The wheel, built from a copy: a build leaves folders behind and takes what it finds there."""
    source = tmp_path_factory.mktemp("source")
    for path in tracked:
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, source / path, follow_symlinks=False)
    made = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", made]
    run(sys.executable, "-m", "pip", "wheel", *options, source, cwd=made)
    shutil.rmtree(source)
    (wheel,) = made.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The programs of an environment with the wheel and what it needs, but not this checkout."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    programs = folder / "bin"
    options = ["--quiet", "--no-deps", "--no-index", "--no-compile"]
    pip = [sys.executable, "-m", "pip", "--python", programs / "python"]
    run(*pip, "install", *options, wheel, cwd=folder)
    (own,) = folder.glob("lib/python*/site-packages")
    # Paths added in this way come last, and .pth files in them, so editable installs, do not count.
    (own / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


@pytest.fixture(scope="module")
def home(installed, tmp_path_factory) -> Path:
    """The state of a lake with two tables, indexed from an empty folder."""
    given = tmp_path_factory.mktemp("given")
    (given / "lake").mkdir()
    (given / "lake" / "economy.csv").write_text("country,year,gdp\nFrance,2020,2.6\n")
    (given / "lake" / "rain.jsonl").write_text('{"station":"Kiel","rain_mm":3.2}\n')
    (given / "pneuma.yaml").write_text(
        "home: state\nsources: [{type: folder, name: lake, path: lake}]\n"
    )
    empty = tmp_path_factory.mktemp("empty")
    options = ["--config", given / "pneuma.yaml"]
    said = run(installed / "pneuma-assets", *options, "index", given / "lake", "--json", cwd=empty)
    report = json.loads(said)
    assert (report["indexed"], report["problems"]) == (2, [])
    assert list(empty.iterdir()) == []
    return given / "state"


def test_wheel_holds_one_package_with_each_of_its_files_once(wheel, tracked):
    linked = {
        path.name: f"{PACKAGE}/{path.name}"
        for path in (ROOT / PACKAGE).iterdir()
        if path.is_symlink()
    }
    expected = []
    for path in tracked:
        top, _, rest = path.partition("/")
        if top in linked:
            expected.append(f"{linked[top]}/{rest}")
        elif top == PACKAGE and not (ROOT / path).is_symlink():
            expected.append(path)
    with zipfile.ZipFile(wheel) as archive:
        packed = [name for name in archive.namelist() if ".dist-info/" not in name]
    assert sorted(linked) == ["jobs", "resources", "sensors"]
    assert sorted(packed) == sorted(expected)


LOADED = f"""
from importlib import import_module
from importlib.util import find_spec
import {PACKAGE}.definitions
for name in ("", ".jobs", ".resources", ".sensors"):
    print(import_module("{PACKAGE}" + name).__file__)
print([name for name in ("jobs", "resources", "sensors") if find_spec(name)])
"""


def test_definitions_load_from_the_wheel_which_takes_no_everyday_name(installed, tmp_path):
    *files, taken = run(installed / "python", "-c", LOADED, cwd=tmp_path).splitlines()
    assert len(files) == 4
    assert all(Path(file).is_relative_to(installed.parent) for file in files)
    assert taken == "[]"


def test_search_finds_what_was_indexed(installed, wheel, home, tmp_path):
    said = run(installed / "pneuma-assets", "--version", cwd=tmp_path)
    assert said.split() == ["pneuma-assets", wheel.name.split("-")[1]]
    command = [installed / "pneuma-assets", "--home", home, "search", "--json"]
    results = json.loads(run(*command, "gdp of a country", cwd=tmp_path))
    assert results[0]["table_id"] == "lake/economy"
    assert {result["table_id"] for result in results} == {"lake/economy", "lake/rain"}
