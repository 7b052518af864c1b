"""The command line on the Elasticsearch engine, with a real server and the packaged encoder."""

import json
import secrets
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from pneuma_assets.cli.app import app
from tests.support.elasticsearch_server import client_of, delete_indices

pytestmark = pytest.mark.integration

NOWHERE = "http://127.0.0.1:1"
QUESTION = "rain at a weather station"
VARIABLES = ("PNEUMA_CONFIG", "PNEUMA_HOME", "PNEUMA_DEBUG", "DAGSTER_HOME")


def run(*args: str):
    return CliRunner().invoke(app, list(args))


def succeeds(*args: str) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


def fails(*args: str, code: int = 1) -> str:
    """Run a command that must fail: nothing on standard output, one line on the other."""
    result = run(*args)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    line = result.stderr.splitlines()[-1]
    assert line.startswith("error: ")
    assert "unexpected" not in line
    assert "Traceback" not in result.stderr
    return line


def scores(found: str) -> dict[str, float]:
    """Return the score of each table of an answer, best first."""
    return {result["table_id"]: result["score"] for result in json.loads(found)}


class Machine:
    """A deployment file and a state folder; commands get both by option."""

    def __init__(self, folder: Path, lake: Path, home: Path | None = None, **server: object):
        folder.mkdir()
        self.file = folder / "pneuma.yaml"
        self.home = home or folder / "home"
        self.lake = lake
        self.server = {"replicas": 0, **server}
        self.configure()

    def configure(self, engine: str = "elasticsearch", **options: object) -> None:
        """Write the deployment file; options are those of the server, and stay."""
        self.server |= options
        index = {"engine": engine, "elasticsearch": self.server}
        source = {"type": "folder", "name": "lake", "path": str(self.lake)}
        whole = {"sources": [source], "index": index}
        self.file.write_text(yaml.safe_dump(whole))

    def command(self, *args: str) -> list[str]:
        return ["--config", str(self.file), "--home", str(self.home), *args]

    def succeeds(self, *args: str) -> str:
        return succeeds(*self.command(*args))

    def fails(self, *args: str, code: int = 1) -> str:
        return fails(*self.command(*args), code=code)

    def status(self) -> dict[str, object]:
        return json.loads(self.succeeds("status", "--json"))

    def index(self) -> dict[str, object]:
        return json.loads(self.succeeds("index", str(self.lake), "--json"))


def make_lake(root: Path) -> Path:
    lake = root / "lake"
    (lake / "eu").mkdir(parents=True)
    (lake / "penguins.csv").write_text(
        "species,island,bill_length_mm\nAdelie,Torgersen,39.1\nGentoo,Biscoe,47.2\n"
    )
    (lake / "eu" / "economy.csv").write_text("country;year;gdp\nFrance;2020;2.6\n")
    (lake / "rain.jsonl").write_text('{"station":"Kiel","rain_mm":3.2}\n')
    return lake


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory, elasticsearch_url):
    """A machine that has indexed the lake; tests that share it change nothing."""
    root = tmp_path_factory.mktemp("cli")
    name = f"test-{secrets.token_hex(6)}"
    with pytest.MonkeyPatch.context() as patched, client_of(elasticsearch_url) as client:
        for variable in VARIABLES:
            patched.delenv(variable, raising=False)
        machine = Machine(root / "indexing", make_lake(root), urls=[elasticsearch_url], name=name)
        try:
            report = machine.index()
            assert (report["indexed"], report["failed"]) == (3, 0)
            yield machine
        finally:
            delete_indices(client, name)


@pytest.fixture
def alike(indexed, tmp_path):
    """Return what makes a machine with the same state, but for the options."""

    def make(folder: str = "alike", home: Path | None = None, **options: object) -> Machine:
        home = home or indexed.home
        return Machine(tmp_path / folder, indexed.lake, home, **{**indexed.server, **options})

    return make


@pytest.fixture
def machine(tmp_path, elasticsearch_url, index_name):
    lake = make_lake(tmp_path)
    return Machine(tmp_path / "machine", lake, urls=[elasticsearch_url], name=index_name)


def test_search_and_status(indexed):
    answer = indexed.succeeds("search", QUESTION, "--json")
    assert next(iter(scores(answer))) == "lake/rain"
    heading, first, *_ = indexed.succeeds("search", QUESTION).splitlines()
    assert heading.split() == ["sure", "score", "words", "meaning", "judge", "table"]
    assert first.split()[-1] == "lake/rain"

    whole = indexed.status()
    assert whole["counts"] == {"indexed": 3}
    index = whole["index"]
    assert index["engine"] == "elasticsearch"
    assert index["encoder"].startswith("all-MiniLM-L6-v2")
    assert (index["tables"], index["health"], index["usable"]) == (3, "green", True)
    assert index["blocks"] >= 3
    assert index["size_bytes"] > 0
    assert index["details"]["index"] == f"{indexed.server['name']}-000001"
    assert [index["details"]["address"]] == indexed.server["urls"]
    shown = indexed.succeeds("status")
    assert "tables: 3 indexed" in shown
    assert "elasticsearch" in shown
    assert "green" in shown
    assert " KiB" in shown


def test_a_machine_that_only_asks(indexed, alike, tmp_path):
    asking = alike(home=tmp_path / "home")
    wanted = scores(indexed.succeeds("search", QUESTION, "--json"))
    found = scores(asking.succeeds("search", QUESTION, "--json"))
    assert list(found) == list(wanted)
    assert found == pytest.approx(wanted, abs=1e-5)
    some = asking.succeeds("search", QUESTION, "--json", "--table", "lake/eu/economy")
    assert list(scores(some)) == ["lake/eu/economy"]
    assert len(scores(asking.succeeds("search", QUESTION, "--source", "lake", "--json"))) == 3
    assert "did you mean lake/rain" in asking.fails("search", "x", "--table", "lake/rian")
    whole = asking.status()
    assert (whole["tables"], whole["counts"]) == ([], {})
    assert whole["index"]["tables"] == 3
    shown = asking.succeeds("status")
    assert "this machine has indexed none" in shown
    assert "elasticsearch" in shown
    assert not asking.home.exists(), "asking leaves nothing behind"


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [["search", QUESTION], ["reindex"], ["copy-index", "elasticsearch", "embedded"], ["index"]],
    ids=lambda args: args[0],
)
def test_a_server_that_nobody_reaches(alike, args):
    line = alike(urls=[NOWHERE]).fails(*args)
    assert "index.elasticsearch.urls" in line
    assert "127.0.0.1" in line


@pytest.mark.slow
def test_the_status_of_a_server_that_nobody_reaches(alike):
    machine = alike(urls=[NOWHERE])
    result = run(*machine.command("status", "--json"))
    assert result.exit_code == 1, "a program that watches must notice"
    whole = json.loads(result.stdout)
    assert whole["counts"] == {"indexed": 3}, "what this machine knows is shown all the same"
    assert not whole["index"]["usable"]
    assert whole["index"]["health"].startswith("unknown: ")
    assert "index.elasticsearch.urls" in whole["index"]["health"]
    result = run(*machine.command("status"))
    assert result.exit_code == 1
    assert "unknown: " in result.stdout


@pytest.mark.slow
def test_a_name_that_nobody_has_indexed(alike, tmp_path, index_name, elasticsearch_url):
    wrong = alike(name=index_name, home=tmp_path / "home")
    line = wrong.fails("search", QUESTION)
    assert "There is no search index" in line
    assert "index.elasticsearch.name" in line
    assert "nothing is indexed yet" in wrong.succeeds("status")
    assert wrong.status()["index"] is None
    assert "There is no search index" in wrong.fails("reindex")
    assert "no elasticsearch index" in wrong.fails("copy-index", "elasticsearch", "embedded")
    with client_of(elasticsearch_url) as client:
        found = client.indices.get(index=f"{index_name}*")
        assert list(found) == [], "asking has made an index"


@pytest.mark.slow
def test_tables_that_leave_and_other_settings(machine, index_name, elasticsearch_url):
    assert machine.index()["indexed"] == 3
    before = scores(machine.succeeds("search", QUESTION, "--json"))
    machine.configure(shards=2, quantization="int8")
    shown = machine.succeeds("status")
    assert "reindex' for: quantization int8, shards 2" in shown

    index = json.loads(machine.succeeds("reindex", "--json"))
    assert index["tables"] == 3
    assert index["details"]["index"].startswith(f"{index_name}-000002-")
    assert (index["details"]["shards"], index["details"]["quantization"]) == ("2", "int8")
    assert "reindex" not in index["details"]
    assert machine.status()["index"]["details"] == index["details"]
    found = scores(machine.succeeds("search", QUESTION, "--json"))
    assert list(found) == list(before)
    assert found == pytest.approx(before, abs=1e-4)
    with client_of(elasticsearch_url) as client:
        assert list(client.indices.get(index=f"{index_name}-*")) == [index["details"]["index"]]

    report = machine.index()
    assert (report["indexed"], report["unchanged"], report["failed"]) == (0, 3, 0)
    (machine.lake / "penguins.csv").unlink()
    assert machine.index()["removed"] == 1
    assert machine.status()["index"]["tables"] == 2


def test_reindex_without_an_embedded_index_says_how_to_make_one(machine):
    machine.configure("embedded")
    command = f"pneuma-assets --home {machine.home} --config {machine.file} index"
    assert f"run '{command}'" in machine.fails("reindex")
