"""Settings with a language model: columns are described once, candidates judged."""

import os

from benchmarks.tests.support.bench_sets import SIDES, TABLES, small_set
from pneuma_assets.core.config.models import NarrationConfig
from pneuma_bench.lab import Lab
from pneuma_bench.measure import compare
from pneuma_bench.retrieval import describe
from pneuma_bench.settings import Spec
from tests.support.fake_model import FakeLanguageModel
from tests.support.word_encoder import WordEncoder

COLUMNS = sum(len(columns) for columns, _ in TABLES.values())


def test_narrations_and_the_judge_are_settings_like_others(tmp_path):
    model = FakeLanguageModel()
    spec = Spec(vary={"narration.model": ["m"], "judge.model": ["m"]})
    with Lab(small_set(), tmp_path, os.environ, lambda _: WordEncoder(), lambda *_: model) as lab:
        _, narrated, judged = compare(lab, spec.settings(SIDES))
    described = [prompt for prompt in model.prompts if "column represents" in prompt]
    assert len(described) == COLUMNS
    assert len(model.prompts) > COLUMNS  # the others were judged
    assert narrated.outcome.facts["texts_embedded"] == len(TABLES)  # the schemas' new texts
    assert judged.outcome.figures.values


def test_columns_are_asked_for_as_the_configuration_names(tmp_path):
    prompts = {}
    for prompt, there in {"grounded": {}, "paper": {"endpoint_url": "http://h/v1"}}.items():
        model = FakeLanguageModel()
        config = NarrationConfig.model_validate({"model": {"model": "m", **there}})
        describe(small_set(), model, config, tmp_path)
        prompts[prompt] = model.prompts
    assert all("Some of its rows:" in prompt for prompt in prompts["grounded"])
    assert not any("Some of its rows:" in prompt for prompt in prompts["paper"])
    assert len(prompts["paper"]) <= len(prompts["grounded"]) == COLUMNS


def test_a_column_is_described_once(tmp_path):
    model, again = FakeLanguageModel(), FakeLanguageModel()
    first = describe(small_set(), model, NarrationConfig(), tmp_path)
    assert {len(said) for said in first.values()} == {2}
    assert model.prompts
    assert describe(small_set(), again, NarrationConfig(), tmp_path) == first
    assert again.prompts == []
