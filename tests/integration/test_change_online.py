"""An embedded index is built anew for another encoder or analyzer while questions are answered."""

import multiprocessing
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.index.embedded import lifecycle, pointer
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.index.embedded.lifecycle import EmbeddedBuilds
from pneuma_assets.core.service.workspace import Workspace
from tests.support.deployment_files import deploy, folder_source
from tests.support.index_blocks import file_of
from tests.support.named_encoders import use_named_encoders
from tests.support.pipeline_support import small_lake
from tests.support.stages import run_stages
from tests.support.waiting import LONGEST, wait_until

pytestmark = pytest.mark.integration

FORK = multiprocessing.get_context("fork")
TABLES = 6
QUESTION, ANSWER = "collected on island 4", "lake/t4"
KILLING: dict[str, tuple[object, str, int]] = {
    "nothing is begun": (EmbeddedBuilds, "begin", 0),
    "a build is made and not pointed to": (lifecycle, "point", 0),
    "a build is begun": (EmbeddedIndex, "__init__", 1),
    "some tables are written": (EmbeddedIndex, "replace_tables", 1),
    "all but the last tables are written": (EmbeddedIndex, "replace_tables", 2),
    "it is to take its place": (lifecycle, "point", 1),
    "it has taken its place": (pointer.shutil, "rmtree", 0),
}
"""At which call of which function a process is killed, by what has happened until then."""


@pytest.fixture(scope="module", autouse=True)
def _named_encoders() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        use_named_encoders(patched)
        yield


def deployed(root: Path, encoder: str = "words", **more: object) -> LoadedDeployment:
    """Return a deployment of the lake in `root`, a file each, all of one state folder."""
    file = f"{encoder}-{'-'.join(more)}.yaml"
    sections = {"encoder": {"model": encoder}, "indexing": {"tables_per_run": 2}, **more}
    lake = folder_source((root / "lake").resolve())
    return deploy(root, lake, file=file, **sections)


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return what makes a folder with a lake, and its index by an encoder, once."""

    @cache
    def build(encoder: str) -> Path:
        root = tmp_path_factory.mktemp(f"indexed-{encoder}")
        small_lake(root, TABLES)
        run_all(deployed(root, encoder))
        return root

    return build


@pytest.fixture
def root(tmp_path: Path, indexed: Callable[[str], Path]) -> Path:
    """Return a folder with a lake, and the index that the encoder `words` has built of it.

    The lake is where it was indexed, or its tables would be others.
    """
    made = indexed("words")
    shutil.copytree(made / "home", tmp_path / "home")
    (tmp_path / "lake").symlink_to(made / "lake")
    return tmp_path


RUNS = count()


def run(loaded: LoadedDeployment) -> tuple[int, int]:
    """Run once; return how many tables were written, and whether the index took its place."""
    figures = run_stages(loaded, {}, f"run{next(RUNS)}")
    return figures.tables, figures.published


def run_all(loaded: LoadedDeployment) -> list[int]:
    """Run as a schedule does until there is nothing to do; returns the tables of each run."""
    done = []
    while (found := run(loaded)) != (0, 0):
        done.append(found[0])
    return done


def contents(loaded: LoadedDeployment) -> list[tuple[str, bytes]]:
    with Workspace(loaded, {}) as workspace:
        return sorted(
            (one.block.block_id, one.vector.tobytes()) for one in workspace.search_index.blocks()
        )


def check_built(loaded: LoadedDeployment, encoder: str, analyzer: str = "english-2") -> None:
    with Workspace(loaded, {}) as workspace:
        info = workspace.inspect_index()
    assert (info.usable, info.encoder, info.details["analyzer"]) == (True, encoder, analyzer)
    folder = loaded.home / "index"
    assert [path for path in folder.iterdir() if path.is_dir()] == [file_of(folder).parent]


class Asker:
    """A process that asks all the time: with all that is open, and with all opened anew."""

    def __init__(self, loaded: LoadedDeployment) -> None:
        self._told, self._answers = FORK.Event(), FORK.Value("i", 0)
        self._heard, tell = FORK.Pipe(duplex=False)
        self._process = FORK.Process(target=self._ask, args=(loaded, tell), daemon=True)
        self._process.start()

    def _ask(self, loaded: LoadedDeployment, tell: Connection) -> None:
        said = set()
        with Workspace(loaded, {}) as lasting:
            while not self._told.is_set():
                with Workspace(loaded, {}) as fresh:
                    for workspace in (lasting, fresh):
                        # By meaning alone, vectors of another encoder would find another table.
                        for alpha in (0.0, 0.5):
                            (found,) = workspace.ask(QUESTION, k=1, alpha=alpha)
                            said.add((found.table_id, workspace.inspect_index().encoder))
                self._answers.value += 1
        tell.send(said)

    def wait_for_an_answer(self) -> None:
        """Return when it has answered once more, or has ended."""
        before = self._answers.value
        wait_until(
            lambda: self._answers.value > before or not self._process.is_alive(), "nobody answers"
        )

    def stop(self) -> set[str]:
        """Let it end; every answer must have been the right one. Return who built what it asked."""
        self._told.set()
        assert self._heard.poll(LONGEST)
        said = self._heard.recv()
        self._process.join()
        assert {table_id for table_id, _ in said} == {ANSWER}
        return {encoder for _, encoder in said}


@contextmanager
def asking(*deployments: LoadedDeployment) -> Iterator[list[set[str]]]:
    """Let a process ask with each, from its first answer until one more; yields who built what."""
    askers, heard = [Asker(one) for one in deployments], []
    try:
        for asker in askers:
            asker.wait_for_an_answer()
        yield heard
        for asker in askers:
            asker.wait_for_an_answer()
            asker.wait_for_an_answer()
    finally:
        heard += [asker.stop() for asker in askers]


def test_questions_are_answered_all_the_time(root, indexed):
    old, new = deployed(root), deployed(root, "other")
    with asking(old, new) as heard:
        assert run_all(new) == [2, 2, 2]
    assert heard == [{"words", "other"}] * 2
    check_built(new, "other")
    assert contents(new) == contents(deployed(indexed("other"), "other"))


@pytest.mark.slow
@pytest.mark.parametrize("step", KILLING)
def test_killed_at_any_step_it_is_the_old_one_or_the_new(root, indexed, step):
    old, new = deployed(root), deployed(root, "other")
    with asking(old, new):
        killed = FORK.Process(target=index_and_die, args=(new, step))
        killed.start()
        killed.join(LONGEST)
        assert killed.exitcode == 9, f"it was not killed when {step}"
        run_all(new)
    check_built(new, "other")
    assert contents(new) == contents(deployed(indexed("other"), "other"))


def index_and_die(loaded: LoadedDeployment, step: str) -> None:
    where, name, left = KILLING[step]
    really: Callable[..., object] = getattr(where, name)

    def dying(*given: object, **named: object) -> object:
        nonlocal left
        if not left:
            os._exit(9)
        left -= 1
        return really(*given, **named)

    setattr(where, name, dying)
    run_all(loaded)


def test_another_analyzer_needs_no_model(root):
    old, german = deployed(root), deployed(root, index={"analyzer": "german"})
    with asking(old, german):
        assert run_all(german) == []
    check_built(german, "words", "german-2")
