"""Models at an endpoint are shown what tables hold only where the deployment file says so."""

import pytest

from pneuma_assets.core.config.models import AnswersConfig, JudgeConfig, NarrationConfig
from pneuma_assets.core.pipeline.describe import answer_keys
from tests.support.fake_model import FakeLanguageModel

HERE = {"model": "smollm2-135m", "device": "cpu"}
AWAY = {"model": "m", "endpoint_url": "http://127.0.0.1:1/v1"}
SHOWN = {**AWAY, "send_values": True}


@pytest.mark.parametrize(
    ("model", "prompts"),
    [(HERE, ["values", "names"]), (AWAY, ["names", "values"]), (SHOWN, ["values", "names"])],
)
def test_an_endpoint_is_shown_names_and_types_alone_unless_told(model, prompts):
    config = NarrationConfig.model_validate({"model": model})
    assert config.prompt == prompts[0]
    keys = answer_keys(FakeLanguageModel(), config)
    assert [one.of_table for one in keys] == [one == "values" for one in prompts]


def test_who_is_shown_less_is_told_how_to_show_more_and_a_judge_is_refused():
    for kind in (NarrationConfig, AnswersConfig):
        assert "send_values: true" in kind.model_validate({"model": AWAY}).notice
        assert "send_values" not in str(kind.model_validate({"model": SHOWN}).notice)
        assert "send_values" not in str(kind.model_validate({"model": HERE}).notice)
    assert "name one in narration.model" in str(NarrationConfig().notice)
    assert AnswersConfig().notice is None
    with pytest.raises(ValueError, match="set send_values: true"):
        JudgeConfig.model_validate({"model": AWAY})
    for model in (HERE, SHOWN, None):
        JudgeConfig.model_validate({"model": model})
