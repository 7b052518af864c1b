"""The state on a PostgreSQL server that refuses, dies, restarts, or has no room for one more."""

import contextlib
import dataclasses
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from sqlalchemy import make_url, text

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store import Store, postgresql_database
from pneuma_assets.core.store.narrations import AnswerKey, Subject
from pneuma_assets.core.store.postgresql_database import PostgreSQL, is_made
from tests.conformance.store.lake import ref
from tests.support.postgresql_process import Server, autocommitting
from tests.support.waiting import LONGEST, wait_until

pytestmark = pytest.mark.integration
SECRET = "s3cr3t%40 @/:?'\"\\"
"""A password that nobody may read in a message, and whose signs mean something in addresses."""


def place(url: str, **changed) -> PostgreSQL:
    address = make_url(url)
    return dataclasses.replace(PostgreSQL(address, "pneuma", address.password), **changed)


@pytest.fixture
def at(postgresql_database) -> PostgreSQL:
    return place(postgresql_database)


@pytest.fixture
def mortal(postgresql_server) -> PostgreSQL:
    return place(postgresql_server.url)


def refusal(work: Callable[[], object], at: PostgreSQL) -> str:
    """What the error says, which is one line and holds no password, not even in the traceback."""
    with pytest.raises(StateError) as caught:
        work()
    shown = "".join(traceback.format_exception(caught.value)) + repr(at)
    assert at.password is None or at.password not in shown
    said = str(caught.value)
    assert len(said.splitlines()) == 1
    assert said.startswith("The state at postgresql")
    return said


@pytest.mark.parametrize("work", [Store, is_made], ids=["opening", "looking"])
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"password": SECRET}, "password are right"),
        ({"host": "nowhere.invalid"}, "nowhere.invalid"),
        ({"port": 1}, "the server runs"),
        ({"database": "missing"}, 'database "missing" does not exist'),
        ({"query": {"no_such_option": "x"}}, "no_such_option"),
    ],
    ids=["password", "host", "port", "database", "option"],
)
def test_what_cannot_be_opened_is_told_at_once(at, work, changed, said):
    secret = SECRET if "password" in changed else at.password
    elsewhere = {key: value for key, value in changed.items() if key != "password"}
    wrong = dataclasses.replace(at, url=at.url.set(password="", **elsewhere), password=secret)
    assert said in refusal(lambda: work(wrong), wrong)


def administer(at: PostgreSQL, *statements: str) -> None:
    with autocommitting(at.url.set(drivername="postgresql+psycopg")) as connection:
        for statement in statements:
            connection.execute(text(statement))


def test_a_user_without_rights_is_told_which(at):
    name, user = at.url.database, at.url.username
    administer(at, f'REVOKE CREATE, TEMPORARY ON DATABASE "{name}" FROM PUBLIC, "{user}"')
    said = refusal(lambda: Store(at), at)
    assert (
        f'CREATE SCHEMA IF NOT EXISTS pneuma; GRANT USAGE, CREATE ON SCHEMA pneuma TO "{user}"'
        in said
    )
    administer(
        at,
        f'GRANT CREATE ON DATABASE "{name}" TO "{user}"',
        "CREATE SCHEMA pneuma",
        f'REVOKE ALL ON SCHEMA pneuma FROM "{user}"',
        f'REVOKE CREATE ON DATABASE "{name}" FROM "{user}"',
    )
    assert "GRANT USAGE, CREATE ON SCHEMA pneuma" in refusal(lambda: Store(at), at)
    administer(at, f'GRANT USAGE, CREATE ON SCHEMA pneuma TO "{user}"')
    with Store(at) as store:  # what an owner has made needs no right to make one
        store.listings.sync("lake", [ref("a")])


def test_asking_needs_no_right_to_write(at):
    with Store(at) as store:
        store.listings.sync("lake", [ref("a")])
    administer(at, f'ALTER DATABASE "{at.url.database}" SET default_transaction_read_only = on')
    assert is_made(at)
    with Store(at) as store:
        assert store.tables.known() == {"lake/a"}


def test_deployments_in_two_schemas_do_not_see_each_other(at):
    other = dataclasses.replace(at, schema="other")
    with Store(at) as one, Store(other) as two, one.runs.alive("run"):
        one.listings.sync("lake", [ref("a")])
        with one._db.write():  # each has writers of its own
            two.listings.sync("lake", [ref("b")])
        assert (one.tables.known(), two.tables.known()) == ({"lake/a"}, {"lake/b"})
        assert two.runs.living() == set()
        assert one.asset_keys.deployment() != two.asset_keys.deployment()


def test_two_who_open_at_once_make_one_state(at):
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: Store(at), range(6)))
    for store in stores:
        store.close()
    assert is_made(at)


@pytest.mark.slow
@pytest.mark.parametrize(
    "begin",
    [lambda store: store.listings.sync("lake", [ref("a")]), lambda store: store.tables.known()],
    ids=["writing", "reading"],
)
def test_what_begins_while_the_server_is_away_waits_for_it(
    mortal, postgresql_server, monkeypatch, begin
):
    monkeypatch.setattr(postgresql_database, "PATIENCE_S", LONGEST)
    with Store(mortal) as store, ThreadPoolExecutor(1) as pool:
        tried = threading.Event()
        ask = store._db._engine.pool.connect
        monkeypatch.setattr(store._db._engine.pool, "connect", lambda: (tried.set(), ask())[1])
        postgresql_server.kill()
        begun = pool.submit(begin, store)
        assert tried.wait(LONGEST)
        assert not begun.done()
        postgresql_server.restart()
        begun.result(LONGEST)


@pytest.mark.slow
def test_patience_ends(mortal, postgresql_server, monkeypatch):
    monkeypatch.setattr(postgresql_database, "PATIENCE_S", 0.5)
    with Store(mortal) as store:
        postgresql_server.kill()
        assert "server runs" in refusal(lambda: store.listings.sync("lake", [ref("a")]), mortal)
        assert "server runs" in refusal(store.tables.known, mortal)
    refusal(lambda: Store(mortal), mortal)


@pytest.mark.slow
def test_a_run_survives_a_server_that_is_killed_again_and_again(
    mortal, postgresql_server, monkeypatch
):
    """Each transaction writes a table and a recipe of one number: never one without the other."""
    monkeypatch.setattr(postgresql_database, "PATIENCE_S", LONGEST)
    written: list[int] = []
    ended = threading.Event()

    def work(store: Store) -> int:
        failed = number = 0
        while not ended.is_set():
            number += 1
            with contextlib.suppress(StateError):
                with store._db.write():
                    store.listings.sync("lake", [ref(str(number))])
                    store.queue.use_recipe(str(number))
                written.append(number)
                continue
            failed += 1
        return failed

    with Store(mortal) as store, Store(mortal) as reader, ThreadPoolExecutor(1) as pool:
        working = pool.submit(work, store)
        for _ in range(5):
            before = len(written)
            wait_until(lambda seen=before: len(written) > seen + 5, "the run goes on")
            postgresql_server.kill()
            promised = written[-1]
            postgresql_server.restart()
            with reader._db.write():
                recipe, tables = reader.queue.recipe(), set(reader.tables.listed())
            assert tables == {f"lake/{recipe}"}
            assert recipe is not None
            assert int(recipe) >= promised
        ended.set()
        assert working.result(LONGEST) <= 5


@pytest.mark.slow
def test_a_transaction_that_sleeps_does_not_block_others_for_ever(at, monkeypatch):
    monkeypatch.setattr(postgresql_database, "IDLE_S", 1)
    with Store(at) as stuck, Store(at) as other:

        def sleep() -> None:
            with stuck._db.write():
                stuck.listings.sync("lake", [ref("lost")])
                other.listings.sync("lake", [ref("kept")])  # waits until the server ends ours
                stuck.queue.use_recipe("lost")

        refusal(sleep, at)
        assert stuck.tables.known() == other.tables.known() == {"lake/kept"}


@pytest.mark.slow
def test_who_waits_too_long_for_the_others_is_told_so(at, monkeypatch):
    with Store(at) as busy:
        monkeypatch.setattr(postgresql_database, "BUSY_TIMEOUT_S", 0.1)
        with Store(at) as waiting, busy._db.write():
            said = refusal(lambda: waiting.listings.sync("lake", [ref("a")]), at)
    assert "in use by others" in said


@pytest.mark.slow
def test_a_run_that_ends_while_the_server_is_away_has_ended(
    mortal, postgresql_server, monkeypatch, caplog
):
    monkeypatch.setattr(postgresql_database, "PATIENCE_S", 0.0)
    with Store(mortal) as store:
        with store.runs.alive("run"):
            postgresql_server.kill()
        assert "runs out by itself" in caplog.text
        postgresql_server.restart()
        with pytest.raises(ZeroDivisionError):
            die_together(store, postgresql_server)


def die_together(store: Store, server: Server) -> None:
    with store.runs.alive("another"):
        server.kill()
        raise ZeroDivisionError


@pytest.mark.slow
def test_a_full_server_is_told_and_waited_for(mortal, postgresql_server: Server):
    plain = mortal.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with Store(mortal) as store, contextlib.ExitStack() as others:
        with contextlib.suppress(psycopg.OperationalError):
            while True:
                others.enter_context(contextlib.closing(psycopg.connect(plain)))
        assert "takes more connections" in refusal(lambda: Store(mortal), mortal)
        store.listings.sync("lake", [ref("a")])  # it has its connection
        store._db._engine.dispose()
        with ThreadPoolExecutor(1) as pool:
            begun = pool.submit(store.tables.known)
            time.sleep(0.1)
            others.close()
            assert begun.result(LONGEST) == {"lake/a"}


def test_threads_see_what_is_committed_and_nothing_else(at):
    with Store(at) as store, ThreadPoolExecutor(1) as pool, store._db.write():
        store.listings.sync("lake", [ref("a")])
        assert store.tables.known() == {"lake/a"}
        assert pool.submit(store.tables.known).result(LONGEST) == set()


def test_a_role_of_another_isolation_level_loses_nothing(at):
    """Whoever waited for its turn must see what was written meanwhile."""
    own = {"options": "-c default_transaction_isolation=repeatable\\ read"}
    at = dataclasses.replace(at, url=at.url.update_query_dict(own))

    def work(name: str) -> None:
        with Store(at) as store:
            for turn in range(20):
                store.narrations.save(AnswerKey("m"), [(Subject("", f"{name} {turn}"), 0, "text")])
                store.queue.use_recipe(f"{name} {turn}")

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, ["one", "two", "three"]))


def test_options_of_the_address_are_kept(at):
    given = dataclasses.replace(
        at, url=at.url.update_query_dict({"options": "-c statement_timeout=1234"})
    )
    with Store(given) as store, store._db.write() as connection:
        assert connection.execute(text("SHOW statement_timeout")).scalar() == "1234ms"
        assert connection.execute(text("SHOW search_path")).scalar() == at.schema
