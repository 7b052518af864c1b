"""A description is true as far as it leads to what people wrote of its own column."""

import json

import pytest

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.evaluation.narrations import Said, figures_of, read_gold
from pneuma_assets.core.tables import Description, Provenance
from tests.support.word_encoder import WordEncoder


def said(name, gold, text=""):
    return Said(name, gold, Description(text, Provenance.MODEL, "m") if text else None)


def test_a_column_of_which_nothing_is_shown_counts_with_its_name():
    table = [
        said("pl", "petal length", "length of a petal"),
        said("sl", "sepal length", "petal length"),
        said("kind", "kind of flower"),
    ]
    found = figures_of([table], WordEncoder())
    assert (found["columns"], found["shown"]) == (3, 0.6667)
    assert found["shown_by"] == {"model": 2}
    assert found["description"] == 0.6667
    assert found["where_shown"]["description"] == 0.5


def test_columns_that_cannot_be_told_apart_count_in_part():
    table = [said("a", "a b"), said("b", "b a"), said("c", "c")]
    assert figures_of([table], WordEncoder())["name"] == pytest.approx(2 / 3, abs=1e-4)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([("t", "a", "x"), ("t", "b", "x"), ("t", "c", "y")], "no table has 3 columns"),
        ([("t", "a", "x"), ("t", ["b"], "x")], r"line 2: 'table', 'column' and 'gold' must be"),
    ],
)
def test_what_poses_no_question_is_refused(tmp_path, lines, told):
    path = tmp_path / "g.jsonl"
    names = ("table", "column", "gold")
    path.write_text("\n".join(json.dumps(dict(zip(names, one, strict=True))) for one in lines))
    with pytest.raises(BenchmarkError, match=told):
        read_gold(path)
