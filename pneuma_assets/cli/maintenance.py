"""`pneuma-assets reindex`, `copy-index`, `optimise` and `restore`: whole indexes and the state."""

from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import JsonOption
from pneuma_assets.cli.output import print_json, print_line, print_table, showing_progress
from pneuma_assets.cli.status import print_index
from pneuma_assets.core.errors import ConfigError

if TYPE_CHECKING:
    from pneuma_assets.workspace import Workspace


def reindex(workspace: "Workspace", as_json: JsonOption = False) -> None:
    """Rebuild the index with the current settings, while the old one is searched.

    For another analyzer, or Elasticsearch's number of shards or quantization. No model is loaded.
    Run it where the tables are indexed: the settings are those of this machine.
    """
    with showing_progress():
        workspace.reindex()
    info = workspace.inspect_index()
    print_json(info) if as_json else print_index(info)


def copy_index(
    workspace: "Workspace",
    source: Annotated[
        str, typer.Argument(metavar="FROM", help="The engine to read, as index.engine names it.")
    ],
    target: Annotated[str, typer.Argument(metavar="TO", help="The engine to write.")],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Overwrite an index built by another encoder."),
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Copy the index from one engine to another, with embeddings; no model is loaded.

    Afterwards set index.engine to the engine that is to be used. What TO held before goes.
    """
    from pneuma_assets.core.index.copy_between import check_engines

    try:
        check_engines(source, target)
    except ConfigError as error:
        raise UsageError(str(error)) from error
    with showing_progress():
        info = workspace.copy_index(source, target, replace=replace)
    print_json(info) if as_json else print_index(info)
    if not as_json and workspace.loaded.deployment.index.engine != target:
        print_line(f"to search it, set index.engine: {target} in the deployment file")


def optimise(workspace: "Workspace", as_json: JsonOption = False) -> None:
    """Compact the index: reclaim disk space of removed tables.

    Never needed for correct answers; it answers meanwhile. May take minutes for a large index.
    """
    from pneuma_assets.core.pipeline.optimise import optimise_index

    with showing_progress():
        done = optimise_index(workspace.search_index)
    if as_json:
        print_json(done)
    else:
        print_table(["figure", "value"], [[name, f"{n:,}"] for name, n in done.items()])


def restore(workspace: "Workspace", as_json: JsonOption = False) -> None:
    """Put the backup of a damaged state file in its place, with all that people said.

    The damaged file is kept beside it. Close everything else that uses the state first; the next
    `pneuma-assets index` reads what has changed since the backup.
    """
    restored = workspace.restore()
    if as_json:
        print_json(restored)
    elif restored is None:
        print_line("the state file is whole; there is nothing to restore")
    else:
        made = "the backup" if restored.from_backup else "a new file, as there was no backup"
        print_line(f"the state is now {made}, with {restored.said:,} lines of said.jsonl")
        if restored.kept is not None:
            print_line(f"the damaged file is kept: {restored.kept}")
        print_line("run: pneuma-assets index")
