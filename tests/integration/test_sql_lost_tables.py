"""Tables that leave a PostgreSQL, or our reach, after a run has listed them and before it reads."""

import json
from collections.abc import Callable

import pytest

from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.pipeline import plan
from pneuma_assets.core.service.workspace import Workspace
from tests.support.killed_stages import run_stages
from tests.support.postgresql_process import Server
from tests.support.sql_database import VARIABLE, Database
from tests.support.word_encoder import WordEncoder

pytestmark = [pytest.mark.integration, pytest.mark.slow]

NAMES = ("stays", "dropped", "lost")


@pytest.fixture
def owner(postgresql_server: Server) -> Database:
    """Whose tables they are; the source reads them as somebody whom he lets."""
    with_tables = Database(postgresql_server.superuser_url)
    for name in NAMES:
        with_tables.run(
            f"CREATE TABLE {name} AS SELECT g AS id, '{name}word ' || g AS word"
            " FROM generate_series(1, 9) g",
            f"GRANT SELECT ON {name} TO pneuma",
        )
    return with_tables


@pytest.fixture
def run(postgresql_server, owner, tmp_path, monkeypatch) -> Callable[..., LoadedDeployment]:
    """Return what indexes; between listing and reading it lets the owner run statements."""
    for module in ("pneuma_assets.resources.models", "pneuma_assets.core.models.encoder.encoder"):
        monkeypatch.setattr(f"{module}.open_encoder", lambda _: WordEncoder())
    reader = Database(postgresql_server.url)
    url = reader.url.set(drivername="postgresql", database=owner.url.database)
    address = url._replace(password=None).render_as_string()
    source = {"type": "sql", "name": "shop", "url": address, "password_env": VARIABLE}
    (tmp_path / "pneuma.yaml").write_text(json.dumps({"home": "home", "sources": [source]}))
    loaded = load_deployment(config=tmp_path / "pneuma.yaml", environ=reader.environ)
    profile, runs = plan.profile_tables, []

    def index(*meanwhile: str) -> LoadedDeployment:
        def after_listing(*given):
            owner.run("SELECT 1", *meanwhile)
            return profile(*given)

        monkeypatch.setattr(plan, "profile_tables", after_listing)
        runs.append(f"run{len(runs)}")
        run_stages(loaded, reader.environ, runs[-1])
        return loaded

    return index


def states(loaded: LoadedDeployment) -> dict[str, str]:
    with Workspace(loaded, {}) as workspace:
        return {one.table_id.rpartition("/")[2]: one.state for one in workspace.status().tables}


def problems(loaded: LoadedDeployment) -> dict[str, str]:
    with Workspace(loaded, {}) as workspace:
        return {one.subject.rpartition("/")[2]: one.cause for one in workspace.status().problems}


def searchable(loaded: LoadedDeployment) -> set[str]:
    with Workspace(loaded, {}) as workspace:
        return {
            name
            for name in NAMES
            if any(f"{name}word" in one.block.text for one in workspace.search_index.blocks())
        }


def test_new_tables_are_their_own_problems(run):
    loaded = run("DROP TABLE dropped", "REVOKE SELECT ON lost FROM pneuma")
    assert states(loaded) == {"stays": "indexed", "dropped": "failed", "lost": "failed"}
    told = problems(loaded)
    assert 'relation "public.dropped" does not exist' in told["dropped"]
    assert "permission denied for table lost" in told["lost"]
    assert searchable(loaded) == {"stays"}
    loaded = run()
    assert states(loaded)["stays"] == "indexed"
    assert "dropped" not in problems(loaded)


def test_what_was_known_stays_until_a_listing_knows_better(run, owner):
    loaded = run()
    assert searchable(loaded) == set(NAMES)
    owner.run(*(f"UPDATE {name} SET id = id + 1" for name in NAMES))
    run("DROP TABLE dropped", "REVOKE SELECT ON lost FROM pneuma")
    assert states(loaded)["stays"] == "indexed"
    assert searchable(loaded) == {"stays", "dropped"}, "what may not be read is taken back at once"
    run()
    assert searchable(loaded) == {"stays"}
    assert problems(loaded).keys() == {"lost"}
    owner.run("GRANT SELECT ON lost TO pneuma")
    run()
    assert searchable(loaded) == {"stays", "lost"}
    assert problems(loaded) == {}
