"""Models stand in one map, and sections name its entries."""

import pytest

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.config.models import ModelConfig

GPT = {"model": "gpt-4", "endpoint_url": "http://localhost:8000/v1", "send_values": True}


def test_a_section_has_the_model_that_it_names():
    said = {"models": {"gpt": GPT, "own": {"model": "org/m", "device": "cpu"}}}
    sections = {"narration": {"model": "gpt"}, "judge": {"model": "gpt"}}
    deployment = Deployment.model_validate({**said, **sections, "answers": {"model": "own"}})
    assert deployment.narration.model == deployment.judge.model == ModelConfig(**GPT)
    assert deployment.answers.model == ModelConfig(model="org/m", device="cpu")
    again = Deployment.model_validate(deployment.model_dump(exclude_none=True))
    assert again == deployment


@pytest.mark.parametrize("name", ["org/gpt", "smollm2-135m", "gpt.gguf", "another"])
def test_what_is_no_entry_is_a_model_itself(name):
    said = {"models": {"gpt": GPT, "smollm2": GPT}, "answers": {"model": name}}
    assert Deployment.model_validate(said).answers.model == ModelConfig(model=name)


def test_a_model_may_stand_in_place():
    assert Deployment.model_validate({"judge": {"model": GPT}}).judge.model == ModelConfig(**GPT)


def test_without_a_model_none_is_asked():
    deployment = Deployment()
    assert deployment.narration.model is deployment.judge.model is deployment.answers.model is None
    (notice,) = deployment.notices
    assert "name one in narration.model" in notice


@pytest.mark.parametrize("section", ["narration", "judge", "answers"])
def test_that_a_model_is_not_there_is_told(tmp_path, section):
    (tmp_path / "pneuma.yaml").write_text(f"{section}: {{model: models/none.gguf}}")
    notices = load_deployment(tmp_path / "pneuma.yaml").deployment.notices
    path = tmp_path / "models" / "none.gguf"
    assert notices == [f"{section}: there is no model at {path}; correct the path of the model"]


@pytest.mark.parametrize(("gpu", "told"), [(True, 0), (False, 1)])
def test_that_describing_takes_long_is_told(monkeypatch, gpu, told):
    monkeypatch.setattr("pneuma_assets.core.config.models.has_gpu", lambda: gpu)
    notices = Deployment.model_validate({"narration": {"model": "org/m"}}).notices
    assert [("takes long" in one) for one in notices] == [True] * told
