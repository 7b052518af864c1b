"""Columns of the same texts are told where no key joins their tables, and no pair is looked for."""

import time

import numpy as np
import pytest

from pneuma_assets.core.relations.infer_joins import infer_joins
from pneuma_assets.core.relations.join_column_facts import JoinColumn
from pneuma_assets.core.relations.join_graph import JoinEdge, JoinKind
from pneuma_assets.core.relations.shared_domains import shared_domains

STATES = range(100, 150)
"""Hashes of fifty cells, spread over the space that hashes have."""


def column(table_id: str, name: str, cells=STATES, kind: str = "VARCHAR", **known) -> JoinColumn:
    hashes = np.array(sorted(cell * 2_654_435_761 % (1 << 32) for cell in cells), np.uint64)
    facts = {"rows": 1_000, "whole": len(hashes) <= 32, "type": kind, "width": 2} | known
    return JoinColumn(table_id, name, 1, cells=hashes[:32], **facts)


def lake(*columns: JoinColumn) -> dict[str, list[JoinColumn]]:
    """Return tables of one column each, beside a number that each calls by another name."""
    own = [JoinColumn(one.table_id, f"of {one.table_id}", 0, 9, one.cells[:0], whole=False)
           for one in columns]  # fmt: skip
    return {one.table_id: [other, one] for one, other in zip(columns, own, strict=True)}


def pairs(*columns: JoinColumn, keys=()) -> set[str]:
    found = shared_domains(lake(*columns), keys)
    assert all(edge.kind is JoinKind.DOMAIN and edge.score >= 0.9 for edge in found)
    return {
        f"{edge.table}.{edge.columns[0]} {edge.other}.{edge.other_columns[0]}" for edge in found
    }


def test_columns_of_the_same_texts_are_told_whatever_they_are_called():
    states = [column("s/crime", "state"), column("s/a/votes", "st"), column("s/b/tax", "statename")]
    assert infer_joins(lake(*states)) == []
    assert pairs(*states) == {
        "s/b/tax.statename s/a/votes.st", "s/crime.state s/a/votes.st",
        "s/crime.state s/b/tax.statename",
    }  # fmt: skip


def test_the_one_that_lacks_less_is_said_to_refer_to_the_other():
    some = column("s/a", "state", range(100, 120))
    assert pairs(column("s/b", "st", range(90, 120)), some) == {"s/a.state s/b.st"}


@pytest.mark.parametrize(
    "other",
    [
        column("s/b", "state", range(130, 180)),
        column("s/b", "state", range(100, 115)),
        column("s/b", "state", kind="BIGINT"),
        column("s/b", "state", kind="DATE"),
        column("s/b", "state", kind="BOOLEAN"),
        column("s/b", "state", kind=""),
        column("t/b", "state"),
    ],
    ids=["others", "few", "numbers", "dates", "truths", "unknown", "another source"],
)
def test_what_says_little_or_nothing_is_not_told(other):
    assert pairs(column("s/a", "state"), other) == set()


def test_tables_that_a_key_joins_or_that_are_alike_are_told_as_that():
    one, other = column("s/a", "state"), column("s/b", "state")
    key = JoinEdge("s/b", ("x",), "s/a", ("y",), JoinKind.INFERRED, 1.0)
    assert pairs(one, other) == {"s/b.state s/a.state"}
    assert pairs(one, other, keys=[key]) == set()
    assert shared_domains({"s/a": [one], "s/b": [other]}, []) == []


def test_of_many_a_few_of_the_most_used_tables_are_offered():
    many = [column(f"s/t{number:03}", "state") for number in range(100)]
    keys = [JoinEdge(f"s/x{n}", ("x",), "s/t077", ("y",), JoinKind.INFERRED, 1.0) for n in range(3)]
    found = shared_domains(lake(*many), keys)
    assert len(found) <= 5 * len(many)
    assert {one for edge in found for one in edge.tables if one != "s/t077"} == {
        one.table_id for one in many if one.table_id != "s/t077"
    }
    assert sum("s/t077" in edge.tables for edge in found) == 99
    years = {f"s/y{n}": [column(f"s/y{n}", "state"), column(f"s/y{n}", "b", ())] for n in range(20)}
    told = shared_domains(years | lake(column("s/z", "st")), [])
    assert {edge.tables for edge in told} == {(f"s/y{n}", "s/z") for n in range(20)}


@pytest.mark.timeout(60)
def test_ten_thousand_columns_of_one_domain_are_never_compared_all_with_all():
    many = [column(f"s/t{number}", "state") for number in range(10_000)]
    started = time.process_time()
    assert len(shared_domains(lake(*many), [])) < 50_000
    assert time.process_time() - started < 20


def test_two_tables_of_many_such_columns_are_offered_a_few_ways():
    tables = {i: [column(f"s/{i}", f"{i}{n}") for n in range(20)] for i in ("from", "to")}
    found = shared_domains({f"s/{i}": some for i, some in tables.items()}, [])
    assert 0 < len(found) <= 8
