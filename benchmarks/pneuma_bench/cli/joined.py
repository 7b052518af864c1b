"""`pneuma-bench joined`: the questions that only a join of several tables answers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.errors import UsageError
from pneuma_assets.cli.options import ConfigOption, HomeOption, JsonOption, given_path, load
from pneuma_assets.cli.output import counted, print_json, print_line, print_table
from pneuma_bench.cli.shared import app

if TYPE_CHECKING:
    from pneuma_assets.core.service.workspace import Workspace
    from pneuma_bench.discovery.joined import Neighbours


@app.command()
def joined(
    context: typer.Context,
    queries: Annotated[
        Path,
        typer.Option(
            parser=given_path, metavar="Q.jsonl", help="Questions with their statements, 'gold'."
        ),
    ],
    out: Annotated[
        Path, typer.Option(parser=given_path, metavar="J.jsonl", help="The file to write.")
    ],
    keys: Annotated[
        Path | None,
        typer.Option(
            parser=given_path,
            metavar="K.jsonl",
            help="Which tables join: objects with 'table' and 'other'. [default: the deployment's]",
        ),
    ] = None,
    declared: Annotated[
        bool, typer.Option("--declared", help="Of the deployment's joins, leave out inferred ones.")
    ] = False,
    dialect: Annotated[
        str, typer.Option(metavar="NAME", help="Of the statements, such as postgres.")
    ] = "",
    degree: Annotated[
        int, typer.Option(min=0, help="Tables with which each table of a question joins, at least.")
    ] = 2,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Keep the questions whose statement joins tables that join with several others.

    The tables are those of the deployment; statements are read, and none is run.
    """
    if keys is not None and declared:
        raise UsageError("--declared is of the deployment's joins; --keys takes none of these")
    from pneuma_assets.core.service.workspace import Workspace
    from pneuma_bench.discovery.joined import join_benchmark, keys_of
    from pneuma_bench.discovery.records import read_discovery, write_discovery
    from pneuma_bench.files import check_writable

    check_writable(out)
    asked = read_discovery(queries)
    with Workspace(load(context, home, config)) as workspace:
        known = workspace.known_tables()
        graph = _of_deployment(workspace, declared=declared) if keys is None else keys_of(keys)
        found = join_benchmark(asked, known, graph, dialect, degree)
    write_discovery(out, found.kept)
    if as_json:
        shown = {"left_out": found.left_out, "degrees": found.degrees, "tables": found.tables}
        print_json({"kept": len(found.kept)} | shown)
        return
    print_line(f"{counted(len(found.kept), 'question', 'questions')} written to {out}")
    for reason, number in found.left_out.items():
        print_line(f"left out: {counted(number, 'question', 'questions')}: {reason}")
    for heading, counts in (("least degree", found.degrees), ("tables", found.tables)):
        rows = [[f"{value:,}", f"{number:,}"] for value, number in counts.items()]
        print_table([heading, "questions"], rows, numbers=["questions"])


def _of_deployment(workspace: "Workspace", *, declared: bool) -> "Neighbours":
    from pneuma_assets.core.relations.join_graph import JoinKind

    def neighbours(table_id: str) -> set[str]:
        joins = workspace.joins(table_id)
        return {one.other for one in joins if not declared or one.kind != JoinKind.INFERRED}

    return neighbours
