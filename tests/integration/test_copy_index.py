"""`copy-index`: one engine's index becomes the other's, embeddings included, without a model."""

import json
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import yaml
from typer.testing import CliRunner

from pneuma_assets.cli.app import app
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import IndexMismatchError, SearchIndexError
from pneuma_assets.core.index import copy
from pneuma_assets.core.index.base import IndexQuery, SearchIndex
from pneuma_assets.core.index.registry import open_index
from pneuma_assets.core.progress import listening
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.tables import Block, DocumentKind, EmbeddedBlock
from tests.support.elasticsearch_server import client_of
from tests.support.index_blocks import replace_blocks
from tests.support.word_encoder import WordEncoder

pytestmark = pytest.mark.integration

ENCODER = WordEncoder()
ENGINES = ("embedded", "elasticsearch")
QUESTIONS = ("rain in Kiel", "gdp of France and Norway", "snow", "kroner of Norway")


def embedded(table_id: str, *texts: str, encoder: WordEncoder = ENCODER) -> list[EmbeddedBlock]:
    vectors = encoder.encode_documents(texts) if texts else []
    kinds = [DocumentKind.SCHEMA, DocumentKind.ROWS, DocumentKind.CONTEXT]
    blocks = [Block(table_id, kinds[len(text) % 3], text) for text in texts]
    return [EmbeddedBlock(one, vector) for one, vector in zip(blocks, vectors, strict=True)]


LAKE = {
    "lake/rain": embedded("lake/rain", "rain in Kiel", "snow in Oslo", "rain and snow"),
    "lake/empty": [],
    "lake/gdp": embedded("lake/gdp", "gdp of France", "gdp of Norway, in kroner"),
    "lake/caf\udce9": embedded("lake/caf\udce9", "\ud800 no text", "\ufdd0d800", "\x00\u2028"),
    **{
        f"deep/t{n}": embedded(f"deep/t{n}", *(f"amount_{n} of island {i}" for i in range(n)))
        for n in range(1, 8)
    },
}


class Deployed:
    """A deployment with both engines; each is opened as a run or a question opens it."""

    def __init__(self, folder: Path, url: str, name: str) -> None:
        self.file = folder / "pneuma.yaml"
        self.folder = folder
        server = {"urls": [url], "name": name, "replicas": 0}
        self.file.write_text(yaml.safe_dump({"home": "home", "index": {"elasticsearch": server}}))
        self.loaded = load_deployment(self.file, environ={}, cwd=folder)

    def open(
        self,
        engine: str,
        encoder: str = ENCODER.name,
        dimension: int = ENCODER.dimension,
        **options: bool,
    ) -> SearchIndex:
        config = self.loaded.deployment.index.model_copy(update={"engine": engine})
        return open_index(config, self.loaded.home, encoder, dimension, **options)

    def write(self, engine: str, tables: dict[str, list[EmbeddedBlock]], **options: object) -> None:
        with closing(self.open(engine, **options, building=True)) as index:
            replace_blocks(index, tables)

    def copy(self, source: str, target: str, **options: bool):
        with Workspace(self.loaded, {}) as workspace:
            return workspace.copy_index(source, target, **options)

    def contents(self, engine: str, **options: object) -> dict[str, object]:
        """Return all that an engine holds, vectors bit by bit."""
        with closing(self.open(engine, **options)) as index:
            return {
                "tables": index.list_tables(),
                "blocks": {item.block: item.vector.tobytes() for item in index.blocks()},
            }


@pytest.fixture
def deployed(tmp_path, elasticsearch_url, index_name):
    return Deployed(tmp_path, elasticsearch_url, index_name)


def other(engine: str) -> str:
    return ENGINES[1 - ENGINES.index(engine)]


def ranked(index: SearchIndex) -> list[list[tuple[str, float]]]:
    vectors = ENCODER.encode_queries(QUESTIONS)
    asked = [IndexQuery(text, vector) for text, vector in zip(QUESTIONS, vectors, strict=True)]
    return [
        [(hit.block.block_id, hit.score) for hit in side]
        for found in index.search(asked, 5)
        for side in (found.lexical, found.semantic)
    ]


@pytest.mark.parametrize("source", ENGINES)
def test_the_other_engine_then_holds_and_answers_the_same(deployed, source):
    target = other(source)
    deployed.write(source, LAKE)
    info = deployed.copy(source, target)
    wanted = deployed.contents(source)
    assert deployed.contents(target) == wanted
    assert (info.engine, info.encoder, info.dimension) == (target, ENCODER.name, 64)
    assert (info.tables, info.blocks) == (len(LAKE), sum(map(len, LAKE.values())))
    assert set(wanted["blocks"]) == {item.block for items in LAKE.values() for item in items}
    with closing(deployed.open(source)) as first, closing(deployed.open(target)) as second:
        for before, after in zip(ranked(first), ranked(second), strict=True):
            assert [block_id for block_id, _ in after] == [block_id for block_id, _ in before]
            found, scores = ([score for _, score in side] for side in (after, before))
            assert found == pytest.approx(scores, rel=1e-5, abs=1e-5)


ANOTHER: dict[str, object] = {"encoder": "another", "dimension": 8}


def another(table_id: str) -> dict[str, list[EmbeddedBlock]]:
    vector = np.eye(1, 8, dtype=np.float32)[0]
    return {table_id: [EmbeddedBlock(Block(table_id, DocumentKind.ROWS, "old"), vector)]}


@pytest.mark.slow
@pytest.mark.parametrize("source", ENGINES)
def test_an_index_of_another_encoder_is_replaced_only_where_asked(deployed, source):
    target = other(source)
    deployed.write(source, LAKE)
    deployed.write(target, another("old/table"), **ANOTHER)
    with pytest.raises(IndexMismatchError, match=r"another encoder .*add --replace"):
        deployed.copy(source, target)
    assert deployed.contents(target, **ANOTHER)["tables"] == {"old/table": 1}
    assert deployed.copy(source, target, replace=True).encoder == ENCODER.name
    assert deployed.contents(target) == deployed.contents(source)


@pytest.mark.parametrize("source", ENGINES)
def test_there_is_nothing_to_copy(deployed, source):
    deployed.write(other(source), LAKE)
    with pytest.raises(SearchIndexError, match=f"no {source} index"):
        deployed.copy(source, other(source))
    assert len(deployed.contents(other(source))["tables"]) == len(LAKE), "nothing was removed"


def interrupt(task: str, done: int, total: int) -> None:
    if done == 3:
        raise KeyboardInterrupt


@pytest.mark.slow
def test_readers_keep_the_old_index_until_the_copy_is_whole(
    deployed, monkeypatch, elasticsearch_url, index_name
):
    monkeypatch.setattr(copy, "_TABLES_AT_ONCE", 1)
    deployed.write("embedded", LAKE)
    deployed.write("elasticsearch", another("old/table"), **ANOTHER)
    with pytest.raises(KeyboardInterrupt), listening(interrupt):
        deployed.copy("embedded", "elasticsearch", replace=True)
    assert deployed.contents("elasticsearch", **ANOTHER)["tables"] == {"old/table": 1}
    with pytest.raises(IndexMismatchError):
        deployed.open("elasticsearch")
    deployed.copy("embedded", "elasticsearch", replace=True)
    assert deployed.contents("elasticsearch") == deployed.contents("embedded")
    with client_of(elasticsearch_url) as client:
        (index,) = client.indices.get(index=f"{index_name}-*")
    assert index.startswith(f"{index_name}-000002-"), "the old one is gone"


def run(*args: str) -> str:
    result = CliRunner().invoke(app, list(args))
    assert result.exit_code == 0, result.output
    return result.stdout


class Machine:
    """A lake and a deployment file that names the engine in use."""

    def __init__(self, folder: Path, url: str, name: str) -> None:
        self.folder = folder
        self.server = {"urls": [url], "name": name, "replicas": 0}
        (folder / "lake").mkdir()
        (folder / "lake" / "economy.csv").write_text("country;year;gdp\nFrance;2020;2.6\n")
        (folder / "lake" / "rain.jsonl").write_text('{"station":"Kiel","rain_mm":3.2}\n')
        (folder / "lake" / "rain.md").write_text("Measured at the weather station of Kiel.")

    def use(self, engine: str, analyzer: str = "english") -> None:
        source = {"type": "folder", "name": "lake", "path": "lake"}
        index = {"engine": engine, "analyzer": analyzer, "elasticsearch": self.server}
        whole = {"sources": [source], "index": index}
        (self.folder / "pneuma.yaml").write_text(yaml.safe_dump(whole))

    def indexed(self) -> tuple[int, int]:
        report = json.loads(run("index", "--json"))
        assert report["failed"] == 0
        return report["indexed"], report["unchanged"]

    def answers(self) -> dict[str, float]:
        found = json.loads(run("search", "rain at a weather station", "--json"))
        return {result["table_id"]: result["score"] for result in found}


@pytest.mark.slow
@pytest.mark.parametrize("first", ENGINES)
def test_a_deployment_moves_to_the_other_engine(
    tmp_path, monkeypatch, elasticsearch_url, index_name, first
):
    for name in ("PNEUMA_CONFIG", "PNEUMA_HOME", "PNEUMA_DEBUG", "DAGSTER_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    second = other(first)
    machine = Machine(tmp_path, elasticsearch_url, index_name)
    machine.use(first)
    assert machine.indexed() == (2, 0)
    answers = machine.answers()
    assert next(iter(answers)) == "lake/rain"

    shown = run("copy-index", first, second)
    assert any(line.startswith(second) for line in shown.splitlines())
    assert f"set index.engine: {second}" in shown
    info = json.loads(run("copy-index", first, second, "--json"))
    assert (info["engine"], info["tables"], info["health"]) == (second, 2, "green")

    machine.use(second)
    assert machine.indexed() == (0, 2), "the next run does nothing"
    found = machine.answers()
    assert list(found) == list(answers)
    assert found == pytest.approx(answers, abs=1e-4)
    assert json.loads(run("status", "--json"))["index"]["engine"] == second
    (tmp_path / "lake" / "economy.csv").unlink()
    run("index")
    assert machine.answers().keys() == {"lake/rain"}
