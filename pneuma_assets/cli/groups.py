"""`pneuma-assets groups`: sets of tables that answer a question together, and how to join them."""

from typing import TYPE_CHECKING, Annotated

import typer

from pneuma_assets.cli.options import (
    ConfigOption,
    HomeOption,
    JsonOption,
    ReadersOption,
    SourceOption,
    load,
)
from pneuma_assets.cli.output import print_indented, print_json, print_line, showing_progress
from pneuma_assets.core.text.safe import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pneuma_assets.core.relations.join_graph import JoinEdge
    from pneuma_assets.core.search.groups import GroupResult


def groups(
    context: typer.Context,
    question: Annotated[list[str], typer.Argument(help="The question, quoted or not.")],
    k: Annotated[int | None, typer.Option("-k", help="Groups to show.")] = None,
    source: SourceOption = None,
    readers: ReadersOption = None,
    as_json: JsonOption = False,
    home: HomeOption = None,
    config: ConfigOption = None,
) -> None:
    """Find the sets of tables that answer a question together, best first.

    A table that may answer by itself is such a set, too. Under each set stands by which columns its
    tables are joined.
    """
    loaded = load(context, home, config)
    from pneuma_assets.core.index.base import IndexFilter
    from pneuma_assets.core.search.confidence import is_unlikely
    from pneuma_assets.core.service.workspace import Workspace

    where = IndexFilter(
        sources=tuple(source or ()), readers=None if readers is None else tuple(readers)
    )
    with Workspace(loaded) as workspace, showing_progress(lasting=False):
        found = workspace.find_groups(" ".join(question), k=k, where=where)
    if as_json:
        print_json([one.to_dict() for one in found])
        return
    if not found:
        print_line("no table matches; ask in other words, or loosen the filters")
        return
    answerable = found[0].answerable
    if is_unlikely(answerable, loaded.deployment.query.min_confidence):
        print_line(f"No confident match ({answerable:.2f}).")
    _print(found)


def _print(found: "Sequence[GroupResult]") -> None:
    print(f"{'':>3} {'score':>6}  tables")  # noqa: T201
    for rank, group in enumerate(found, start=1):
        tables = ", ".join(map(printable, group.tables))
        print(f"{rank:>3} {group.score:>6.2f}  {tables}")  # noqa: T201
        for edge in group.joins:
            print_indented(join_line(edge), margin=12, most_lines=2)


def join_line(edge: "JoinEdge") -> str:
    """Return a join in one line: which columns, who says so, how sure it is."""
    pairs = zip(edge.columns, edge.other_columns, strict=True)
    table, other = (name.rpartition("/")[2] for name in (edge.table, edge.other))
    on = " and ".join(f"{table}.{mine} = {other}.{theirs}" for mine, theirs in pairs)
    return f"{on}  ({edge.kind}, {edge.score:.2f})"
