"""Which writes count: the state of an Elasticsearch index, and what readers see of it."""

import json
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from pneuma_assets.core.errors import IndexDamagedError
from pneuma_assets.core.index.elastic.state import (
    Garbage,
    Lease,
    Retired,
    State,
    Successor,
    generation_clauses,
    state_from,
)

EMPTY = State("abc")
LEASE = Lease(1, 2, 100.0)
RESERVED = State("abc", 1, 2, (LEASE,))
RETENTION = 30.0
NEXT = Successor("next", copying=False)


def matches(clause: dict, generation: int) -> bool:
    """Evaluate a query over the one field that states restrict; an unknown query is an error."""
    ((kind, body),) = clause.items()
    match kind:
        case "range":
            ((name, bounds),) = body.items()
            compared = {"lte": int.__le__, "gte": int.__ge__}
            found = all(compared[key](generation, bound) for key, bound in bounds.items())
        case "terms":
            ((name, values),) = body.items()
            found = generation in values
        case "bool":
            (name, found) = "generation", True
            assert body.keys() <= {"must_not", "should", "minimum_should_match"}
            found &= not any(matches(one, generation) for one in body.get("must_not", ()))
            if "should" in body:
                assert body["minimum_should_match"] == 1
                found &= any(matches(one, generation) for one in body["should"])
        case _:
            raise AssertionError(f"no evaluation of {kind}")
    assert name == "generation"
    return found


def shows(state: State, generation: int) -> bool:
    """Tell whether a reader with this state sees documents of a generation."""
    return all(matches(clause, generation) for clause in state.visible())


def shown(state: State, most: int = 12) -> list[int]:
    return [generation for generation in range(most + 1) if shows(state, generation)]


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.reserved(1, 9.0)[0],
        lambda state: state.committed(LEASE, [], 9.0),
        lambda state: state.hiding([7], 9.0),
        lambda state: state.without(Garbage(frozenset({7}), ())),
        lambda state: state.succeeded_by(NEXT),
    ],
)
def test_every_change_counts_a_version_and_keeps_the_rest(change):
    changed = change(RESERVED)
    assert changed.version == RESERVED.version + 1
    assert changed.incarnation == RESERVED.incarnation
    assert changed.last >= RESERVED.last


@pytest.mark.parametrize(
    ("now", "generations", "leases"),
    [
        (34.9, set(), ()),
        (35.0, {1}, ()),
        (40.0, {1, 2}, ()),
        (129.9, {1, 2}, ()),
        (130.0, {1, 2}, (Lease(3, 3, 100.0),)),
    ],
)
def test_garbage_is_what_was_hidden_for_long_and_leases_of_the_dead(now, generations, leases):
    leased = (Lease(3, 3, 100.0), Lease(4, 4, 900.0))
    state = State("abc", 9, 4, leased, (Retired((1,), 5.0), Retired((2,), 10.0)))
    garbage = state.garbage(now, RETENTION)
    assert garbage == Garbage(frozenset(generations), leases)
    assert bool(garbage) == bool(generations or leases)
    kept = state.without(garbage)
    assert not set(kept.hidden()) & generations
    assert set(kept.hidden()) | generations == {1, 2}
    assert [lease for lease in state.leases if lease not in kept.leases] == list(leases)
    assert kept.dead == leases
    assert not kept.garbage(now, RETENTION)


def test_what_a_dead_writer_sends_late_is_never_shown():
    state, first = EMPTY.reserved(2, 100.0)
    state, second = state.reserved(2, 900.0)
    state = state.without(state.garbage(100.0 + RETENTION, RETENTION))
    assert (state.leases, state.dead) == ((second,), (first,))
    state = state.committed(second, [], 200.0).reserved(1, 900.0)[0]
    assert shown(state) == [0, 3, 4]
    assert not state.garbage(800.0, RETENTION), "the dead are deleted once"


@pytest.mark.parametrize(
    ("spans", "wanted"),
    [
        ([(1, 2), (3, 3), (4, 9)], [(1, 9)]),
        ([(4, 9), (1, 2), (3, 3)], [(1, 9)]),
        ([(1, 2), (4, 5)], [(1, 2), (4, 5)]),
        ([(1, 1), (3, 3), (2, 2), (7, 8)], [(1, 3), (7, 8)]),
    ],
)
def test_dead_writers_whose_numbers_follow_each_other_take_one_range(spans, wanted):
    state = State("abc", last=9)
    for first, last in spans:
        state = state.without(Garbage(frozenset(), (Lease(first, last, 1.0),)))
    assert [(lease.first, lease.last) for lease in state.dead] == wanted
    hidden = {g for first, last in spans for g in range(first, last + 1)}
    assert shown(state) == [g for g in range(10) if g not in hidden]


def test_garbage_of_an_older_look_takes_only_what_it_saw():
    retired = State("abc", 3, 4, (), (Retired((1, 2), 5.0), Retired((3,), 6.0)))
    assert retired.without(Garbage(frozenset({1, 4}), ())).retired == (
        Retired((2,), 5.0),
        Retired((3,), 6.0),
    )


TIMES = st.floats(0, 2e9)
LEASES = st.builds(Lease, st.integers(0, 2**53), st.integers(0, 2**53), TIMES)
RETIREMENTS = st.builds(
    Retired, st.lists(st.integers(0, 2**53), min_size=1, max_size=4).map(tuple), TIMES
)
STATES = st.builds(
    State,
    st.text(alphabet="0123456789abcdef", min_size=1),
    st.integers(0, 2**53),
    st.integers(0, 2**53),
    st.lists(LEASES, max_size=3).map(tuple),
    st.lists(RETIREMENTS, max_size=3).map(tuple),
    st.lists(LEASES, max_size=3).map(tuple),
    st.none() | st.builds(Successor, st.text(), st.booleans()),
)


@given(STATES)
def test_a_state_survives_json(state):
    assert state_from(json.loads(json.dumps(state.to_dict())), "i") == state


GOOD = RESERVED.hiding([1], 5.0).to_dict()


@pytest.mark.parametrize(
    "found",
    [
        None,
        {},
        {**GOOD, "incarnation": None},
        {**GOOD, "last": 1.5},
        {**GOOD, "leases": [{"first": 1, "last": 2}]},
        {**GOOD, "retired": [{"generations": ["x"], "at": 1.0}]},
        {**GOOD, "successor": {"index": "pneuma-000002"}},
        {**GOOD, "dead": [[1, 2]]},
    ],
    ids=str,
)
def test_a_damaged_state_is_refused_with_the_remedy(found):
    with pytest.raises(IndexDamagedError, match=r"'pneuma-000001' is damaged .*--rebuild"):
        state_from(found, "pneuma-000001")


@dataclass
class Writing:
    """A writer at work: its lease, and for each table its generation and the parts it wrote."""

    lease: Lease
    tables: dict[str, tuple[int, str]]
    written: set[tuple[int, int]] = field(default_factory=set)


PARTS = 2
"""Documents a table; a reader that sees one of them only sees half a table."""

TABLES = st.sampled_from(["a", "b", "c"])
LEASE_SECONDS = 100.0


class ReadersAndWriters(RuleBasedStateMachine):
    """Any interleaving of writers, clean-ups and deaths, seen by readers with any living state.

    A reader that took a state while it was the newest may use it for `RETENTION` seconds after
    another has replaced it. Writers stop when their lease is over, as the design asks of them.
    """

    writers = Bundle("writers")
    cleanups = Bundle("cleanups")

    def __init__(self) -> None:
        super().__init__()
        self.now = 1000.0
        self.documents: dict[tuple[int, int], tuple[str, str]] = {}
        self.state = EMPTY
        self.truth: dict[str, str] = {}
        self.seen: list[tuple[State, dict[str, str], float]] = []
        self.contents = 0

    def advance(self, state: State, truth: dict[str, str]) -> None:
        """Replace the state; what readers hold of the old one is good for a while."""
        self.seen.append((self.state, self.truth, self.now + RETENTION))
        self.state, self.truth = state, truth

    def look(self, state: State) -> dict[str, dict[int, list[str]]]:
        """Return what a reader finds: by table, the contents of each part."""
        found: dict[str, dict[int, list[str]]] = {}
        for (generation, part), (table, content) in self.documents.items():
            if shows(state, generation):
                found.setdefault(table, {}).setdefault(part, []).append(content)
        return found

    def generations(self, tables: set[str]) -> dict[str, int]:
        return {
            self.documents[key][0]: key[0]
            for key in self.documents
            if shows(self.state, key[0]) and self.documents[key][0] in tables
        }

    @rule(target=writers, tables=st.sets(TABLES, min_size=1))
    def begin(self, tables):
        state, lease = self.state.reserved(len(tables), self.now + LEASE_SECONDS)
        self.advance(state, self.truth)
        numbers = range(lease.first, lease.last + 1)
        self.contents += 1
        wanted = {
            table: (number, f"{table}{self.contents}")
            for table, number in zip(sorted(tables), numbers, strict=True)
        }
        return Writing(lease, wanted)

    @rule(writer=writers, share=st.integers(1, 3 * PARTS))
    def write_some(self, writer, share):
        if self.now >= writer.lease.until:
            return
        todo = [
            (number, part, table, content)
            for table, (number, content) in writer.tables.items()
            for part in range(PARTS)
            if (number, part) not in writer.written
        ]
        for number, part, table, content in todo[:share]:
            self.documents[number, part] = (table, content)
            writer.written.add((number, part))

    @rule(writer=consumes(writers))
    def commit(self, writer):
        self.write_some(writer, PARTS * len(writer.tables))
        if writer.lease not in self.state.leases or self.now >= writer.lease.until:
            return  # it starts anew, as `begin` does
        replaced = self.generations(set(writer.tables))
        state = self.state.committed(writer.lease, replaced.values(), self.now)
        written = {table: content for table, (_, content) in writer.tables.items()}
        self.advance(state, {**self.truth, **written})

    @rule(writer=consumes(writers))
    def die(self, writer):
        pass

    @rule(tables=st.sets(TABLES, min_size=1))
    def delete(self, tables):
        known = self.generations(tables)
        left = {table: content for table, content in self.truth.items() if table not in tables}
        self.advance(self.state.hiding(known.values(), self.now), left)

    @rule(target=cleanups, killed_after=st.none() | st.integers(0, 3))
    def clean(self, killed_after):
        """Delete documents of garbage; killed, only the first few of them."""
        garbage = self.state.garbage(self.now, RETENTION)
        clauses = generation_clauses(garbage.leases, garbage.generations)
        condemned = [
            key for key in self.documents if any(matches(clause, key[0]) for clause in clauses)
        ]
        for key in condemned[:killed_after]:
            del self.documents[key]
        killed = killed_after is not None
        return None if killed or not garbage else (self.state, garbage)

    @rule(cleanup=consumes(cleanups))
    def forget(self, cleanup):
        if cleanup is not None and cleanup[0] == self.state:  # else another was faster
            self.advance(self.state.without(cleanup[1]), self.truth)

    @rule(seconds=st.sampled_from([1.0, RETENTION / 2, RETENTION, LEASE_SECONDS, 3 * RETENTION]))
    def wait(self, seconds):
        self.now += seconds

    @invariant()
    def every_reader_sees_each_table_whole(self):
        self.seen = [one for one in self.seen if one[2] > self.now]
        for state, truth, _ in [*self.seen, (self.state, self.truth, 0.0)]:
            wanted = {
                table: {part: [content] for part in range(PARTS)}
                for table, content in truth.items()
            }
            assert self.look(state) == wanted

    @invariant()
    def nothing_is_kept_for_ever(self):
        """What nobody sees is hidden by the state, so that a clean-up finds it."""
        hidden = generation_clauses(self.state.leases, self.state.hidden())
        for generation, _ in self.documents:
            hides = any(matches(clause, generation) for clause in hidden)
            assert hides != shows(self.state, generation)


ReadersAndWriters.TestCase.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None
)
TestReadersAndWriters = ReadersAndWriters.TestCase
