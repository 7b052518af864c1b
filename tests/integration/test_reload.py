"""The sensor that reloads a code location, against a real webserver in a process of its own."""

import os
from contextlib import contextmanager
from socket import create_server

import dagster as dg
import pytest

from pneuma_assets.core.store.dagster_manifest import Folder, TablePage, write_pages
from pneuma_assets.definitions import build_definitions
from pneuma_assets.sensors.reload import Reloaded, reload_if_changed
from tests.support.pipeline_support import deployment
from tests.support.recording_endpoint import serving as serving_answers
from tests.support.waiting import wait_until
from tests.support.webserver import Webserver, free_port, serving

pytestmark = pytest.mark.integration

LOCATION = """
from pathlib import Path
import dagster as dg
with Path({log!r}).open("a") as log:
    log.write("loaded\\n")
defs = dg.Definitions()
"""


@contextmanager
def webserver(folder, port: int):
    file, home = folder / "location.py", folder / "webserver"
    file.write_text(LOCATION.format(log=str(folder / "log")))
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    command = ["dagster_webserver", "-f", str(file), "-h", "127.0.0.1", "-p", str(port)]
    with serving(home, *command, env={**os.environ, "DAGSTER_HOME": str(home)}):
        wait_until(Webserver(port).is_loaded, "the webserver loads its location")
        yield


def write_manifest(loaded, *tables: str, **more) -> None:
    pages = [
        TablePage(f"lake/{t}", "lake", f"pneuma/lake/{t}", "", t, None, **more) for t in tables
    ]
    loaded.home.mkdir(exist_ok=True)
    write_pages(Folder(loaded.home), pages, "")


@pytest.mark.slow
def test_a_location_is_reloaded_once_for_what_came_or_went(tmp_path):
    (tmp_path / "lake").mkdir()
    port = free_port()
    reload = {"url": f"http://127.0.0.1:{port}"}
    loaded = deployment(tmp_path, tmp_path / "lake", dagster={"reload": reload})
    now = 1_000_000.0

    def tick(last, location="location.py"):
        return reload_if_changed(loaded, last, location, lambda: now)

    write_manifest(loaded, "a")
    told, last = tick(Reloaded())
    assert told.startswith(f"http://127.0.0.1:{port} did not reload location.py, it is asked again")
    assert last == Reloaded("", now)
    with webserver(tmp_path, port):
        assert "asked for just now" in tick(last)[0]
        now += 300
        told, last = tick(last, "another.py")
        assert "RepositoryLocationNotFound" in told
        now += 300
        before = (tmp_path / "log").read_text().count("loaded")
        told, last = tick(last)
        assert told == "Reloaded location.py with the pages of 1 tables."
        after = (tmp_path / "log").read_text().count("loaded")
        assert after > before
        assert tick(last) == ("The pages of 1 tables are loaded.", last)
        now += 300
        write_manifest(loaded, "a", updated_at=now)
        assert tick(last)[0] == "The pages of 1 tables are loaded.", "no definition shows the time"
        last = Reloaded(last.digest, now)
        write_manifest(loaded, "a", "b")
        assert "asked for just now" in tick(last)[0]
        now += 300
        assert tick(last)[0] == "Reloaded location.py with the pages of 2 tables."
        assert (tmp_path / "log").read_text().count("loaded") > after


def test_the_sensor_is_there_only_where_somebody_says_whom_to_ask(tmp_path):
    lake = tmp_path / "lake"
    lake.mkdir()
    names = [s.name for s in build_definitions(deployment(tmp_path, lake)).sensors or ()]
    assert "pneuma_reload" not in names
    reload = {"url": "http://127.0.0.1:9"}
    loaded = deployment(tmp_path, lake, dagster={"reload": reload})
    write_manifest(loaded, "a")
    sensor = build_definitions(loaded).resolve_sensor_def("pneuma_reload")
    assert sensor.default_status == dg.DefaultSensorStatus.STOPPED
    with dg.DagsterInstance.ephemeral() as instance:
        context = dg.build_sensor_context(instance=instance, cursor="[]")
        assert "Set dagster.reload.location" in sensor(context).skip_message
        assert Reloaded.read(context.cursor) == Reloaded()


def test_under_dagster_dev_it_is_on_and_asks_the_webserver_of_that(tmp_path, monkeypatch):
    monkeypatch.setenv("DAGSTER_IS_DEV_CLI", "1")
    (tmp_path / "lake").mkdir()
    loaded = deployment(tmp_path, tmp_path / "lake")
    sensor = build_definitions(loaded).resolve_sensor_def("pneuma_reload")
    assert sensor.default_status == dg.DefaultSensorStatus.RUNNING
    answer = {
        "reloadRepositoryLocation": {"locationOrLoadError": {"__typename": "RepositoryLocation"}}
    }
    write_manifest(loaded, "a")
    with serving_answers(lambda _: (200, {"data": answer})) as endpoint:
        monkeypatch.setattr("pneuma_assets.sensors.reload._DEV_URL", endpoint.url)
        told, _ = reload_if_changed(loaded, Reloaded(), "here", lambda: 500.0)
    assert told == "Reloaded here with the pages of 1 tables."


@pytest.mark.parametrize("data", [None, {"reloadRepositoryLocation": None}])
def test_an_answer_that_is_none_of_dagsters_is_told_of(tmp_path, data):
    with serving_answers(lambda _: (200, {"data": data})) as endpoint:
        reload = {"url": endpoint.url}
        loaded = deployment(tmp_path, tmp_path / "lake", dagster={"reload": reload})
        write_manifest(loaded, "a")
        told, last = reload_if_changed(loaded, Reloaded(), "here", lambda: 500.0)
    assert "no answer of Dagster" in told
    assert last == Reloaded("", 500.0)


def test_who_lets_nobody_connect_was_not_asked_and_is_asked_again(tmp_path, monkeypatch):
    monkeypatch.setattr("pneuma_assets.sensors.reload.TIMEOUT_S", 0.2)
    with create_server(("127.0.0.1", 0)) as silent:  # which never answers below TLS
        reload = {"url": f"https://127.0.0.1:{silent.getsockname()[1]}"}
        loaded = deployment(tmp_path, tmp_path / "lake", dagster={"reload": reload})
        write_manifest(loaded, "a")
        told, last = reload_if_changed(loaded, Reloaded(), "here", lambda: 500.0)
    assert "no connection within 0.2 s" in told
    assert last == Reloaded("", 500.0)
