"""Webserver, daemon, code server and run workers that share nothing but databases and a bucket.

As in examples/deploy, each is a process with a folder of its own; containers add no more to that.
"""

import contextlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

from pneuma_assets.core.sources.files import s3
from tests.support.waiting import LONGEST, wait_until
from tests.support.webserver import Webserver, environment, free_port, serving

pytestmark = [pytest.mark.integration, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "examples" / "deploy"
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
JOB, LOCATION = "pneuma_index_tables", "pneuma"

LAUNCH = """
mutation Launch($params: ExecutionParams!) {
  launchRun(executionParams: $params) {
    __typename
    ... on LaunchRunSuccess { run { runId } }
    ... on PythonError { message }
  }
}
"""
STATUS = "query Status($id: ID!) { runOrError(runId: $id) { ... on Run { status } } }"


class Machines:
    """Machines that know each other by addresses alone."""

    def __init__(self, root: Path, database: str, lake: str, nodes: str, index: str) -> None:
        self.root = root
        self.code_port, self.webserver = free_port(), Webserver(free_port())
        url = make_url(database)
        self.environment = environment(
            **KEYS,
            DAGSTER_PG_HOST=str(url.host),
            DAGSTER_PG_PORT=str(url.port),
            DAGSTER_PG_USER=str(url.username),
            DAGSTER_PG_PASSWORD=str(url.password),
            DAGSTER_PG_DB=str(url.database),
            PYTHONPATH=str(ROOT),
        )
        self._deployment = {
            "home": "home",
            "state": {
                "url": f"postgresql://{url.username}@{url.host}:{url.port}/{url.database}",
                "password_env": "DAGSTER_PG_PASSWORD",
                # Not the user's name: PostgreSQL looks there first, and Dagster would, too.
                "schema_name": "catalog",
            },
            "index": {"engine": "elasticsearch", "elasticsearch": {"urls": [nodes], "name": index}},
            "sources": [{"type": "s3", "name": "lake", "bucket": "lake", "endpoint_url": lake}],
        }

    def folder(self, name: str, *, with_deployment: bool) -> Path:
        """A machine's own folder: Dagster's settings and, where code runs, the deployment file."""
        folder = self.root / name
        folder.mkdir()
        shutil.copy(DEPLOY / "dagster.yaml", folder)
        server = {"host": "127.0.0.1", "port": self.code_port, "location_name": LOCATION}
        (folder / "workspace.yaml").write_text(json.dumps({"load_from": [{"grpc_server": server}]}))
        if with_deployment:
            (folder / "pneuma.yaml").write_text(json.dumps(self._deployment))
        return folder

    def environment_of(self, folder: Path) -> dict[str, str]:
        own = {"DAGSTER_HOME": str(folder), "HOME": str(folder)}
        file = folder / "pneuma.yaml"
        return {
            **self.environment,
            **own,
            **({"PNEUMA_CONFIG": str(file)} if file.exists() else {}),
        }

    def do(self, name: str, *command: str) -> subprocess.CompletedProcess[str]:
        folder = self.folder(name, with_deployment=True)
        return subprocess.run(
            [sys.executable, "-m", *command],
            cwd=folder,
            env=self.environment_of(folder),
            capture_output=True,
            text=True,
            timeout=LONGEST,
            check=False,
        )

    @contextlib.contextmanager
    def serving(self, name: str, *command: str, with_deployment: bool = False) -> Iterator[None]:
        folder = self.folder(name, with_deployment=with_deployment)
        with serving(folder, *command, env=self.environment_of(folder)):
            yield

    def is_loaded(self) -> bool:
        """Tell whether the webserver is up and has the definitions of the code server."""
        return self.webserver.is_loaded(patient=True)

    def launch(self) -> str:
        """Ask the webserver for a run of the job; returns its id."""
        selector = {
            "repositoryLocationName": LOCATION,
            "repositoryName": "__repository__",
            "jobName": JOB,
        }
        said = self.webserver.ask(LAUNCH, params={"selector": selector, "runConfigData": {}})
        assert said["launchRun"]["__typename"] == "LaunchRunSuccess", said
        return said["launchRun"]["run"]["runId"]

    def status(self, run_id: str) -> str:
        return self.webserver.ask(STATUS, id=run_id)["runOrError"]["status"]


def test_machines_without_a_common_folder(
    tmp_path, postgresql_database, elasticsearch_url, index_name, s3_endpoint
):
    client = s3.connect(s3_endpoint, None, *KEYS.values(), None)
    client.create_bucket(Bucket="lake")

    def put(key: str, text: str) -> None:
        client.put_object(Bucket="lake", Key=key, Body=text.encode())

    put("rain.csv", "station,rain_mm\nKiel,3.2\nBremen,4.1\n")
    put("economy.csv", "country,year,gdp\nFrance,2020,2.6\n")
    machines = Machines(tmp_path, postgresql_database, s3_endpoint, elasticsearch_url, index_name)
    code = ["-h", "127.0.0.1", "-p", str(machines.code_port), "-m", "pneuma_assets.definitions"]
    web = ["-h", "127.0.0.1", "-p", str(machines.webserver.port), "-w", "workspace.yaml"]
    with (
        machines.serving("code", "dagster", "code-server", "start", *code, with_deployment=True),
        machines.serving("webserver", "dagster_webserver", *web),
        machines.serving("daemon", "dagster._daemon", "run", "-w", "workspace.yaml"),
    ):
        wait_until(machines.is_loaded, "the webserver does not reach the code server")
        run_id = machines.launch()
        ends = ("SUCCESS", "FAILURE", "CANCELED")
        wait_until(lambda: machines.status(run_id) in ends, "the daemon starts no run")
        assert machines.status(run_id) == "SUCCESS"

        put("penguins.csv", "species,island\nAdelie,Torgersen\n")
        worker = machines.do(
            "worker", "dagster", "job", "execute", "-m", "pneuma_assets.definitions", "-j", JOB
        )
        assert worker.returncode == 0, worker.stderr[-3000:]
    asked = machines.do(
        "asker", "pneuma_assets.cli", "search", "--json", "-k", "1", "penguin island"
    )
    assert asked.returncode == 0, asked.stderr
    (answer,) = json.loads(asked.stdout)
    assert answer["table_id"] == "lake/penguins", "what the worker indexed"
    status = json.loads(machines.do("looker", "pneuma_assets.cli", "status", "--json").stdout)
    assert {table["table_id"]: table["state"] for table in status["tables"]} == dict.fromkeys(
        ["lake/economy", "lake/penguins", "lake/rain"], "indexed"
    )
    kept = {p.name for p in (tmp_path / "webserver").iterdir()}
    assert not {"history", "schedules", "runs.db"} & kept, "everything is in the database"
