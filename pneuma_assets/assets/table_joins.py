"""What a table's page says of the tables that it can be joined with."""

from collections.abc import Iterable
from functools import lru_cache

from pneuma_assets.core.store.manifest import PageJoin
from pneuma_assets.core.text.safe import plain_in_markdown

JOINS = "joins"
"""The metadata of a table's definition that says by which columns it can be joined."""

_plain = lru_cache(maxsize=100_000)(plain_in_markdown)
"""Names of tables and columns stand on many pages."""


def told_joins(joins: Iterable[PageJoin]) -> str:
    """Return joins in Markdown, a line each; their names are anybody's and stand as they are."""
    return "\n".join(f"- {_line(one)}" for one in joins)


def _line(join: PageJoin) -> str:
    mine, theirs = (", ".join(map(_plain, names)) for names in (join.columns, join.other_columns))
    way = "refers to" if join.refers else "is referred to by"
    share = "" if join.share is None else f", {join.share:.0%} of cells found"
    return f"{mine} {way} {_plain(join.other)} ({theirs}): {_plain(join.kind)}{share}"
