"""A view that takes too long is asked once a run, and holds up its source less each time."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from sqlalchemy import Engine, event

from pneuma_assets.core.config.small_sections import LimitsConfig
from pneuma_assets.core.errors import TableTooSlowError
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.sources.isolation.source import IsolatedSource
from pneuma_assets.core.store.queue import RETRY_AFTER_S
from tests.support.deployment_files import deploy
from tests.support.sql_database import Database, listed
from tests.support.stages import run_stages

pytestmark = pytest.mark.integration

SNOOZE = (
    "CREATE FUNCTION snooze() RETURNS text LANGUAGE plpgsql STABLE AS "
    "$$ BEGIN PERFORM pg_catalog.pg_sleep(0.05); RETURN 'x'; END $$"
)
VIEWS = {
    "counting": ("SELECT n FROM base WHERE pg_sleep(0.05) IS NOT NULL", 1),
    "reading": ("SELECT n, snooze() AS text FROM base", 2),  # it is counted in no time
}
"""What takes long of a view, its query, and how many statements a run sends that name it."""


@pytest.fixture
def database(postgresql_database):
    database = Database(postgresql_database)
    database.run("CREATE TABLE base AS SELECT g AS n FROM generate_series(1, 100) g", SNOOZE)
    return database


@contextmanager
def asked(name: str) -> Iterator[list[str]]:
    """Give the statements sent meanwhile that read a table."""
    sent: list[str] = []

    def note(_connection, _cursor, statement, *_: object) -> None:
        if f'"{name}"' in statement:
            sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)


@pytest.mark.parametrize("what", VIEWS)
def test_a_slow_view_is_asked_until_it_ran_into_the_limit_and_rests_though_it_changes(
    database, tmp_path, small_encoder, what
):
    query, statements = VIEWS[what]
    database.run(f"CREATE VIEW slow AS {query}")
    section = database.config(statement_timeout_seconds=0.3).model_dump(mode="json")
    loaded = deploy(tmp_path, section)
    rests = []
    for run in range(2):
        with asked("slow") as sent:
            run_stages(loaded, database.environ)
        assert len(sent) == statements
        with closing(open_store(loaded, {})) as store:
            base, slow = (store.tables.record(f"shop/public/{one}") for one in ("base", "slow"))
            problems = [(one.subject, one.stage, one.cause) for one in store.problems.all()]
            rests.append(slow.retry_at - store.now())
            assert store.queue.waiting(["shop"], 0.0) == 0
        assert (base.state, slow.state, slow.attempts) == ("indexed", "failed", run + 1)
        ((subject, stage, cause),) = problems
        assert (subject, stage) == ("shop/public/slow", "time")
        assert "exclude it, or raise statement_timeout_seconds" in cause
        database.run("INSERT INTO base VALUES (0)")  # moves the view's version, too
    assert rests == pytest.approx(RETRY_AFTER_S[:2], abs=60)


@pytest.mark.parametrize("rules", [{}, {"hidden_columns": ["text"]}])
def test_that_it_took_too_long_is_known_outside_of_the_process_that_reads(database, rules):
    database.run(f"CREATE VIEW slow AS {VIEWS['reading'][0]}")
    config = database.config(statement_timeout_seconds=0.3, privacy=rules)
    with closing(IsolatedSource(config, database.environ, LimitsConfig())) as source:
        ref = listed(source)["public/slow"]
        assert source.profile(ref).row_count == 100
        with pytest.raises(TableTooSlowError, match="raise statement_timeout_seconds"):
            source.evidence(ref, 0)
