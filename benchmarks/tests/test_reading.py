"""Sets are read as they are written, and what cannot be one is refused by file and line."""

import json

import pytest

from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.evaluation.evaluate import MOST_LINE_BYTES, read_questions
from pneuma_assets.core.relations.join_graph import JoinKind
from pneuma_bench.reading import name_parts, read_files

TABLE = {"id": "1", "columns": ["city", "people"], "rows": [["Oslo", "709037"]]}
OTHER = TABLE | {"id": "2"}
QUESTION = {"question": "How many people live in Oslo?", "tables": ["1"]}


def written(path, *lines):
    path.write_bytes(
        b"".join(
            (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n"
            for line in lines
        )
    )
    return path


def read(folder, tables=(TABLE,), queries=(QUESTION,), **options):
    return read_files(
        written(folder / "t.jsonl", *tables), written(folder / "q.jsonl", *queries), **options
    )


def test_a_set_is_read(tmp_path):
    table = TABLE | {"name": "norway.cities", "contexts": ["Towns of Norway."]}
    dataset = read(
        tmp_path, [table, b"", TABLE | {"id": "2"}], [QUESTION, {**QUESTION, "tables": []}]
    )
    (first, rows), (second, _) = dataset.tables
    assert [column.name for column in first.columns] == ["city", "people"]
    assert (first.row_count, rows) == (1, [("Oslo", "709037")])
    assert dataset.names == {first.table_id: ("norway", "cities"), second.table_id: ("2",)}
    assert dataset.contexts == {first.table_id: ["Towns of Norway."], second.table_id: []}
    assert dataset.relevant == [{first.table_id}, frozenset()]
    assert [dataset.spelled(one.table_id) for one in (first, second)] == ["1", "2"]


def test_questions_may_say_of_what_kind_they_are(tmp_path):
    queries = [QUESTION | {"kind": "content"}, QUESTION, QUESTION | {"kind": None}]
    assert read(tmp_path, queries=queries).kinds == ["content", "", ""]
    assert read_questions(written(tmp_path / "q.jsonl", *queries), ["1"])[0].kind == "content"
    with pytest.raises(BenchmarkError, match=r"q\.jsonl.* 1.*'kind' must be a text"):
        read(tmp_path, queries=[QUESTION | {"kind": ["content"]}])


@pytest.mark.parametrize("name", [{}, {"name": "hr/payroll"}])
def test_an_id_is_the_name_of_a_table_without_one_unless_names_are_hidden(tmp_path, name):
    known = "2024" if name else "hr/payroll"
    args = tmp_path, [TABLE | {"id": known} | name], [QUESTION | {"tables": [known]}]
    named, hidden = read(*args), read(*args, hide_names=True)
    assert named.names == {"t/hr/payroll": ("hr", "payroll")}
    assert named.relevant == [{"t/hr/payroll"}]
    assert named.spelled("t/hr/payroll") == known
    ((table, _),) = hidden.tables
    assert (hidden.names, hidden.spelled(table.table_id)) == ({}, known)
    assert table.table_id == f"t/{known.replace('/', '%2F')}"


def test_tables_of_one_name_are_told_apart(tmp_path):
    tables = [TABLE | {"name": "hr/pay"}, OTHER | {"name": "hr/pay"}]
    dataset = read(tmp_path, tables, [QUESTION | {"tables": ["2"]}])
    assert dataset.relevant == [{"t/hr/pay.2"}]
    assert [dataset.spelled(table.table_id) for table, _ in dataset.tables] == ["1", "2"]


JOIN = {"a": "1", "a_columns": ["city"], "b": "2", "b_columns": ["city"], "from": "foreign key"}


def test_joins_are_read_by_who_says_them(tmp_path):
    joins = written(tmp_path / "j.jsonl", JOIN, JOIN | {"from": "benchmark"})
    declared, other = read(tmp_path, [TABLE, OTHER], joins=joins).joins
    assert declared.on == other.on == ("t/1", ("city",), "t/2", ("city",))
    assert (declared.kind, other.kind) == (JoinKind.DECLARED, JoinKind.VIEW)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"b": "9"}, "no table has the id '9'"),
        ({"b_columns": []}, "must be equally many"),
        ({"a_columns": [], "b_columns": []}, "must be equally many"),
        ({"a_columns": "city"}, "'a_columns' must be a list of texts"),
    ],
)
def test_a_bad_join_is_named_by_file_and_line(tmp_path, line, told):
    joins = written(tmp_path / "j.jsonl", JOIN, JOIN | line)
    with pytest.raises(BenchmarkError, match=rf"j\.jsonl, line 2: .*{told}"):
        read(tmp_path, [TABLE, OTHER], joins=joins)


def test_descriptions_become_a_data_dictionary_where_that_is_asked(tmp_path):
    tables = [TABLE | {"name": "no.cities", "descriptions": ["", "inhabitants"]}]
    assert [*read(tmp_path, tables).contexts.values()] == [[]]
    told = read(tmp_path, tables, documents=True).contexts["t/no/cities"]
    assert told == ["# cities\n\npeople: inhabitants"]
    hidden = read(tmp_path, tables, documents=True, hide_names=True).contexts
    assert [*hidden.values()] == [["people: inhabitants"]]


def test_a_name_may_be_given_in_parts_which_may_hold_anything(tmp_path):
    dataset = read(tmp_path, [TABLE | {"name": ["hr", " ", "pay.2024/a"]}])
    assert [*dataset.names.values()] == [("hr", "pay.2024/a")]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a", "b"], ("a", "b")),
        (["a"], ("a", None)),
        ([], (None, None)),
        (["a", "b", "c"], ("a", "b")),
        ([None, ""], (None, "")),
        ([1, 2.50], ("1", "2.5")),
        ([True, {"x": [None]}], ("true", '{"x": [null]}')),
        (["\ud800", "é"], ("?", "é")),
    ],
)
def test_rows_fit_their_table_and_cells_are_text(tmp_path, cells, expected):
    ((_, rows),) = read(tmp_path, [TABLE | {"rows": [cells]}]).tables
    assert rows == [expected]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["1", "-20", "", None], "BIGINT"),
        (["1", "2.5"], "DOUBLE"),
        (["-.5", "1e-3", "9" * 30], "DOUBLE"),
        (["01", "1"], "VARCHAR"),
        (["1_000.5"], "VARCHAR"),
        (["nan"], "VARCHAR"),
        (["1" * 300_000 + "x"], "VARCHAR"),
        (["2020-02-29"], "DATE"),
        (["", None], "VARCHAR"),
    ],
)
def test_columns_have_the_types_of_a_csv_file(tmp_path, cells, kind):
    rows = [["a", cell] for cell in cells]
    ((table, _),) = read(tmp_path, [TABLE | {"rows": rows}]).tables
    assert [column.type for column in table.columns] == ["VARCHAR", kind]


def test_numbers_are_spelled_as_in_the_file(tmp_path):
    line = b'{"id": 7, "columns": ["n"], "rows": [[1.50], [12345678901234567890], [1e3]]}'
    ((table, rows),) = read(tmp_path, [line], [QUESTION | {"tables": ["7"]}]).tables
    assert rows == [("1.50",), ("12345678901234567890",), ("1e3",)]
    assert table.table_id == "t/7"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("academic.author", ("academic", "author")),
        ("hr/payroll_march", ("hr", "payroll_march")),
        ("hr/payroll.v2", ("hr", "payroll.v2")),
        ("sales", ("sales",)),
        ("/a//b/", ("a", "b")),
    ],
)
def test_a_name_has_folders(name, parts):
    assert name_parts(name) == parts


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{", "not JSON"),
        (b"[1]", "a JSON object is needed, not list"),
        (b'{"id": NaN}', "NaN is no JSON"),
        (b'{"id": "\xff"}', "not JSON in UTF-8"),
        (b'{"a":' * 100_000, "not JSON"),
        ({"columns": [], "rows": []}, "'id' must be a text"),
        (TABLE | {"id": " "}, "'id' must be a text"),
        (OTHER | {"columns": "city"}, "'columns' must be a list of texts"),
        (OTHER | {"columns": [["city"]]}, "'columns' must be a list of texts"),
        (OTHER | {"columns": ["c"] * 10_001}, "10,001 columns"),
        (OTHER | {"rows": {"city": "Oslo"}}, "'rows' must be a list of lists"),
        (OTHER | {"rows": ["Oslo"]}, "'rows' must be a list of lists"),
        (OTHER | {"name": [["a"]]}, "'name' must be a list of texts"),
        (OTHER | {"name": {}}, "'name' must be a text"),
        (OTHER | {"contexts": "text"}, "'contexts' must be a list of texts"),
        (TABLE, "another table has the id '1'"),
        ({"table_id": 3, "table": []}, "the first one the header"),
    ],
)
def test_a_bad_table_is_named_by_file_and_line(tmp_path, line, told):
    with pytest.raises(BenchmarkError) as raised:
        read(tmp_path, [TABLE, line])
    assert str(raised.value).startswith(f"{tmp_path / 't.jsonl'}, line 2: ")
    assert told in str(raised.value)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ({"tables": ["1"]}, "'question' must be a text"),
        ({"question": "?!", "tables": ["1"]}, "The question has no words"),
        ({"question": "a" * 10_001, "tables": ["1"]}, "10,001 characters"),
        ({"question": "what"}, "'tables' must be a list"),
        ({"question": "what", "tables": "1"}, "'tables' must be a list"),
        ({"question": "what", "tables": ["1", "9", "x"]}, "no table has the id '9', 'x'"),
        ({"question": "w", "tables": [*"abcdefg"]}, "'a', 'b', 'c', 'd', 'e' and 2 more"),
    ],
)
def test_a_bad_question_is_named_by_file_and_line(tmp_path, line, told):
    with pytest.raises(BenchmarkError) as raised:
        read(tmp_path, queries=[QUESTION, line])
    assert str(raised.value).startswith(f"{tmp_path / 'q.jsonl'}, line 2: ")
    assert told in str(raised.value)


def test_empty_and_missing_files(tmp_path):
    with pytest.raises(BenchmarkError, match="holds no table"):
        read(tmp_path, [b"  "])
    with pytest.raises(BenchmarkError, match="holds no question"):
        read(tmp_path, queries=[])
    with pytest.raises(BenchmarkError, match=r"cannot read .*gone.jsonl \(No such file"):
        read_files(tmp_path / "gone.jsonl", tmp_path / "q.jsonl")


def test_a_line_without_end_is_not_read(tmp_path):
    path = tmp_path / "t.jsonl"
    with path.open("wb") as stream:
        stream.truncate(MOST_LINE_BYTES + 2)  # a hole: nothing of it is on disk
    with pytest.raises(BenchmarkError, match="more than 256 MiB"):
        read_files(path, written(tmp_path / "q.jsonl", QUESTION))


def test_questions_about_an_index(tmp_path):
    path = written(tmp_path / "q.jsonl", QUESTION | {"tables": ["lake/a%2Fb/cities"]})
    (asked,) = read_questions(path, ["lake/a%2Fb/cities"])
    assert asked.relevant == {"lake/a%2Fb/cities"}
    with pytest.raises(BenchmarkError, match="no table has the id"):
        read_questions(path, ["lake/cities"])


def test_hostile_ids_are_spelled_back(tmp_path):
    known = "a\x1b[31m/b%\u202e"
    dataset = read(tmp_path, [TABLE | {"id": known}], [QUESTION | {"tables": [known]}])
    ((table, _),) = dataset.tables
    assert table.table_id.isprintable()
    assert dataset.spelled(table.table_id) == known
    assert dataset.relevant == [{table.table_id}]
