"""A description is true as far as it leads to what people wrote of its own column."""

import json
from pathlib import Path

import pytest

from pneuma_assets.core.config.models import EncoderConfig, NarrationConfig
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_bench.narrations import drawn, measure
from tests.support.word_encoder import WordEncoder

GOLD = {"pl": "petal length", "sl": "sepal length", "kind": "species of the flower"}
DATA = Path(__file__).resolve().parents[4] / "shared/data/columns"


@pytest.fixture
def lake(tmp_path) -> Path:
    folder = tmp_path / "lake" / "flowers"
    folder.mkdir(parents=True)
    (folder / "iris.csv").write_text("pl,sl,kind\n1,2,setosa\n3,4,setosa\n", encoding="utf-8")
    page = "".join(f"<dt>{name}<dd>{text}" for name, text in GOLD.items())
    (folder / "iris.html").write_text(f"<dl>{page}</dl>", encoding="utf-8")
    return folder.parent


@pytest.fixture
def gold(tmp_path) -> Path:
    return lines(tmp_path, [("flowers/iris", c, t) for c, t in GOLD.items()])


def lines(folder: Path, told: list[tuple[str, str, str]]) -> Path:
    path = folder / "gold.jsonl"
    records = ({"table": t, "column": c, "gold": g} for t, c, g in told)
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return path


def figures(gold, lake, **more):
    return measure(drawn(gold), lake, WordEncoder(), None, NarrationConfig(), **more)


def test_documents_are_read_only_when_asked_for(lake, gold):
    said = figures(gold, lake, documents=True)
    assert (said["description"], said["shown"]) == (1.0, 1.0)
    assert said["shown_by"] == {"document": 3}
    withheld = figures(gold, lake, documents=False)
    assert withheld["shown_by"] == {"profile": 1}  # kind: always setosa
    assert withheld["shown"] == pytest.approx(1 / 3, abs=1e-4)
    assert withheld["description"] < 1.0


def test_of_tables_that_are_not_there_the_names_are_known(tmp_path, gold, lake):
    alone = figures(gold, None, documents=False)
    assert (alone["tables_without_data"], alone["columns"]) == (1, 3)
    elsewhere = figures(gold, tmp_path / "lake" / "flowers", documents=False)
    assert elsewhere["tables_without_data"] == 1


def test_columns_that_cannot_be_told_apart_count_in_part(tmp_path):
    told = [("t", "x", "a b"), ("t", "y", "b a"), ("t", "z", "c")]
    found = figures(lines(tmp_path, told), None, documents=False)
    assert found["name"] is not None
    same = [("t", "a", "a b"), ("t", "b", "b a"), ("t", "c", "c")]
    assert figures(lines(tmp_path, same), None, documents=False)["name"] == pytest.approx(
        2 / 3, abs=1e-4
    )


def test_tables_that_pose_no_question_are_left_out(tmp_path):
    told = [("t", "a", "x"), ("t", "b", "x"), ("t", "c", "y")]
    with pytest.raises(BenchmarkError, match="no table has 3 columns"):
        drawn(lines(tmp_path, told))
    three = [("u", "a", "x"), ("u", "b", "y"), ("u", "c", "z")]
    assert list(drawn(lines(tmp_path, told + three))) == ["u"]
    assert len(drawn(lines(tmp_path, three), limit=1)) == 1


def test_a_wrong_line_is_named(tmp_path):
    path = tmp_path / "g.jsonl"
    path.write_text('{"table": [1], "column": "a", "gold": "b"}\n')
    with pytest.raises(BenchmarkError, match=r"g\.jsonl, line 1: 'table'"):
        drawn(path)


@pytest.mark.integration
@pytest.mark.skipif(not DATA.exists(), reason="the data for development is not here")
def test_bare_names_reach_what_is_known_of_them():
    encoder = open_encoder(EncoderConfig())
    config = NarrationConfig(facts=False)
    found = measure(drawn(DATA / "warehouse.jsonl"), None, encoder, None, config, documents=False)
    assert found["name"] == pytest.approx(0.892, abs=0.005)
    assert found["both"] == found["name"]
