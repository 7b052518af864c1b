"""When all rows that stand for a table are drawn anew, and what it is measured from then."""

from dataclasses import replace

import pytest

from pneuma_assets.core.changes.changed_share import Change, Measure
from pneuma_assets.core.changes.sketch import TableSketch
from pneuma_assets.core.pipeline.sample import judge
from pneuma_assets.core.store.profiles import SampleSnapshot
from pneuma_assets.core.store.queue import WorkItem
from pneuma_assets.core.tables import Column, RowMark, Table, TableRef
from tests.unit.changes.test_sketch import of_cells

COLUMNS = (Column("town", "VARCHAR"), Column("price", "DOUBLE"))
REF = TableRef("lake/t", "lake", "/t", "csv", "2")
SAMPLED = (RowMark(0, 7),)


def table(rows: int, columns=COLUMNS) -> Table:
    return Table("lake/t", tuple(columns), rows, "/t")


def item(rows: int = 100) -> WorkItem:
    """A table of so many rows when its own were drawn."""
    return WorkItem(REF, None, table(rows).schema_hash, rows, rows, SAMPLED)


def sketch(rows: int, first: int = 0) -> TableSketch:
    numbers = range(first, first + rows)
    return of_cells([f"town {n}" for n in numbers], [f"{n}.5" for n in numbers])


def drawn(rows: int = 100) -> SampleSnapshot:
    return SampleSnapshot(COLUMNS, sketch(rows))


def test_a_table_that_was_never_sampled_is_measured_from_now_on():
    new = WorkItem(REF, None, None, None, None)
    verdict = judge(new, table(100), None, sketch(100), 0.2)
    assert (verdict.anew, verdict.change) == (True, None)
    assert verdict.drawn_anew == drawn()


@pytest.mark.parametrize(
    ("first", "threshold", "anew"),
    [(0, 0.2, False), (20, 0.2, False), (21, 0.2, True), (0, 0.0, True)],
)
def test_updates_count(first, threshold, anew):
    """The number of rows stays the same; with a threshold of nothing every write draws anew."""
    verdict = judge(item(), table(100), drawn(), sketch(100, first), threshold)
    assert verdict.anew == anew
    assert verdict.change == Change(first / 100, Measure.SKETCH)


def test_slow_drift_is_measured_from_when_rows_were_drawn():
    first = judge(item(), table(105), drawn(), sketch(105), 0.2)
    assert not first.anew
    second = judge(item(), table(121), first.drawn, sketch(121), 0.2)
    assert second.anew
    assert second.change.share == pytest.approx(0.21)
    third = judge(item(121), table(130), second.drawn_anew, sketch(130), 0.2)
    assert not third.anew


OTHER_COLUMNS = {
    "reordered": (COLUMNS[1], COLUMNS[0]),
    "added": (*COLUMNS, Column("new", "DATE")),
    "dropped": COLUMNS[:1],
    "retyped": (COLUMNS[0], replace(COLUMNS[1], type="VARCHAR")),
    "renamed": (replace(COLUMNS[0], name="city"), COLUMNS[1]),
}
MEASURES = {
    "a sketch": (drawn(), sketch(100)),
    "the number of rows": (SampleSnapshot(COLUMNS), None),
}


@pytest.mark.parametrize("columns", OTHER_COLUMNS.values(), ids=OTHER_COLUMNS)
@pytest.mark.parametrize(("before", "now"), MEASURES.values(), ids=MEASURES)
def test_other_columns_are_no_share_of_rows_by_any_measure(before, now, columns):
    verdict = judge(item(), table(100, columns), before, now, 0.2)
    assert verdict.anew
    renamed = columns[0].name == "city" and now is not None
    assert verdict.columns == ({"town": "city"} if renamed else {})
    assert (verdict.other_columns, verdict.change) == (
        (False, Change(0.0, Measure.SKETCH)) if renamed else (True, None)
    )
    assert verdict.drawn_anew.change == verdict.change


def test_a_column_with_another_name_and_its_identity_is_no_other_one():
    """No sketch is needed."""
    before, now = (
        (replace(COLUMNS[0], name=name, identity="1"), COLUMNS[1]) for name in ("town", "city")
    )
    verdict = judge(item(), table(110, now), SampleSnapshot(before), None, 0.2)
    assert (verdict.anew, verdict.change) == (True, Change(0.1, Measure.ROWS))


def test_former_names_go_with_their_columns():
    def called(name):
        return [replace(COLUMNS[0], name=name), COLUMNS[1]]

    seen, names = drawn(), []
    for name in ("city", "place", "town"):
        seen = judge(item(), table(100, called(name)), seen, sketch(100), 0.2).drawn_anew
        names.append(seen.former_names)
    # A name that it has again is none that it had before.
    assert names == [
        {"city": ("town",)},
        {"place": ("city", "town")},
        {"town": ("place", "city")},
    ]
    same = judge(item(), table(100), seen, sketch(100), 0.2)
    assert same.drawn.former_names == {"town": ("place", "city")}


def test_a_comment_or_an_identity_makes_no_other_column():
    columns = [replace(one, comment="said", identity="7") for one in COLUMNS[:1]] + [COLUMNS[1]]
    assert not judge(item(), table(100, columns), drawn(), sketch(100), 0.2).anew


def test_without_a_sketch_before_the_number_of_rows_is_the_measure_once():
    first = judge(item(), table(100), SampleSnapshot(COLUMNS), sketch(100), 0.2)
    assert first.change == Change(0.0, Measure.ROWS)
    second = judge(item(), table(100), first.drawn, sketch(100, 30), 0.2)
    assert second.change == Change(0.3, Measure.SKETCH)


def test_without_a_sketch_now_the_one_from_before_is_kept():
    verdict = judge(item(), table(101), drawn(), None, 0.2)
    assert verdict.change == Change(0.01, Measure.ROWS)
    assert verdict.drawn.sketch == sketch(100)
