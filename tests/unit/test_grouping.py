"""Groups hold everything once, in order, and never more than they may."""

from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.grouping import chunks, portions

SIZES = st.dictionaries(st.text(max_size=3), st.integers(0, 9), max_size=20)


@given(items=st.lists(st.integers()), size=st.integers(1, 5))
def test_chunks_keep_order_and_bound(items, size):
    groups = list(chunks(items, size))
    assert [item for group in groups for item in group] == items
    assert all(len(group) == size for group in groups[:-1])
    assert all(0 < len(group) <= size for group in groups)


@given(sizes=SIZES, most=st.integers(1, 12), items=st.none() | st.integers(1, 4))
def test_portions_keep_order_and_bounds(sizes, most, items):
    groups = list(portions(sizes, most, items))
    assert [key for group in groups for key in group] == list(sizes)
    for group in groups:
        assert group
        assert len(group) == 1 or sum(sizes[key] for key in group) <= most
        assert items is None or len(group) <= items


def test_a_portion_is_as_large_as_it_may_be():
    sizes = {"a": 2, "b": 3, "c": 9, "d": 0, "e": 1}
    assert list(portions(sizes, 5)) == [["a", "b"], ["c"], ["d", "e"]]
    assert list(portions(sizes, 100, 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(portions({}, 5)) == []
