"""`pneuma-assets sources`: which sources there are, and whether they can be reached."""

from dataclasses import asdict

import typer

from pneuma_assets.cli.failures import EXIT_FAILURE
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, load
from pneuma_assets.cli.output import print_json, print_line, print_table
from pneuma_assets.cli.progress import showing_progress


def sources(
    context: typer.Context,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Show each source, where it is, and how many tables it lists now.

    The exit code is 1 when a source cannot be reached.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.config.owner import owner_of
    from pneuma_assets.core.service.workspace import Workspace

    with Workspace(loaded) as workspace, showing_progress(lasting=False):
        checks = workspace.check_sources()
    owner = owner_of(loaded)
    if as_json:
        print_json([asdict(check) for check in checks])
    elif owner is not None:
        print_line(f"the sources are those of the component in {owner.component}")
        print_line(f"in that project run: {owner.command}")
    elif not checks:
        print_line("no sources yet; run: pneuma-assets index FOLDER")
    else:
        print_table(
            ["source", "type", "tables", "problems", "where"],
            [
                [
                    check.name,
                    check.type,
                    "-" if check.tables is None else f"{check.tables:,}",
                    f"{len(check.problems):,}",
                    check.where if check.cause is None else f"{check.where}: {check.cause}",
                ]
                for check in checks
            ],
            numbers=["tables", "problems"],
        )
    if any(not check.reachable for check in checks):
        raise typer.Exit(EXIT_FAILURE)
