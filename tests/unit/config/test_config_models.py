"""Which models are asked where the file leaves that to the machine."""

import pytest

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.models import NarrationConfig

ENDPOINT = {"endpoint_url": "http://localhost:8000/v1", "model": "qwen"}


@pytest.mark.parametrize(
    ("said", "gpu", "asks", "why"),
    [
        ({}, False, False, "packaged model is too small"),
        ({}, True, False, "packaged model is too small"),
        ({"model": "org/model"}, False, False, "no GPU"),
        ({"model": "org/model"}, True, True, "there is a GPU"),
        (ENDPOINT, False, True, "there is an endpoint"),
        ({"enabled": True}, False, True, None),
        ({"enabled": False} | ENDPOINT, True, False, None),
    ],
)
def test_a_language_model_describes_where_there_is_one(monkeypatch, said, gpu, asks, why):
    monkeypatch.setattr("pneuma_assets.core.config.models.has_gpu", lambda: gpu)
    narration = NarrationConfig.model_validate(said)
    assert narration.asks is asks
    (told,) = [line for line in Deployment(narration=narration).notices if "auto" in line] or [None]
    assert (told is None) if why is None else (why in told and "\n" not in told)


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_what_is_neither_is_refused(value):
    with pytest.raises(ValueError, match="must be auto, true or false"):
        NarrationConfig(enabled=value)
