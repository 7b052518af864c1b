"""Texts of strangers are data: short, on one line, and unable to pose as anything else."""

import json
import unicodedata
from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.models.language.smollm2 import find_gguf
from pneuma_assets.core.service.catalog_types import Marked, SearchAnswer, SearchHit, TableCard
from pneuma_assets.core.service.usage import ConfirmedAnswer
from pneuma_assets.mcp_server import results as r
from pneuma_assets.mcp_server.tools import find_tables
from tests.support.tools_lake import INJECTION, POSING

REMARKS = "lake/remarks"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("sample_rows", {"table": REMARKS, "limit": 50}),
        ("describe_table", {"table": REMARKS}),
        ("find_tables", {"question": INJECTION}),
        ("find_groups", {"question": "remarks of visitors"}),
        ("answer", {"question": "remarks with the number 1"}),
        ("example_queries", {"table": REMARKS}),
        ("lineage", {"table": REMARKS}),
    ],
)
def test_hostile_cells_and_documents_stay_data(call, tool, arguments):
    result = call(tool, **arguments)
    assert not result.is_error
    (content,) = result.content
    assert len(content.text) < 20_000
    for text in texts_in(result.structured_content):
        if text == f"lake/{POSING}":
            continue
        assert len(text) <= 2_000
        assert not {unicodedata.category(c) for c in text} & {"Cc", "Cs", "Zl", "Zp"}
        assert not any(sign in text for sign in ("<|im_", "[INST]", "\u202e", "\u2066"))
    assert json.loads(content.text) == result.structured_content
    assert "\n" not in content.text


def test_the_id_of_a_table_can_be_given_back_and_poses_as_nothing(call):
    posing = f"lake/{POSING}"
    result = call("find_tables", question="visits of visitors, pages")
    (content,) = result.content
    assert not any(sign in content.text for sign in ("<|im_end", "[INST]"))
    assert posing in [one["table"] for one in json.loads(content.text)["tables"]]
    assert call("describe_table", table=posing).structured_content["table"] == posing


def texts_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


@given(st.text(max_size=500), st.integers(10, 200))
def test_a_text_is_one_bounded_line(text, limit):
    shown = r.text_of(text, limit)
    assert len(shown) <= limit
    assert "\n" not in shown


def hit(number, text):
    name = f"{text[:40]}_{number}"
    card = TableCard(
        f"lake/folder/{name}", "lake", "folder", name, "csv", text * 9, 12_345, 9, "2024-02-29T01",
        (), 0.5, 0, "indexed", None, None,
    )  # fmt: skip
    result = SimpleNamespace(confidence=0.512)
    return SearchHit(result, card, Marked(text * 9), (text[:12],) * 5, {})


def answer_with(text, confirmed=()):
    hits = tuple(hit(number, text) for number in range(10))
    return SearchAnswer("q", 10, 379, hits, (), {}, 0.5, True, confirmed=confirmed)


@pytest.fixture(scope="module")
def tokenizer():
    transformers = pytest.importorskip("transformers")
    gguf = find_gguf()
    return transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)


TEXTS = {
    "english": "Average waiting time of travellers by station and day. ",
    "names": "cust_id, ord_amt_eur, dt_upd_2024, is_act_flg, ",
    "numbers": "39.1, 2024-02-29, 1234567, 0.00051, ",
    "japanese": "駅ごとの乗客の平均待ち時間。",
    "russian": "Среднее время ожидания пассажиров. ",
    "hashes": "8f3a9c1e7b2d4f60a1b2c3d4e5f60718 ",
}


@pytest.mark.slow  # the tokenizer alone takes 14 s
@pytest.mark.parametrize("kind", TEXTS)
def test_ten_tables_are_read_with_1500_tokens(tokenizer, kind):
    text = TEXTS[kind]
    said = ConfirmedAnswer("1", text * 9, ("lake/a",) * 9, None, True, "a", "2024", "cli")
    desk = SimpleNamespace(search=lambda *_, **__: answer_with(text, (said, said, said)))
    found = find_tables(desk, Asker("ann"), "q")
    shown = json.dumps(found.to_dict(), ensure_ascii=False, separators=(",", ":"))
    assert len(tokenizer(shown)["input_ids"]) <= 1_500


@pytest.mark.parametrize(
    ("kind", "least"),
    [("english", 10), ("names", 10), ("numbers", 10), ("japanese", 6), ("russian", 10),
     ("hashes", 8)],
)  # fmt: skip
def test_texts_become_shorter_before_tables_are_left_out(kind, least):
    desk = SimpleNamespace(search=lambda *_, **__: answer_with(TEXTS[kind]))
    found = find_tables(desk, Asker("ann"), "q")
    assert len(found.tables) >= least
    assert r.estimated_tokens(found.to_dict()) <= 1_500


def test_tables_with_very_long_ids_are_cut_and_it_is_said():
    long = replace(hit(0, "x"), card=replace(hit(0, "x").card, table_id="lake/" + "y8" * 500))
    found = answer_with("x")
    desk = SimpleNamespace(search=lambda *_, **__: replace(found, hits=(long,) * 10, total=10))
    shown = find_tables(desk, Asker("ann"), "q")
    assert 0 < len(shown.tables) < 10
    assert shown.truncated
