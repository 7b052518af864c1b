"""An engine that the project does not know serves a deployment after one registration."""

from dataclasses import replace

import dagster as dg
import pytest
from pydantic import ValidationError

from pneuma_assets.cli.app import app
from pneuma_assets.core.config import index
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.config.values import LocalPath
from pneuma_assets.core.errors import ConfigError, QueryError
from pneuma_assets.core.index.registry import inspect_index, kind_of, reindex
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.resources.build import build_resources
from pneuma_assets.resources.deployment import DeploymentResource
from tests.support.pipeline_support import deployment, run_job, small_lake
from tests.support.stub_index import register_stub
from tests.support.word_encoder import WordEncoder

KEY = {"PNEUMA_STUB_KEY": "c2VzYW1l"}
LOCKED = {"engine": "stub", "stub": {"shelf": "second", "api_key_env": "PNEUMA_STUB_KEY"}}


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(index.ENGINES, "known", dict(index.ENGINES.known))
    register_stub()


@pytest.fixture
def deployed(registered, tmp_path, monkeypatch):
    """Return what loads a deployment of a small lake whose `index` section is given."""
    for module in ("pneuma_assets.resources.models", "pneuma_assets.core.models.encoder.encoder"):
        monkeypatch.setattr(f"{module}.open_encoder", lambda *_: WordEncoder())
    lake = small_lake(tmp_path, 4)
    return lambda index: deployment(tmp_path, lake, index=index)


def indexed(loaded):
    with dg.DagsterInstance.ephemeral() as instance:
        assert run_job(loaded, instance).success


def first_answer(loaded):
    with Workspace(loaded, KEY) as workspace:
        return workspace.query_engine().ask("amount_2 of island 2")[0].table_id


def test_the_job_fills_it_and_questions_are_answered(deployed, monkeypatch):
    monkeypatch.setenv(*next(iter(KEY.items())))
    loaded = deployed(LOCKED)
    with Workspace(loaded, KEY) as workspace, pytest.raises(QueryError, match="nothing is indexed"):
        workspace.query_engine()
    indexed(loaded)
    assert [one.name for one in (loaded.home / "shelves").iterdir()] == ["second"]
    assert not (loaded.home / "index").exists()
    assert first_answer(loaded) == "lake/t2"
    with Workspace(loaded, KEY) as workspace:
        status = workspace.status()
    assert (status.index.engine, status.index.tables) == ("stub", 4)


def test_its_secret_is_named_and_never_kept(deployed):
    loaded = deployed(LOCKED)
    resource = build_resources(loaded)["pneuma_index"]
    assert resource.config.settings == loaded.deployment.index.settings
    assert DeploymentResource.of(loaded).loaded == loaded
    with (
        Workspace(loaded, {}) as workspace,
        pytest.raises(ConfigError, match=r"index\.stub\.api_key_env: .*PNEUMA_STUB_KEY is not set"),
    ):
        workspace.inspect_index()


def test_an_index_moves_to_it_and_back(deployed, capsys):
    loaded = deployed({"engine": "embedded"})
    indexed(loaded)
    answer = first_answer(loaded)
    file = ["--config", str(loaded.file)]
    assert app(["copy-index", "embedded", "stub", *file], standalone_mode=False) in (0, None)
    assert "set index.engine: stub" in capsys.readouterr().out
    assert first_answer(deployed({"engine": "stub"})) == answer
    with Workspace(loaded, {}) as workspace:
        assert workspace.copy_index("stub", "embedded").tables == 4
    assert first_answer(loaded) == answer


def test_it_is_renewed_for_another_analyzer(deployed):
    indexed(deployed({"engine": "stub"}))
    german = deployed({"engine": "stub", "analyzer": "german"})
    assert first_answer(german) == "lake/t2", "answered by the rules that built it"
    assert inspect_index(german.deployment.index, german.home).details["analyzer"] == "english-2"
    reindex(german.deployment.index, german.home)
    assert first_answer(german) == "lake/t2"
    assert inspect_index(german.deployment.index, german.home).details["analyzer"] == "german-2"


def test_the_paths_of_its_section_are_resolved(deployed, tmp_path):
    class Kept(Section):
        folder: LocalPath | None = None

    where = "tests.support.stub_index:StubKind"
    index.register_engine(index.Engine("kept", where, Kept, of_one_machine=True))
    loaded = deployed({"kept": {"folder": "there"}})
    config = loaded.deployment.index.model_copy(update={"engine": "kept"})
    assert config.settings == Kept(folder=tmp_path / "there")


class Demanding(Section):
    address: str
    shards: int = 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"name": "embedded"}, r"'embedded' is .*EmbeddedKind; give .*:Other another name"),
        ({"name": "stub"}, r"'stub' is .*StubKind; give .*:Other another name"),
        ({"name": "engine"}, "'engine' cannot name a search engine: it has a meaning"),
        ({"name": "settings"}, "'settings' cannot name a search engine: it has a meaning"),
        ({"name": ""}, "cannot name a search engine; use lower-case"),
        ({"name": "Big"}, "cannot name a search engine; use lower-case"),
        ({"section": Demanding}, "no default for address"),
    ],
)
def test_what_is_no_engine_is_refused(registered, change, told):
    engine = index.Engine("other", "somewhere:Other", of_one_machine=False)
    with pytest.raises(ConfigError, match=told):
        index.register_engine(replace(engine, **change))
    assert index.ENGINES.names() == ["embedded", "elasticsearch", "stub"]


@pytest.mark.parametrize("place", ["their_gone:Kind", "some where:Other"])
def test_an_engine_that_cannot_be_imported_is_told_of(registered, place):
    index.register_engine(index.Engine("gone", place, of_one_machine=False))
    with pytest.raises(ConfigError, match=rf"'gone' cannot be used \({place}: "):
        kind_of("gone")


def test_the_index_of_one_machine_has_no_state_that_others_share(registered):
    load_with_state = {"state": {"url": "postgresql://a@b/c"}, "index": {"engine": "stub"}}
    with pytest.raises(ValidationError, match="index of engine stub is one machine's"):
        Deployment.model_validate(load_with_state)


def test_without_a_registration_there_is_none():
    with pytest.raises(ConfigError, match=r"'stub' is not a search engine; .*: embedded, elastic"):
        kind_of("stub")
    assert set(IndexConfig.in_force().model_fields) == {"engine", "analyzer", "elasticsearch"}
