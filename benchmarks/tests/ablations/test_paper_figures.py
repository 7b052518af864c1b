"""Every figure is made of measurements of the sets it is about, and holds their values."""

import math
import os
from dataclasses import replace
from types import SimpleNamespace

import pytest

from benchmarks.tests.support.bench_sets import small_set
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.ablations.cells import BenchSet, run
from pneuma_bench.ablations.contestants import Labs, Measured
from pneuma_bench.ablations.figures import PageOptions, fact, fill, rate, wards
from pneuma_bench.ablations.paper_figures import FIGURES, chosen, figure_of
from tests.support.word_encoder import WordEncoder

MADE = ["content", "context"] * 4


@pytest.fixture
def options(tmp_path):
    plain = BenchSet("plain", small_set())
    dataset = replace(small_set(), kinds=MADE, contexts={"small/lakes": ["Deep waters."]})
    made = BenchSet("made", dataset)
    with Labs(tmp_path, os.environ, lambda _: WordEncoder()) as labs:
        yield PageOptions([plain, made], Deployment(), labs, keywords=[made], rounds=1)


def series(figure):
    return [*dict.fromkeys(point.series for point in figure.points)]


def places(figure):
    return [*dict.fromkeys(point.x for point in figure.points)]


def test_a_set_that_names_sorts_of_questions_is_one_of_each(options):
    assert [(name, kind) for name, _, kind in wards(options.sets)] == [
        ("plain", None), ("made, content", "content"), ("made, context", "context")
    ]  # fmt: skip


def test_questions_without_a_sort_are_shown_where_others_have_one(options, tmp_path):
    dataset = replace(small_set(), kinds=["content", *[""] * 7])
    some = BenchSet("some", dataset)
    assert [(name, kind) for name, _, kind in wards([some])] == [
        ("some, content", "content"), ("some, of no kind", "")
    ]  # fmt: skip
    figure = figure_of("table 2", replace(options, sets=[some]))
    found = fill(figure, run([point.cell for point in figure.points], tmp_path / "kept"))
    assert {(one.point.x, one.value >= 0) for one in found} == {
        ("some, content", True), ("some, of no kind", True)
    }  # fmt: skip
    refused = replace(dataset, relevant=[dataset.relevant[0], *[set()] * 7])
    assert [kind for *_, kind in wards([BenchSet("x", refused)])] == ["content"]


@pytest.mark.parametrize(
    ("number", "x", "count"),
    [
        ("6", ["plain", "made"], 5),
        ("7", ["made"], 5),
        ("8", ["made"], 5),
        ("19", ["made, content", "made, context"], 5),
        ("table 2", ["plain", "made, content", "made, context"], 4),
        ("11", ["plain", "made, content", "made, context"], 5),
        ("12", ["plain", "made"], 2),
        ("14", [step / 10 for step in range(11)], 3),
        ("15", [1.0, 5.0, 10.0, 30.0, 50.0], 3),
        ("16", [1.0, 5.0, 10.0, 15.0, 20.0], 3),
        ("17", ["plain", "made, content", "made, context"], 2),
    ],
)
def test_a_figure_has_a_value_of_every_line_at_every_place(options, number, x, count):
    figure = figure_of(number, options)
    assert places(figure) == x
    assert len(series(figure)) == count
    spots = [(point.panel, point.series, point.x) for point in figure.points]
    assert len({*spots}) == len(spots)
    panels = {point.panel for point in figure.points}
    assert len(spots) == len(panels) * count * len(x)


def test_a_figure_is_filled_with_what_was_measured(options, tmp_path):
    figure = figure_of("table 2", options)
    filled = fill(figure, run([point.cell for point in figure.points], tmp_path))
    found = {(one.point.series, one.point.x): one for one in filled}
    assert len(found) == 12
    for one in found.values():
        low, high = one.interval
        assert 0 <= low <= one.value <= high <= 1
    words = [found["words alone", x].value for x in ("made, content", "made, context")]
    parts = [sum(kind == one for kind in MADE[:7]) for one in ("content", "context")]
    whole = found["words alone", "plain"].value
    assert sum(map(math.prod, zip(words, parts, strict=True))) / 7 == pytest.approx(whole)


def test_sizes_are_halved_down_to_a_sixteenth(options, tmp_path):
    figure = figure_of("10", options)
    assert [*dict.fromkeys(point.x for point in figure.points)][-1] == "6"
    filled = fill(figure, run([point.cell for point in figure.points], tmp_path))
    assert all(one.value > 0 and one.across > 0 for one in filled)


def test_what_takes_long_is_asked_of_the_named_sets(options):
    given = replace(options, compared=["made"], others=[lambda: SimpleNamespace(name="its")])
    asked = {
        (point.series, point.x) for point in figure_of("6", given).points if point.panel == "k = 1"
    }
    long = {("embeddings, every row", "made"), ("its", "made")}
    assert len(asked) == 2 * 4 + 2
    assert long < asked
    assert "of made alone" in figure_of("6", given).said[1]


def test_what_is_timed_finds_the_encoder_loaded(options, tmp_path):
    calls = options.encoder.calls
    figure = figure_of("costs", replace(options, sets=options.sets[:1]))
    run([figure.points[0].cell], tmp_path)
    assert len({*calls[0]}) == 1  # before any text of a table


def test_a_part_that_a_set_has_not_is_not_left_out_of_it(options):
    without = [point for point in figure_of("parts", options).points if "context" in point.series]
    assert {point.cell.on.name for point in without} == {"made"}


def test_without_such_questions_a_figure_says_so(options):
    figure = figure_of("7", replace(options, sets=options.sets[:1]))
    assert (figure.points, figure.said) == (
        [], ["No set that was given has questions of the kind context."]
    )  # fmt: skip


def test_values_are_read_of_a_measurement(options):
    found = Measured([1, 3, 0], ["a", "b", "b"], {"seconds": 2})
    assert rate(3)(found)[0] == pytest.approx(2 / 3)
    assert rate(3, "b")(found)[0] == 0.5
    assert fact("seconds")(found) == (2.0, None)
    assert math.isnan(fact("rounds")(found)[0])
    figure = figure_of("table 2", options)
    nothing = fill(figure, {point.cell.key: "no model" for point in figure.points})
    assert {one.missing for one in nothing} == {"no model"}
    assert all(math.isnan(one.value) for one in nothing)


def test_figures_are_chosen_by_number_and_range():
    assert chosen([]) == [*FIGURES]
    assert chosen(["19", "6", "11-13"]) == ["6", "11", "12", "19"]
    for wrong in ("20", "20-30", "13-11", "-", "\u00b2-9"):
        with pytest.raises(BenchmarkError, match=f"no figure '{wrong}'; use some of: 6, 7"):
            chosen([wrong])
