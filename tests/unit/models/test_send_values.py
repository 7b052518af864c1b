"""Which models may be shown what tables hold: those of this program, and endpoints when told so."""

import pytest

from pneuma_assets.core.config.models import AnswersConfig, JudgeConfig, NarrationConfig
from pneuma_assets.core.errors import ModelError
from pneuma_assets.core.models.language.fake import FakeLanguageModel
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.pipeline.describe import answer_key, answer_keys

AWAY = {"backend": "openai", "endpoint_url": "http://localhost:1/v1"}


@pytest.mark.parametrize("place", [AWAY, {"endpoint_url": "http://127.0.0.1:1/v1"}])
def test_an_endpoint_is_asked_the_papers_prompt_unless_told_otherwise(place):
    assert NarrationConfig(**place).asked == "paper"
    assert NarrationConfig(**place, send_values=True).asked == "grounded"
    assert NarrationConfig(**place, send_values=True, prompt="paper").asked == "paper"


def test_a_model_of_this_program_is_asked_as_configured():
    assert NarrationConfig().asked == "grounded"
    assert NarrationConfig(backend="llamacpp").shows_values


def test_answers_have_the_key_of_the_prompt_that_brought_them():
    model = FakeLanguageModel()
    withheld, shown = NarrationConfig(**AWAY), NarrationConfig(**AWAY, send_values=True)
    paper = NarrationConfig(**AWAY, prompt="paper")
    assert answer_key(model, withheld) == answer_key(model, paper)
    assert not answer_key(model, withheld).of_table
    assert answer_keys(model, withheld) == [answer_key(model, paper), answer_key(model, shown)]
    assert answer_keys(model, shown) == [answer_key(model, shown), answer_key(model, paper)]


def test_what_is_withheld_is_told_with_the_key_that_changes_it():
    assert "narration.send_values: true" in NarrationConfig(**AWAY, enabled=True).notice
    assert "judge.send_values: true" in JudgeConfig(**AWAY, enabled=True).notice
    told = AnswersConfig(**AWAY, enabled=True).notice
    assert "answers.send_values: true" in told
    assert "names of tables and columns, types and joins" in told


@pytest.mark.parametrize(
    "config",
    [
        NarrationConfig(**AWAY, enabled=False),
        NarrationConfig(enabled=True),
        NarrationConfig(**AWAY, enabled=True, send_values=True),
        NarrationConfig(**AWAY, enabled=True, prompt="paper"),
        JudgeConfig(**AWAY),
        JudgeConfig(enabled=True),
        JudgeConfig(**AWAY, enabled=True, send_values=True),
    ],
)
def test_nothing_is_told_where_nothing_is_withheld(config):
    assert config.notice is None


def test_a_judge_at_an_endpoint_refuses_before_anything_is_sent(tmp_path):
    judge = open_language_model(JudgeConfig(**AWAY), tmp_path, {})
    with pytest.raises(ModelError, match=r"judge\.send_values: true"):
        judge.yes_probability(["a"])
    with pytest.raises(ModelError, match=r"judge\.send_values: true"):
        judge.generate(["a"], 1)
    assert judge.yes_probability([]) == []
    judge.close()


def test_a_judge_that_may_see_values_is_the_endpoint_itself(tmp_path):
    judge = open_language_model(JudgeConfig(**AWAY, send_values=True), tmp_path, {})
    assert type(judge).__name__ == "OpenAIModel"
