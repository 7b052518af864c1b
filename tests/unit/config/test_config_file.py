"""Which deployment file is in force, and where its paths lead."""

from pathlib import Path

import pytest

from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import ConfigError


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def folder_paths(loaded):
    return [source.folder for source in loaded.deployment.sources if source.folder]


SOURCE = "sources:\n- {type: folder, name: lake, path: tables}\n"


def test_defaults_without_any_file(tmp_path):
    loaded = load_deployment(environ={}, cwd=tmp_path)
    assert loaded.file is None
    assert loaded.base == tmp_path
    assert loaded.home == tmp_path / ".pneuma"
    assert loaded.deployment.home == loaded.home
    assert loaded.deployment.sources == ()
    assert not loaded.home.exists()


def test_order_of_resolution(tmp_path):
    explicit = write(tmp_path / "a" / "mine.yaml", SOURCE)
    by_env = write(tmp_path / "b" / "env.yaml", SOURCE)
    in_home = write(tmp_path / "h" / "pneuma.yaml", SOURCE)
    here = write(tmp_path / "pneuma.yaml", SOURCE)
    in_default = write(tmp_path / ".pneuma" / "pneuma.yaml", SOURCE)
    both = {"PNEUMA_CONFIG": "b/env.yaml", "PNEUMA_HOME": "h"}

    def load(config=None, home=None, environ=None):
        return load_deployment(config, home, environ or {}, tmp_path)

    loaded = load(Path("a/mine.yaml"), None, both)
    assert (loaded.file, loaded.home) == (explicit, tmp_path / "h")
    assert load(None, Path("other"), both).file == by_env
    assert load(None, Path("other"), both).home == tmp_path / "other"
    assert load(None, Path("h"), {"PNEUMA_CONFIG": "  "}).file == in_home
    assert load(None, None, {"PNEUMA_HOME": "h"}).home == tmp_path / "h"
    assert load(None, Path("new"), {"PNEUMA_HOME": "h"}).home == tmp_path / "new"
    assert load().file == here
    here.unlink()
    assert load().file == in_default
    assert load().home == tmp_path / ".pneuma"


def test_paths_are_relative_to_the_file(tmp_path):
    write(
        tmp_path / "deploy" / "pneuma.yaml",
        "home: ../state\nsources:\n"
        "- {type: folder, name: a, path: lake}\n"
        "- {type: folder, name: b, path: /abs/lake}\n"
        "- {type: duckdb, name: c, path: ~/x.duckdb}\n"
        "narration: {model: ./models/n.gguf}\n"
        "models:\n  there: {endpoint_url: 'http://h:1/v1', model: ./served, send_values: true}\n"
        "  here: {model: ./models/m}\njudge: {model: there}\nanswers: {model: here}\n",
    )
    loaded = load_deployment(Path("deploy/pneuma.yaml"), environ={}, cwd=tmp_path)
    assert loaded.base == tmp_path / "deploy"
    assert loaded.home == tmp_path / "state"
    assert folder_paths(loaded) == [tmp_path / "deploy" / "lake", Path("/abs/lake")]
    assert loaded.deployment.sources[2].path == Path.home() / "x.duckdb"
    deployment = loaded.deployment
    assert deployment.narration.model.model == str(tmp_path / "deploy/models/n.gguf")
    assert deployment.answers.model == deployment.models["here"]
    assert deployment.answers.model.model == str(tmp_path / "deploy/models/m")
    assert deployment.judge.model.model == "./served", "the name belongs to the endpoint"
    assert deployment.encoder.model.model == "all-MiniLM-L6-v2"


def test_a_model_folder_beside_the_file_wins_over_a_hub_id(tmp_path):
    (tmp_path / "org" / "model").mkdir(parents=True)
    file = write(tmp_path / "pneuma.yaml", "encoder: {model: org/model}\n")
    encoder = load_deployment(file, environ={}).deployment.encoder
    assert encoder.model.model == str(tmp_path / "org/model")


def test_home_of_a_file_found_in_a_home(tmp_path):
    write(tmp_path / "h" / "pneuma.yaml", "home: .\n" + SOURCE)
    loaded = load_deployment(home=tmp_path / "h", environ={})
    assert loaded.home == tmp_path / "h"
    assert folder_paths(loaded) == [tmp_path / "h" / "tables"]
    write(tmp_path / "h" / "pneuma.yaml", "home: elsewhere\n" + SOURCE)
    with pytest.raises(ConfigError, match=r"write 'home: \.'"):
        load_deployment(home=tmp_path / "h", environ={})
    assert load_deployment(tmp_path / "h/pneuma.yaml", environ={}).home == tmp_path / "h/elsewhere"


def test_a_home_that_is_a_file_and_a_misspelt_file_name(tmp_path):
    write(tmp_path / "x", "")
    with pytest.raises(ConfigError, match="is not a folder"):
        load_deployment(home=tmp_path / "x", environ={})
    write(tmp_path / "pneuma.yml", SOURCE)
    with pytest.raises(ConfigError, match=r"rename it to pneuma\.yaml"):
        load_deployment(environ={}, cwd=tmp_path)


def test_a_dangling_link_is_not_taken_for_no_file(tmp_path):
    (tmp_path / "pneuma.yaml").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigError, match="does not exist"):
        load_deployment(environ={}, cwd=tmp_path)
