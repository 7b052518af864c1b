"""`pneuma-assets groups`: sets of tables that answer a question together, and how to join them."""

from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.options import (
    JsonOption,
    QuestionArgument,
    ReadersOption,
    SourceOption,
    filter_of,
)
from pneuma_assets.cli.output import (
    print_indented,
    print_json,
    print_missing,
    print_no_match,
    print_ranked,
    showing_progress,
)

if TYPE_CHECKING:
    from pneuma_assets.core.missing_parts import MissingPart
    from pneuma_assets.core.relations.join_graph import JoinEdge
    from pneuma_assets.workspace import Workspace


def groups(
    workspace: "Workspace",
    question: QuestionArgument,
    k: Annotated[int | None, typer.Option("-k", help="Groups to show.")] = None,
    source: SourceOption = None,
    readers: ReadersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the sets of tables that answer a question together, best first.

    A table that may answer by itself is such a set, too. Under each set stands by which columns its
    tables are joined, as far as that is known.
    """
    missing: list[MissingPart] = []
    where = filter_of(source, readers)
    with showing_progress(lasting=False):
        found = workspace.find_groups(" ".join(question), k=k, where=where, missing=missing)
    print_missing(missing)
    if as_json:
        print_json(found)
        return
    answerable = found[0].answerable if found else None
    least = workspace.loaded.deployment.query.min_confidence
    unlikely = answerable is not None and answerable < least
    print_no_match(answerable, least, found=bool(found))
    for rank, group in enumerate(found, start=1):
        if rank == 1:
            print_ranked(f"{'':>3} {'score':>6}", "tables")
        score = "-" if unlikely else f"{group.score:.2f}"  # it compares sets with the best one
        print_ranked(f"{rank:>3} {score:>6}", ", ".join(group.tables))
        for edge in group.joins:
            print_indented(_join(edge), margin=12, most_lines=2)
        if "apart" in group.parts:
            print_indented("no known join connects all of these tables", margin=12, most_lines=1)


def _join(edge: "JoinEdge") -> str:
    """Return a join in one line: which columns, who says so, how sure it is."""
    pairs = zip(edge.columns, edge.other_columns, strict=True)
    table, other = (name.rpartition("/")[2] for name in (edge.table, edge.other))
    on = " and ".join(f"{table}.{mine} = {other}.{theirs}" for mine, theirs in pairs)
    return f"{on}  ({edge.kind}, {edge.score:.2f})"
