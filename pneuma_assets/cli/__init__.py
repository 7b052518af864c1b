"""The command line: `pneuma-assets index`, `search`, `status`, `sources` and `context`.

Commands read options, call one function of the project, and print what it returns. Results go to
standard output, progress and errors to standard error.
"""

import atexit
import gc
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def main() -> None:
    """Run the command line of this process, and end it with the command's exit code."""
    from pneuma_assets.cli.app import app

    start(app, "pneuma-assets")


def start(app: "typer.Typer", name: str) -> None:
    """Run commands as a process of their own, which ends with their exit code."""
    gc.set_threshold(100_000)  # what imports make stays: looking through it took a tenth of a start
    from pneuma_assets.core.silence_libraries import quieten_libraries

    atexit.register(_say_no_more)  # first registered, so last called
    quieten_libraries()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")  # a terminal without UTF-8 shows '?'
    app(prog_name=name)


def _say_no_more() -> None:
    """Close standard error once everything has been said.

    With torch in the process, DuckDB 2.0's bindings list the objects that Python's own end leaves
    to them, a page of lines that nobody can act upon.
    """
    gc.freeze()  # what is left goes with the process: Python would look through it several times
    sys.stderr.flush()
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 2)
    os.close(silence)
