"""Ends every command with a line that says what to do, and an exit code that programs can use."""

import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from pneuma_assets.cli.hints import copyable, name_deployment
from pneuma_assets.core.errors import PneumaError, StateDamagedError
from pneuma_assets.core.extras import not_installed
from pneuma_assets.core.silence_libraries import debugging
from pneuma_assets.core.text.safe import printable

EXIT_FAILURE = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130
MAX_UNEXPECTED_CHARS = 300
STATE_FOLDER = f"{__name__}.state_folder"
"""Under which a command's context keeps where its state is, for messages about it."""

INTERRUPTED = "interrupted; what it keeps as it goes is kept, and the same command does the rest"
"""True of every command, also of one that keeps nothing."""

_SUGGESTED = re.compile(r"\. Did you mean ('[^']*').*")
"""What typer says of an unknown command: known ones like it, the likest first."""

_TYPER_USAGE_ERROR = typer.BadParameter.__mro__[1]
"""Base of every finding about arguments; typer exports only this one heir of it."""


class UsageError(PneumaError):
    """Options that contradict each other, or one that is missing; the exit code is 2."""


class CommandGroup(TyperGroup):
    """All commands, with failures turned into one line each instead of a traceback."""

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run a command; of damaged state it is told which folder's it is."""
        try:
            return super().invoke(ctx)
        except StateDamagedError as error:
            told = str(error).rstrip(".")
            home = ctx.meta.get(STATE_FOLDER)
            raise StateDamagedError(f"{told}; the state folder is {home} (--home)") from error

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, *, standalone_mode: bool = True, **more: Any
    ) -> Any:
        """Run a command; ends the process, or returns the exit code if not `standalone_mode`."""
        try:
            result = super().main(args, standalone_mode=False, **more)
            code = result if isinstance(result, int) else 0
            if code == EXIT_INTERRUPTED:  # typer turns Ctrl-C into this code without a word
                _print([INTERRUPTED])
            sys.stdout.flush()  # so that a reader that left is noticed here
        except BrokenPipeError:
            code = _reader_left()
        except BaseException as error:
            if isinstance(error, SystemExit | GeneratorExit):
                raise
            code = _explain(error)
        finally:
            name_deployment((), None, None)
        if standalone_mode:
            sys.exit(code)
        return code


def _explain(error: BaseException) -> int:
    """Print what went wrong, a line each, and return the exit code."""
    if debugging():
        traceback.print_exception(error)
    if isinstance(error, PneumaError):
        _print(str(error).splitlines() or [type(error).__name__])
        return EXIT_USAGE if isinstance(error, UsageError) else EXIT_FAILURE
    if isinstance(error, _TYPER_USAGE_ERROR):
        _print([_usage(error)])
        return EXIT_USAGE
    if _is_interrupt(error):
        _print([INTERRUPTED])
        return EXIT_INTERRUPTED
    if isinstance(error, ModuleNotFoundError) and error.name:
        _print([not_installed(error.name)])
        return EXIT_FAILURE
    text = " ".join(str(error).split())[:MAX_UNEXPECTED_CHARS]
    told = f"unexpected {type(error).__name__}{': ' if text else ''}{text}"
    _print([f"{told}; set PNEUMA_DEBUG=1 and run again for the traceback"])
    return EXIT_FAILURE


def _usage(error: Any) -> str:
    """Say on one line what is wrong with the arguments, and where all of them are explained."""
    from pneuma_assets.core.text.validation_messages import phrased  # pydantic loads slowly

    error.message = phrased(error.message)
    message = " ".join(str(error.format_message()).split()).rstrip(".")
    message = _SUGGESTED.sub(r"; did you mean \1?", message)
    if message.startswith("No such option") and not error.possibilities:
        message += "; put -- before words that begin with -"
    command = error.ctx.command_path if error.ctx is not None else "pneuma-assets"
    parted = f"{message[:1].lower()}{message[1:]}{'' if message.endswith('?') else ';'}"
    return f"{parted} '{command} --help' lists what can be given"


def _is_interrupt(error: BaseException) -> bool:
    """Return whether someone pressed Ctrl-C, also where Dagster caught it first."""
    names = {cls.__name__ for cls in type(error).__mro__}
    return bool(names & {"KeyboardInterrupt", "Abort", "DagsterExecutionInterruptedError"})


def _print(lines: Sequence[str]) -> None:
    for line in lines:
        print(f"error: {printable(copyable(line))}", file=sys.stderr)  # noqa: T201


def _reader_left() -> int:
    """Keep Python from complaining at exit that nobody reads standard output any more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return EXIT_FAILURE
