"""Iceberg tables that lie in a folder are one table each, read by their newest metadata."""

import json
import shutil

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.types import LongType, StringType

from pneuma_assets.core.errors import TableReadError
from tests.support.lake_tables import listed, marks_of, only_table, rows_in

SCHEMA = pa.schema([("name", pa.string()), ("age", pa.int64())])


def people(*numbers: int) -> pa.Table:
    return pa.table({"name": [f"p{n}" for n in numbers], "age": [*numbers]}, schema=SCHEMA)


def texts(*numbers: int) -> list[tuple[str, ...]]:
    return [(f"p{n}", str(n)) for n in numbers]


@pytest.fixture
def catalog(tmp_path, folder):
    catalog = SqlCatalog("c", uri=f"sqlite:///{tmp_path}/catalog.sqlite", warehouse=folder.as_uri())
    catalog.create_namespace("shop")
    yield catalog
    catalog.close()


@pytest.fixture
def table(lake, catalog):
    table = catalog.create_table("shop.people", SCHEMA, properties={"comment": "Who works here."})
    table.append(people(1, 2, 3))
    return table


def test_one_table_with_what_it_says_of_itself(lake, table, folder):
    table.append(people(4))
    (folder / "shop" / "people" / "README.md").write_text("Ask Ann.")
    ref = only_table(lake)
    assert (ref.table_id, ref.format) == ("lake/shop/people", "iceberg")
    assert rows_in(lake, ref) == texts(1, 2, 3, 4)
    profile = lake.profile(ref)
    assert [(c.name, c.type, c.identity) for c in profile.columns] == [
        ("name", "VARCHAR", "1"), ("age", "BIGINT", "2")]  # fmt: skip
    assert list(lake.contexts(ref).texts) == ["Who works here.", "Ask Ann."]


def test_appended_deleted_and_overwritten_rows(lake, table):
    first = only_table(lake)
    table.append(people(4))
    table.delete("age = 2")
    assert only_table(lake).version != first.version
    assert only_table(lake).identity == first.identity
    assert rows_in(lake, only_table(lake)) == texts(1, 3, 4)
    table.overwrite(people(9))
    assert rows_in(lake, only_table(lake)) == texts(9)


def test_columns_added_renamed_dropped_and_widened(lake, table):
    with table.update_schema() as update:
        update.rename_column("age", "years")
        update.add_column("city", StringType(), doc="Where they live.")
    columns = lake.profile(only_table(lake)).columns
    assert [(c.name, c.identity, c.comment) for c in columns] == [
        ("name", "1", ""), ("years", "2", ""), ("city", "3", "Where they live.")]  # fmt: skip
    assert rows_in(lake, only_table(lake)) == [(*row, None) for row in texts(1, 2, 3)]
    with table.update_schema() as update:
        update.delete_column("name")
        update.add_column("n", LongType())
    assert rows_in(lake, only_table(lake)) == [(str(n), None, None) for n in (1, 2, 3)]


def test_rows_rewritten_into_one_file_leave_the_sample(lake, table):
    for number in range(4, 9):
        table.append(people(number))
    marks = marks_of(lake, only_table(lake))
    before = rows_in(lake, only_table(lake))
    table.overwrite(table.scan().to_arrow())
    assert rows_in(lake, only_table(lake)) == before
    assert lake.sample(only_table(lake), 5, 0, marks) is None


def test_a_table_that_was_moved_is_read_where_it_is(lake, table, folder):
    before = only_table(lake)
    shutil.move(folder / "shop" / "people", folder / "staff")
    now = only_table(lake)
    assert (now.table_id, now.identity) == ("lake/staff", before.identity)
    assert rows_in(lake, now) == texts(1, 2, 3)


def _newest(folder):
    return max((folder / "shop" / "people" / "metadata").glob("*.metadata.json"))


@pytest.mark.parametrize("place", ["/etc/passwd", "s3://other/m.avro", "{here}/../../x.avro"])
def test_metadata_leads_nowhere_else(lake, table, folder, place):
    metadata = json.loads(_newest(folder).read_text())
    place = place.replace("{here}", metadata["location"])
    for snapshot in metadata["snapshots"]:
        snapshot["manifest-list"] = place
    _newest(folder).write_text(json.dumps(metadata))
    with pytest.raises(TableReadError, match="outside its own folder"):
        lake.profile(only_table(lake))


def test_a_table_loads_no_class_that_it_names(lake, table, folder, capsys):
    metadata = json.loads(_newest(folder).read_text())
    metadata["properties"]["py-io-impl"] = "this.Zen"
    _newest(folder).write_text(json.dumps(metadata))
    assert rows_in(lake, only_table(lake)) == texts(1, 2, 3)
    assert "Zen" not in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format-version": 2}', "\x00"])
def test_damaged_metadata_is_its_problem(lake, table, folder, text):
    _newest(folder).write_text(text)
    with pytest.raises(TableReadError) as caught:
        lake.profile(only_table(lake))
    assert str(caught.value).isprintable()


def test_data_that_is_gone_is_its_problem_alone(lake, table, folder, catalog):
    other = catalog.create_table("shop.other", SCHEMA)
    other.append(people(7))
    for file in (folder / "shop" / "people" / "data").iterdir():
        file.unlink()
    refs = listed(lake)
    with pytest.raises(TableReadError, match="it is gone"):
        lake.sample(refs["lake/shop/people"], 5, 0)
    assert rows_in(lake, refs["lake/shop/other"]) == texts(7)
