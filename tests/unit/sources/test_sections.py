"""Texts about several tables, as people write them: each table is given what is said of it."""
# ruff: noqa: E501 (documents as people write them)

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.dictionaries.split_by_table import TableNames, sections_of
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource

FOOD, FIRMS, ALL = "What households spend on food.", "What firms invest.", "Collected by Ann."

FORMS = {
    "headings": f"# Economy\n\n{ALL}\n\n## engel.csv\n\n{FOOD}\n\n## grunfeld.csv\n\n{FIRMS}\n",
    "headings of words": f"{ALL}\n\n## The Engel data\n{FOOD}\n\n## Table: grunfeld\n{FIRMS}\n",
    "numbered headings": f"{ALL}\n\n## 1. engel.csv\n{FOOD}\n\n## 2. grunfeld.csv\n{FIRMS}\n",
    "headings of one level": f"{ALL}\n\n# engel\n{FOOD}\n\n# grunfeld\n{FIRMS}\n",
    "then a heading of all": f"## engel\n{FOOD}\n## grunfeld\n{FIRMS}\n## Authors\n{ALL}\n",
    "below a title that is a name": f"# Engel\n\n## grunfeld.csv\n{FIRMS}\n\n## engel.csv\n{FOOD}\n",
    "underlined": f"Economy\n=======\n{ALL}\n\nengel.csv\n---------\n{FOOD}\n\ngrunfeld\n--------\n{FIRMS}",
    "bold names": f"{ALL}\n\n**engel.csv**\n\n{FOOD}\n\n**grunfeld.csv**\n\n{FIRMS}\n",
    "entries": f"{ALL}\n\nengel.csv: {FOOD}\ngrunfeld.csv: {FIRMS}\n",
    "entries that go on": f"engel.csv: What households\nspend on food.\ngrunfeld.csv: {FIRMS}\n\n{ALL}\n",
    "list": f"{ALL}\n\n- engel.csv: {FOOD}\n- `grunfeld.csv` - {FIRMS}\n",
    "list without signs": f"{ALL}\n\n* **engel.csv** {FOOD}\n* grunfeld.csv {FIRMS}\n",
    "list of links": f"{ALL}\n\n1. [engel](engel.csv): {FOOD}\n2. [grunfeld](grunfeld.csv): {FIRMS}\n",
    "list in a list": f"{ALL}\n\n- Files:\n  - engel.csv: {FOOD}\n  - grunfeld.csv: {FIRMS}\n",
    "further in": f"engel.csv\n    {FOOD}\n\ngrunfeld.csv\n    {FIRMS}\n\n{ALL}\n",
    "tree": f"{ALL}\n\n```\n├── engel.csv   # {FOOD}\n└── grunfeld.csv   # {FIRMS}\n```\n",
    "table of files": f"{ALL}\n\n| File | Holds |\n|---|---|\n| engel.csv | {FOOD} |\n| grunfeld | {FIRMS} |\n",
    "sentences": f"engel.csv holds this: {FOOD} grunfeld.csv holds that: {FIRMS}\n\n{ALL}\n",
    "of two tables": f"## engel and grunfeld\n\n{ALL}\n\n## engel\n{FOOD}\n\n## grunfeld\n{FIRMS}\n",
}  # fmt: skip


def lake(root: Path, documents: dict[str, str], *tables: str) -> dict[str, tuple[str, str]]:
    """Return what is said of each table alone, and of the folder, in one line each."""
    for name in tables:
        (root / name).write_text("a,b\n1,2\n")
    for name, text in documents.items():
        (root / name).write_text(text)
    source = FileSource("lake", FolderStorage(root))
    said = {ref.table_id: source.contexts(ref) for ref in source.list_tables().tables}
    return {
        table_id.removeprefix("lake/"): (
            " ".join(" ".join(found.texts).split()),
            " ".join(" ".join(found.of_folder).split()),
        )
        for table_id, found in said.items()
    }


@pytest.mark.parametrize("form", FORMS)
def test_each_table_is_given_what_is_said_of_it(form: str, tmp_path: Path):
    said = lake(tmp_path, {"README.md": FORMS[form]}, "engel.csv", "grunfeld.csv", "co2.csv")
    assert FOOD in said["engel"][0]
    assert FIRMS in said["grunfeld"][0]
    assert not any(FIRMS in text for text in (*said["engel"], *said["co2"]))
    assert not any(FOOD in text for text in (*said["grunfeld"], *said["co2"]))
    if form not in ("of two tables", "below a title that is a name"):
        assert {of_folder for _, of_folder in said.values()} == {said["co2"][1]}
        assert ALL in said["co2"][1]


@pytest.mark.parametrize(
    "text",
    [
        "Orders and customers are fictitious.",
        "# Customer orders\n\nSold in 2020.",
        "- date: when the orders came",
        "## Columns\n\n- orders: how many\n- customers: who",
        "| Column | Meaning |\n|---|---|\n| orders | how many |",
        "The files customers.csv and orders.csv were sold.",
    ],
)
def test_a_word_that_is_a_name_is_a_word_all_the_same(text: str, tmp_path: Path):
    said = lake(tmp_path, {"README.md": text}, "orders.csv", "customers.csv")
    assert said["orders"] == said["customers"] == ("", " ".join(text.split()))


def test_a_document_beside_one_table_is_about_that(tmp_path: Path):
    said = lake(tmp_path, {"README.md": FORMS["headings"]}, "engel.csv")
    assert ALL in said["engel"][0]
    assert said["engel"][1] == ""


@pytest.mark.parametrize("name", ["data_dictionary.md", "Data-Dictionary.txt", "codebook.rst"])
def test_a_data_dictionary_is_about_its_folder(name: str, tmp_path: Path):
    said = lake(tmp_path, {name: FORMS["headings"]}, "engel.csv", "grunfeld.csv")
    assert FOOD in said["engel"][0]
    assert FOOD not in said["grunfeld"][0] + said["grunfeld"][1]


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_a_data_dictionary_of_cells(sign: str, tmp_path: Path):
    rows = [("Table", "Column", "Description"), ("engel", "a", "spent on food")]
    rows += [
        ("", "b", "earned"),
        ("grunfeld.csv", "a", "invested | spent"),
        ("grunfeld", "b", "is"),
    ]
    text = "".join(sign.join(row) + "\n" for row in rows)
    name = "data_dictionary.tsv" if sign == "\t" else "data_dictionary.csv"
    said = lake(tmp_path, {name: text}, "engel.csv", "grunfeld.csv")
    assert "spent on food" in said["engel"][0]
    assert "earned" in said["engel"][0]
    assert "invested" not in said["engel"][0]
    assert "invested" in said["grunfeld"][0]
    assert said["data_dictionary"] == ("", "")
    source = FileSource("lake", FolderStorage(tmp_path))
    glossaries = {
        ref.table_id: [row for one in source.contexts(ref).glossaries for row in one.rows]
        for ref in source.list_tables().tables
    }
    assert glossaries["lake/engel"] == [("a", "spent on food"), ("b", "earned")]


def test_html_and_json_are_taken_apart_too(tmp_path: Path):
    page = f"<h1>Economy</h1><p>{ALL}<h2>engel.csv</h2><p>{FOOD}<h2>grunfeld</h2><p>{FIRMS}"
    keyed = json.dumps({"by": ALL, "tables": {"engel": "Spent.", "grunfeld": "Invested."}})
    said = lake(
        tmp_path, {"readme.html": page, "metadata.json": keyed}, "engel.csv", "grunfeld.csv"
    )
    assert FOOD in said["engel"][0]
    assert "Spent." in said["engel"][0]
    assert FIRMS not in " ".join(said["engel"])
    assert said["engel"][1] == said["grunfeld"][1]
    assert said["engel"][1].count(ALL) == 2


@pytest.mark.parametrize(
    "text",
    [
        "a.csv " * 40_000,
        "`" * 200_000,
        "| a " * 60_000,
        "|a|b|\n|-|-|\n" + "|a.csv|b|\n" * 20_000,
        "# a\n" * 50_000,
        " " * 200_000,
        "- a.csv: b\n" * 20_000,
        "a: " * 60_000,
        "│" * 200_000,
        "a\n-\n" * 40_000,
    ],
    ids=lambda text: text[:8],
)
def test_hostile_documents_are_taken_apart(text: str):
    names = TableNames([("a.csv", "a.csv"), ("a", "a.csv"), ("b", "b.csv")])
    assert sections_of(text, names)


@given(st.text(alphabet="ab.csv#|-: \n*`=", max_size=200))
def test_nothing_is_lost(text: str):
    names = TableNames([("a.csv", "a.csv"), ("a", "a.csv"), ("b", "b.csv")])
    found = "".join(section.text for section in sections_of(text, names))
    assert set("".join(text.split())) - set("|-: ") <= set(found)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    ["a|b\n" + "-" * 200_000 + "|x", "# a" + " " * 200_000 + "x", "# a" + "# " * 100_000 + "x"],
)
def test_no_line_takes_a_time_that_goes_by_its_square(text):
    names = TableNames([("engel.csv", "engel.csv")])
    assert "".join(one.text for one in sections_of(text, names)) == text
