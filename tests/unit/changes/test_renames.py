"""Which table is which under another name."""

from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.changes.renames import Named, renamed


def named(*ids, marks=("x", "csv")):
    return [Named(table_id, marks) for table_id in ids]


def test_a_gone_and_a_new_table_with_the_same_marks_are_one():
    assert renamed(named("s/a"), named("s/b")) == {"s/a": "s/b"}
    assert renamed(named("s/a"), named("s/b", marks=("x", "parquet"))) == {}
    assert renamed(named("s/a", marks=()), named("s/b", marks=())) == {}


def test_what_two_may_be_is_told_by_their_folders_or_not_at_all():
    assert renamed(named("s/a"), named("s/b", "s/c")) == {}
    assert renamed(named("s/a", "s/b"), named("s/c", "s/d")) == {}
    before = named(*[f"s/old/t{i}" for i in range(200)])
    after = named(*[f"s/new/t{i}" for i in range(200)])
    assert renamed(before, after) == {f"s/old/t{i}": f"s/new/t{i}" for i in range(200)}
    assert renamed(named("s/a/t", "s/b/t", "s/a/u"), named("s/c/t", "s/c/u")) == {"s/a/u": "s/c/u"}


TABLES = st.dictionaries(
    st.text("ab/", min_size=1, max_size=4), st.tuples(st.sampled_from("xy")) | st.just(()),
    max_size=8,
).map(lambda found: [Named(table_id, marks) for table_id, marks in found.items()])  # fmt: skip


@given(TABLES, TABLES)
def test_a_table_gets_one_name_and_one_that_has_its_marks(gone, new):
    old, now = ({one.table_id: one.marks for one in some} for some in (gone, new))
    found = renamed(gone, new)
    assert len(set(found.values())) == len(found)
    assert all(old[before] == now[after] != () for before, after in found.items())
