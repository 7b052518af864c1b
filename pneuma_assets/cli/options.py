"""Options that several commands take, what they open, and input that commands read from files."""

import codecs
import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pneuma_assets.cli.errors import STATE_FOLDER, UsageError
from pneuma_assets.cli.hints import name_deployment

if TYPE_CHECKING:
    from pneuma_assets.core.access_names import Asker
    from pneuma_assets.core.config.load import LoadedDeployment
    from pneuma_assets.core.index.base import IndexFilter


def given_path(text: str) -> Path:
    """Return a path from the command line; an empty one is a variable that was never set."""
    if not text:
        raise typer.BadParameter("the path is empty; was a variable not set?")
    return Path(text)


HomeOption = Annotated[
    Path | None,
    typer.Option(
        "--home",
        parser=given_path,
        metavar="DIR",
        help="Folder of all state. [default: the file's, or .pneuma in the current folder]",
    ),
]
ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        parser=given_path,
        metavar="FILE",
        help="Deployment file. [default: pneuma.yaml in the current folder, if there is one]",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON for programs; nothing else on standard output.")
]
SourceOption = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only tables of this source.")
]
ReadersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--as",
        metavar="NAME",
        help="Show only what this user, group or role may see (warehouse/analyst); repeat it for "
        "each of their names.",
    ),
]
QuestionArgument = Annotated[list[str], typer.Argument(help="The question, quoted or not.")]
TableArgument = Annotated[
    str | None,
    typer.Argument(metavar="[TABLE]", help="As search and status show it.", show_default=False),
]
KOption = Annotated[int | None, typer.Option("-k", "--k", help="Tables of an answer.")]
NOption = Annotated[
    int | None, typer.Option("-n", "--n", help="Candidates per signal, as a multiple of -k.")
]
AlphaOption = Annotated[
    float | None, typer.Option(help="Use only BM25 and embeddings (1 = BM25, 0 = embeddings).")
]
JudgeOption = Annotated[
    bool | None,
    typer.Option(
        "--judge/--no-judge", help="Let a language model grade the best results and order them."
    ),
]
AuthorOption = Annotated[
    str | None, typer.Option(metavar="NAME", help="Who says so. [default: your login name]")
]


@dataclass(frozen=True)
class Chosen:
    """What was given before the command's name."""

    home: Path | None
    config: Path | None


def command(run: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes --home and --config, too, and opens the workspace they choose.

    Args:
        run: The command; its first parameter is the `Workspace`, which is closed when it has ended.
            One called `asker` is whom --author and --as name.
    """
    taken = inspect.signature(run).parameters

    def opened(
        context: typer.Context, home: HomeOption = None, config: ConfigOption = None, **given: Any
    ) -> None:
        loaded = load(context, home, config)
        from pneuma_assets.workspace import Workspace

        if "asker" in taken:
            given["asker"] = asker_of(given.pop("author"), given.pop("readers"))
        with Workspace(loaded) as workspace:
            run(workspace, **given)

    _, *own = (one for one in taken.values() if one.name != "asker")
    own += inspect.signature(asker_of).parameters.values() if "asker" in taken else ()
    *places, _ = inspect.signature(opened).parameters.values()
    shown = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in (*own, *places)]
    opened.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
    opened.__annotations__ = {one.name: one.annotation for one in shown}
    opened.__name__, opened.__doc__ = run.__name__, run.__doc__
    return opened


def asker_of(author: AuthorOption = None, readers: ReadersOption = None) -> "Asker":
    """Return who asks, by the options --author and --as."""
    from pneuma_assets.core.access_names import Asker
    from pneuma_assets.core.service.describe import author_of

    return Asker(author_of(author), None if readers is None else tuple(readers))


def filter_of(
    source: list[str] | None,
    readers: list[str] | None,
    table: list[str] | None = None,
    kind: list[Any] | None = None,
) -> "IndexFilter":
    """Return the filter of the options --source, --as, --table and --kind."""
    from pneuma_assets.core.index.base import IndexFilter

    sources, tables, kinds = (tuple(given or ()) for given in (source, table, kind))
    return IndexFilter(sources, tables, kinds, None if readers is None else tuple(readers))


def load(context: typer.Context, home: Path | None, config: Path | None) -> "LoadedDeployment":
    """Load the deployment that the options choose; those after the command's name win."""
    from pneuma_assets.core.config.load import load_deployment

    chosen: Chosen = context.find_object(Chosen) or Chosen(None, None)
    home, config = home or chosen.home, config or chosen.config
    name_deployment(getattr(context.find_root().command, "commands", ()), home, config)
    loaded = load_deployment(config, home)
    context.meta[STATE_FOLDER] = loaded.home
    return loaded


def read_input(file: Path | None, most_bytes: int, option: str) -> tuple[str, bytes]:
    """Return the name of an input, for messages, and its bytes.

    Args:
        file: The file; None or `-` is standard input.
        most_bytes: A larger input is an error.
        option: The option that named the file.

    Raises:
        UsageError: The input cannot be read, or is too large.
    """
    name = "standard input"
    try:
        if file is None or str(file) == "-":
            data = sys.stdin.buffer.read(most_bytes + 1)
        else:
            name = str(file)
            with file.open("rb") as stream:
                data = stream.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot read {name} ({reason}); check {option}") from error
    if len(data) > most_bytes:
        raise UsageError(f"{name} is larger than {most_bytes // 1024:,} KiB; split it")
    return name, data


def lines_of(name: str, data: bytes) -> dict[int, str | None]:
    """Return the lines of an input that hold anything, by number; None for one that is no UTF-8.

    Lines end as on Linux, Windows or an old Mac; a byte order mark is no text.

    Raises:
        UsageError: The whole input is UTF-16.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UsageError(f"{name} is UTF-16; save it as UTF-8")
    lines = re.split(rb"\r\n|\r|\n", data.removeprefix(codecs.BOM_UTF8))
    return {number: _text(line) for number, line in enumerate(lines, start=1) if line.strip()}


def _text(line: bytes) -> str | None:
    try:
        return line.decode("utf-8").strip()
    except UnicodeDecodeError:
        return None
