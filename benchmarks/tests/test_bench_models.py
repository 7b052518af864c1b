"""Settings with a language model: tables are described once, candidates judged."""

import os

from benchmarks.tests.support.bench_sets import SIDES, TABLES, small_set
from pneuma_assets.core.config.models import NarrationConfig
from pneuma_bench.lab import Lab
from pneuma_bench.measure import compare
from pneuma_bench.retrieval import describe
from pneuma_bench.settings import Spec
from tests.support.fake_model import FakeLanguageModel
from tests.support.word_encoder import WordEncoder


def test_narrations_and_the_judge_are_settings_like_others(tmp_path):
    model = FakeLanguageModel()
    spec = Spec(vary={"narration.model": ["m"], "judge.model": ["m"]})
    with Lab(small_set(), tmp_path, os.environ, lambda _: WordEncoder(), lambda *_: model) as lab:
        _, narrated, judged = compare(lab, spec.settings(SIDES))
    described = [prompt for prompt in model.prompts if "Describe a table" in prompt]
    assert len(described) == len(TABLES)
    assert len(model.prompts) > len(TABLES)  # the others were judged
    assert narrated.outcome.facts["texts_embedded"] == 2 * len(TABLES)  # schemas, and summaries
    assert judged.outcome.figures.values


def test_tables_are_asked_about_as_the_configuration_names(tmp_path):
    prompts = {}
    for prompt, there in {"values": {}, "names": {"endpoint_url": "http://h/v1"}}.items():
        model = FakeLanguageModel()
        config = NarrationConfig.model_validate({"model": {"model": "m", **there}})
        describe(small_set(), model, config, tmp_path)
        prompts[prompt] = model.prompts
    assert all("Some of its" in prompt for prompt in prompts["values"])
    assert not any("Some of its" in prompt for prompt in prompts["names"])
    assert len(prompts["names"]) <= len(prompts["values"]) == len(TABLES)


def test_a_table_is_described_once(tmp_path):
    model, again = FakeLanguageModel(), FakeLanguageModel()
    first = describe(small_set(), model, NarrationConfig(), tmp_path)
    assert {len(said) for said in first.values()} == {3}
    assert model.prompts
    assert describe(small_set(), again, NarrationConfig(), tmp_path) == first
    assert again.prompts == []
