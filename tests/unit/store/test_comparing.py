"""Whatever listings show, one after the other: no more tables go than the rule lets go at once."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
    activity: str | None = None
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
