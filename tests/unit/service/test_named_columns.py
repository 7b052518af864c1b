"""Columns that a question names, of tables as wide as anybody can write."""

from types import SimpleNamespace

from pneuma_assets.core.service.catalog_snapshot import Read, Snapshot
from pneuma_assets.core.service.search import named_columns, said_columns
from pneuma_assets.core.store.catalog import ListedLineage, ListedTable, TableTexts
from pneuma_assets.core.text.analysis import ENGLISH


def snapshot(columns: list[str]) -> Snapshot:
    one = ListedTable("lake/wide", "lake", "csv", "indexed", 1.0, "", *[None] * 6)
    texts = {"lake/wide": (one.version, TableTexts("", tuple(columns), 0))}
    return Snapshot(Read([one], {}, {}, ListedLineage("", {}, ()), texts), {})


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
