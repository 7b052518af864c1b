"""The work list decides what is indexed, so its rules are tested one by one."""

import dataclasses

import pytest

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store import Store, row_sums
from pneuma_assets.core.store.records import Finished, TableState
from pneuma_assets.core.tables import Column, Problem, Table, TableRef


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as opened:
        yield opened


def ref(name: str, version: str = "1") -> TableRef:
    return TableRef(f"lake/{name}", "lake", f"/lake/{name}.csv", "csv", version)


def table(name: str, *columns: str, rows: int = 10) -> Table:
    return Table(f"lake/{name}", tuple(Column(c, "VARCHAR") for c in columns), rows, "/x")


def states(store: Store) -> dict[str, str]:
    return {record.table_id: str(record.state) for record in store.work.records()}


def finish(store: Store, *names: str) -> None:
    store.work.finish(Finished(f"lake/{name}", "hash", 2) for name in names)


def test_new_tables_wait_and_are_claimed_once(store):
    listed = store.work.reconcile("lake", [ref("a"), ref("b")])
    assert (listed.new, listed.changed, listed.unchanged, listed.gone) == (2, 0, 0, 0)
    assert store.work.claim("run1", 1, 3, ["lake"]) == 1
    assert store.work.claim("run2", 10, 3, ["lake"]) == 1
    assert store.work.claim("run3", 10, 3, ["lake"]) == 0
    assert [item.ref.table_id for item in store.work.claimed("run2")] == ["lake/b"]


def test_other_sources_are_not_claimed(store):
    store.work.reconcile("lake", [ref("a")])
    assert store.work.claim("run", 10, 3, ["warehouse"]) == 0


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        (("1", "1"), "indexed"),
        (("1", "2"), "pending"),
    ],
    ids=["unchanged stays indexed", "changed waits again"],
)
def test_second_listing(store, versions, expected):
    before, after = versions
    store.work.reconcile("lake", [ref("a", before)])
    store.work.claim("run", 10, 3, ["lake"])
    finish(store, "a")
    store.work.reconcile("lake", [ref("a", after)])
    assert states(store) == {"lake/a": expected}


def test_a_table_that_changed_while_it_was_indexed_waits_again(store):
    store.work.reconcile("lake", [ref("a", "1")])
    store.work.claim("run", 10, 3, ["lake"])
    store.work.reconcile("lake", [ref("a", "2")])
    finish(store, "a")
    assert states(store) == {"lake/a": "pending"}
    assert store.work.claim("next", 10, 3, ["lake"]) == 1


def test_absent_tables_are_gone_and_come_back(store):
    store.work.reconcile("lake", [ref("a"), ref("b")])
    assert store.work.reconcile("lake", [ref("a")]).gone == 1
    assert store.work.gone() == ["lake/b"]
    assert store.work.reconcile("lake", [ref("a"), ref("b")]).changed == 1
    assert states(store) == {"lake/a": "pending", "lake/b": "pending"}


def test_tables_out_of_sight_are_not_gone(store):
    store.work.reconcile("lake", [ref("open/a"), ref("secret/b")])
    assert store.work.reconcile("lake", [], ["lake/secret/"]).gone == 1
    assert store.work.gone() == ["lake/open/a"]


def test_a_table_that_goes_while_claimed_is_removed_after_the_run(store):
    store.work.reconcile("lake", [ref("a")])
    store.work.claim("run", 10, 3, ["lake"])
    store.work.reconcile("lake", [])
    assert store.work.gone() == []
    finish(store, "a")
    assert store.work.gone() == ["lake/a"]
    store.work.forget(["lake/a"])
    assert store.work.gone() == []


def test_claims_of_dead_runs_are_released(store):
    store.work.reconcile("lake", [ref("a")])
    with store.runs.alive("run"):
        store.work.claim("run", 10, 3, ["lake"])
        assert store.work.release_claims(store.runs.is_alive) == 0
    assert store.work.release_claims(store.runs.is_alive) == 1
    assert store.work.claim("next", 10, 3, ["lake"]) == 1


def test_a_run_lives_until_its_last_process_ends(store):
    with store.runs.alive("run"):
        with store.runs.alive("run"), store.runs.alive("run-2"):
            assert store.runs.is_alive("run")
            assert store.runs.is_alive("run-2")
        assert store.runs.is_alive("run")
        assert not store.runs.is_alive("run-2")
    assert not store.runs.is_alive("run")
    assert list((store.path.parent / "runs").iterdir()) == []


def test_a_lock_file_that_a_killed_process_left_is_removed(store):
    folder = store.path.parent / "runs"
    folder.mkdir()
    for name in ("run.lock", "run.0a.lock", "r.lock"):  # the first version had one file a run
        (folder / name).touch()
    assert not store.runs.is_alive("run")
    assert [path.name for path in folder.iterdir()] == ["r.lock"]


def test_failures_are_tried_again_a_bounded_number_of_times(store):
    store.work.reconcile("lake", [ref("a")])
    for _ in range(3):
        assert store.work.claim("run", 10, 3, ["lake"]) == 1
        store.work.fail(Problem("lake/a", "profile", "truncated"))
    assert store.work.claim("run", 10, 3, ["lake"]) == 0
    assert store.problems() == [Problem("lake/a", "profile", "truncated")]
    store.work.reconcile("lake", [ref("a", "2")])
    assert store.work.claim("run", 10, 3, ["lake"]) == 1
    finish(store, "a")
    assert store.problems() == []


def test_profiles_and_fingerprints_survive(store):
    store.work.reconcile("lake", [ref("a")])
    store.work.claim("run", 10, 3, ["lake"])
    profile = dataclasses.replace(table("a", 'we"ird', "\u2603", rows=7), comment="c", notes=("n",))
    store.work.save_profiles([profile])
    item = store.work.claimed("run")[0]
    assert item.table is not None
    assert item.table.columns == profile.columns
    assert item.table.notes == ("n",)
    assert item.indexed_row_count is None
    store.work.finish([Finished("lake/a", profile.schema_hash, 3)])
    record = store.work.records()[0]
    assert (record.state, record.block_count) == (TableState.INDEXED, 3)
    assert (record.rows, record.columns, record.notes, record.comment) == (7, 2, ("n",), "c")


def test_records_say_what_is_known_and_no_more(store):
    store.work.reconcile("lake", [ref("b"), ref("a"), ref("gone")])
    store.work.reconcile("lake", [ref("b"), ref("a")])
    assert [(r.table_id, r.rows, r.columns, r.notes) for r in store.work.records()] == [
        ("lake/a", None, None, ()),
        ("lake/b", None, None, ()),
    ]
    assert store.work.listed() == ["lake/a", "lake/b"]


def test_another_recipe_lets_every_table_wait(store):
    store.work.use_recipe("one")
    store.work.reconcile("lake", [ref("a")])
    store.work.claim("run", 10, 3, ["lake"])
    finish(store, "a")
    assert not store.work.use_recipe("one")
    assert states(store) == {"lake/a": "indexed"}
    assert store.work.use_recipe("two")
    assert states(store) == {"lake/a": "pending"}


def test_a_newer_state_file_is_refused(tmp_path):
    with Store(tmp_path / "state.db") as store, store._db.write() as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(StateError, match="format 99"):
        Store(tmp_path / "state.db")


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "state.db").write_bytes(b"not a database, " * 1000)
    with pytest.raises(StateError, match=r"state\.db"):
        Store(tmp_path / "state.db")


def test_user_contexts_make_their_table_wait(store):
    store.work.reconcile("lake", [ref("a")])
    store.work.claim("run", 10, 3, ["lake"])
    finish(store, "a")
    store.add_context("lake/a", "wiki", "Measured in Reykjav\u00edk \ud800.")
    assert states(store) == {"lake/a": "pending"}
    assert [c.name for c in store.user_contexts("lake/a")] == ["wiki"]
    assert store.remove_context("lake/a", "wiki")
    assert not store.remove_context("lake/a", "wiki")
    with pytest.raises(StateError, match="name and a text"):
        store.add_context("lake/a", " ", "text")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_statement_is_no_damage(store, monkeypatch, error):
    def interrupted(*_: object) -> int:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(row_sums, "row_sum", interrupted)
        with pytest.raises(error):
            store.work.reconcile("lake", [ref("a")])
    assert store.work.records() == []
    store.work.reconcile("lake", [ref("a")])
    with monkeypatch.context() as patched:
        patched.setattr(row_sums, "row_sum", interrupted)
        with pytest.raises(error):
            store.work.records()
    assert states(store) == {"lake/a": "pending"}
