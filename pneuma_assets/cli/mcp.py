"""`pneuma-assets mcp`: the tools for agents over standard input and output."""

import sys
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.options import AuthorOption, ReadersOption
from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.extras import extra_for

if TYPE_CHECKING:
    from pneuma_assets.workspace import Workspace


def mcp(
    workspace: "Workspace",
    skill: Annotated[
        bool,
        typer.Option("--skill", help="Print SKILL.md for agents that use the command line."),
    ] = False,
    author: AuthorOption = None,
    readers: ReadersOption = None,
) -> None:
    """Let an agent find tables: serve the Model Context Protocol on standard input and output.

    Over HTTP, `pneuma-assets serve` has the same tools at /mcp.
    """
    if skill:
        text = files("pneuma_assets.mcp_server").joinpath("SKILL.md")
        sys.stdout.write(text.read_text(encoding="utf-8"))
        return
    with extra_for("pneuma-assets mcp", ConfigError):
        from pneuma_assets.mcp_server.server import build_server
    from pneuma_assets.core.service.describe import author_of

    names = None if readers is None else tuple(readers)
    asker = Asker(author_of(author), names, is_operator=names is None)
    build_server(workspace, lambda _: asker).run("stdio")
