"""What a listing means: no more tables go than the rule lets go at once, none is another's."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.store.listings import Compared, compare
from pneuma_assets.core.store.removals import RemovalRule
from pneuma_assets.core.tables import TableRef

NAMES = [f"lake/{folder}/{number:02}" for folder in "ab" for number in range(20)]


@dataclass(frozen=True)
class Row:
    state: str = "indexed"
    version: str = "1"
    location: str = "/x"
    held_since: float | None = None
    format: str = "csv"
    updated_at: float | None = None
    identity: str | None = None
    readers: str | None = None
    queries: float | None = None


def applied(known: dict[str, Row], found: Compared) -> dict[str, Row]:
    """As the work list does; what is gone is forgotten at once."""
    rows = known | {ref.table_id: Row() for ref in (*found.new, *found.changed)}
    rows |= {i: replace(rows[i], held_since=None) for i in found.back}
    rows |= {i: replace(rows[i], held_since=1.0) for i in found.newly_held}
    return {i: row for i, row in rows.items() if i not in found.gone}


rules = st.builds(RemovalRule, st.floats(0, 1), st.integers(1, 30))
listings = st.lists(
    st.tuples(
        st.one_of(st.just([]), st.just(NAMES), st.lists(st.sampled_from(NAMES), unique=True)),
        st.sampled_from([(), ("lake/a/",), ("lake/a/", "lake/b/")]),
    ),
    max_size=8,
)


def ref(table_id: str) -> TableRef:
    return TableRef(table_id, "lake", "/x", "csv", "1")


@given(rules, listings)
def test_never_more_go_at_once_than_the_rule_lets_go(
    rule: RemovalRule, seen: Sequence[tuple[list[str], tuple[str, ...]]]
) -> None:
    known = dict.fromkeys(NAMES, Row())
    for listed, unlisted in seen:
        found = compare(known, [ref(i) for i in listed], unlisted, rule)
        in_sight = {i for i in known if i in listed or not i.startswith(unlisted)}
        absent = in_sight - set(listed)
        held_before = {i for i, row in known.items() if row.held_since is not None}
        if found.gone:
            few = len(absent) < rule.least or len(absent) <= rule.share * len(in_sight)
            assert few, "with those that were held before, they are too many"
        assert not held_before & set(found.gone), "a person has not said so"
        assert set(found.gone) | (set(found.held) & in_sight) == absent
        assert held_before - in_sight <= set(found.held)
        after = applied(known, found)
        assert {i for i, row in after.items() if row.held_since is not None} == set(found.held)
        known = after


@given(rules, listings)
def test_what_somebody_accepts_is_gone_and_what_is_listed_is_there(
    rule: RemovalRule, seen: Sequence[tuple[list[str], tuple[str, ...]]]
) -> None:
    known = dict.fromkeys(NAMES, Row())
    for listed, unlisted in seen:
        known = applied(known, compare(known, [ref(i) for i in listed], unlisted, rule))
    known = applied(known, compare(known, [ref(i) for i in NAMES[:3]], (), None))
    assert known == dict.fromkeys(NAMES[:3], Row())


@pytest.mark.parametrize(
    ("left", "rule", "gone", "held"),
    [
        (20, RemovalRule(), 20, 0),
        (19, RemovalRule(), 0, 21),
        (30, RemovalRule(0.05, 10), 0, 10),
        (31, RemovalRule(0.05, 10), 9, 0),
        (0, RemovalRule(1.0, 10), 40, 0),
        (0, RemovalRule(0.5, 41), 40, 0),
        (0, None, 40, 0),
    ],
    ids=["half", "over half", "a small share", "too few", "never", "so many", "accepted"],
)
def test_how_many_are_too_many(left, rule, gone, held):
    counts = compare(dict.fromkeys(NAMES, Row()), [ref(i) for i in NAMES[:left]], (), rule).counts()
    assert (counts.gone, counts.held) == (gone, held)


ONE = replace(ref("lake/a"), identity="1")


@pytest.mark.parametrize(
    ("known", "refs", "unlisted"),
    [
        ({"lake/a": Row(identity="1")}, [ONE, replace(ONE, table_id="lake/copy")], ()),
        ({"lake/old": Row(identity="1")}, [replace(ONE, format="parquet")], ()),
        ({"lake/old": Row()}, [ref("lake/a")], ()),
        (dict.fromkeys(("lake/b", "lake/c"), Row(identity="1")), [ONE], ()),
        ({"lake/far/a": Row(identity="1")}, [ONE], ["lake/far/"]),
    ],
    ids=["copy", "another format", "no identity", "which is which", "out of sight"],
)
def test_what_may_be_another_table_is_not_renamed(known, refs, unlisted):
    found = compare(known, refs, unlisted, None)
    assert found.renamed == {}
    assert len(found.new) == 1
    assert {*found.gone} == {i for i in known if i != "lake/a" and not i.startswith("lake/far")}
    alone = compare({"lake/old": Row(identity="1")}, [ONE], (), None)
    assert (alone.renamed, alone.gone) == ({"lake/old": "lake/a"}, [])
