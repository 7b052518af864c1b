"""The page of figures: tables, plots, what was not measured; and the command that writes it."""

import os
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from benchmarks.tests.support.bench_sets import small_set, write_small_set
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.errors import BenchmarkError
from pneuma_bench.ablations.cells import BenchSet, Cell
from pneuma_bench.ablations.contestants import Labs, Measured
from pneuma_bench.ablations.figures import PageOptions, PaperFigure, Point, fact, fill, rate
from pneuma_bench.ablations.page import reproduce
from pneuma_bench.ablations.plots import draw
from pneuma_bench.ablations.whole_tables import WholeTableWords
from pneuma_bench.cli.app import app
from tests.support.word_encoder import WordEncoder

SVG = "{http://www.w3.org/2000/svg}"
CELL = Cell(WholeTableWords, BenchSet("small", small_set()), 10)
COLOURS = {"one": "#1f4e79", "_two $x$": "#7aa6d1"}
FOUND = Measured([1, 0, 2, 1], [""] * 4, {"seconds": 2.5, "size_bytes": 1200})


def drawn(path, shape, points=None):
    value = fact("size_bytes") if shape == "points" else rate(1)
    places = {"bars": ("a$b", "a|c_d"), "lines": (1.0, 5.0)}.get(shape, ("10", "20"))
    if points is None:
        points = [
            Point("", series, x, CELL, value, fact("seconds") if shape == "points" else None)
            for series in COLOURS
            for x in places
        ]
    figure = PaperFigure("10", "Hit rate", shape, "set", "rate", points)
    return draw(path, figure, fill(figure, {CELL.key: FOUND}), COLOURS)


@pytest.fixture
def options(tmp_path):
    with Labs(tmp_path / "labs", os.environ, lambda _: WordEncoder()) as labs:
        one = BenchSet("small|set", replace(small_set(), kinds=["content"] * 8))
        yield PageOptions([one], Deployment(), labs, rounds=1)


@pytest.mark.parametrize("shape", ["bars", "lines", "points"])
def test_the_same_values_draw_the_same_file(tmp_path, shape):
    assert all(drawn(tmp_path / name / "f.svg", shape) for name in "ab")
    one, other = ((tmp_path / name / "f.svg").read_bytes() for name in "ab")
    assert one == other
    texts = ["".join(text.itertext()) for text in ElementTree.fromstring(one).iter(f"{SVG}text")]
    assert {"one", "two $x$", "rate"} <= {*texts}


def test_a_table_and_nothing_are_not_drawn(tmp_path):
    assert not drawn(tmp_path / "f.svg", "table")
    assert not drawn(tmp_path / "f.svg", "bars", [])
    assert not [*tmp_path.iterdir()]


def test_a_line_that_one_panel_lacks_is_no_line_there(tmp_path):
    spots = [("all", "one", 1.0), ("some", "one", 1.0), ("all", "_two $x$", 5.0)]
    points = [Point(*spot, CELL, rate(1)) for spot in spots]
    assert drawn(tmp_path / "f.svg", "lines", points)
    texts = ElementTree.parse(tmp_path / "f.svg").iter(f"{SVG}text")
    assert "o-" not in {"".join(text.itertext()) for text in texts}


def test_a_page_has_every_value_and_says_what_is_missing(options, tmp_path, monkeypatch):
    def failing(*_):
        raise BenchmarkError("no words")

    monkeypatch.setattr(WholeTableWords, "prepare", failing)
    out = tmp_path / "page.md"
    figures = ["6", "7", "10", "costs", "table 2"]
    reproduce(options, figures, tmp_path / "keep", out, ["Other work ran beside."])
    page = out.read_text()
    assert "Other work ran beside." in page
    assert "| small\\|set | 6 | 7 | 7 content |" in page
    assert "No set that was given has questions of the kind context." in page
    assert "- not measured (small|set): BM25, whole tables: no words" in page
    assert "## Table 2: Words" in page
    assert "Figure 18" in page
    pictures = {path.name for path in (tmp_path / "page").iterdir()}
    assert pictures == {"figure-6.svg", "figure-10.svg", "table-2.svg"}
    assert all(f"(page/{name})" in page for name in pictures)
    before = 0
    for line in page.splitlines():
        columns = line.replace("\\|", "").count("|")
        assert not (before and columns) or columns == before
        before = columns
    reproduce(options, figures, tmp_path / "keep", out, ["Other work ran beside."])
    assert out.read_text() == page  # all but what cannot run was kept


def test_the_command_measures_once_and_writes_the_page(tmp_path, monkeypatch):
    for name in ("PNEUMA_CONFIG", "PNEUMA_HOME", "PNEUMA_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    tables, queries = write_small_set(tmp_path)
    arguments = [
        *("paper", "--set", f"small={tables},{queries}", "--keep", "kept"),
        *("--out", "page.md", "--figures", "table 2,15"),
    ]
    first, again = (CliRunner().invoke(app, arguments) for _ in range(2))
    assert first.exit_code == 0, first.output
    assert first.stdout == again.stdout == "2 figures written to page.md\n"
    assert "measuring: 12 of 12" in again.stderr
    assert "(page/table-2.svg)" in (tmp_path / "page.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--set", "small"], "--set takes NAME=T.jsonl,Q.jsonl, not 'small'"),
        (["--set", "S", "--set", "S"], "two sets are called 'small'"),
        (["--set", "S", "--figures", "20"], "there is no figure '20'"),
        (["--set", "S", "--beside", "x=y"], "--beside takes NAME=PYTHON,SCRIPT, not 'x=y'"),
        (["--set", "S", "--scaled", "lake"], "no --set is called 'lake'"),
    ],
)
def test_what_cannot_be_asked_for_says_why(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    tables, queries = write_small_set(tmp_path)
    given = [f"small={tables},{queries}" if one == "S" else one for one in arguments]
    result = CliRunner().invoke(app, ["paper", *given, "--keep", "k", "--out", "p.md"])
    assert result.exit_code != 0
    assert result.stdout == ""
    assert said in result.stderr
    assert not (tmp_path / "p.md").exists()


def test_a_page_that_is_called_as_its_folder_of_plots_is_refused(options, tmp_path):
    with pytest.raises(BenchmarkError, match="must have an ending"):
        reproduce(options, ["table 2"], tmp_path / "keep", tmp_path / "page")
    assert not (tmp_path / "keep").exists()
