"""Dagster's webserver in a process of its own, and what it answers."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from tests.support.waiting import LONGEST

_LOADED = """
{ workspaceOrError { ... on Workspace { locationEntries {
  locationOrLoadError { __typename ... on PythonError { message } } } } } }
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def environment(**more: str) -> dict[str, str]:
    """Return this process's environment for another one, without what names a deployment here."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PNEUMA_", "DAGSTER_"))}
    return kept | more


@contextlib.contextmanager
def serving(
    folder: Path, *command: str, env: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """Let a Python module run in a folder, and end it and all that it started.

    What it says is in `log.txt` there.
    """
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            # A program that was started behind another, by `&`, is deaf to these signals.
            ["env", "--default-signal=TERM,INT", sys.executable, "-m", *command],
            cwd=folder,
            env=env,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            _end_group(process)


def _end_group(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(30)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(LONGEST)


class Webserver:
    """A webserver of this machine, by its port."""

    def __init__(self, port: int) -> None:
        self.port = port

    def ask(self, query: str, **variables: Any) -> Any:
        body = json.dumps({"query": query, "variables": variables}).encode()
        url = f"http://127.0.0.1:{self.port}/graphql"
        request = Request(url, body, {"Content-Type": "application/json"})
        with urlopen(request, timeout=LONGEST) as answer:
            return json.load(answer)["data"]

    def is_loaded(self, *, patient: bool = False) -> bool:
        """Tell whether it is up and has the definitions of its location.

        Where these cannot be loaded it fails, unless it is `patient`: a code server may be on its
        way.
        """
        try:
            entries = self.ask(_LOADED)["workspaceOrError"]["locationEntries"]
        except OSError:
            return False
        found = [one["locationOrLoadError"] for one in entries if one["locationOrLoadError"]]
        loaded = [one["__typename"] == "RepositoryLocation" for one in found]
        assert patient or all(loaded), found
        return bool(loaded) and all(loaded)
