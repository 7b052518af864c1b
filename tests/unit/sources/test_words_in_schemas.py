"""What Parquet, Arrow and ORC files say of themselves is found, and pandas' index is no column."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import orc

from tests.support.lake_tables import only_table

INDEX = "__index_level_0__"


def write(table: pa.Table, folder, form: str) -> None:
    path = folder / f"t.{'parquet' if form == 'parquet' else form.partition(' ')[0]}"
    if form == "parquet":
        pq.write_table(table, path)
    elif form == "orc":
        orc.write_table(table, path)
    else:
        new = pa.ipc.new_stream if form == "arrow stream" else pa.ipc.new_file
        with new(path, table.schema) as writer:
            writer.write_table(table)


def gauges(**metadata: str) -> pa.Table:
    fields = [
        pa.field("x1", pa.float64(), metadata={"description": "water level\nabove datum"}),
        pa.field(INDEX, pa.int64()),
        pa.field(
            "x2", pa.int64(), metadata={"comment": "number of the gauge", "PARQUET:field_id": "7"}
        ),
        pa.field("x3", pa.int64()),
    ]
    values = {"x1": [1.5, 2.5], INDEX: [70, 80], "x2": [3, 4], "x3": [5, 6]}
    return pa.table(values, schema=pa.schema(fields, metadata=metadata))


@pytest.mark.parametrize("form", ["parquet", "arrow", "arrow stream"])
@pytest.mark.parametrize("key", ["description", "comment"])
def test_words_of_schemas_and_fields_are_documents(lake, folder, form, key):
    write(gauges(**{key: "Gauges of the river Elbe", "other": "no words"}), folder, form)
    ref = only_table(lake)
    said = {"x1": "water level above datum", "x2": "number of the gauge", "x3": ""}
    assert {one.name: one.comment for one in lake.profile(ref).columns} == said
    assert list(lake.contexts(ref).texts) == [
        "Gauges of the river Elbe",
        "x1: water level above datum\nx2: number of the gauge",
    ]


@pytest.mark.parametrize("form", ["parquet", "arrow", "orc"])
def test_an_index_without_a_name_is_no_column(lake, folder, form):
    write(gauges(), folder, form)
    ref = only_table(lake)
    table = lake.profile(ref)
    drawn = lake.sample(ref, 9, 0)
    assert [one.name for one in table.columns] == ["x1", "x2", "x3"]
    assert [row.cells for row in drawn] == [("1.5", "3", "5"), ("2.5", "4", "6")]
    assert lake.sample(ref, 9, 0, [row.mark for row in drawn]) is None
    scanned = [row for batch in lake.scan(ref) for row in batch.to_pylist()]
    assert scanned == [{"x1": 1.5, "x2": 3, "x3": 5}, {"x1": 2.5, "x2": 4, "x3": 6}]
    assert len(lake.evidence(ref, 0).profiles) == 3


@pytest.mark.parametrize("schema", [b"", b"no base64!", b"AAAA", b"/////w=="])
def test_a_schema_that_is_none_says_nothing(lake, folder, schema):
    table = pa.table({"x": [1]}, schema=pa.schema([("x", pa.int64())], {"ARROW:schema": schema}))
    pq.write_table(table, folder / "t.parquet", store_schema=False)
    ref = only_table(lake)
    assert [one.comment for one in lake.profile(ref).columns] == [""]
    assert list(lake.contexts(ref).texts) == []


@pytest.mark.parametrize("form", ["parquet", "arrow", "orc"])
@pytest.mark.parametrize(
    ("table", "names"),
    [
        (pa.table({INDEX: [7]}), [INDEX]),
        (pa.table({"a": [{INDEX: 7}]}), ["a"]),
        (pa.table({INDEX: [6], "a": [{INDEX: 7}]}), ["a"]),
    ],
)
def test_names_like_an_index_inside_a_column_and_alone_are_read(lake, folder, form, table, names):
    write(table, folder, form)
    ref = only_table(lake)
    assert [one.name for one in lake.profile(ref).columns] == names
    (row,) = lake.sample(ref, 9, 0)
    assert "7" in row.cells[0]
