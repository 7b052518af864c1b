"""The real daemon over a folder and a PostgreSQL: nobody touches anything but files and tables.

Webserver, daemon and code server are what `dagster dev` starts, the sensor is switched on as in the
UI, and a program says by HTTP that a table changed, with the line that the documentation gives.
"""

import contextlib
import json
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from pneuma_assets import QueryError, SearchIndexError, StateError, open_workspace
from tests.support.waiting import LONGEST, wait_until
from tests.support.webserver import Webserver, environment, free_port, serving

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "changes.md"
LOCATION = "pneuma_assets.definitions"
SELECTOR = {"repositoryLocationName": LOCATION, "repositoryName": "__repository__"}

START = """
mutation Start($sensor: SensorSelector!) {
  startSensor(sensorSelector: $sensor) {
    __typename ... on Sensor { sensorState { status } } ... on PythonError { message } } }
"""
RUNS = "{ runsOrError { ... on Runs { results { jobName status tags { key value } } } } }"

COMETS = "comet,orbital_period_years\nHalley,75\nEncke,3\n"
VOLCANOES = "volcano,eruption_year\nEtna,2021\nHekla,2000\n"


COUNTED = "SELECT pg_stat_force_next_flush()"
"""Else a server tells up to ten seconds later what it has counted."""


class Daemon:
    """A deployment over a folder `lake` and a database, and what `dagster dev` started for it."""

    def __init__(self, root: Path, database: str) -> None:
        self.root, self.webserver = root, Webserver(free_port())
        self.lake = root / "lake"
        self.lake.mkdir()
        (root / "dagster").mkdir()
        (root / "dagster/dagster.yaml").write_text("telemetry: {enabled: false}\n")
        shutil.copy(ROOT / "workspace.yaml", root)
        self.file = root / "pneuma.yaml"
        url = make_url(database)
        address = url._replace(password=None).render_as_string()
        self.file.write_text(
            json.dumps(
                {
                    "home": "home",
                    "sources": [
                        {"type": "folder", "name": "lake", "path": "lake"},
                        {"type": "sql", "name": "sky", "url": address, "password_env": "SKY"},
                    ],
                    "indexing": {"quiet_period_seconds": 1},
                    "dagster": {"watch_seconds": 10},
                }
            )
        )
        self.environment = environment(
            SKY=url.password or "none",
            DAGSTER_HOME=str(root / "dagster"),
            PNEUMA_CONFIG=str(self.file),
            PYTHONPATH=str(ROOT),
        )

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        at = ["-h", "127.0.0.1", "-p", str(self.webserver.port)]
        command = ["dagster", "dev", "-w", "workspace.yaml", *at]
        with serving(self.root, *command, env=self.environment):
            wait_until(self.webserver.is_loaded, "the webserver loads the definitions")
            yield

    def switch_on(self, sensor: str) -> None:
        said = self.webserver.ask(START, sensor={**SELECTOR, "sensorName": sensor})
        assert said["startSensor"]["__typename"] == "Sensor", said

    def runs(self, job: str) -> list[str]:
        found = self.webserver.ask(RUNS)["runsOrError"]["results"]
        return [run["status"] for run in found if run["jobName"] == job]

    def write(self, name: str, text: str) -> None:
        """Write a file as careful programs do, at once."""
        (self.root / "new").write_text(text)
        (self.root / "new").rename(self.lake / name)


def documented_curl(port: int) -> str:
    """The command that the documentation gives, for the webserver of this test."""
    (command,) = re.findall(r"```console\n\$ (curl .*?)```", DOCS.read_text(), re.DOTALL)
    assert "http://localhost:3000/" in command
    return command.replace("http://localhost:3000/", f"http://127.0.0.1:{port}/")


def timed(what: str, condition: Callable[[], object]) -> None:
    began = time.monotonic()
    wait_until(lambda: condition() or time.sleep(0.5), what)  # the others have work
    print(f"{what}: {time.monotonic() - began:.1f} s")


def planted(database: str) -> psycopg.Connection:
    url = make_url(database).set(drivername="postgresql").render_as_string(hide_password=False)
    at = psycopg.connect(url, autocommit=True)
    for table, column in (("moons", "diameter"), ("stars", "brightness"), ("probes", "mass")):
        at.execute(f"CREATE TABLE {table} (name text PRIMARY KEY, {column} integer)")
        at.execute(
            f"INSERT INTO {table} SELECT '{table}-' || n, n FROM generate_series(1, 100) AS n"
        )
    at.execute(COUNTED)
    return at


def test_what_is_dropped_in_changed_and_deleted_is_answered_with_no_hand_on_anything(
    tmp_path, postgresql_database, monkeypatch
):
    daemon, database = Daemon(tmp_path, postgresql_database), planted(postgresql_database)
    monkeypatch.setenv("SKY", daemon.environment["SKY"])
    daemon.write("volcanoes.csv", VOLCANOES)
    daemon.write("rivers.csv", "river,length_km\nElbe,1094\nRhine,1233\n")
    with database, daemon.running(), open_workspace(daemon.file) as workspace:

        def best(question: str) -> str | None:
            try:
                found = workspace.ask(question)
            except (QueryError, SearchIndexError, StateError):
                return None  # nothing is indexed yet
            return found[0].table_id if found else None

        def indexed_at(table: str) -> str | None:
            return {t.table_id: t.indexed_at for t in workspace.status().tables}.get(table)

        def share_changed(table: str) -> float | None:
            change = workspace.store.profiles.changes([table]).get(table)
            return None if change is None else round(change.share, 3)

        daemon.switch_on("pneuma_watch")
        timed("a new lake", lambda: best("when did Etna erupt?") == "lake/volcanoes")
        timed("a new database", lambda: best("brightness of stars") == "sky/public/stars")
        daemon.write("comets.csv", COMETS)
        for statement in (
            "ALTER TABLE moons ADD COLUMN atmosphere text",
            "ALTER TABLE stars RENAME COLUMN brightness TO magnitude",
            "UPDATE probes SET mass = -mass WHERE mass <= 5",
            "CREATE TABLE galaxies AS SELECT 'Andromeda' AS galaxy, 2.5 AS million_light_years",
            COUNTED,
        ):
            database.execute(statement)
        timed("a file dropped in", lambda: best("orbital period of Halley") == "lake/comets")
        timed("a table made", lambda: best("light years to Andromeda") == "sky/public/galaxies")
        timed("a column added", lambda: best("atmosphere of moons") == "sky/public/moons")
        timed("a column renamed", lambda: best("magnitude of stars") == "sky/public/stars")
        timed("5 % of the rows updated", lambda: share_changed("sky/public/probes") == 0.05)
        daemon.write("comets.csv", f"{COMETS}Tempel-Tuttle,33\n")
        (daemon.lake / "rivers.csv").unlink()
        database.execute("UPDATE probes SET mass = mass + 1000 WHERE mass > 75")
        database.execute("DROP TABLE galaxies")
        database.execute(COUNTED)

        def changed_and_gone() -> bool:
            found = [one.table_id for one in workspace.ask("length of a river in km", k=20)]
            return _says(workspace, "Tempel-Tuttle") and "lake/rivers" not in found

        timed("one changed, and one deleted", changed_and_gone)
        timed("a table dropped", lambda: "sky/public/galaxies" not in workspace.known_tables())
        # The 5 % from before count, too: what is measured is what the rows were drawn from.
        timed("25 % more updated", lambda: share_changed("sky/public/probes") == 0.3)
        if shutil.which("curl") is not None:
            before = indexed_at("lake/volcanoes")
            said = subprocess.run(
                [
                    "bash",
                    "-c",
                    documented_curl(daemon.webserver.port).replace("lake/sales", "lake/volc*"),
                ],
                capture_output=True,
                text=True,
                check=True,
                timeout=LONGEST,
            )
            assert "LaunchRunSuccess" in said.stdout, said.stdout
            timed("told by HTTP", lambda: indexed_at("lake/volcanoes") != before)
        wait_until(lambda: set(daemon.runs("pneuma_index_tables")) == {"SUCCESS"}, "runs end")
        assert workspace.status().counts() == {"indexed": 5}


def _says(workspace: Any, words: str) -> bool:
    """Whether these words are in what is found, so that the table was read anew."""
    return any(words in one.text for one in workspace.ask(words))
