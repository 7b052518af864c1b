"""`pneuma-assets restore`: go on from the backup of a damaged state file."""

from dataclasses import asdict

import typer

from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import print_json, print_line


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
