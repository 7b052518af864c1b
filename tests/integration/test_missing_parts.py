"""More than twenty faults; each answer names the part that it lacks, or the error does.

The faults are real ones: files that are cut off, overwritten or moved away, ports on which nobody
listens, endpoints that fail.
"""

import shutil
import socket
import sqlite3
from collections.abc import Callable, Iterator
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
from pneuma_assets.core.models.language.openai import OpenAIModel
from pneuma_assets.core.service.catalog_types import Facets
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.index_run import run_indexing
from tests.support.doors import run
from tests.support.recording_endpoint import serving

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
        """Move a file or folder away until the test has ended."""
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
    monkeypatch.setitem(OpenAIModel.__init__.__kwdefaults__, "retries", 0)
    shutil.copytree(indexed.home, tmp_path / "home")
    fresh = Case(tmp_path / "home", indexed.root, dict(indexed.settings))
    with fresh.open:
        yield fresh


def nobody() -> str:
    """Return the URL of a port on which nobody listens."""
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


# Faults of the encoder: words alone answer.


def encoder_moved_away(case):
    case.away(case.root / "encoder")


def encoder_without_its_configuration(case):
    case.away(case.root / "encoder" / "config.json")
    if (case.root / "encoder" / "modules.json").exists():
        case.away(case.root / "encoder" / "modules.json")


def encoder_cut_off(case):
    weights = max((case.root / "encoder").rglob("*"), key=lambda file: file.stat().st_size)
    data = weights.read_bytes()
    case.away(weights)
    weights.write_bytes(data[: len(data) // 2])


def encoder_overwritten(case):
    tokenizer = case.root / "encoder" / "tokenizer.json"
    case.away(tokenizer)
    garbage(tokenizer)


# Faults of the judge: results are not judged.


def judge_on_a_dead_port(case):
    case.model("judge", endpoint_url=f"{nobody()}/v1", send_values=True)


def judge_that_fails(case):
    url = failing(case, 500, {"error": "broken"})
    case.model("judge", endpoint_url=url, send_values=True)


def judge_that_talks_nonsense(case):
    case.model("judge", endpoint_url=failing(case, 200, ["no", "answer"]), send_values=True)


def judge_without_a_file(case):
    case.settings["judge"] = {"model": {"model": str(case.home / "absent.gguf")}}


# Faults of the state: tables are found, and nothing is known of them.


def state_overwritten(case):
    garbage(case.home / "state.db")


def state_cut_off(case):
    cut(case.home / "state.db")


def state_of_another_version(case):
    with closing(sqlite3.connect(case.home / "state.db")) as state, state:
        state.execute("UPDATE meta SET value = '0' WHERE key = 'format'")


def state_is_a_folder(case):
    (case.home / "state.db").unlink()
    (case.home / "state.db").mkdir()


# Faults of sources: their tables are shown as they were.


def list_again(case):
    with open_workspace(config=case.write()) as workspace:
        run_indexing(workspace.loaded)


def folder_moved_away(case):
    case.away(case.root / "lake")
    list_again(case)


def database_moved_away(case):
    case.away(case.root / "shop.sqlite")
    list_again(case)


def source_that_never_was(case):
    absent = {"type": "folder", "name": "absent", "path": str(case.root / "absent")}
    case.settings["sources"] = [*case.settings["sources"], absent]
    list_again(case)


# Faults of the index: no answer is possible.


def embedded_file(case) -> Path:
    return max((case.home / "index").rglob("*.db"), key=lambda file: file.stat().st_size)


def index_cut_off(case):
    cut(embedded_file(case))


def index_overwritten(case):
    garbage(embedded_file(case))


def index_removed(case):
    shutil.rmtree(case.home / "index")


def cluster(case, url: str) -> None:
    case.settings["index"] = {"engine": "elasticsearch", "elasticsearch": {"urls": [url]}}


def cluster_that_is_stopped(case):
    cluster(case, nobody())


def cluster_that_is_overwhelmed(case):
    cluster(case, failing(case, 503, {"error": "busy"}).removesuffix("/v1"))


# Faults of what writes and reads for an answer in cells.


def model_on_a_dead_port(case):
    case.model("answers", endpoint_url=f"{nobody()}/v1")


def model_that_fails(case):
    case.model("answers", endpoint_url=failing(case, 500, {"error": "broken"}))


def model_without_a_file(case):
    case.settings["answers"] = {"model": {"model": str(case.home / "absent.gguf")}}


def only_the_database_moved_away(case):
    case.away(case.root / "shop.sqlite")


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


Fault = Callable[[Case], None]
FAULTS: list[tuple[Fault, Callable, str, str]] = [
    (encoder_moved_away, search, "encoder", "there is no folder"),
    (encoder_moved_away, answer, "encoder", "there is no folder"),
    (encoder_without_its_configuration, search, "encoder", "holds no sentence encoder"),
    (encoder_cut_off, search, "encoder", "built with encoder"),
    (encoder_overwritten, ask, "encoder", ""),
    (judge_on_a_dead_port, search, "judge", "does not answer"),
    (judge_that_fails, ask, "judge", "500"),
    (judge_that_talks_nonsense, search, "judge", ""),
    (judge_without_a_file, groups, "judge", "There is no model at"),
    (state_overwritten, search, "state", "restore"),
    (state_overwritten, groups, "state", "restore"),
    (state_overwritten, answer, "state", "restore"),
    (state_cut_off, search, "state", ""),
    (state_of_another_version, search, "state", "another version"),
    (state_is_a_folder, search, "state", ""),
    (folder_moved_away, search, "source", "lake"),
    (database_moved_away, search, "source", "shop"),
    (source_that_never_was, search, "source", "absent"),
    (model_on_a_dead_port, answer, "model", "does not answer"),
    (model_that_fails, answer, "model", "500"),
    (model_without_a_file, answer, "model", "There is no model at"),
    (only_the_database_moved_away, answer, "source", "shop"),
]
INDEX_FAULTS = {
    index_cut_off: "index",
    index_overwritten: "index",
    index_removed: "nothing is indexed",
    cluster_that_is_stopped: "search index 'pneuma' cannot be opened",
    cluster_that_is_overwhelmed: "search index 'pneuma' cannot be opened",
}


def test_there_are_twenty_faults():
    assert len({fault for fault, *_ in FAULTS} | {*INDEX_FAULTS}) >= 20


@pytest.mark.parametrize(
    ("fault", "door", "part", "cause"),
    [pytest.param(*one, id=f"{one[0].__name__}-{one[1].__name__}") for one in FAULTS],
)
def test_an_answer_without_a_part_names_it(case, fault, door, part, cause):
    fault(case)
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


@pytest.mark.parametrize("fault", INDEX_FAULTS, ids=lambda fault: fault.__name__)
def test_without_an_index_the_error_names_it(case, fault):
    fault(case)
    with open_workspace(config=case.write()) as workspace:
        for door in (search, ask, groups, answer):
            with pytest.raises(PneumaError, match=INDEX_FAULTS[fault]):
                door(workspace)


def test_what_depends_on_a_missing_part_alone_is_an_error(case):
    encoder_moved_away(case)
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
    state_overwritten(case)
    encoder_moved_away(case)
    for command in ("search", "groups"):
        done = run("--config", case.write(), command, "--json", QUESTION)
        assert done.exit_code == 0, done.output
        assert FOUND in done.stdout
        for part in ("encoder", "state"):
            assert f"answered without the {part}" in done.stderr
            assert "answered without" not in done.stdout
