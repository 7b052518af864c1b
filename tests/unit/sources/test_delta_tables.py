"""Delta tables as deltalake writes them: one table each, as its newest version has it."""

import json
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyroaring import BitMap

from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.errors import TableReadError
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.sources.privacy.source import PrivateSource
from tests.support.lake_tables import listed, marks_of, only_table, rows_in


def people(*numbers: int) -> pa.Table:
    return pa.table({"name": [f"p{n}" for n in numbers], "age": [*numbers]})


@pytest.fixture
def table(folder):
    return folder / "shop" / "people"


def names(source) -> list[str]:
    return [column.name for column in source.profile(only_table(source)).columns]


def test_a_table_of_many_files_is_one_table(lake, table):
    for number in range(10):
        write_deltalake(table, people(number), mode="append")
    (table / "README.md").write_text("Who works here.")
    ref = only_table(lake)
    assert (ref.table_id, ref.format) == ("lake/shop/people", "delta")
    assert rows_in(lake, ref) == [(f"p{n}", str(n)) for n in range(10)]
    assert list(lake.contexts(ref).texts) == ["Who works here."]


def test_partition_values_come_from_the_log(lake, table):
    places = ["x y", "a/b=%41", "ü", None]
    data = pa.table({"place": places, "n": [1, 2, 3, 4]})
    write_deltalake(table, data, partition_by=["place"])
    profile = lake.profile(only_table(lake))
    assert {(c.name, c.type) for c in profile.columns} == {("n", "BIGINT"), ("place", "VARCHAR")}
    found = {frozenset(row) for row in rows_in(lake, only_table(lake))}
    assert found == {frozenset({place, str(n)}) for n, place in enumerate(places, 1)}


def test_appended_updated_and_deleted_rows(lake, table):
    write_deltalake(table, people(1, 2, 3))
    first = only_table(lake)
    write_deltalake(table, people(4), mode="append")
    DeltaTable(table).delete("age = 2")
    DeltaTable(table).update(updates={"name": "'new'"}, predicate="age = 3")
    now = only_table(lake)
    assert now.version != first.version
    assert rows_in(lake, now) == [("new", "3"), ("p1", "1"), ("p4", "4")]


def test_columns_added_renamed_and_dropped(lake, table):
    write_deltalake(table, people(1))
    write_deltalake(table, people(2).append_column("city", [["Rome"]]), mode="append",
                    schema_mode="merge")  # fmt: skip
    assert rows_in(lake, only_table(lake)) == [("p1", "1", None), ("p2", "2", "Rome")]
    renamed = people(3).rename_columns(["who", "age"])
    write_deltalake(table, renamed, mode="overwrite", schema_mode="overwrite")
    assert names(lake) == ["who", "age"]
    assert rows_in(lake, only_table(lake)) == [("p3", "3")]


def test_compaction_and_vacuum_leave_rows_and_sample_as_they_are(lake, table):
    for number in range(6):
        write_deltalake(table, people(2 * number, 2 * number + 1), mode="append")
    before = only_table(lake)
    rows, marks = rows_in(lake, before), marks_of(lake, before)
    DeltaTable(table).optimize.compact()
    DeltaTable(table).vacuum(retention_hours=0, dry_run=False, enforce_retention_duration=False)
    after = only_table(lake)
    assert after.version != before.version
    assert rows_in(lake, after) == rows
    assert lake.sample(after, 5, 0, marks) is None, "the sample is as it was"


def test_a_checkpoint_is_no_change_and_stands_for_what_came_before(lake, table):
    for number in range(4):
        write_deltalake(table, people(number), mode="append")
    before = only_table(lake)
    DeltaTable(table).create_checkpoint()
    assert only_table(lake) == before
    for number in range(3):
        (table / "_delta_log" / f"{number:020}.json").unlink()
    assert only_table(lake).version == before.version
    assert len(rows_in(lake, only_table(lake))) == 4
    (table / "_delta_log" / f"{3:020}.json").unlink()
    assert len(rows_in(lake, only_table(lake))) == 4


def test_a_table_in_the_middle_of_a_write_is_the_last_version(lake, table):
    write_deltalake(table, people(1, 2))
    before = only_table(lake)
    pq.write_table(
        people(3), table / "part-00001-5f3e1d0a-0000-0000-0000-000000000000-c000.parquet"
    )
    (table / "_delta_log" / "_commit_5f3e1d0a.json.tmp").write_text('{"add":')
    assert only_table(lake) == before
    assert len(rows_in(lake, before)) == 2


def test_what_people_say_of_it_and_its_columns(lake, table):
    said = pa.field("age", pa.int64(), metadata={"comment": "In years."})
    data = people(1).cast(pa.schema([pa.field("name", pa.string()), said]))
    write_deltalake(table, data, description="Who works here.")
    profile = lake.profile(only_table(lake))
    assert profile.comment == "Who works here."
    assert [column.comment for column in profile.columns] == ["", "In years."]
    texts = list(lake.contexts(only_table(lake)).texts)
    assert texts == ["Who works here.", "age: In years."]


def test_files_that_are_gone_or_a_log_that_is_damaged_are_its_problem(lake, table):
    write_deltalake(table, people(1))
    (file,) = table.glob("*.parquet")
    file.unlink()
    with pytest.raises(TableReadError, match="it is gone"):
        lake.sample(only_table(lake), 5, 0)
    write_deltalake(table, people(2), mode="overwrite")
    log = table / "_delta_log" / f"{1:020}.json"
    log.write_text('{"add": {"path"')
    with pytest.raises(TableReadError, match="_delta_log") as caught:
        lake.profile(only_table(lake))
    assert str(caught.value).isprintable()


def _commit(table, number: int, *actions: dict) -> None:
    log = table / "_delta_log"
    log.mkdir(parents=True, exist_ok=True)
    (log / f"{number:020}.json").write_text("\n".join(map(json.dumps, actions)))


def _made_by_hand(table, fields, features=(), **add) -> None:
    """Write a table as engines do whose features deltalake does not write."""
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": [*features],
                "writerFeatures": [*features]}  # fmt: skip
    configuration = {"delta.enableDeletionVectors": "true", "delta.columnMapping.mode": "name"}
    _commit(
        table, 0,
        {"protocol": protocol},
        {"metaData": {"id": "1c8d7a60-0000-4000-8000-000000000000", "partitionColumns": [],
                      "format": {"provider": "parquet", "options": {}}, "createdTime": 1,
                      "schemaString": json.dumps({"type": "struct", "fields": fields}),
                      "configuration": configuration}},
        {"add": {"path": "f.parquet", "partitionValues": {}, "size": 1, "modificationTime": 1,
                 "dataChange": True, **add}},
    )  # fmt: skip


def _field(name: str, physical: str, number: int, kind: object = "long") -> dict:
    said = {"delta.columnMapping.id": number, "delta.columnMapping.physicalName": physical}
    return {"name": name, "type": kind, "nullable": True, "metadata": said}


def _inline_vector(*deleted: int) -> dict:
    """Return a deletion vector as the protocol writes it into the log: Z85 of a 64-bit bitmap."""
    bitmap = struct.pack("<IQI", 1681511377, 1, 0) + BitMap(deleted).serialize()
    padded = bitmap + b"\0" * (-len(bitmap) % 4)
    signs = ("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
             ".-:+=^!/*?&<>()[]{}@%$#")  # fmt: skip
    text = ""
    for (word,) in struct.iter_unpack(">I", padded):
        text += "".join(signs[word // 85**power % 85] for power in (4, 3, 2, 1, 0))
    return {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(bitmap),
            "cardinality": len(deleted)}  # fmt: skip


def test_deletion_vectors_and_mapped_columns_are_respected(lake, table):
    fields = [_field("a b", "col-1", 1), _field("gone again", "col-3", 3)]
    vector = _inline_vector(1, 2, 5)
    stats = json.dumps({"numRecords": 8})
    _made_by_hand(table, fields, ["deletionVectors", "columnMapping"],
                  deletionVector=vector, stats=stats)  # fmt: skip
    pq.write_table(pa.table({"col-1": range(8), "col-2": ["dropped"] * 8}), table / "f.parquet")
    profile = lake.profile(only_table(lake))
    assert [(c.name, c.identity) for c in profile.columns] == [("a b", "1"), ("gone again", "3")]
    left = [(str(n), None) for n in (0, 3, 4, 6, 7)]
    assert rows_in(lake, only_table(lake)) == left
    marks = marks_of(lake, only_table(lake), 2)
    assert lake.sample(only_table(lake), 2, 0, marks) is None


def test_what_is_nested_is_hidden_by_its_name_and_not_by_that_in_data_files(lake, table):
    inner = {"type": "struct", "fields": [_field("ssn", "col-9", 9, "string")]}
    _made_by_hand(table, [_field("a", "col-1", 1), _field("who", "col-2", 2, inner)],
                  ["columnMapping"])  # fmt: skip
    rows = {"col-1": [1], "col-2": [{"col-9": "secret"}]}
    pq.write_table(pa.table(rows), table / "f.parquet")
    assert rows_in(lake, only_table(lake)) == [("1", "{'col-9': secret}")]
    private = PrivateSource(lake, Rules(PrivacyConfig(hidden_columns=("ssn",))))
    assert private.profile(only_table(lake)).columns[1].type == "STRUCT(ssn VARCHAR)"
    (row,) = private.sample(only_table(lake), 5, 0)
    assert row.cells == ("1", None)


@pytest.mark.parametrize("path", ["../other.parquet", "/etc/passwd", "file:///etc/passwd",
                                  "s3://other/f.parquet", "%2E%2E/other.parquet"])  # fmt: skip
def test_a_log_leads_nowhere_else(lake, table, path):
    _made_by_hand(table, [_field("a", "a", 1)], path=path)
    pq.write_table(pa.table({"a": [1]}), table.parent / "other.parquet")
    ref = listed(lake)["lake/shop/people"]
    with pytest.raises(TableReadError, match="outside its own folder"):
        lake.profile(ref)


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_deletion_vector_leads_nowhere_else(lake, table, checkpoint):
    vector = {"storageType": "p", "pathOrInlineDv": "file:///etc/passwd", "offset": 1,
              "sizeInBytes": 40, "cardinality": 1}  # fmt: skip
    _made_by_hand(table, [_field("a", "a", 1)], ["deletionVectors"], deletionVector=vector)
    pq.write_table(pa.table({"a": [1]}), table / "f.parquet")
    if checkpoint:
        DeltaTable(table).create_checkpoint()
        (table / "_delta_log" / f"{0:020}.json").unlink()
    with pytest.raises(TableReadError, match="outside its own folder"):
        lake.profile(only_table(lake))


@pytest.mark.parametrize("kind", ["variant", "x); DROP", {"type": "struct", "fields": []}])
def test_types_that_are_not_known_are_its_problem(lake, table, kind):
    _made_by_hand(table, [_field("a", "a", 1, kind)])
    with pytest.raises(TableReadError) as caught:
        lake.profile(only_table(lake))
    assert str(caught.value).isprintable()


def test_nonsense_of_a_log_is_not_believed_and_unread_features_are_named(lake, table):
    stats = json.dumps({"numRecords": -7})
    _made_by_hand(table, [_field("a", "a", 1)], stats=stats)
    pq.write_table(pa.table({"a": [1, 2]}), table / "f.parquet")
    assert rows_in(lake, only_table(lake)) == [("1",), ("2",)]
    _made_by_hand(table, [_field("a", "a", 1)], ["deletionVectors", "timeTravelToTheFuture"])
    with pytest.raises(TableReadError, match="timeTravelToTheFuture"):
        lake.profile(only_table(lake))


def test_a_log_that_claims_more_rows_than_any_file_has_is_not_believed(lake, table):
    for number in range(2):
        write_deltalake(table, people(number), mode="append")
    for commit in (table / "_delta_log").glob("*.json"):
        said = commit.read_text().replace('\\"numRecords\\":1', f'\\"numRecords\\":{2**63 - 1}')
        assert str(2**63 - 1) in said
        commit.write_text(said)
    ref = only_table(lake)
    assert lake.profile(ref).row_count == 2
    assert len(lake.sample(ref, 5, 0)) == 2
