"""`pneuma-assets reindex`, `copy-index`, `optimise` and `restore`: whole indexes and the state."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import print_json, print_line, print_table, showing_progress
from pneuma_assets.cli.status import print_index
from pneuma_assets.core.errors import ConfigError

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import IndexInfo


def reindex(
    context: typer.Context,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Rebuild the index with the current settings, while the old one is searched.

    For another analyzer, or Elasticsearch's number of shards or quantization. No model is loaded.
    Run it where the tables are indexed: the settings are those of this machine.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace:
        with showing_progress():
            workspace.reindex()
        _print(workspace.inspect_index(), as_json=as_json)


def _names_beginning(incomplete: str) -> list[str]:
    """Complete the name of an engine; the import would slow `--help` down."""
    from pneuma_assets.core.config.index import ENGINES

    return [name for name in ENGINES.names() if name.startswith(incomplete)]


def copy_index(
    context: typer.Context,
    source: Annotated[
        str,
        typer.Argument(
            metavar="FROM",
            help="The engine to read, as index.engine names it.",
            autocompletion=_names_beginning,
        ),
    ],
    target: Annotated[
        str,
        typer.Argument(metavar="TO", help="The engine to write.", autocompletion=_names_beginning),
    ],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Overwrite an index built by another encoder."),
    ] = False,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Copy the index from one engine to another, with embeddings; no model is loaded.

    Afterwards set index.engine to the engine that is to be used. What TO held before goes.
    """
    _check_engines(source, target)
    loaded = load(context, home, config)
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace, showing_progress():
        info = workspace.copy_index(source, target, replace=replace)
    _print(info, as_json=as_json)
    if not as_json and loaded.deployment.index.engine != target:
        print_line(f"to search it, set index.engine: {target} in the deployment file")


def _check_engines(source: str, target: str) -> None:
    """Raise `UsageError`, before anything is read, unless these are two different engines."""
    from pneuma_assets.core.index.copy import check_engines

    try:
        check_engines(source, target)
    except ConfigError as error:
        raise UsageError(str(error)) from error


def _print(info: "IndexInfo | None", *, as_json: bool) -> None:
    if as_json:
        from dataclasses import asdict

        print_json(None if info is None else asdict(info))
    else:
        print_index(info)


def optimise(
    context: typer.Context,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Compact the index: reclaim disk space of removed tables.

    Never needed for correct answers; it answers meanwhile. May take minutes for a large index.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.pipeline.optimise import optimise_index
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace, showing_progress():
        done = optimise_index(workspace.search_index)
    if as_json:
        print_json(done.named())
    else:
        print_table(["figure", "value"], [[name, f"{n:,}"] for name, n in done.named().items()])


def restore(
    context: typer.Context,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Put the backup of a damaged state file in its place, with all that people said.

    The damaged file is kept beside it. Close everything else that uses the state first; the next
    `pneuma-assets index` reads what has changed since the backup.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace:
        restored = workspace.restore()
    if as_json:
        kept = None if restored is None else restored.kept and str(restored.kept)
        print_json(None if restored is None else {**asdict(restored), "kept": kept})
    elif restored is None:
        print_line("the state file is whole; there is nothing to restore")
    else:
        made = "the backup" if restored.from_backup else "a new file, as there was no backup"
        print_line(f"the state is now {made}, with {restored.said:,} things that people said")
        if restored.kept is not None:
            print_line(f"the damaged file is kept: {restored.kept}")
        print_line("run: pneuma-assets index")
