"""Killed with -9 after any step of a run that brings changes home, the next run makes up for it.

Tables of a real PostgreSQL are renamed, changed, copied, dropped and shown to others between two
runs, so that the second one lists, measures, links, tells facts and marks copies. It is killed
after the first write of each such step; with PNEUMA_KILLS=all before and after that of every step.
"""

import os
import shutil
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.store import Store, schema
from pneuma_assets.core.store.sqlite_database import StateDatabase
from tests.support.deployment_files import deploy
from tests.support.sql_database import VARIABLE, Database
from tests.support.stages import run_stages
from tests.support.word_encoder import using_words

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder")]
_ROOM = str(Path("core", "pipeline"))


@dataclass
class Moments:
    """Counts the writes of a run, and kills this process at one of them.

    Attributes:
        last: The number of the moment at which to die; None: at none.
        seen: What was written at each moment so far, by which step.
    """

    last: int | None = None
    seen: list[str] = field(default_factory=list)

    def here(self, when: str, write: str = "") -> None:
        """Note a moment, or die of it."""
        if len(self.seen) == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.seen.append(f"{when} {_step(write)}")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Notice all writes of the state, and those of the index that replace anything."""
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(StateDatabase, "_transaction", self._of(StateDatabase._transaction))
            for name in ("replace_tables", "set_facts", "delete_tables"):
                patched.setattr(EmbeddedIndex, name, self._around(getattr(EmbeddedIndex, name)))
            yield

    def _of(self, begin: Callable[..., Any]) -> Callable[..., Any]:
        @contextmanager
        def transaction(database: StateDatabase) -> Iterator[Any]:
            with begin(database) as connection:
                yield connection
                self.here("before")
            self.here("after")

        return transaction

    def _around(self, write: Callable[..., None]) -> Callable[..., None]:
        def written(index: EmbeddedIndex, *given: Any) -> None:
            self.here("before", write.__name__)
            write(index, *given)
            self.here("after", write.__name__)

        return written


def _step(write: str) -> str:
    """Return which function of the pipeline is at work, and what it calls to write."""
    called = write
    for frame in reversed(traceback.extract_stack()):
        if _ROOM in frame.filename:
            return f"{Path(frame.filename).stem}.{frame.name}: {called}"
        if not write and "pneuma_assets" in frame.filename:
            called = frame.name
    return "around the stages"


def killed_at(number: int, file: Path) -> None:
    """Run in a process that dies at a moment; fails where it lived.

    It starts anew: a fork of this one, whose libraries have threads by the tests before, may crash.
    """
    module = f"tests.integration.{Path(__file__).stem}"
    run = f"from {module} import run_until; run_until({number}, {str(file)!r})"
    root = Path(__file__).parents[2]
    died = subprocess.run([sys.executable, "-c", run], cwd=root, check=False, capture_output=True)
    assert died.returncode == -signal.SIGKILL, f"it lived at moment {number}: {died.stderr!r}"


def run_until(number: int, file: str) -> None:
    """Run in this process, which dies at a moment."""
    with using_words(), Moments(number).watching():
        run_stages(load_deployment(config=Path(file), environ=os.environ), os.environ, "second")


SET_UP = (
    "CREATE TABLE customers (id int PRIMARY KEY, name text, phone text)",
    "CREATE TABLE orders (id int PRIMARY KEY, customer int REFERENCES customers, total numeric)",
    "CREATE TABLE parts (id int, label text, weight int)",
    "CREATE TABLE visits (id int, page text)",
    "CREATE TABLE stays (id int, word text)",
    "CREATE TABLE leaves (id int, word text)",
    "CREATE VIEW spent AS SELECT c.name, o.total FROM customers c JOIN orders o"
    " ON o.customer = c.id",
    "INSERT INTO customers SELECT g, 'name ' || g, '030' || g FROM generate_series(1, 40) g",
    "INSERT INTO orders SELECT g, g, g * 3 FROM generate_series(1, 40) g",
    "INSERT INTO parts SELECT g, 'part ' || g, g FROM generate_series(1, 40) g",
    "INSERT INTO visits SELECT g, 'page ' || g FROM generate_series(1, 40) g",
    "INSERT INTO stays SELECT g, 'stay ' || g FROM generate_series(1, 40) g",
    "INSERT INTO leaves SELECT g, 'leaf ' || g FROM generate_series(1, 40) g",
)
CHANGES = (
    "ALTER TABLE customers RENAME TO clients",
    "ALTER TABLE parts RENAME COLUMN label TO title",
    "ALTER TABLE parts ADD colour text DEFAULT 'red'",
    "UPDATE visits SET page = 'leaf of ' || id WHERE id > 20",
    "DELETE FROM orders WHERE id > 38",
    "CREATE VIEW rich AS SELECT * FROM spent WHERE total > 50",
    "CREATE TABLE stays_backup AS SELECT * FROM stays",
    "GRANT SELECT ON stays TO PUBLIC",
    "DROP TABLE leaves",
)
ACCIDENTAL = ("_at", "_since", "_by")
STEPS = (
    "after list.list_sources: sync",
    "after profile.profile_tables: reading",
    "after lineage.update_lineage: link",
    "after sample._save: holding",
    "after embed._embed: holding",
    "after write.remove_gone: delete_tables",
    "after write._replace: replace_tables",
    "after write.publish_metadata: set_facts",
    "after relate.mark_copies: mark_copies",
)
"""After which a run is killed: what is kept of renames, sketches, edges, facts and copies."""
ONE_STEP = ("after write._replace: replace_tables",)
MADE_BY_TIME = {"runs", "stages", "leases", "listings", "meta"}


@pytest.fixture
def loaded(tmp_path, postgresql_database, monkeypatch) -> LoadedDeployment:
    """A deployment of one database, indexed once, in which much has changed since."""
    database = Database(postgresql_database)
    monkeypatch.setenv(VARIABLE, database.environ[VARIABLE])
    database.run(*SET_UP)
    one = deployment(tmp_path / "home", database)
    run_stages(one, database.environ, "first")
    with Workspace(one, database.environ) as workspace:
        store = workspace.store
        store.correct("shop/public/customers", "phone", "The phone at home.", "Ann")
        store.mark_changed({"shop": ["shop/public/visits"]}, {"shop": ["new"]}, "somebody says so")
    database.run(*CHANGES)
    return one


def deployment(home: Path, database: Database) -> LoadedDeployment:
    url = database.config().url
    source = {"type": "sql", "name": "shop", "url": url, "password_env": VARIABLE}
    file = f"{home.name}.yaml"
    return deploy(home.parent, source, file=file, environ=database.environ, home=str(home))


@pytest.mark.parametrize(
    "steps",
    [pytest.param(ONE_STEP, id="one"), pytest.param(STEPS, marks=pytest.mark.slow, id="all")],
)
def test_what_was_killed_anywhere_ends_as_what_was_not(
    loaded, postgresql_database, tmp_path, steps
):
    database = Database(postgresql_database)
    environ, moments = database.environ, Moments()

    def copy(name: str) -> LoadedDeployment:
        shutil.copytree(loaded.home, tmp_path / name)
        return deployment(tmp_path / name, database)

    clean = copy("clean")
    with moments.watching():
        run_stages(clean, environ, "second")
    wanted = contents(clean)
    check_changes(wanted)
    first = {step: number for number, step in reversed(list(enumerate(moments.seen)))}
    for step in first if os.environ.get("PNEUMA_KILLS") == "all" else steps:
        killed = copy(f"killed{first[step]}")
        killed_at(first[step], tmp_path / f"killed{first[step]}.yaml")
        run_stages(killed, environ, "third")
        assert contents(killed) == wanted, f"killed {step}"


def check_changes(found: dict[str, Any]) -> None:
    facts = {table_id.rpartition("/")[2]: known for table_id, known in found["facts"].items()}
    assert sorted(facts) == sorted(
        ["clients", "orders", "parts", "rich", "spent", "stays", "stays_backup", "visits"]
    )
    assert facts["stays_backup"].copy_of == "shop/public/stays"
    assert facts["stays"].readers is None
    assert facts["spent"].feeds == 1
    assert found["notices"] == []
    assert "shop/public/clients" in found["corrections"][0]


def contents(loaded: LoadedDeployment) -> dict[str, Any]:
    """Return all that the state and the index keep, without times and without who did it."""
    with Workspace(loaded, {}) as workspace:
        found: dict[str, Any] = dict(rows_of(workspace.store))
        index = workspace.search_index
        ids = sorted(index.list_tables())
        found["facts"] = index.facts(ids)
        found["texts"] = sorted(
            (one.block.block_id, one.block.text, one.vector.tobytes()) for one in index.blocks()
        )
        found["rows"] = index.evidence(ids)
        return found


def rows_of(store: Store):
    for table in schema.METADATA.sorted_tables:
        if table.name not in MADE_BY_TIME:
            columns = [c for c in table.c if not c.name.endswith(ACCIDENTAL)]
            yield table.name, sorted(map(repr, store._db.read(select(*columns))))
