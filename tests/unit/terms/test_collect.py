"""What is kept of a table's rows."""

import random
import tracemalloc
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pneuma_assets.core.sources.names import escape_segment
from pneuma_assets.core.tables import Column, Table, TableTerms
from pneuma_assets.core.terms import collect, distinct_cells
from pneuma_assets.core.terms.collect import (
    CELL_CHARACTERS,
    COLUMN_CELLS,
    ROWS_BYTES,
    ROWS_KEPT,
    TABLE_BYTES,
    TermCollector,
    collect_rows,
    names_of,
    table_terms,
    with_listed,
)
from pneuma_assets.core.terms.distinct_cells import hashes_of

CELLS = st.none() | st.text(st.characters(codec="utf-8"), max_size=20)


@st.composite
def tables(draw, most=120):
    width = draw(st.integers(1, 4))
    row = st.tuples(*[CELLS] * width)
    few = draw(st.lists(row, min_size=1, max_size=5))
    return draw(st.lists(st.sampled_from(few) | row, max_size=most))


def terms_from_rows(names, columns, rows, seed):
    """Return the terms of a table that is in memory."""
    found = collect_rows(rows, len(columns), seed).terms
    return replace(found, names=tuple(names), columns=tuple(columns))


def gathered(rows, *, seed=0, cuts=()):
    collector = TermCollector(seed)
    ends = sorted({*cuts, len(rows)})
    for first, last in zip([0, *ends], ends, strict=False):
        columns = [pa.array(column, pa.string()) for column in zip(*rows[first:last], strict=True)]
        if columns:
            collector.add(pa.record_batch(columns, [f"c{i}" for i in range(len(columns))]))
    return collector.terms()


def size(evidence: TableTerms) -> int:
    cells = [cell for row in evidence.rows for cell in row if cell] + [*evidence.cells]
    return sum(len(cell.encode()) for cell in cells)


@given(tables(most=ROWS_KEPT))
def test_every_row_of_a_small_table_is_kept_as_it_is(rows):
    evidence = gathered(rows)
    assert list(evidence.rows) == rows
    assert evidence.cells == ()


@given(tables(), st.sets(st.integers(1, 119)), st.integers(0, 3))
def test_how_rows_are_cut_into_batches_makes_no_difference(rows, cuts, seed):
    cuts = {cut for cut in cuts if cut < len(rows)}
    assert gathered(rows, seed=seed, cuts=cuts) == gathered(rows, seed=seed)


@settings(max_examples=3)
@given(st.integers(0, 10_000), st.integers(1, 7_000))
def test_many_rows_likewise(start, batch):
    rows = [(f"name {number}", str(number % 7)) for number in range(start, start + 9_000)]
    assert gathered(rows, cuts=range(batch, 9_000, batch)) == gathered(rows)


@given(tables())
def test_all_that_is_kept_stands_in_the_table_and_once_beside_the_rows(rows):
    evidence = gathered(rows)
    assert not Counter(evidence.rows) - Counter(rows)
    said = {cell for row in evidence.rows for cell in row}
    assert len(evidence.rows) == min(len(rows), ROWS_KEPT)
    assert len({*evidence.cells}) == len(evidence.cells)
    assert not said & {*evidence.cells}
    assert {*evidence.cells} <= {cell for row in rows for cell in row}


def test_a_word_of_any_row_of_a_table_is_kept():
    rows = [(f"p{number}", "active") for number in range(300)]
    evidence = gathered(rows)
    assert {cell for row in evidence.rows for cell in row} | {*evidence.cells} == {
        *(name for name, _ in rows),
        "active",
    }


def test_rows_are_drawn_uniformly_in_the_order_of_the_table():
    rows = [(str(number),) for number in range(1_000)]
    drawn = Counter()
    for seed in range(40):
        positions = [int(row[0]) for row in gathered(rows, seed=seed).rows]
        assert positions == sorted(positions)
        assert len(positions) == ROWS_KEPT
        drawn.update(position // 100 for position in positions)
    expected = 40 * ROWS_KEPT / 10
    chi_squared = sum((drawn[tenth] - expected) ** 2 / expected for tenth in range(10))
    assert chi_squared < 27.9  # 9 degrees of freedom: exceeded once in a thousand


def test_a_column_keeps_a_uniform_sample_of_its_cells():
    rows = [(f"cell {number:05}",) for number in range(20_000)]
    kept = [int(cell[5:]) for cell in gathered(rows).cells]
    assert len(kept) == COLUMN_CELLS
    tenths = Counter(number // 2_000 for number in kept)
    chi_squared = sum((tenths[tenth] - 50) ** 2 / 50 for tenth in range(10))
    assert chi_squared < 27.9


def test_rare_and_long_cells_stay_before_common_and_short_ones():
    rare = [f"a rare and rather long cell {number}" for number in range(COLUMN_CELLS)]
    common = [f"w{number}" for number in range(600)] * 20
    mixed = random.Random(0).sample(rare + common, len(rare) + len(common))
    evidence = gathered([(cell,) for cell in mixed])
    said = {row[0] for row in evidence.rows}
    assert {*rare} <= said | {*evidence.cells}
    assert len(evidence.cells) <= COLUMN_CELLS


def test_numbers_and_signs_take_no_room_from_words():
    rows = [(str(number), f"{number}.{number % 97}", f"town {number}") for number in range(5_000)]
    evidence = gathered(rows)
    words = [cell for cell in evidence.cells if cell.startswith("town")]
    assert len(words) == COLUMN_CELLS
    assert len(evidence.cells) == COLUMN_CELLS + 200
    rows = [("-",), ("",), ("  ",), ("?!",), ("x",)] * 3 + [(f"n{i}",) for i in range(2_000)]
    assert not {"-", "", "  ", "?!"} & {*gathered(rows).cells}


@pytest.mark.parametrize("width", [1, 30, 300])
@pytest.mark.parametrize("cell", ["x" * 50, "\U0001f600" * 250])
def test_text_is_bounded_whatever_the_width(width, cell):
    rows = [tuple(f"{row} {i} {cell}" for i in range(width)) for row in range(70)]
    evidence = gathered(rows, cuts=[60])
    assert 1 <= len(evidence.rows) <= ROWS_KEPT
    assert all(len(row) == width for row in evidence.rows)
    assert all(len(c) <= CELL_CHARACTERS for row in evidence.rows for c in row if c)
    assert sum(len((c or "").encode()) for row in evidence.rows for c in row) <= ROWS_BYTES
    assert size(evidence) <= TABLE_BYTES


def test_columns_share_what_room_there_is():
    rows = [tuple(f"c{i} {row} {'long ' * 30}" for i in range(8)) for row in range(2_000)]
    kept = Counter(cell.split()[0] for cell in gathered(rows).cells)
    assert len(kept) == 8
    assert max(kept.values()) - min(kept.values()) <= 1


def test_memory_does_not_grow_with_the_rows(monkeypatch):
    monkeypatch.setattr(collect, "_COLUMN_HASHES", 2_000)  # else full after 50 batches

    def gathering(batches):
        collector = TermCollector(0)
        tracemalloc.start()
        before, most = pa.total_allocated_bytes(), 0
        for number in range(batches):
            cells = pa.array([f"cell {number * 5_000 + i} of many" for i in range(5_000)])
            collector.add(pa.record_batch([cells, cells], ["a", "b"]))
            del cells
            most = max(most, pa.total_allocated_bytes() - before)
        collector.terms()
        _, traced = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most + traced

    gathering(2)  # what is kept of hashing for the next column
    assert gathering(40) < 1.2 * gathering(10)


def test_no_rows_and_no_columns_are_no_evidence():
    assert TermCollector(0).terms() == TableTerms()
    assert terms_from_rows(["s"], [], [], 0) == TableTerms(names=("s",))
    assert terms_from_rows(["s"], ["a"], [], 0) == TableTerms(names=("s",), columns=("a",))


def test_cells_of_any_type_become_text():
    columns = {
        "whole": [1, None],
        "real": [0.5, 2.25],
        "day": [date(2020, 2, 29), None],
        "list": [["a", "b"], []],
        "bytes": [b"caf\xc3\xa9", b"\xff"],
        "sort": pa.array(["x", "y"]).dictionary_encode(),
        "nothing": [None, None],
    }
    collector = TermCollector(0)
    collector.add(pa.record_batch([pa.array(c) for c in columns.values()], [*columns]))
    assert collector.terms().rows == (
        ("1", "0.5", "2020-02-29", "['a', 'b']", "café", "x", None),
        (None, "2.25", None, "[]", "\ufffd", "y", None),
    )


def test_rows_in_memory_are_gathered_by_the_same_rule():
    rows = [(f"p{number}", None if number % 3 else "x\ud800" * 300) for number in range(400)]
    evidence = terms_from_rows(["lake", "people"], ["name", "note"], rows, 7)
    assert (evidence.names, evidence.columns) == (("lake", "people"), ("name", "note"))
    cut = [(name, note and ("x?" * 300)[:CELL_CHARACTERS]) for name, note in rows]
    assert gathered(cut, seed=7).rows == evidence.rows
    assert gathered(cut, seed=7).cells == evidence.cells
    ragged = terms_from_rows([], ["a", "b"], [("1",), ("1", "2", "3")], 0)
    assert ragged.rows == (("1", None), ("1", "2"))


@given(st.lists(st.text(max_size=8), min_size=1, max_size=30), st.integers(0, 5))
def test_a_hash_depends_on_the_text_alone(texts, first):
    alone = [int(hashes_of(pa.array([text]))[0]) for text in texts]
    together = hashes_of(pa.array(["before"] * first + texts, pa.string())[first:])
    assert together.tolist() == alone
    assert len({*alone}) == len({*texts})


def test_hashes_are_the_same_on_every_machine_whatever_the_length():
    assert hashes_of(pa.array(["", "a", "pneuma"])).tolist() == [
        16294208416658607535,
        17360999193197444373,
        4706376208038669305,
    ]
    texts = ["x" * 300_000, "y", "x" * 300_000, "x" * 300_001]
    first, _, again, other = hashes_of(pa.array(texts)).tolist()
    assert first == again != other


def test_cells_without_a_value_count_too():
    """Fifty rows of ten thousand such cells would be stored as two megabytes of null."""
    width = 10_000
    rows = [["x", *[None] * (width - 1)] for _ in range(60)]
    rows[7][-1] = "seldom"
    found = terms_from_rows(("t",), [f"c{i}" for i in range(width)], rows, 0)
    assert len(found.rows) == 1
    assert {cell for row in found.rows for cell in row if cell} | {*found.cells} == {"x", "seldom"}


def test_of_a_sparse_table_fewer_rows_are_kept_and_the_cells_of_the_others():
    rows = [["x", *[None] * 999, f"cell{number}"] for number in range(60)]
    found = terms_from_rows(("t",), [f"c{i}" for i in range(1_001)], rows, 0)
    assert len(found.rows) == ROWS_BYTES // (1_000 * 5)
    assert len(found.cells) > 30


def test_names_columns_and_what_was_gathered():
    table = Table("lake/hr/payroll_march", (Column("empName", "VARCHAR"),), 1, "/lake")
    gathered = TableTerms(rows=(("Jon",),), cells=("Ann",))
    assert table_terms(table, gathered) == TableTerms(
        names=("lake", "hr", "payroll_march"),
        columns=("empName",),
        rows=(("Jon",),),
        cells=("Ann",),
    )
    assert table_terms(table, TableTerms()).rows == ()


def test_values_that_types_list_are_searched_though_no_row_has_them():
    types = ("public.state ENUM('new', 'it''s paid')", "set('a','b')", "ENUM", "VARCHAR")
    columns = tuple(Column(f"c{i}", kind) for i, kind in enumerate(types))
    found = with_listed(TableTerms(cells=("new",)), Table("lake/t", columns, 1, "/lake"))
    assert found.cells == ("new", "it's paid", "a", "b")
    many = ", ".join(f"'{i}'" for i in range(2 * COLUMN_CELLS))
    table = Table("lake/t", (Column("c", f"ENUM({many})"),), 1, "/lake")
    assert len(with_listed(TableTerms(), table).cells) == COLUMN_CELLS


@pytest.mark.parametrize("name", ["100%", "a/b", "line\nbreak", "\u202eevil", "é 表", "a b"])
def test_names_are_as_people_wrote_them(name):
    assert names_of(f"lake/{escape_segment(name)}") == ("lake", name)


def test_bytes_that_are_no_text_do_no_harm():
    (_, name) = names_of(f"lake/{escape_segment('caf' + chr(0xDCE9))}")
    assert name == "caf\ufffd"


def test_threads_that_need_more_powers_at_once_do_not_disturb_each_other():
    lengths = (180, 190, 200, 150)

    def hashed(length: int) -> int:
        (one,) = set(hashes_of(pa.array(["a" * length] * 600)).tolist())
        return one

    expected = list(map(hashed, lengths))
    with ThreadPoolExecutor(len(lengths)) as threads:
        for _ in range(50):
            one = np.ones(1, np.uint64)
            distinct_cells._known[:] = [(one, one)]
            assert list(threads.map(hashed, lengths)) == expected
