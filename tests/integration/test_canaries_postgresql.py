"""1,000 values that rules hide are planted in PostgreSQL, and looked for in a state kept there.

Some stand in what the server says when a view cannot be read: casts, domains and functions quote
the cell they fail at, and names of constraints, types and constants are anybody's.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.pipeline.optimise import optimise_index
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.index_run import run_indexing
from tests.support.canaries import RULES, SHOWN, contents, hearing, leaks, rows_of
from tests.support.deployment_files import deploy
from tests.support.elasticsearch_server import documents
from tests.support.postgresql_server import new_database
from tests.support.sql_database import VARIABLE, Database
from tests.support.waiting import wait_until

pytestmark = [
    pytest.mark.integration,
    pytest.mark.slow,
    pytest.mark.usefixtures("small_encoder", "read_here"),
]

PLANTED = (
    "CREATE TYPE kind AS ENUM ('kanari9001', 'other')",
    "CREATE TYPE payer AS (id int, email text)",
    "CREATE TABLE people (id int PRIMARY KEY, city text, ssn text, old_ssn_2 text UNIQUE,"
    " ssn_kind kind, salary bigint, by payer, nick text, CONSTRAINT kanari9002 CHECK (ssn <> 'x'))",
    "COMMENT ON COLUMN people.nick IS 'What friends say. @pii'",
    "INSERT INTO people SELECT g, 'plainvalue' || g, 'kanari' || 1000 + g, 'kanari' || 2000 + g,"
    " 'kanari9001', 7711770000 + g, ROW(g, 'kanari' || 3000 + g)::payer, 'kanari' || 4000 + g"
    " FROM generate_series(0, 199) g",
)
"""Five values a row in columns that are hidden by name, by pattern, by a field and by a tag."""
KINDS = (b"kanari1", b"kanari2", b"7711770", b"kanari3", b"kanari4")
"""How those of each column begin."""
VIEWS = (
    "CREATE VIEW one AS SELECT id, ssn FROM people WHERE ssn <> 'kanari9003'",
    "CREATE MATERIALIZED VIEW kept AS SELECT id, by, ssn FROM people",
)
FAILING = (
    "CREATE VIEW counted AS SELECT id, ssn::int AS n FROM people",
    "CREATE VIEW parsed AS SELECT id, ssn::json AS n FROM people",
    "CREATE VIEW listed AS SELECT id, ssn::kind AS n FROM people",
    "CREATE DOMAIN short AS text CONSTRAINT kanari9004 CHECK (length(VALUE) < 3)",
    "CREATE VIEW checked AS SELECT id, ssn::short AS n FROM people",
    "CREATE FUNCTION twice(v text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE unique_violation"
    " USING MESSAGE = 'Key (ssn)=(' || v || ') already exists', DETAIL = v, HINT = v; END $$",
    "CREATE VIEW doubled AS SELECT id, public.twice(ssn) AS n FROM people",
    "CREATE FUNCTION put(v text) RETURNS text LANGUAGE sql AS"
    " 'INSERT INTO public.people (id, ssn) VALUES (1, v) RETURNING v'",
    "CREATE VIEW writing AS SELECT id, public.put(ssn) AS n FROM people",
)
FAILED = {"counted", "parsed", "listed", "checked", "doubled", "writing"}


@pytest.fixture
def state(postgresql_url) -> Iterator[Database]:
    with new_database(postgresql_url) as url:
        yield Database(url)


@pytest.fixture
def database(postgresql_database, monkeypatch) -> Database:
    planted = Database(postgresql_database)
    planted.run(*PLANTED)
    planted.run(*VIEWS, *FAILING)
    monkeypatch.setenv(VARIABLE, planted.environ[VARIABLE])
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    return planted


@pytest.fixture
def deployed(
    tmp_path: Path,
    database: Database,
    state: Database,
    elasticsearch_url: str,
    index_name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., LoadedDeployment]:
    """Return what describes the deployment, with rules or without."""
    monkeypatch.setattr(ElasticsearchConfig, "timeout_seconds", 3.0)
    # What was removed is kept for two requests' time, for searches under way.
    server = {"urls": [elasticsearch_url], "name": index_name, "replicas": 0}
    source = {"type": "sql", "name": "pg", "url": database.config().url, "password_env": VARIABLE}
    described = {
        "state": {"url": state.config().url, "password_env": VARIABLE},
        "index": {"engine": "elasticsearch", "elasticsearch": server},
        "dagster": {"show_rows": True},
    }

    def describe(*, rules: bool) -> LoadedDeployment:
        told = {**described, **({"privacy": RULES} if rules else {})}
        return deploy(tmp_path, source, environ=database.environ, **told)

    return describe


def used(loaded: LoadedDeployment, environ: dict[str, str]) -> bytes:
    """Index and ask; return what was printed and logged, and what can be seen of problems."""
    with hearing() as heard:
        run_indexing(loaded)
        with Workspace(loaded, environ) as workspace:
            for question in ("plainvalue7 kanari1007", "who earns 7711770007"):
                print([one.to_dict() for one in workspace.ask(question, k=20)])
            print(workspace.status())
            failed = {one.subject.rpartition("/")[2] for one in workspace.status().problems}
    assert failed >= FAILED
    return heard.getvalue().encode()


def test_nothing_hidden_comes_out_of_postgresql_or_into_one(
    deployed, database, state, elasticsearch_url, index_name
):
    found: dict[bool, dict[str, bytes]] = {}
    for rules in (False, True):
        loaded = deployed(rules=rules)
        output = used(loaded, database.environ)
        if rules:
            wait_until(partial(forgotten, loaded, database.environ), "what is hidden is removed")
        kept = contents(loaded.home)
        # Logs of runs before the rule are the deployment's own to delete.
        here = {name: data for name, data in kept if "/dagster/" not in name or not rules}
        index = documents(elasticsearch_url, index_name)
        found[rules] = {"output": output, "index": index, **here, **dict(rows_of(state))}
    missed = [kind for kind in KINDS if not any(map(begun_by(kind), found[False].values()))]
    assert missed == [], "what does not get out without rules proves nothing"
    leaking = {name for name, data in found[False].items() if leaks(data)}
    assert {"output", "index", "pneuma.tables", "pneuma.problems", "pneuma.documents"} <= leaking
    assert {name: leaks(data) for name, data in found[True].items() if leaks(data)} == {}
    assert SHOWN in found[True]["output"]
    assert SHOWN in found[True]["index"]
    assert b"city" in found[True]["pneuma.tables"]


def begun_by(kind: bytes) -> Callable[[bytes], bool]:
    return lambda data: any(one.startswith(kind) for one in leaks(data))


def forgotten(loaded: LoadedDeployment, environ: dict[str, str]) -> bool:
    """Let the index remove what it may; tell whether nothing hidden is left."""
    with Workspace(loaded, environ) as workspace:
        optimise_index(workspace.search_index)
    index = loaded.deployment.index.elasticsearch
    return not leaks(documents(index.urls[0], index.name))
