"""Engines and kinds of source and document that installed packages bring: commands know them."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
STUB = {"pneuma_assets.engines": "stub = tests.support.stub_index:ENGINE"}
SQLITE = {"pneuma_assets.sources": "sqlite = tests.support.sqlite_source:SQLiteSourceConfig"}
VALUES = {"pneuma_assets.documents": "distinct = tests.support.values_documents:VALUES"}


class Machine:
    """Runs the command line where packages may be installed beside the project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.site = folder / "site"
        self.path = [ROOT]

    def install(self, groups: dict[str, str], package: str = "their_package") -> None:
        """Install a package with these entry points, as pip would."""
        information = self.site / f"{package}-1.0.dist-info"
        information.mkdir(parents=True)
        (information / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n")
        points = "".join(f"[{group}]\n{lines}\n" for group, lines in groups.items())
        (information / "entry_points.txt").write_text(points)
        self.path = [ROOT, self.site]

    def uninstall(self) -> None:
        self.path = [ROOT]

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, self.path))}
        return subprocess.run(
            [sys.executable, *arguments],
            env=environ,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.python("-m", "pneuma_assets.cli", *arguments)

    def output(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refusal(self, *arguments: str) -> str:
        done = self.run(*arguments)
        assert done.returncode != 0
        assert "Traceback" not in done.stderr
        return done.stderr


@pytest.fixture
def machine(tmp_path):
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "ports.csv").write_text("first,second\n" + "Zanzibar,Lamu\n" * 3)
    configure(tmp_path)
    return Machine(tmp_path)


def configure(folder: Path, **index: object) -> None:
    """Write a deployment file whose narration is off, with this section `index`."""
    source = {"type": "folder", "name": "lake", "path": "lake"}
    said = {"home": "home", "sources": [source], "index": index}
    (folder / "pneuma.yaml").write_text(json.dumps(said))


def test_documents_of_an_installed_kind_are_indexed_and_filtered_on(machine):
    machine.install(VALUES)
    machine.output("index")
    asked = ("search", "Zanzibar", "--kind", "distinct", "--json", "--no-judge")
    for forget in (lambda: None, machine.uninstall):
        forget()
        (found,) = json.loads(machine.output(*asked))
        assert (found["kind"], found["text"]) == ("distinct", "Zanzibar, Lamu")
    told = "making every table anew, without documents of the kind distinct"
    assert told in machine.run("index").stderr
    assert told not in machine.run("index").stderr
    kinds = "context, folder, lineage, names, rows, schema, summary, values"
    assert f"unknown kind 'distinct'; use one of: {kinds}" in machine.refusal(*asked)


def test_an_installed_engine_is_one_that_a_file_may_name(machine):
    machine.install(STUB)
    machine.output("index")
    configure(machine.folder, engine="embedded", stub={"shelf": "second"})
    copied = json.loads(machine.output("copy-index", "embedded", "stub", "--json"))
    assert (copied["engine"], copied["tables"]) == ("stub", 1)
    configure(machine.folder, engine="stub", stub={"shelf": "second"})
    looked = machine.python(
        "-c",
        "import sys; from pneuma_assets import open_workspace\n"
        "with open_workspace() as workspace:\n"
        "    assert workspace.ask('Zanzibar', judge=False)\n"
        "print([one for one in sys.modules if one.startswith('elasticsearch')])",
    )
    assert (looked.stdout, looked.returncode) == ("[]\n", 0), looked.stderr
    configure(machine.folder, engine="stub", stub={"shelv": "second"})
    assert "index.stub.shelv: unknown key; did you mean 'shelf'?" in machine.refusal("status")
    machine.uninstall()
    refused = machine.refusal("status")
    assert "index.engine: 'stub': is not a search engine; use one of: embedded, elas" in refused
    assert "index.stub: unknown key" in refused


def test_an_installed_kind_of_source_is_read_by_the_process_that_reads_sources(machine):
    with closing(sqlite3.connect(machine.folder / "birds.sqlite")) as connection:
        connection.executescript(
            "CREATE TABLE penguins (species TEXT); INSERT INTO penguins VALUES ('Gentoo');"
            "CREATE VIEW broken AS SELECT * FROM absent;"
        )
    source = {"type": "sqlite", "name": "birds", "path": "birds.sqlite"}
    (machine.folder / "pneuma.yaml").write_text(json.dumps({"home": "home", "sources": [source]}))
    machine.install(SQLITE)
    told = json.loads(machine.output("index", "--json"))
    assert (told["indexed"], told["failed"]) == (1, 1)
    assert "no such table: main.absent" in told["problems"][0]["cause"]
    found = json.loads(machine.output("search", "gentoo penguins", "--json"))
    assert [one["table_id"] for one in found] == ["birds/penguins"]
    machine.uninstall()
    assert "sources[0].type: 'sqlite' is not known;" in machine.refusal("status")
