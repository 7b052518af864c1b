"""`pneuma-assets salvage`: save what a damaged state file still holds."""

from dataclasses import asdict
from typing import TYPE_CHECKING

import typer

from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import print_json, print_line
from pneuma_assets.core.text.clean import printable

if TYPE_CHECKING:
    from pneuma_assets.core.store.salvage import Salvaged


def salvage(
    context: typer.Context,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Save narrations, added contexts and corrections from a damaged state file into a new one.

    The damaged file is kept beside it. Close everything else that uses the state first; the next
    `pneuma-assets index` reads the tables again.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace:
        salvaged = workspace.salvage()
    if as_json:
        print_json(None if salvaged is None else {**asdict(salvaged), "kept": str(salvaged.kept)})
    elif salvaged is None:
        print_line("the state file is whole; there is nothing to salvage")
    else:
        _print(salvaged)


def _print(salvaged: "Salvaged") -> None:
    for title, counts in (("saved", salvaged.saved), ("lost", salvaged.lost)):
        listed = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        print_line(f"{title}: {listed.replace('_', ' ') or 'nothing'}")
    if not salvaged.all_known:
        print_line("more may be lost: the list of what the file held is damaged, too")
    for table_id, name, text in salvaged.contexts_unsure:
        print_line(f"not saved, for it may be damaged: {printable(table_id)} '{printable(name)}'")
        print_line(printable(text))
    for one in salvaged.corrections_unsure:
        about = "" if one.column is None else f" '{printable(one.column)}'"
        who = printable(one.author)
        print_line(f"not saved, for it may be damaged: {printable(one.table_id)}{about}, by {who}")
        print_line(printable(one.text) or "rejects what is said")
    print_line(f"the damaged file is kept: {salvaged.kept}")
    print_line("run: pneuma-assets index, to read the tables again")
