"""Options by name become a deployment's keys or a question's arguments, or are refused."""

import pytest

from benchmarks.tests.support.bench_sets import small_set
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.errors import BenchmarkError, ConfigError, QueryError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.tables import DocumentKind
from pneuma_bench.lab import Lab
from pneuma_bench.measure import measure
from pneuma_bench.settings import Spec, read_spec, setting_of

BASE = Deployment()
KINDS = [DocumentKind.ROWS, DocumentKind.SCHEMA]


def test_a_key_of_the_deployment_is_replaced():
    setting = setting_of(BASE, {"sampling.rows": 2, "query.n": 7, "k": None})
    assert setting.deployment.sampling.rows == 2
    assert setting.deployment.query.n == 7
    assert setting.deployment.sampling.values == BASE.sampling.values
    assert setting.name == "sampling.rows=2, query.n=7"
    assert setting.ask_options(KINDS) == {}


def test_other_names_are_arguments_of_a_question():
    setting = setting_of(BASE, {"alpha": 0.3, "judge": False})
    assert setting.deployment == BASE
    assert setting.ask_options(KINDS) == {"alpha": 0.3, "judge": False}


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({"kinds": ["rows"]}, ("rows",)),
        ({"without": ["rows"]}, ("names", "schema", "values")),
        ({"kinds": ["rows", "schema"], "without": ["rows"]}, ("schema",)),
        ({"without": ["context"]}, ("names", "rows", "schema", "values")),
    ],
)
def test_kinds_of_documents_to_look_in(options, kinds):
    where = setting_of(BASE, options).ask_options(KINDS)["where"]
    assert where == IndexFilter(kinds=tuple(map(DocumentKind, kinds)))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"alhpa": 1}, "no option 'alhpa'; did you mean 'alpha'"),
        ({"questions": ["x"]}, "no option 'questions'"),
        ({"where": 1}, "no option 'where'"),
        ({"home.x": "y"}, "no option 'home.x'"),
        ({"sampling.rovs": 2}, "did you mean 'sampling.rows'"),
        ({"sampling.rows.x": 2}, "no option 'sampling.rows.x'"),
        ({"sampling.": 2}, "no option 'sampling.'"),
        ({"sampling.rows": -1}, "sampling.rows: -1 cannot be used"),
        ({"query.weights.nonsense": 0}, "query.weights.nonsense: 0 cannot be used"),
        ({"index.engine": "elasticsearch"}, "no option 'index.engine'"),
        ({"kinds": "rows"}, "kinds must be a list"),
        ({"without": ["ROWS!"]}, "'ROWS!' is not a kind of document"),
        ({"without": [3]}, "3 is not a kind of document"),
    ],
)
def test_what_cannot_be_measured_is_refused(options, told):
    with pytest.raises(BenchmarkError) as raised:
        setting_of(BASE, options)
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"k": 0}, "k must be a whole number from 1"),
        ({"n": "many"}, "n must be a whole number from 1"),
        ({"k": 1_000, "n": 100}, "k times n must be at most"),
        ({"k": 1_000, "query.n": 100}, "k times n must be at most"),
        ({"alpha": 3.0}, "alpha must be a number from 0.0 to 1.0, not 3.0"),
        ({"judge": "no"}, "judge must be True, False or None"),
    ],
)
def test_what_no_question_may_ask_for_is_refused_before_indexing(monkeypatch, options, told):
    monkeypatch.setattr(Lab, "index", None)
    with pytest.raises(QueryError) as raised:
        measure(Lab(small_set(), None, {}), setting_of(BASE, options))
    assert told in str(raised.value)


def test_nothing_to_look_in_is_refused():
    setting = setting_of(BASE, {"kinds": ["rows"], "without": ["rows"]})
    with pytest.raises(BenchmarkError, match="no kind of document is left"):
        setting.ask_options(KINDS)


def test_settings_share_an_index_that_differ_only_in_asking():
    plain = setting_of(BASE, {})
    for options in ({"alpha": 0.1}, {"query.n": 1}, {"without": ["rows"]}, {"judge.model": "m"}):
        assert setting_of(BASE, options).index_key == plain.index_key
        assert setting_of(BASE, options).key != plain.key
    for options in ({"sampling.rows": 1}, {"index.analyzer": "plain"}, {"encoder.model": "x"}):
        assert setting_of(BASE, options).index_key != plain.index_key


def test_a_specification_makes_settings(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text(
        "base: {query.n: 2}\nvary: {alpha: [0, 1], without: [[rows]]}\ncells: {mine: {k: 9}}\n"
    )
    settings = read_spec(path).settings(BASE)
    assert [*settings] == [
        *("default", "alpha=0", "alpha=1", "without=rows"),
        "mine",
    ]
    assert {one.deployment.query.n for one in settings.values()} == {2}
    assert settings["mine"].ask_options(KINDS) == {"k": 9}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("vary: {alpha: 1}", "vary.alpha: Input should be a valid list"),
        ("varry: {alpha: [1]}", "varry: Extra inputs"),
        ("cells: {mine: [1]}", "cells.mine: Input should be a valid dictionary"),
    ],
)
def test_a_wrong_specification_is_refused(tmp_path, text, told):
    path = tmp_path / "spec.yaml"
    path.write_text(text)
    with pytest.raises(BenchmarkError) as raised:
        read_spec(path)
    assert str(raised.value).startswith(f"{path}: {told}")


def test_what_is_no_yaml_is_refused(tmp_path):
    path = tmp_path / "spec.yaml"
    path.write_text("vary: [")
    with pytest.raises(ConfigError, match="line 1, column 8"):
        read_spec(path)


def test_too_many_settings_are_refused():
    spec = Spec(vary={"query.k": [*range(1, 1_002)]})
    with pytest.raises(BenchmarkError, match="more than 1,000 settings"):
        spec.settings(BASE)


def test_the_papers_settings_are_good_ones():
    settings = read_spec().settings(BASE)
    assert {"default", "table 2: both", "figure 16: n 20", "without=rows"} <= settings.keys()


def test_no_cell_may_be_called_as_the_base_is():
    with pytest.raises(BenchmarkError, match="'default' is what the base is called"):
        Spec(cells={"default": {"k": 3}}).settings(BASE)
