import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.dictionaries.text import CUT_NOTE, MAX_CHARACTERS, document_text, html_text
from pneuma_assets.core.sources.files.documents import names_of
from tests.support.lake_tables import only_table

PAGE = """<html><head><title>Sales &amp; returns</title><style>p {color: red}</style>
<script>alert("no")</script></head><body>
<h1>Sales</h1><p>All <b>orders</b>, since <code>2020</code>.
<ul><li>one<li>two</ul><table><tr><td>a</td><td>b</td></tr></table></body>"""


def test_html_reads_as_people_see_it():
    text = document_text("a.html", PAGE.encode())
    assert "All orders, since 2020." in text
    assert "Sales & returns" in text
    assert "a b" in text.replace("\n", " ").replace("  ", " ")
    assert "alert" not in text
    assert "color" not in text


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("<p", ""),
        ("", ""),
        ("<![CDATA[x", ""),
        ("a</b></p>c<i>d", "acd"),
        ("<!--" * 200_000 + "x", ""),  # Minutes, with a parser that is not linear.
        ("<b>x</b>" * 20_000, "x" * 20_000),
        ("<script>" * 1000, ""),
    ],
)
def test_broken_html_is_read(markup: str, text: str):
    assert "".join(html_text(markup).split()) == text


@pytest.mark.timeout(60)
def test_a_long_key_above_many_values_does_not_fill_the_memory():
    """A line for each value would make 14 GB of this megabyte."""
    data = json.dumps({"k" * 200_000: [{"a": 1}] * 70_000}).encode()
    text = document_text("metadata.json", data)
    assert len(text) < MAX_CHARACTERS + 100
    assert text.endswith(CUT_NOTE)


def test_documents_too_deep_are_refused_and_long_ones_cut():
    with pytest.raises(ValueError, match="nest too deeply"):
        html_text("<div>" * 20_000 + "deep")
    text = document_text("a.txt", b"word " * 100_000)
    assert text.endswith(CUT_NOTE)
    assert len(text) <= MAX_CHARACTERS + len(CUT_NOTE) + 1


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("Orléans".encode("latin-1"), "Orléans"),
        ("Orléans".encode("utf-16"), "Orléans"),
        (b"\xef\xbb\xbfOrl\xc3\xa9ans", "Orléans"),
        ('<meta charset="shift_jis"><p>日本'.encode("shift_jis"), "日本"),
        (b'<meta charset="no-such"><p>Orl\xe9ans', "Orléans"),
        (b'<meta charset="rot13"><p>Orl\xe9ans', "Orléans"),
    ],
)
def test_encodings(data: bytes, expected: str):
    assert document_text("a.html", data) == expected


ORDERS = {"description": "What people bought.", "columns": {"qty": "Pieces"}}


@pytest.mark.parametrize(
    ("content", "siblings", "expected"),
    [
        ({"title": "Shop", "year": 2020}, ["orders.csv"], "title: Shop\nyear: 2020"),
        (
            {"orders": ORDERS, "other": "x"},
            [],
            "description: What people bought.\ncolumns.qty: Pieces",
        ),
        ({"orders.csv": "Bought."}, [], "Bought."),
        ({"customers": "x"}, ["customers.csv", "orders.csv"], ""),
        ({"customers": "x"}, ["orders.csv"], "customers: x"),
        ({"by": "me", "tables": {"orders": "Bought.", "other": "x"}}, [], "by: me\ntable: Bought."),
        ({"by": "me", "tables": {"other": "x"}}, [], "by: me"),
        (
            {"resources": [{"name": "orders", "title": "T"}]},
            [],
            "table.name: orders\ntable.title: T",
        ),
        ({"tags": ["a", "b"], "none": None}, [], "tags: a, b"),
        (["a", {"b": 1}], [], "a\nb: 1"),
        ("plain", [], "plain"),
    ],
)
def test_json(content: object, siblings: list[str], expected: str):
    data = json.dumps(content).encode()
    names = {name for file in siblings for name in names_of(file)}
    assert document_text("m.json", data, {"orders", "orders.csv"}, lambda: names) == expected


@given(st.binary(max_size=300), st.sampled_from(["a.md", "a.html", "a.txt", "README"]))
def test_any_text_is_printable_utf8_or_refused(data: bytes, name: str):
    try:
        text = document_text(name, data)
    except ValueError:
        return
    assert text.encode("utf-8") is not None
    assert "\0" not in text


@pytest.mark.parametrize(
    ("name", "data", "cause"),
    [
        ("a.json", b"{", "not valid JSON"),
        ("a.json", b"[" * 100_000, "nest too deeply; flatten them"),
        ("a.txt", gzip.compress(b"x" * 1000, mtime=0), "binary"),
        ("a.json", b"[" + b"1," * 600_000 + b"1]", "larger than 1 MB"),
    ],
)
def test_unreadable_documents_are_problems_beside_the_readable(lake, folder, name, data, cause):
    (folder / "a.csv").write_text("a\n1\n")
    (folder / "README.md").write_text("Fine.")
    (folder / name).write_bytes(data)
    contexts = lake.contexts(only_table(lake))
    assert contexts.texts == ["Fine."]
    (problem,) = contexts.problems
    assert "\n" not in problem
    assert cause in problem


def test_document_deleted_after_listing(lake, folder):
    (folder / "a.csv").write_text("a\n1\n")
    (folder / "a.md").write_text("About a.")
    ref = only_table(lake)
    (folder / "a.md").unlink()
    assert "a.md cannot be read: No such file" in lake.contexts(ref).problems[0]
