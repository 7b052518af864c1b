"""Where Dagster cannot keep its history, the message names the file and the way out."""

import sqlite3
from pathlib import Path

import dagster as dg
import pytest

from pneuma_assets.core.errors import ConfigError, StateError
from pneuma_assets.dagster_instance import open_instance


@pytest.fixture(autouse=True)
def _no_other_history(monkeypatch):
    monkeypatch.delenv("DAGSTER_HOME", raising=False)


def use(home: Path) -> None:
    with open_instance(home) as instance:
        instance.get_run_records()
        instance.all_instigator_state()
        instance.all_asset_keys()


@pytest.fixture
def home(tmp_path):
    use(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", ["a%20b", "100%", "a?b", "a?b%20c"])
def test_a_path_that_dagster_misreads_is_refused_before_anything_is_made(tmp_path, name):
    with pytest.raises(ConfigError, match=r"choose another home by --home"), \
            open_instance(tmp_path / name):  # fmt: skip
        pass
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("name", ["a b", "a#b", "größe", "it's", "a&b=c;d"])
def test_other_signs_are_no_matter(tmp_path, name):
    with open_instance(tmp_path / name) as instance:
        assert instance.get_runs_count() == 0
    assert [one.name for one in tmp_path.iterdir()] == [name]


def test_damaged_files_of_the_history_are_named(home):
    files = sorted((home / "dagster").rglob("*.db"))
    assert {"runs.db", "schedules.db", "index.db"} <= {file.name for file in files}
    for file in files:
        whole = file.read_bytes()
        for damage in (b"no database at all" * 300, whole[:100] + bytes(len(whole) - 100)):
            file.write_bytes(damage)
            with pytest.raises(StateError, match="move it away and run again") as caught:
                use(home)
            assert str(file) in str(caught.value)
        file.unlink()  # as it says
        use(home)


@pytest.mark.parametrize("text", ["telemetry: [", "- a list", "\x00"])
def test_settings_that_cannot_be_read_are_named(home, text):
    settings = home / "dagster" / "dagster.yaml"
    settings.write_text(text)
    with pytest.raises(StateError, match=r"dagster\.yaml, Dagster's settings, cannot be read"), \
            open_instance(home):  # fmt: skip
        pass


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "dagster").write_text("")
    with pytest.raises(StateError, match="cannot be written"), open_instance(tmp_path):
        pass


def test_other_errors_stay_themselves(home, monkeypatch):
    with pytest.raises(ZeroDivisionError), open_instance(home):
        raise ZeroDivisionError

    def fails(_: str) -> None:
        raise sqlite3.ProgrammingError("nobody knows")

    monkeypatch.setattr(dg.DagsterInstance, "from_config", fails)
    with pytest.raises(sqlite3.ProgrammingError, match="nobody knows"), open_instance(home):
        pass
