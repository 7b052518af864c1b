"""An index that is built anew for another encoder: who builds it, is killed, asks meanwhile.

Run as a program it indexes, and dies where it is told to, or asks until its input ends.
"""

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

import pytest

from pneuma_assets.core.config.load import LoadedDeployment, load_deployment
from pneuma_assets.core.index.embedded import folder, lifecycle
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.models.language.fake import FakeLanguageModel
from pneuma_assets.core.service.workspace import Workspace
from tests.support import pipeline_support
from tests.support.named_encoders import use_named_encoders
from tests.support.waiting import LONGEST, wait_until

TABLES = 6
QUESTION, ANSWER = "collected on island 4", "lake/t4"

KILLING: dict[str, tuple[object, str, int]] = {
    "nothing is begun": (lifecycle, "begin", 0),
    "a folder is begun": (EmbeddedIndex, "__init__", 1),
    "some tables are written": (EmbeddedIndex, "replace_tables", 1),
    "all but the last tables are written": (EmbeddedIndex, "replace_tables", 2),
    "it is to take its place": (folder, "exchange", 0),
    "it has taken its place": (folder, "_condemned", 0),
    "the old one is to be removed": (folder, "_remove_condemned", 0),
}
"""At which call of which function a process is killed, by what has happened until then."""


def deployed(root: Path, encoder: str = "words", **more: object) -> LoadedDeployment:
    """Return a deployment of the lake in `root`, a file each, all of one state folder."""
    source = {"name": "lake", "type": "folder", "path": str((root / "lake").resolve())}
    settings: dict[str, Any] = {
        "home": "home",
        "sources": [source],
        "encoder": {"model": encoder},
        "indexing": {"tables_per_run": 2},
        **more,
    }
    name = f"{encoder}-{'-'.join(map(str, more))}.yaml"
    (root / name).write_text(json.dumps(settings))
    return load_deployment(config=root / name, environ={}, cwd=root)


def answers(workspace: Workspace) -> set[str]:
    """Ask by meaning alone, and by both: vectors of another encoder would find another table."""
    return {workspace.ask(QUESTION, k=1, alpha=alpha)[0].table_id for alpha in (0.0, 0.5)}


def left_in(loaded: LoadedDeployment) -> list[str]:
    """Return what lies in the state folder of all indexes."""
    return sorted(p.name for p in loaded.home.iterdir() if p.name.startswith("index"))


class Asker:
    """A process that asks all the time: with all that is open, and with all opened anew."""

    def __init__(self, loaded: LoadedDeployment) -> None:
        self._process = Popen(
            [sys.executable, "-m", __name__, "ask", str(loaded.file)],
            stdin=PIPE,
            stdout=PIPE,
            text=True,
        )
        self.said: list[dict[str, Any]] = []
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def wait_for_an_answer(self) -> None:
        """Return when it has answered once more, or has ended."""
        before = len(self.said)
        wait_until(
            lambda: len(self.said) > before or self._process.poll() is not None,
            "nobody answers",
        )

    def _listen(self) -> None:
        for line in self._process.stdout or ():
            self.said.append(json.loads(line))

    def stop(self) -> None:
        """Let it end; every answer must have been the right one."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(LONGEST) == 0
        self._thread.join()
        assert {one["answer"] for one in self.said} == {ANSWER}


@contextmanager
def asking(*loaded: LoadedDeployment) -> Iterator[list[Asker]]:
    """Let a process ask with each of these deployments, from its first answer on."""
    askers = [Asker(one) for one in loaded]
    try:
        for asker in askers:
            asker.wait_for_an_answer()
        yield askers
    finally:
        for asker in askers:
            asker.stop()


def index_and_die(loaded: LoadedDeployment, step: str) -> None:
    """Index in another process, which is killed at a step."""
    with Popen([sys.executable, "-m", __name__, "index", str(loaded.file), step]) as process:
        assert process.wait(LONGEST) == 9, f"it was not killed when {step}"


def _kill_at(step: str) -> None:
    where, name, calls = KILLING[step]
    really: Callable[..., object] = getattr(where, name)
    left = [calls]

    def dying(*given: object, **named: object) -> object:
        if not left[0]:
            os._exit(9)
        left[0] -= 1
        return really(*given, **named)

    setattr(where, name, dying)
    if hasattr(lifecycle, name):
        setattr(lifecycle, name, dying)


def _ask_until_told(loaded: LoadedDeployment) -> None:
    told = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), told.set()), daemon=True).start()
    with Workspace(loaded, {}) as lasting:
        while not told.wait(0.001):
            with Workspace(loaded, {}) as fresh:
                for workspace in (lasting, fresh):
                    (answer,) = answers(workspace)
                    built_with = workspace.inspect_index().encoder
                    print(json.dumps({"answer": answer, "encoder": built_with}), flush=True)


if __name__ == "__main__":
    use_named_encoders(pytest.MonkeyPatch())
    if sys.argv[1] == "ask":
        _ask_until_told(load_deployment(config=Path(sys.argv[2]), environ={}))
    else:
        _kill_at(sys.argv[3])
        pipeline_support.index(Path(sys.argv[2]), FakeLanguageModel())
