"""When all rows that stand for a table are drawn anew, and what it is measured from then."""

from dataclasses import replace

import pytest

from pneuma_assets.core.changes.changed_share import Change, Measure
from pneuma_assets.core.changes.sketch import TableSketch
from pneuma_assets.core.pipeline.sample import judge
from pneuma_assets.core.store.profiles import SampleSnapshot
from pneuma_assets.core.store.queue import WorkItem
from pneuma_assets.core.tables import Activity, Column, RowMark, Table, TableRef
from tests.unit.changes.test_sketch import of_cells

COLUMNS = (Column("town", "VARCHAR"), Column("price", "DOUBLE"))
REF = TableRef("lake/t", "lake", "/t", "csv", "2")
SAMPLED = (RowMark(0, 7),)


def table(rows: int, columns=COLUMNS) -> Table:
    return Table("lake/t", tuple(columns), rows, "/t")


def item(rows: int = 100, activity: Activity | None = None) -> WorkItem:
    """A table of so many rows when its own were drawn."""
    ref = replace(REF, activity=activity)
    return WorkItem(ref, None, table(rows).schema_hash, rows, rows, SAMPLED)


def sketch(rows: int, first: int = 0) -> TableSketch:
    numbers = range(first, first + rows)
    return of_cells([f"town {n}" for n in numbers], [f"{n}.5" for n in numbers])


def drawn(rows: int = 100, activity: Activity | None = None) -> SampleSnapshot:
    return SampleSnapshot(COLUMNS, sketch(rows), activity, activity)


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


def test_what_the_engine_counts_is_believed_while_it_only_grows():
    began = Activity(100, 0, 0)
    state = drawn(activity=began)
    little = judge(item(activity=Activity(110, 5, 0)), table(110), state, None, 0.2)
    assert little.change == Change(0.15, Measure.COUNTERS)
    more = judge(item(activity=Activity(110, 11, 0)), table(110), little.drawn, None, 0.2)
    assert more.anew


def test_counters_that_began_anew_are_not_believed_before_rows_are_drawn_anew():
    """They would say that less was written than was, once they are past where they were."""
    state = drawn(activity=Activity(100, 0, 0))
    past = judge(item(activity=Activity(150, 0, 0)), table(150), state, sketch(150), 1.0)
    anew = judge(item(activity=Activity(3, 0, 0)), table(100), past.drawn, sketch(100), 1.0)
    assert anew.change == Change(0.0, Measure.SKETCH)
    grown = judge(item(activity=Activity(120, 0, 0)), table(100), anew.drawn, sketch(100, 50), 1.0)
    assert grown.change == Change(0.5, Measure.SKETCH)
    fresh = grown.drawn_anew
    after = judge(item(activity=Activity(125, 0, 0)), table(100), fresh, sketch(100, 50), 1.0)
    assert after.change.measured_by == Measure.COUNTERS


OTHER_COLUMNS = {
    "reordered": (COLUMNS[1], COLUMNS[0]),
    "added": (*COLUMNS, Column("new", "DATE")),
    "dropped": COLUMNS[:1],
    "retyped": (COLUMNS[0], replace(COLUMNS[1], type="VARCHAR")),
    "renamed": (replace(COLUMNS[0], name="city"), COLUMNS[1]),
}
COUNTED, WROTE = Activity(100, 0, 0), Activity(100, 100, 0)
MEASURES = {
    "a file's sketch": (drawn(), None, sketch(100)),
    "counters of an engine that does not write rows anew": (drawn(activity=COUNTED), COUNTED, None),
    "counters of one that does": (drawn(activity=COUNTED), WROTE, None),
    "the number of rows": (SampleSnapshot(COLUMNS), None, None),
}


@pytest.mark.parametrize("columns", OTHER_COLUMNS.values(), ids=OTHER_COLUMNS)
@pytest.mark.parametrize(("before", "activity", "now"), MEASURES.values(), ids=MEASURES)
def test_other_columns_are_no_share_of_rows_by_any_measure(before, activity, now, columns):
    verdict = judge(item(activity=activity), table(100, columns), before, now, 0.2)
    assert verdict.anew
    renamed = columns[0].name == "city" and now is not None
    assert verdict.columns == ({"town": "city"} if renamed else {})
    assert (verdict.other_columns, verdict.change) == (
        (False, Change(0.0, Measure.SKETCH)) if renamed else (True, None)
    )
    assert verdict.drawn_anew.change == verdict.change


def test_a_column_with_another_name_and_its_identity_is_no_other_one():
    """Which a source knows that counts, so no sketch is needed."""
    before, now = (
        (replace(COLUMNS[0], name=name, identity="1"), COLUMNS[1]) for name in ("town", "city")
    )
    state = SampleSnapshot(before, None, COUNTED, COUNTED)
    verdict = judge(item(activity=Activity(110, 0, 0)), table(110, now), state, None, 0.2)
    assert (verdict.anew, verdict.change) == (True, Change(0.1, Measure.COUNTERS))


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
