"""Columns that a question names, of tables as wide as anybody can write."""

from types import SimpleNamespace

from pneuma_assets.core.service.catalog_snapshot import Read, Snapshot, text_version
from pneuma_assets.core.service.search import named_columns, said_columns
from pneuma_assets.core.store.catalog import ListedLineage, TableTexts
from pneuma_assets.core.store.tables import TableRecord, TableState
from pneuma_assets.core.text.analysis import ENGLISH


def snapshot(columns: list[str]) -> Snapshot:
    known = {"table_id": "lake/wide", "source": "lake", "state": TableState.INDEXED, "comment": ""}
    one = TableRecord(**dict.fromkeys(TableRecord.__slots__) | known)
    texts = {"lake/wide": (text_version(one), TableTexts("", tuple(columns), 0))}
    return Snapshot(Read([one], {}, ListedLineage("", {}, ()), texts), {})


def test_of_a_very_wide_table_the_first_columns_are_looked_at():
    wide = ["rain", *(f"value of sensor {n}" for n in range(5_000)), "rain at sensors"]
    view = snapshot(wide).view(None)
    asked = "rain by sensor"
    found = named_columns(asked, ["lake/wide"], view, ENGLISH)
    assert found[0].column == "rain"
    assert wide[-1] not in {one.column for one in found}
    said = {"lake/wide": {wide[3]: SimpleNamespace(text="how much it rains")}}
    store = SimpleNamespace(
        narrations=SimpleNamespace(of_tables=lambda ids: {one: said[one] for one in ids}),
        descriptions=SimpleNamespace(corrections=lambda _: ()),
        statistics=SimpleNamespace(column_profiles=lambda _: {}),
    )
    (described,) = said_columns("rain", ["lake/wide"], view, ENGLISH, store)
    assert described.column == wide[3]
