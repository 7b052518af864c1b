"""`index FOLDER` remembers the folder in the state folder, and never in people's own files."""

import multiprocessing
import os
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.config.indexed_folders import MARK, source_name, source_of_folder
from pneuma_assets.core.config.load import load_deployment, remember_folder
from pneuma_assets.core.errors import ConfigError


def sources(loaded) -> dict[str, Path]:
    return {source.name: source.path for source in loaded.deployment.sources}


def folder(path: Path) -> Path:
    path.mkdir(parents=True)
    return path


def load(tmp_path):
    return load_deployment(environ={}, cwd=tmp_path)


def test_a_folder_is_remembered_for_later_loads(tmp_path):
    lake, other = folder(tmp_path / "lake"), folder(tmp_path / "other" / "lake")
    loaded = remember_folder(load(tmp_path), lake)
    assert sources(loaded) == {"lake": lake}
    assert (loaded.home, loaded.file) == (tmp_path / ".pneuma", tmp_path / ".pneuma/pneuma.yaml")
    assert load(tmp_path) == loaded
    again = remember_folder(load(tmp_path), other)
    assert sources(again) == {"lake": lake, "lake-2": other}
    assert remember_folder(again, lake) == again
    assert load_deployment(again.file, environ={}, cwd=Path("/")) == again
    assert not list(again.home.glob("*.new"))


def test_a_relative_folder_becomes_absolute(tmp_path, monkeypatch):
    folder(tmp_path / "lake")
    monkeypatch.chdir(tmp_path)
    assert sources(remember_folder(load_deployment(environ={}), Path("lake"))) == {
        "lake": tmp_path / "lake"
    }


def test_changes_by_hand_stay(tmp_path):
    loaded = remember_folder(load(tmp_path), folder(tmp_path / "a"))
    text = loaded.file.read_text()
    text = text.replace("sources:", "query: {trust: 0.1}  # mine\nsources:") + "\n# the end"
    loaded.file.write_text(text + "\nindexing:\n  tables_per_run: 7\n")
    remember_folder(load(tmp_path), folder(tmp_path / "b"))
    loaded = load(tmp_path)
    assert list(sources(loaded)) == ["a", "b"]
    assert (loaded.deployment.query.trust, loaded.deployment.indexing.tables_per_run) == (0.1, 7)
    assert "# mine" in loaded.file.read_text()
    assert "# the end" in loaded.file.read_text()


def test_indented_lists_and_a_missing_last_newline(tmp_path):
    a = folder(tmp_path / "a")
    file = folder(tmp_path / ".pneuma") / "pneuma.yaml"
    file.write_text(f"{MARK}\nsources:\n  - type: folder\n    name: a\n    path: {a}")
    assert list(sources(remember_folder(load(tmp_path), folder(tmp_path / "b")))) == ["a", "b"]


def test_what_cannot_be_added_to_is_left_alone(tmp_path):
    file = folder(tmp_path / ".pneuma") / "pneuma.yaml"
    text = f"{MARK}\nhome: .\nsources: []\n"
    file.write_text(text)
    with pytest.raises(ConfigError, match="by hand"):
        remember_folder(load(tmp_path), folder(tmp_path / "b"))
    assert file.read_text() == text


def test_a_file_of_ones_own_is_never_changed(tmp_path):
    lake = folder(tmp_path / "lake")
    inner = folder(lake / "inner")
    file = tmp_path / "pneuma.yaml"
    text = "sources:\n- {type: folder, name: mine, path: lake}\n"
    file.write_text(text)
    loaded = load(tmp_path)
    assert remember_folder(loaded, lake) is loaded
    assert source_of_folder(loaded.deployment, inner).name == "mine"
    (tmp_path / "link").symlink_to(lake)
    assert remember_folder(loaded, tmp_path / "link") is loaded
    with pytest.raises(ConfigError, match=rf"is not a source of {file}; add it there"):
        remember_folder(loaded, folder(tmp_path / "other"))
    assert file.read_text() == text
    assert not (tmp_path / ".pneuma").exists()


def test_overlapping_folders_are_not_indexed_twice(tmp_path):
    inner = folder(tmp_path / "lake" / "inner")
    loaded = remember_folder(load(tmp_path), inner)
    with pytest.raises(ConfigError, match="found twice; remove that source"):
        remember_folder(loaded, tmp_path / "lake")
    deeper = folder(inner / "deeper")
    assert remember_folder(loaded, deeper) == loaded
    assert source_of_folder(loaded.deployment, deeper).name == "inner"
    assert source_of_folder(loaded.deployment, tmp_path / "lake-not") is None


def test_what_is_not_a_folder(tmp_path):
    (tmp_path / "x.csv").write_text("a\n")
    for name, message in [
        ("none", "does not exist"),
        ("x.csv", "is not a folder"),
        ("x" * 5000, "does not exist"),
    ]:
        with pytest.raises(ConfigError, match=message):
            remember_folder(load(tmp_path), tmp_path / name)
    assert not (tmp_path / ".pneuma").exists()


@pytest.mark.parametrize(
    "name", ["a: b # c", "'quoted\"", "new\nline", "Größe 東京", "- dash", "\x1b[31mred", "x" * 200]
)
def test_hostile_folder_names(tmp_path, name):
    path = folder(tmp_path / name)
    (source,) = remember_folder(load(tmp_path), path).deployment.sources
    assert source.path == path
    assert source.name.isascii()


def test_a_name_that_is_not_utf8(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff")
    try:
        Path(path).mkdir()
    except OSError:
        pytest.skip("this file system allows UTF-8 names only")
    with pytest.raises(ConfigError, match="not UTF-8"):
        remember_folder(load(tmp_path), Path(path))


def test_a_home_that_cannot_be_made(tmp_path):
    loaded = load_deployment(home=tmp_path / "home", environ={})
    (tmp_path / "home").write_text("")
    with pytest.raises(ConfigError, match="choose another folder with --home"):
        remember_folder(loaded, folder(tmp_path / "lake"))


def _remember(home: Path, path: Path) -> None:
    remember_folder(load_deployment(home=home, environ={}), path)


def test_two_processes_remember_at_once(tmp_path):
    folders = [folder(tmp_path / "lakes" / str(i)) for i in range(6)]
    spawn = multiprocessing.get_context("fork")
    workers = [spawn.Process(target=_remember, args=(tmp_path / "h", f)) for f in folders]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    loaded = load_deployment(home=tmp_path / "h", environ={})
    assert sorted(sources(loaded).values()) == folders
    assert len(yaml.safe_load(loaded.file.read_text())["sources"]) == 6


@given(st.text(max_size=80), st.sets(st.text(max_size=5), max_size=3))
def test_source_names_are_always_valid_and_unique(name, taken):
    from pydantic import TypeAdapter

    from pneuma_assets.core.config.values import SourceName

    taken = taken | {source_name(name, set())}
    made = source_name(name, taken)
    assert made not in taken
    assert TypeAdapter(SourceName).validate_python(made) == made


@pytest.mark.parametrize("text", ["narration:\n  model: m\n# mine", "name: mine"])
def test_a_file_that_names_no_sources_gets_the_first(tmp_path, text):
    file = tmp_path / "pneuma.yaml"
    file.write_text(text)
    loaded = remember_folder(load(tmp_path), folder(tmp_path / "lake"))
    assert list(sources(loaded)) == ["lake"]
    assert file.read_text().startswith(text)
    with pytest.raises(ConfigError, match="is not a source of"):
        remember_folder(loaded, folder(tmp_path / "other"))


@pytest.mark.parametrize("text", ["{narration: {model: m}}", "narration: {model: m}\n..."])
def test_a_file_that_takes_no_line_is_left_alone(tmp_path, text):
    file = tmp_path / "pneuma.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match="add it by hand"):
        remember_folder(load(tmp_path), folder(tmp_path / "lake"))
    assert file.read_text() == text
