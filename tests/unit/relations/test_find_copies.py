"""Copies are found among tables, and no table that only looks like one."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.relations.copies import KnownTable, find_copies, overlap
from pneuma_assets.core.relations.fingerprints import Fingerprint, fingerprint_of, unpacked
from pneuma_assets.core.tables import Column, Table, TableFacts
from pneuma_assets.core.terms.collect import collect_rows

COLUMNS = ("order_id", "customer", "amount")


def drawn_rows(count, seed=0):
    """Return rows of orders, other ones for every seed."""
    chance = random.Random(seed)
    return [
        (str(number), f"customer {chance.randrange(1000)}", f"{chance.uniform(1, 500):.2f}")
        for number in range(count)
    ]


def table(table_id, rows, columns=COLUMNS, facts=None, *, sketched=False):
    """Return what is known of a table of these rows, as indexing would gather it.

    Without a sketch it is what is known of a table of which not all rows could be read.
    """
    profile = Table(table_id, tuple(Column(name, "text") for name in columns), len(rows), "here")
    gathered = collect_rows(rows, len(columns), 0)
    sketch = gathered.sketch if sketched else None
    fingerprint = fingerprint_of(profile, gathered.terms, sketch)
    return KnownTable(table_id, fingerprint, facts or TableFacts())


ROWS = drawn_rows(400)
ORDERS = table("lake/sales/orders", ROWS)


def with_changes(rows, share):
    """Return rows of which a share, spread evenly, has another amount."""
    step = round(1 / share)
    return [(*row[:2], "0.5") if at % step == 0 else row for at, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("table_id", "rows", "columns"),
    [
        ("lake/sales/orders_backup", ROWS, COLUMNS),
        ("lake/other/payments", ROWS, COLUMNS),
        ("lake/sales/orders_2023_01_31", with_changes(ROWS, 0.05), COLUMNS),
        ("lake/sales/orders_bak", ROWS, ("ORDER_ID", "Customer", "Amount")),
        ("lake/sales/orders_tmp", ROWS, ("order_id", "customer", "amount_eur")),
        ("lake/old/orders", [(c, a, b) for a, b, c in ROWS], ("amount", "order_id", "customer")),
        ("lake/backup/orders", [(*row, "x") for row in ROWS], (*COLUMNS, "loaded_at")),
        ("lake/tmp/orders", [row[:2] for row in ROWS], COLUMNS[:2]),
        ("lake/other/numbers", [(a, b, f"{float(c)}0") for a, b, c in ROWS], COLUMNS),
    ],
)
@pytest.mark.parametrize("sketched", [False, True])
def test_a_copy_is_found(table_id, rows, columns, sketched):
    original = table("lake/sales/orders", ROWS, sketched=sketched)
    found = find_copies([table(table_id, rows, columns, sketched=sketched), original])

    assert found == {table_id: "lake/sales/orders"}


@pytest.mark.parametrize(
    ("table_id", "rows", "columns"),
    [
        ("lake/sales/orders_2024", drawn_rows(400, 1), COLUMNS),
        ("lake/sales/orders_backup", drawn_rows(400, 1), COLUMNS),
        ("lake/staging/orders", [], COLUMNS),
        (
            "lake/sales/orders_by_weight",
            [(*r[:2], f"{9 - float(r[2]):.1f}") for r in ROWS],
            COLUMNS,
        ),
        ("lake/sales/weights", [(*r[:2], r[2][::-1]) for r in ROWS], (*COLUMNS[:2], "weight")),
        ("lake/sales/weights", [(*row, row[2][::-1]) for row in ROWS], (*COLUMNS, "weight")),
        ("lake/sales/few", ROWS[:100], COLUMNS),
    ],
)
@pytest.mark.parametrize("sketched", [False, True])
def test_a_table_of_its_own_is_no_copy(table_id, rows, columns, sketched):
    original = table("lake/sales/orders", ROWS, sketched=sketched)
    assert find_copies([table(table_id, rows, columns, sketched=sketched), original]) == {}


def test_parts_of_one_thing_are_no_copies_of_one_another():
    years = [f"lake/sales/orders_{year}" for year in (2023, 2024)]
    tables = [table(name, ROWS) for name in (*years, f"{years[1]}_bak")]

    assert find_copies(tables).keys() == {years[1], f"{years[1]}_bak"}
    together = dict.fromkeys(years, years[0])
    assert find_copies(tables, together) == {f"{years[1]}_bak": years[1]}


@pytest.mark.parametrize(("others", "is_one"), [(4, True), (5, False)])
def test_of_drawn_rows_a_fifth_may_differ(others, is_one):
    # Of 40 rows, 4 others leave 36 of 44 in both (0.82), 5 others 35 of 45 (0.78).
    rows = ROWS[:40]
    changed = [(*row[:2], "0.5") if at < others else row for at, row in enumerate(rows)]
    tables = [table("lake/a/orders", rows), table("lake/b/payments", changed)]

    assert bool(find_copies(tables)) == is_one


def test_two_lists_of_few_answers_are_no_copies_of_one_another():
    answers = [("1", "yes"), ("2", "no"), ("3", "unknown")]
    lists = [table(f"lake/{place}/answer_codes", answers, ("id", "label")) for place in ("a", "b")]
    codes = table("lake/a/status", answers, ("id", "label"))

    assert find_copies([*lists, codes]) == {"lake/b/answer_codes": "lake/a/answer_codes"}


def test_answers_on_a_scale_that_are_alike_by_chance_are_no_copies():
    chance = random.Random(0)
    columns = tuple(f"question_{number}" for number in range(3))
    waves = [
        table(
            f"lake/{year}/survey",
            [[chance.choice("01") for _ in columns] for _ in range(300)],
            columns,
        )
        for year in (2020, 2021)
    ]

    assert find_copies(waves) == {}


@pytest.mark.parametrize("count", [40, 400, 4000])
def test_what_all_rows_say_finds_a_copy_in_another_order(count):
    rows = drawn_rows(count)
    shuffled = random.Random(0).sample(rows, count)
    tables = [
        table("lake/a/orders", rows, sketched=True),
        table("lake/b/orders_sorted", with_changes(shuffled, 0.05), sketched=True),
    ]

    assert find_copies(tables) == {"lake/b/orders_sorted": "lake/a/orders"}


def test_a_sample_is_a_copy_where_its_name_says_so():
    def known(table_id, rows):
        return table(table_id, rows, sketched=True)

    tables = [
        known("lake/a/orders", ROWS),
        known("lake/a/orders_sample", ROWS[::4]),
        known("lake/a/few", ROWS[::4]),
        known("lake/a/orders_old", drawn_rows(100, 1)),
    ]

    assert find_copies(tables) == {"lake/a/orders_sample": "lake/a/orders"}


@pytest.mark.parametrize(
    ("facts", "original"),
    [
        ({}, "lake/a/orders"),
        ({"lake/b/orders": TableFacts(feeds=2)}, "lake/b/orders"),
        ({"lake/b/orders": TableFacts(documented=0.5)}, "lake/b/orders"),
        ({"lake/b/orders": TableFacts(updated_at=5.0)}, "lake/b/orders"),
        ({"lake/a/orders_bak": TableFacts(feeds=9)}, "lake/a/orders"),
    ],
)
def test_the_original_is_what_people_use(facts, original):
    ids = ["lake/a/orders", "lake/b/orders", "lake/a/orders_bak"]
    found = find_copies([table(i, ROWS, facts=facts.get(i)) for i in ids])

    assert found == {i: original for i in ids if i != original}


SEVERAL = [
    *(table(f"lake/a/orders_{number}", ROWS) for number in range(5)),
    table("lake/a/others", drawn_rows(300, 2)),
]


@given(st.permutations(range(6)))
def test_the_order_in_which_tables_are_given_makes_no_difference(order):
    found = find_copies([SEVERAL[at] for at in order])

    assert found == {f"lake/a/orders_{number}": "lake/a/orders_0" for number in range(1, 5)}


hashes_of_a_set = st.sets(st.integers(0, 1 << 62), max_size=60)


@given(hashes_of_a_set, hashes_of_a_set)
def test_the_overlap_of_whole_sets_is_exact(one, other):
    a, b = (np.array(sorted(some), np.uint64) for some in (one, other))
    expected = len(one & other) / len(one | other) if one | other else 0.0

    assert overlap(a, b, (True, True)) == expected
    assert overlap(b, a, (True, True)) == expected


@given(hashes_of_a_set, hashes_of_a_set, st.integers(1, 40))
def test_the_overlap_of_samples_is_a_share(one, other, kept):
    a, b = (np.array(sorted(some)[:kept], np.uint64) for some in (one, other))
    whole = (len(one) <= kept, len(other) <= kept)

    assert 0.0 <= overlap(a, b, whole) <= 1.0
    assert overlap(a, a, (whole[0], whole[0])) == (1.0 if one else 0.0)


@pytest.mark.parametrize("share", [0.5, 0.8, 0.95])
def test_a_sample_tells_the_overlap_within_four_standard_errors(share):
    chance = np.random.default_rng(0)
    numbers = chance.permutation(np.unique(chance.integers(0, 1 << 62, 40_000, dtype=np.uint64)))
    both, rest = numbers[:20_000], numbers[20_000:]
    alone = round(len(both) * (1 / share - 1) / 2)
    one, other = (
        np.sort(np.concatenate([both, part]))[:256]
        for part in (rest[:alone], rest[alone : 2 * alone])
    )

    error = (share * (1 - share) / 256) ** 0.5
    assert overlap(one, other, (False, False)) == pytest.approx(share, abs=4 * error)


@given(st.lists(st.lists(st.one_of(st.none(), st.text(max_size=8)), max_size=4), max_size=8))
def test_a_fingerprint_is_read_as_it_was_written(rows):
    columns = ("a", "A", "", "\udc80")
    one = table("lake/a/odd", rows, columns).fingerprint
    found = unpacked(one.pack())

    assert isinstance(found, Fingerprint)
    assert (found.rows, found.whole) == (one.rows, one.whole)
    for name in ("columns", "lowest", "cells"):
        assert np.array_equal(getattr(found, name), getattr(one, name))


@given(st.binary(max_size=100))
def test_other_bytes_are_no_fingerprint(data):
    assert unpacked(data) is None


def test_a_cut_fingerprint_is_none():
    packed = ORDERS.fingerprint.pack()

    assert all(unpacked(packed[:cut]) is None for cut in range(0, len(packed), 7))
