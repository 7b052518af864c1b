"""More than twenty faults; each answer names the part that it lacks, or the error does.

The faults are real ones: files that are cut off, overwritten or moved away, ports on which nobody
listens, endpoints that fail.
"""

import json
import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from pneuma_assets import IndexFilter, PneumaError, StateError, open_workspace
from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.models import PACKAGED_ENCODER
from pneuma_assets.core.models.encoder.files import locate_encoder
from pneuma_assets.core.service.catalog_types import Facets
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.index_run import run_indexing
from tests.support.doors import run, succeeds
from tests.support.recording_endpoint import completion, recording_endpoint, serving

pytestmark = pytest.mark.integration

TABLES = {
    "lake/rain": "month,millimetres rain\nmay,3\njune,4\n",
    "lake/snow": "month,centimetres snow\nmay,0\njune,1\n",
}
QUESTION = "wheels made by acme"
FOUND = "shop/main/wheels"
ROWS = "CREATE TABLE wheels (maker TEXT, inches INTEGER); INSERT INTO wheels VALUES ('acme', 17);"


@dataclass
class Case:
    """A copy of an indexed deployment that a fault may spoil."""

    home: Path
    root: Path
    settings: dict[str, Any]
    open: ExitStack = field(default_factory=ExitStack)

    def write(self) -> Path:
        file = self.home.parent / "pneuma.yaml"
        file.write_text(yaml.safe_dump({"home": str(self.home), **self.settings}))
        return file

    def away(self, path: Path) -> None:
        kept = path.with_name(f"{path.name}.away")
        path.rename(kept)
        self.open.callback(kept.rename, path)

    def model(self, section: str, **model: Any) -> None:
        self.settings["models"] = {"m": {"model": "m", **model}}
        self.settings[section] = {"model": "m"}


def lay_out(root: Path) -> dict[str, Any]:
    """Make a lake, a database and an encoder's folder; returns what the file says of them."""
    packaged = locate_encoder(PACKAGED_ENCODER).folder
    assert packaged is not None
    for file in packaged.rglob("*"):
        if file.is_file():
            link = root / "encoder" / file.relative_to(packaged)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(file)
    (root / "lake").mkdir()
    for table_id, text in TABLES.items():
        (root / f"{table_id}.csv").write_text(text, encoding="utf-8")
    with closing(sqlite3.connect(root / "shop.sqlite")) as shop:
        shop.executescript(ROWS)
    return {
        "encoder": {"model": str(root / "encoder")},
        "sources": [
            {"type": "folder", "name": "lake", "path": str(root / "lake")},
            {"type": "sql", "name": "shop", "url": f"sqlite:///{root / 'shop.sqlite'}"},
        ],
    }


@pytest.fixture(scope="module")
def indexed(tmp_path_factory) -> Case:
    root = tmp_path_factory.mktemp("parts")
    case = Case(root / "home", root, lay_out(root))
    with open_workspace(config=case.write()) as workspace:
        report = run_indexing(workspace.loaded)
        assert not report.problems
        workspace.confirm_answer("wheels of acme", [FOUND], author="ana")
    return case


@pytest.fixture
def case(indexed, tmp_path, monkeypatch) -> Iterator[Case]:
    monkeypatch.setattr(ElasticsearchConfig, "patience_seconds", 0.5)
    monkeypatch.setattr("pneuma_assets.core.models.endpoint._TRIES", 1)
    shutil.copytree(indexed.home, tmp_path / "home")
    fresh = Case(tmp_path / "home", indexed.root, dict(indexed.settings))
    with fresh.open:
        yield fresh


def nobody() -> str:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def failing(case: Case, status: int, body: object) -> str:
    return case.open.enter_context(serving(lambda _: (status, body))).url


def cut(path: Path) -> None:
    data = path.read_bytes()
    path.unlink()
    path.write_bytes(data[: len(data) // 2])


def garbage(path: Path) -> None:
    path.write_bytes(b"garbage " * 4096)


def spoilt(case: Case, path: Path, spoil: Callable[[Path], None]) -> None:
    """Put a spoilt copy in the place of a file that other tests use, until the test has ended."""
    data = path.read_bytes()
    case.away(path)
    path.write_bytes(data)
    spoil(path)


def weights(case: Case) -> Path:
    return max((case.root / "encoder").rglob("*"), key=lambda file: file.stat().st_size)


def without_configuration(case):
    for name in ("config.json", "modules.json"):
        if (case.root / "encoder" / name).exists():
            case.away(case.root / "encoder" / name)


def state_of_another_version(case):
    with closing(sqlite3.connect(case.home / "state.db")) as state, state:
        state.execute("UPDATE meta SET value = '0' WHERE key = 'format'")


def state_is_a_folder(case):
    (case.home / "state.db").unlink()
    (case.home / "state.db").mkdir()


def list_again(case):
    with open_workspace(config=case.write()) as workspace:
        run_indexing(workspace.loaded)


def moved_and_listed(case, path: str):
    case.away(case.root / path)
    list_again(case)


def source_that_never_was(case):
    absent = {"type": "folder", "name": "absent", "path": str(case.root / "absent")}
    case.settings["sources"] = [*case.settings["sources"], absent]
    list_again(case)


def embedded_file(case) -> Path:
    return max((case.home / "index").rglob("*.db"), key=lambda file: file.stat().st_size)


def cluster(case, url: str) -> None:
    case.settings["index"] = {"engine": "elasticsearch", "elasticsearch": {"urls": [url]}}


def dead(case, section: str, **more: Any) -> None:
    case.model(section, endpoint_url=f"{nobody()}/v1", **more)


def broken(case, section: str, status: int = 500, body: object = None, **more: Any) -> None:
    case.model(section, endpoint_url=failing(case, status, body or {"error": "broken"}), **more)


def without_a_file(case, section: str) -> None:
    case.settings[section] = {"model": {"model": str(case.home / "absent.gguf")}}


def search(workspace: Workspace):
    answer = workspace.search(QUESTION)
    return answer.missing, [hit.result.table_id for hit in answer.hits]


def ask(workspace: Workspace):
    missing = []
    (found,) = workspace.ask_many([QUESTION], missing=missing)
    return missing, [one.table_id for one in found]


def groups(workspace: Workspace):
    missing = []
    found = workspace.find_groups(QUESTION, missing=missing)
    return missing, [table for one in found for table in one.tables]


def answer(workspace: Workspace):
    found = workspace.answer(QUESTION)
    return found.missing, [*(one.table for one in found.named), *found.nearest]


VALUES = {"send_values": True}
CUT_OFF = b'{"choices": [{"mess'
Fault = tuple[Callable[[Case], object], str, Sequence[Callable]]
ENCODER: dict[str, Fault] = {
    "moved": (lambda c: c.away(c.root / "encoder"), "is no folder", [search, answer]),
    "no configuration": (without_configuration, "holds no sentence encoder", [search]),
    "cut off": (lambda c: spoilt(c, weights(c), cut), "built with encoder", [search]),
    "overwritten": (lambda c: spoilt(c, c.root / "encoder/tokenizer.json", garbage), "", [ask]),
}
"""Without it, words alone answer."""
JUDGE: dict[str, Fault] = {
    "dead port": (lambda c: dead(c, "judge", **VALUES), "does not answer", [search]),
    "failing": (lambda c: broken(c, "judge", **VALUES), "500", [ask]),
    "nonsense": (lambda c: broken(c, "judge", 200, ["no", "answer"], **VALUES), "", [search]),
    "cut off": (lambda c: broken(c, "judge", 200, CUT_OFF, **VALUES), "does not answer", [search]),
    "busy": (lambda c: broken(c, "judge", 429, **VALUES), "429", [search]),
    "empty": (lambda c: broken(c, "judge", *completion(""), **VALUES), "no verdict", [search]),
    "of another form": (
        lambda c: broken(c, "judge", *completion('{"none": true}'), **VALUES),
        "another form",
        [groups],
    ),
    "silent": (
        lambda c: broken(c, "judge", *completion('{"candidates": []}'), **VALUES),
        "3 of 3 tables",
        [ask],
    ),
    "no file": (lambda c: without_a_file(c, "judge"), "There is no model at", [groups]),
}
STATE: dict[str, Fault] = {
    "overwritten": (lambda c: garbage(c.home / "state.db"), "restore", [search, groups, answer]),
    "cut off": (lambda c: cut(c.home / "state.db"), "", [search]),
    "another version": (state_of_another_version, "another version", [search]),
    "a folder": (state_is_a_folder, "", [search]),
}
"""Without it tables are found, and nothing is known of them."""
SOURCE: dict[str, Fault] = {
    "folder moved": (lambda c: moved_and_listed(c, "lake"), "lake", [search]),
    "database moved": (lambda c: moved_and_listed(c, "shop.sqlite"), "shop", [search]),
    "never was": (source_that_never_was, "absent", [search]),
    "moved since": (lambda c: c.away(c.root / "shop.sqlite"), "shop", [answer]),
}
"""Without it its tables are shown as they were."""
MODEL: dict[str, Fault] = {
    "dead port": (lambda c: dead(c, "answers"), "does not answer", [answer]),
    "failing": (lambda c: broken(c, "answers"), "500", [answer]),
    "cut off": (lambda c: broken(c, "answers", 200, CUT_OFF), "does not answer", [answer]),
    "busy": (lambda c: broken(c, "answers", 429), "429", [answer]),
    "empty": (lambda c: broken(c, "answers", *completion("")), "", [answer]),
    "no file": (lambda c: without_a_file(c, "answers"), "There is no model at", [answer]),
}
PARTS = {"encoder": ENCODER, "judge": JUDGE, "state": STATE, "source": SOURCE, "model": MODEL}
CLOSED = "search index 'pneuma' cannot be opened"
INDEX_FAULTS: dict[str, tuple[Callable[[Case], object], str]] = {
    "cut off": (lambda c: cut(embedded_file(c)), "index"),
    "overwritten": (lambda c: garbage(embedded_file(c)), "index"),
    "removed": (lambda c: shutil.rmtree(c.home / "index"), "nothing is indexed"),
    "cluster stopped": (lambda c: cluster(c, nobody()), CLOSED),
    "cluster busy": (lambda c: cluster(c, failing(c, 503, {}).removesuffix("/v1")), CLOSED),
}


@pytest.mark.parametrize(
    ("part", "fault", "door"),
    [(part, one, door) for part, all_ in PARTS.items() for one in all_ for door in all_[one][2]],
)
def test_an_answer_without_a_part_names_it(case, part, fault, door):
    spoil, cause, _ = PARTS[part][fault]
    spoil(case)
    with open_workspace(config=case.write()) as workspace:
        missing, tables = door(workspace)
        assert [one.part for one in missing] == [part], workspace.answer(QUESTION)
        (one,) = missing
        assert FOUND in tables
        assert one.effect
        assert cause in f"{one.name} {one.cause}"
        if door is answer:
            found = workspace.answer(QUESTION, where=IndexFilter(readers=("somebody",)))
            assert found.missing
            assert not any(one in str(found) for one in (str(case.root), "127.0.0.1"))
        if door is search:  # who may not see all is not told where anything lies
            told = workspace.search(QUESTION, where=IndexFilter(readers=("somebody",))).missing
            assert str(case.root) not in str(told)
            assert str(case.home) not in str(told)


@pytest.mark.parametrize("fault", INDEX_FAULTS)
def test_without_an_index_the_error_names_it(case, fault):
    spoil, told = INDEX_FAULTS[fault]
    spoil(case)
    with open_workspace(config=case.write()) as workspace:
        for door in (search, ask, groups, answer):
            with pytest.raises(PneumaError, match=told):
                door(workspace)


def test_what_depends_on_a_missing_part_alone_is_an_error(case):
    case.away(case.root / "encoder")
    with open_workspace(config=case.write()) as workspace:
        for ask_so in (
            lambda: workspace.ask(QUESTION),
            lambda: workspace.ask_many([QUESTION], alpha=0.0, missing=[]),
        ):
            with pytest.raises(PneumaError, match="there is no folder"):
                ask_so()
        missing = []
        (found,) = workspace.ask_many([QUESTION], alpha=0.5, missing=missing)
        assert found[0].table_id == FOUND
        assert [one.part for one in missing] == ["encoder"]
    garbage(case.home / "state.db")
    with open_workspace(config=case.write()) as workspace, pytest.raises(StateError):
        workspace.search(QUESTION, facets=Facets(formats=("csv",)))


def test_a_part_that_comes_back_is_used_again(case, monkeypatch):
    monkeypatch.setattr("pneuma_assets.core.missing_parts.REST", 0.0)
    folder = case.root / "encoder"
    folder.rename(case.root / "elsewhere")
    try:
        with open_workspace(config=case.write()) as workspace:
            assert [one.part for one in workspace.search(QUESTION).missing] == ["encoder"]
            (case.root / "elsewhere").rename(folder)
            assert workspace.search(QUESTION).missing == ()
            assert workspace.search(QUESTION).hits[0].result.parts.semantic > 0
    finally:
        if not folder.exists():
            (case.root / "elsewhere").rename(folder)


def test_the_command_line_says_it_beside_the_answer(case):
    garbage(case.home / "state.db")
    case.away(case.root / "encoder")
    for command in ("search", "groups"):
        done = run("--config", case.write(), command, "--json", QUESTION)
        assert done.exit_code == 0, done.output
        assert FOUND in done.stdout
        for part in ("encoder", "state"):
            assert f"answered without the {part}" in done.stderr
            assert "answered without" not in done.stdout


def test_tables_are_indexed_without_the_narrator_which_is_asked_by_the_next_index(case):
    dead(case, "narration")
    with open_workspace(config=case.write()) as workspace:
        report = run_indexing(workspace.loaded)
        assert (report.succeeded, report.indexed, report.narrated_columns) == (True, 3, 0)
        told = {one.subject: one.cause for one in report.problems}
        assert told.keys() == {*TABLES, FOUND}
        assert all("does not answer" in cause for cause in told.values())
        assert {one.problem for one in workspace.status().tables} == {*told.values()}
        assert FOUND in search(workspace)[1]
    with recording_endpoint() as endpoint:
        case.settings["models"]["m"]["endpoint_url"] = endpoint.url
        config = "--config", case.write()
        done = json.loads(succeeds(*config, "index", "--json"))
        assert (done["narrated_columns"], len(endpoint.requests)) == (6, 3)
        assert done["problems"] == []
        assert json.loads(succeeds(*config, "index", "--json"))["indexed"] == 0
    assert json.loads(succeeds(*config, "status", "--json"))["problems"] == []
