"""Which kinds of source a deployment file may name, and how others than ours become known."""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import pytest

from pneuma_assets.core.config import source_kinds
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.config.source_kinds import KINDS, register_source
from pneuma_assets.core.config.sources import SourceConfig
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.sources.base import Source
from pneuma_assets.core.sources.kinds.folder import FolderSourceConfig


class Whole(SourceConfig):
    type: Literal["whole"] = "whole"  # type: ignore[assignment]
    place: str

    @property
    def location(self) -> str:
        return self.place

    def open(self, environ: Mapping[str, str]) -> Source:
        raise NotImplementedError


class Another(Whole):
    """Of the same type as its parent."""


class Part(SourceConfig):
    type: Literal["part"] = "part"  # type: ignore[assignment]


class Typeless(Whole):
    type: str  # type: ignore[assignment]


class BadlyNamed(Whole):
    type: Literal["Bad name"] = "Bad name"  # type: ignore[assignment]


class OurName(Whole):
    type: Literal["folder"] = "folder"  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def _forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_kinds.KINDS, "known", {})


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Install a package with entry points, as pip would, for this test."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)
    before = set(sys.modules)

    def install(points: str, package: str = "their_package", **modules: str) -> None:
        information = site / f"{package}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text(f"[{source_kinds.GROUP}]\n{points}\n")
        for name, text in modules.items():
            (site / f"{name}.py").write_text(text)

    yield install
    for name in set(sys.modules) - before:
        if name.startswith("their_"):
            del sys.modules[name]


def deployment(folder: Path, entry: str) -> Deployment:
    file = folder / "pneuma.yaml"
    file.write_text(f"sources:\n- {entry}\n")
    return load_deployment(file, environ={}).deployment


def failure(folder: Path, entry: str) -> str:
    with pytest.raises(ConfigError) as caught:
        deployment(folder, entry)
    (line,) = str(caught.value).splitlines()
    return line.removeprefix(f"{folder / 'pneuma.yaml'}, ")


def test_a_registered_kind_is_read_whole(tmp_path):
    register_source(Whole)
    register_source(Whole)
    (source,) = deployment(tmp_path, "{type: whole, name: a, place: here}").sources
    assert source == Whole(name="a", place="here")
    assert KINDS.names() == ["folder", "s3", "gcs", "azure", "duckdb", "iceberg", "sql", "whole"]


def test_a_whole_deployment_is_written_out_with_the_keys_of_its_kinds(tmp_path):
    register_source(Whole)
    written = deployment(tmp_path, "{type: whole, name: a, place: here}").model_dump()
    of_all_kinds = {
        "owners": (),
        "visible": True,
        "readers": None,
        "privacy": PrivacyConfig().model_dump(),
    }
    assert written["sources"] == ({"type": "whole", "name": "a", **of_all_kinds, "place": "here"},)


def test_mistakes_in_a_registered_kind_are_explained_as_in_ours(tmp_path):
    register_source(Whole)
    assert failure(tmp_path, "{type: whole, name: a, place: b, plce: c}") == (
        "line 2: sources[0].plce: unknown key; did you mean 'place'? known here: "
        "type, name, owners, visible, readers, privacy, place"
    )
    assert failure(tmp_path, "{type: whol, name: a, place: b}") == (
        "line 2: sources[0].type: 'whol' is not known; did you mean 'whole'? "
        "set it to one of 'folder', 's3', 'gcs', 'azure', 'duckdb', 'iceberg', 'sql', 'whole'"
    )


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        (dict, "is not a kind of source"),
        (Part, "define location, open"),
        (Typeless, "has no type"),
        (BadlyNamed, "has no type"),
        (OurName, "source type 'folder' is .*kinds.folder.FolderSourceConfig; give .* another"),
    ],
)
def test_what_is_no_kind_is_refused(kind, cause):
    with pytest.raises(ConfigError, match=cause):
        register_source(kind)


def test_two_kinds_do_not_share_a_type():
    register_source(Whole)
    with pytest.raises(ConfigError, match=r"give .*Another another name"):
        register_source(Another)


def test_a_kind_that_no_other_process_could_import_is_refused():
    class Local(Whole):
        """Known in this function only."""

    with pytest.raises(ConfigError, match="cannot be found by the process that reads it"):
        register_source(Local)


THEIRS = """
from typing import Literal
from pneuma_assets.core.config.sources import SourceConfig

class Config(SourceConfig):
    type: Literal["theirs"] = "theirs"
    table: str

    @property
    def location(self):
        return self.table

    def open(self, environ):
        raise NotImplementedError
"""


def test_an_installed_package_brings_a_kind(tmp_path, install):
    install("theirs = their_kind:Config", their_kind=THEIRS)
    assert "theirs" in KINDS.names()
    assert deployment(tmp_path, "{type: folder, name: a, path: b}").sources[0].type == "folder"
    assert "their_kind" not in sys.modules, "nothing is imported before a file names it"
    (source,) = deployment(tmp_path, "{type: theirs, name: a, table: b}").sources
    assert source.location == "b"
    assert type(source).__module__ == "their_kind"


@pytest.mark.parametrize("name", ["their_kind", "their_kind:Config", "os:system", "../their_kind"])
def test_a_file_names_no_module(tmp_path, install, name):
    install("theirs = their_kind:Config", their_kind=THEIRS)
    assert "is not known" in failure(tmp_path, f"{{type: '{name}', name: a}}")
    assert "their_kind" not in sys.modules


def test_an_installed_package_takes_no_type_of_ours(tmp_path, install):
    install("folder = their_kind:Config", their_kind="raise SystemError")
    (source,) = deployment(tmp_path, "{type: folder, name: a, path: b}").sources
    assert type(source) is FolderSourceConfig


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("import their_missing", "(their_kind:Config: ModuleNotFoundError: No module named 'their"),
        ("Config = print", "is not a kind of source"),
        ("raise RuntimeError('two\\nlines')", "(their_kind:Config: RuntimeError: two lines)"),
        (THEIRS.replace('"theirs"', '"others"'), "whose their_kind:Config is source type 'others'"),
    ],
)
def test_a_broken_package_is_a_line_of_the_file(tmp_path, install, text, cause):
    install("theirs = their_kind:Config", their_kind=text)
    message = failure(tmp_path, "{type: theirs, name: a, table: b}")
    assert message.startswith("line 2: sources[0].type: source type 'theirs' is announced by")
    assert cause in message
    assert message.endswith("repair that package, or uninstall it")


def test_two_packages_that_bring_one_type_are_told_of(tmp_path, install):
    install("theirs = their_kind:Config", their_kind=THEIRS)
    install("theirs = their_other:Config", "their_second", their_other=THEIRS)
    message = failure(tmp_path, "{type: theirs, name: a, table: b}")
    assert "(their_kind:Config, their_other:Config); uninstall all but one" in message
    assert not {"their_kind", "their_other"} & set(sys.modules)


@pytest.mark.parametrize("value", ["[folder]", "{a: b}", "7", "true", "''", '"fol\\nder"'])
def test_any_other_type_is_unknown(tmp_path, value):
    assert "sources[0].type:" in failure(tmp_path, f"{{type: {value}, name: a}}")
