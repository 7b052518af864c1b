"""Columns that a question names, of tables as wide as anybody can write."""

import time

from pneuma_assets.core.service.catalog_snapshot import Read, Snapshot
from pneuma_assets.core.service.search import named_columns
from pneuma_assets.core.store.catalog import ListedLineage, ListedTable, TableTexts
from pneuma_assets.core.text.analysis import ENGLISH


def snapshot(columns: list[str]) -> Snapshot:
    one = ListedTable("lake/wide", "lake", "csv", "indexed", 1.0, "", *[None] * 6)
    texts = {"lake/wide": (one.version, TableTexts("", tuple(columns), 0))}
    return Snapshot(Read([one], {}, {}, ListedLineage("", {}, ()), texts), {})


def test_a_table_of_very_many_columns_takes_no_longer_than_one_of_many():
    view = snapshot(["rain", *(f"value of sensor {n}" for n in range(200_000))]).view(None)
    began = time.perf_counter()
    found = named_columns("rain by sensor", ["lake/wide"], view, ENGLISH)
    assert time.perf_counter() - began < 2, "200,000 names take some 8 s"
    assert found[0].column == "rain"
