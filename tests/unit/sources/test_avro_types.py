"""Columns of Avro files tell what is inside them, since rules hide a column by the fields in it."""

import fastavro
import pytest

from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.sources.privacy.source import PrivateSource
from tests.support.lake_tables import only_table, source_of_folder

PAYER = {
    "type": "record",
    "name": "payer",
    "namespace": "a.b",
    "fields": [
        {"name": "email", "type": ["null", "string"]},
        {"name": "next", "type": ["null", "payer"]},
    ],
}
WHO = {"email": "secret", "next": None}


def write(folder, *fields, **record) -> None:
    schema = {"type": "record", "name": "row", "fields": [{"name": "id", "type": "long"}, *fields]}
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "a.avro").open("wb") as file:
        fastavro.writer(file, schema, [{"id": 1, **record}])


def types_in(folder) -> list[str]:
    source = source_of_folder(folder)
    return [column.type for column in source.profile(only_table(source)).columns]


@pytest.mark.parametrize(
    ("kind", "value", "told"),
    [
        (PAYER, WHO, 'STRUCT("email" string, "next" a.b.payer)'),
        (["null", PAYER], WHO, 'STRUCT("email" string, "next" a.b.payer)'),
        ({"type": "array", "items": PAYER}, [WHO], 'STRUCT("email" string, "next" a.b.payer)[]'),
        ({"type": "map", "values": "long"}, {"a": 1}, "MAP(string, long)"),
        (["string", "long"], "a", "UNION(string, long)"),
        ("string", "a", "VARCHAR"),
        ({"type": "long", "logicalType": "timestamp-micros"}, 0, "TIMESTAMP WITH TIME ZONE"),
    ],
)
def test_a_type_names_the_fields_inside(tmp_path, kind, value, told):
    write(tmp_path / "lake", {"name": "x", "type": kind}, x=value)
    assert types_in(tmp_path / "lake") == ["BIGINT", told]


def test_a_column_of_a_type_that_another_column_names_is_hidden_as_that_one(tmp_path):
    fields = {"name": "first", "type": PAYER}, {"name": "more", "type": {"type": "array", "items":
        "a.b.payer"}}  # fmt: skip
    write(tmp_path / "lake", *fields, first=WHO, more=[WHO])
    rules = Rules(PrivacyConfig(hidden_columns=("email",)))
    source = PrivateSource(source_of_folder(tmp_path / "lake"), rules)
    (row,) = source.sample(source.list_tables().tables[0], 5, 0)
    assert row.cells == ("1", None, None)


def test_what_any_file_of_a_table_has_inside_counts(tmp_path):
    empty = {**PAYER, "fields": [{"name": "id", "type": "long"}]}
    write(tmp_path / "lake" / "t" / "day=1", {"name": "x", "type": empty}, x={"id": 1})
    write(tmp_path / "lake" / "t" / "day=2", {"name": "x", "type": PAYER}, x=WHO)
    (told,) = (kind for kind in types_in(tmp_path / "lake") if "STRUCT" in kind)
    assert '"email" string' in told
