"""Every form in which people write what columns mean, and documents that are out to harm."""
# ruff: noqa: E501 (documents as people write them)

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.describe.documented import (
    EXACT,
    FOLDED,
    SHARED,
    comments_of,
    documented_descriptions,
)
from pneuma_assets.core.dictionaries.glossaries import MOST_ROWS, glossaries_in
from pneuma_assets.core.dictionaries.lines import TEXT_CHARACTERS, Glossary
from pneuma_assets.core.sources.files.documents import Neighbours, names_of
from pneuma_assets.core.tables import Column, Description, Provenance, Table

MEANINGS = {"age": "age in years", "sex": "a factor: female, male", "wt": "weight at birth"}


def table(*names: str) -> Table:
    return Table("lake/people", tuple(Column(name, "VARCHAR") for name in names), 1, "/people.csv")


def described(name: str, text: str, *columns: str, siblings=()) -> dict[str, str]:
    """What a document says of columns, by name."""
    columns = columns or tuple(MEANINGS)
    names = tuple(
        (one, f"{one.partition('.')[0]}.csv") for file in siblings for one in names_of(file)
    )
    text = Neighbours(frozenset({"people.csv"}), names).parts(text).own if siblings else text
    lists = glossaries_in(name, text.encode(), ("people", "people.csv"))
    found = documented_descriptions(table(*columns), lists)
    return {columns[position]: description.text for position, description in found.items()}


FORMS = {
    "definition list": (
        "people.html",
        "<h3>Format</h3><dl><dt>age</dt><dd><p>age in years</p></dd><dt><code>sex</code></dt>"
        "<dd>a factor: female,\n male</dd><dt>wt</dt><dd>weight at birth</dd></dl>",
    ),
    "definitions in groups": (
        "people.html",
        "<dl><div><dt>age<dd>age in years</div><div><dt>sex<dd>a factor: female, male"
        "</div><div><dt>wt<dd>weight at birth</div></dl>",
    ),
    "page's table with a header": (
        "people.htm",
        "<table><thead><tr><th>Type<th>Variable<th>Description</tr></thead>"
        "<tr><td>int<td>age<td>age in years<tr><td>text<td>sex<td>a factor: female, male"
        "<tr><td>real<td>wt<td>weight at birth</table>",
    ),
    "page's table without a header": (
        "people.html",
        "<table><tr><td>[,1]<td><code>age</code><td>age in years<tr><td>[,2]<td>sex"
        "<td>a factor: female, male<tr><td>[,3]<td>wt<td>weight at birth</table>",
    ),
    "items of a page": (
        "people.html",
        "<ul><li><p> age. age in years</p></li><li><code>sex</code>: a factor: female, male</li>"
        "<li><b>wt</b> - weight at birth</li></ul>",
    ),
    "preformatted text": (
        "people.html",
        "<pre>  age - age in years\n  sex - a factor: female,\n     male\n  wt  - weight at birth</pre>",
    ),
    "Markdown table": (
        "people.md",
        "| column | type | meaning |\n|---|---|---|\n| `age` | int | age in years |\n"
        "| sex | text | a factor: female, male |\n| wt | real | weight at birth |\n",
    ),
    "Markdown list": (
        "people.md",
        "# People\n\n- `age`: age in years\n- **sex** \u2014 a factor: female, male\n"
        "- wt - weight at birth\n",
    ),
    "Markdown, indented": (
        "people.md",
        "Columns::\n\n    age - age in years\n    sex - a factor: female, male\n"
        "    wt - weight at birth\n",
    ),
    "lines of a Markdown paragraph": (
        "people.md",
        "`age` \u2014 age in years\n`sex` \u2014 a factor: female, male\n`wt` \u2014 weight at birth\n",
    ),
    "lines": (
        "people.txt",
        "age = age in years\nsex = a factor: female, male\nwt = weight at birth",
    ),
    "columns of text": (
        "people.txt",
        "   age     age in years\n   sex     a factor: female, male\n   wt      weight at birth",
    ),
    "numbered": (
        "people.txt",
        "1. age: age in years\n2. sex: a factor: female, male\n3) wt: weight at birth",
    ),
    "indented definitions": (
        "people.rst",
        "Columns\n=======\n\nage\n    age in\n    years\nsex\n    a factor: female, male\nwt\n    weight at birth\n",
    ),
    "fields": (
        "people.rst",
        ":age: age in years\n:sex: a factor: female, male\n:wt: weight at birth\n",
    ),
    "list of objects": (
        "people.json",
        json.dumps({"columns": [{"name": n, "description": t} for n, t in MEANINGS.items()]}),
    ),
    "table schema": (
        "people.json",
        json.dumps(
            {"schema": {"fields": [{"name": n, "description": t} for n, t in MEANINGS.items()]}}
        ),
    ),
    "names as keys": ("people.json", json.dumps({"columns": MEANINGS})),
    "JSON Schema": (
        "people.json",
        json.dumps(
            {"properties": {n: {"type": "x", "description": t} for n, t in MEANINGS.items()}}
        ),
    ),
    "keyed by table": (
        "metadata.json",
        json.dumps(
            {
                "tables": {
                    "others": {"columns": {"age": "of others"}},
                    "people": {"columns": MEANINGS},
                }
            }
        ),
    ),
}


@pytest.mark.parametrize(("name", "text"), FORMS.values(), ids=FORMS)
def test_what_people_wrote_is_taken_word_for_word(name, text):
    assert described(name, text) == MEANINGS


def test_lists_within_others_belong_to_them_and_within_layouts_do_not():
    text = "<dl><dt>age<dd><p>one <i>of <b>both</b></i> kinds<dl><dt>1<dd>young<dt>2<dd>old</dl><dt>sex<dd>a factor</dl>"
    text = f"<h2>Format</h2>{text}"
    assert described("people.html", text) == {
        "age": "one of both kinds 1 young 2 old",
        "sex": "a factor",
    }
    page = (
        "<table><tr><td><ul><li>Format<dl><dt>age<dd>in years<dt>sex<dd>a factor</dl></ul></table>"
    )
    assert described("people.html", page, "age", "sex") == {"age": "in years", "sex": "a factor"}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("people.md", "Date: July 2014\n"),
        ("people.txt", "The age: a strange thing.\nAnd the rest is prose, that is, no list."),
        ("people.html", "<dl><dt>female<dd>a woman<dt>male<dd>a man<dt>age<dd>no<dt>x<dd>y</dl>"),
        ("people.txt", "age:   4.3  7.9  5.84\nsex:   2.0  4.4  3.05\nwt:    1.0  6.9  3.76"),
        ("people.html", "<dl><dt>age<dd>as above.<dt>sex<dd>unknown<dt>wt<dd>n/a</dl>"),
        ("people.html", "<pre><code class='language-R'>age = factor(x)\nwt = log(y)</code></pre>"),
        ("people.json", '{"columns": {"age": 5, "sex": null, "wt": {"description": []}}}'),
        ("people.json", "{no json"),
        ("people.json", "[" * 100_000),
        ("people.html", "<div>" * 20_000),
        ("people.html", ""),
        ("people.txt", ""),
    ],
)
def test_what_is_no_list_of_columns_describes_none(name, text):
    assert described(name, text) == {}


DEPARTURE = "the scheduled departure in UTC"
FLIGHTS = ("dep_ts", "arr_ts", "delay", "name", "carrier")


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.md", "`dep_ts` is the scheduled\ndeparture in UTC.", {"dep_ts": DEPARTURE}),
        (
            "a.md",
            f"All flights of 2013. The column `dep_ts` is {DEPARTURE}. More of it is away.",
            {"dep_ts": DEPARTURE},
        ),
        ("a.md", f"> The `dep_ts` field means {DEPARTURE}", {"dep_ts": DEPARTURE}),
        (
            "a.md",
            "dep_ts and `arr_ts` are measured in UTC.",
            dict.fromkeys(("dep_ts", "arr_ts"), "measured in UTC"),
        ),
        (
            "a.md",
            "`delay` holds minutes, e.g. 12, not hours.",
            {"delay": "holds minutes, e.g. 12, not hours"},
        ),
        ("a.rst", f"Flights\n=======\n\n``dep_ts`` is {DEPARTURE}.", {"dep_ts": DEPARTURE}),
        ("a.html", f"<p>Note. <code>dep_ts</code> is {DEPARTURE}.</p>", {"dep_ts": DEPARTURE}),
        ("a.md", "`dep_ts` is the hour. `delay` is the delay.", {"dep_ts": "the hour"}),
    ],
)
def test_a_sentence_that_says_what_a_column_is_describes_it(name, text, said):
    assert described(name, text, *FLIGHTS) == said


@pytest.mark.parametrize(
    "text",
    [
        "If `dep_ts` is the first column, skip it.",
        "Is `dep_ts` the departure? `dep_ts` is required. Use `dep_ts` to join.",
        "`dep_ts` is not the departure. `dep_ts` is deprecated. `dep_ts` is fine.",
        "`dep_ts` is the old hour and was removed in May.",
        "`delay` contains 177 missing values. `delay` is the best predictor of all.",
        "`carrier` is a table of all airlines. `delay` is a data frame with 21 observations. `name` is a required parameter.",
        "name is the name that you choose. The carrier is the firm that pays.",
        "```\n`dep_ts` is the hour.\n```",
        "    `dep_ts` is the hour.",
        "`path` is the folder's name. `mode` is how it is read. `name` is the name of the user.",
        "`name` is the name.",
        f"{', '.join(['a_b_c_d_e_f_g_h'] * 20)} is {', '.join(['a_b_c_d_e_f_g_h'] * 20)}.",
    ],
)
@pytest.mark.timeout(10)
def test_a_sentence_that_says_something_else_of_a_column_does_not(text):
    assert described("people.md", text, *FLIGHTS) == {}


def test_a_sentence_about_another_table_of_the_folder_describes_no_column():
    text = "`dep_ts` is the hour in orders. `delay` is the delay of an order.\n\n## orders\n\n`name` is the buyer.\n"
    files = ["people.csv", "orders.csv", "README.md"]
    assert described("README.md", text, *FLIGHTS, siblings=files) == {}
    assert described(
        "README.md", f"{text}\n## people\n\n`carrier` is the airline.", *FLIGHTS, siblings=files
    ) == {"carrier": "the airline"}


def test_a_list_is_believed_before_a_sentence():
    text = "`age` is the year of birth.\n\n" + "".join(f"- {n}: {t}\n" for n, t in MEANINGS.items())
    assert described("people.md", text) == MEANINGS


BOOKS = ("title", "author", "date", "pages", "status", "version", "source", "licence", "name")


@pytest.mark.parametrize("columns", [BOOKS, ("title", "author", "date"), ("status",), ("author",)])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("people.md", "- **Title**: Holdings of us\n- **Author**: Jane Doe\n- **Date**: in May\n"),
        ("people.md", "- Status: deprecated, do not use\n"),
        ("people.md", "# Changes\n\n- version: two, with more books\n"),
        ("people.html", "<table><tr><td>Source<td>Kaggle<tr><td>Licence<td>MIT Licence</table>"),
        ("people.json", '{"fields": {"author": "Jane Doe"}}'),
        ("people.json", '[{"name": "author", "title": "a person"}]'),
        ("people.txt", "    name = read.csv(books)\n    title = upper(name)\n    date = now(tz)"),
    ],
)
def test_what_is_said_of_the_dataset_describes_no_column(name, text, columns):
    assert described(name, text, *columns) == {}


@pytest.mark.parametrize(
    "rows",
    [
        ["id|name|age|city", "7|age|30|Oslo"],
        ["id|name|age|city", "1|Ann Bee|30|in Oslo", "2|Bob Cee|31|in Rome"],
        ["Column|Type|Nullable", "id|integer|no", "name|text|yes", "age|integer|yes"],
        ["Column|Missing|Mean", "id|none at all|1", "name|a few|2", "age|some|3"],
        ["a|b|c", "id|name|the text", "age|city|more text", "name|age|a text"],
    ],
)
def test_rows_of_examples_and_types_describe_no_column(rows):
    rows = [rows[0], "|".join("-" * len(rows[0].split("|"))), *rows[1:]]
    text = "\n".join(f"| {row.replace('|', ' | ')} |" for row in rows)
    assert described("people.md", text, "id", "name", "age", "city") == {}


def test_few_columns_are_described_where_that_is_said():
    columns = ("age", "sex", "wt", "a", "b", "c", "d", "e")
    for text in (
        "## Columns\n\n- age: age in years\n",
        "| variable | meaning |\n|---|---|\n| age | age in years |\n",
    ):
        assert described("people.md", text, *columns) == {"age": "age in years"}
    schema = {"properties": {"age": {"type": "int", "description": "age in years"}}}
    assert described("people.json", json.dumps(schema), *columns) == {"age": "age in years"}


def test_a_readme_speaks_of_a_table_under_its_heading_only():
    text = (
        "# Lake\n\n## others\n\n- age: of others\n- sex: of others\n\n"
        "## The table people\n\n- age: age in years\n- sex: a factor: female, male\n"
    )
    said = {"age": "age in years", "sex": "a factor: female, male"}
    files = ["people.csv", "others.csv", "README.md"]
    assert described("README.md", text, "age", "sex", siblings=files) == said
    elsewhere = "## People of others, not this\n\n## others\n\n- age: theirs\n- sex: theirs\n"
    assert described("README.md", elsewhere, "age", "sex", siblings=files) == {}
    only = "- age: age in years\n- sex: a factor: female, male\n"
    assert described("README.md", only, "age", "sex", siblings=["people.csv", "README.md"]) == said


ORDERS = [{"name": name, "description": "of orders"} for name in MEANINGS]
PEOPLE = [{"name": name, "description": text} for name, text in MEANINGS.items()]


@pytest.mark.parametrize("key", ["name", "table", "id", "url", "path", "file", "title"])
@pytest.mark.parametrize("value", ["people", "people.csv", "data/people.csv"])
def test_json_about_several_tables_tells_of_each_its_own(key, value):
    parts = [{key: "orders", "columns": ORDERS}, {key: value, "columns": PEOPLE}]
    assert described("metadata.json", json.dumps({"tables": parts})) == MEANINGS
    assert described("metadata.json", json.dumps(parts)) == MEANINGS
    assert described("metadata.json", json.dumps({"tables": parts[:1]})) == {}


@pytest.mark.parametrize(
    ("headings", "ours"),
    [
        ("# people\n\n## Columns\n", True),
        ("# orders\n\n## people\n", True),
        ("# people\n\n## orders\n", False),
        ("# people\n\n# Others\n", False),
        ("## How to cite the data of orders and people\n", False),
        ("## people 2020\n", False),
    ],
)
def test_a_list_is_of_the_table_that_the_nearest_heading_names(headings, ours):
    text = headings + "".join(f"\n- {name}: {text}" for name, text in MEANINGS.items())
    files = ["people.csv", "orders.csv", "people_2020.csv", "README.md"]
    assert described("README.md", text, siblings=files) == (MEANINGS if ours else {})


@pytest.mark.parametrize(
    ("said", "columns", "confidences"),
    [
        ("Body.Mass", ("body_mass",), {"body_mass": FOLDED}),
        ("x, y and z", ("x", "y", "z"), dict.fromkeys("xyz", SHARED)),
        ("q1-q3", ("q1", "q2", "q3"), dict.fromkeys(("q1", "q2", "q3"), SHARED)),
        ("V01 to V02", ("V01", "V02"), dict.fromkeys(("V01", "V02"), SHARED)),
        ("a, b", ("a, b", "a", "b"), {"a, b": EXACT}),
        ("P95", ("P95", "p95"), {"P95": EXACT}),
        ("p_95", ("P95", "p95"), {}),
        ("age (integer)", ("age",), {"age": EXACT}),
        ("'age':", ("age",), {"age": EXACT}),
        ("q1-q999999", ("q1", "q2"), {}),
    ],
)
def test_a_name_finds_the_columns_it_means(said, columns, confidences):
    told = Glossary("a.md", [(said, "a text")], about_columns=True)
    (found,) = [documented_descriptions(table(*columns), [told])]
    assert {columns[p]: one.confidence for p, one in found.items()} == pytest.approx(confidences)


def test_the_source_of_a_description_is_kept_and_its_length_bounded():
    found = documented_descriptions(table("age"), [Glossary("a.md", [("age", "years " * 10_000)])])
    assert len(found[0].text) == TEXT_CHARACTERS
    assert (found[0].provenance, found[0].source) == (Provenance.DOCUMENT, "a.md")


def test_comments_of_a_database_are_a_persons():
    one = Table("db/t", (Column("a", "INT", " said\nhere "), Column("b", "INT")), 1, "/db")
    description = Description("said here", Provenance.PERSON, "the column's comment", EXACT)
    assert comments_of(one) == {0: description}
    for nothing in ("TODO", "N/A", "tbd", "-"):
        unsaid = Table("db/t", (Column("a", "INT", nothing),), 1, "/db")
        assert comments_of(unsaid) == {}


@pytest.mark.timeout(120)  # most take a tenth of a second
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("people.md", "*a **a " * 20_000),
        ("people.md", "[" * 100_000),
        ("people.md", "> " * 50_000 + "x"),
        ("people.md", "- " * 50_000 + "x: y"),
        ("people.md", "|a" * 50_000 + "\n" + "|-" * 50_000),
        ("people.txt", "a" * 1_000_000),
        ("people.txt", (" " * 80 + "a: b c\n") * 10_000),
        ("people.txt", "".join(" " * (i % 900) + "a: b c\n" for i in range(20_000))),
        ("people.txt", "`" * 200_000),
        ("people.txt", "`a`, " * 50_000),
        ("people.txt", "a_a_" * 50_000 + " is the"),
        ("people.txt", "`a` is the a. " * 20_000),
        ("people.html", "<p>" + "<code>a</code> is the " * 20_000),
        ("people.html", "<p><code>" * 60_000),
        ("people.html", "<dl>" + "<dt>a<dd>b c" * 60_000),
        ("people.html", "<ul>" + "<li><b>a</b>: b c" * 60_000),
        ("people.html", "<table>" + "<tr><td>a" * 90_000),
        ("people.html", "<dl>" * 200 + "<dt>a<dd>bc" * 2_000),
        ("people.html", "<dl>" + "<dt>a" * 15_000 + "<dd>b c" * 15_000),
    ],
    ids=lambda value: value[:12],
)
def test_hostile_documents_cost_a_bounded_time(name, text):
    lists = glossaries_in(name, text.encode(), ())
    assert sum(len(one.rows) for one in lists) <= MOST_ROWS


@pytest.mark.timeout(120)  # without a bound it takes minutes
def test_runs_of_names_cost_a_bounded_time():
    text = json.dumps({"columns": [{"name": "1-499," * 333, "label": "a b"}] * 400})
    lists = glossaries_in("people.json", text.encode(), ("people",))
    assert documented_descriptions(table("age", "500"), lists) == {}


@pytest.mark.timeout(120)  # 2,000 readings would take much longer
@pytest.mark.parametrize("around", ["<div><pre>", "<ul><li>", "<dl><dd>", "<table><tr><td>"])
def test_nested_lists_cost_no_more_than_a_few_readings(around):
    lines = "\n".join(f"a{n}: b c" for n in range(20_000))
    glossaries_in("people.html", f"{around * 2_000}{lines}".encode(), ())


@given(st.text(), st.sampled_from(["people.md", "people.txt", "people.html", "people.json"]))
def test_any_text_is_read(text, name):
    for one in glossaries_in(name, text.encode("utf-8", "replace"), ("people",)):
        assert all(isinstance(cell, str) for row in one.rows for cell in row)
