"""Whether tables that a listing does not show have left, or their source is not all there.

An empty mount point lists as a folder without tables, a schema without its grant as none: both are
listings that succeed. So most of a source's tables are not believed to be gone at once: they are
held, which means that they stay searchable as they were indexed, and that nobody reads them, until
they are listed again or a person says that they were meant to go.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, and_, delete

from pneuma_assets.core.store.schema import problems
from pneuma_assets.core.store.statements import upsert
from pneuma_assets.core.text.safe import one_line, printable

STAGE = "removals"
"""The stage of the problem that a source has while tables of it are held."""

_NAMED = 3
_NAME_LENGTH = 80


@dataclass(frozen=True, slots=True)
class RemovalRule:
    """How much of a source may be gone at once before that is taken for an accident.

    Attributes:
        share: Of the tables that a listing could see; 1 holds none.
        least: So many tables it takes at least.
    """

    share: float = 0.5
    least: int = 10

    def holds(self, absent: int, seen: int) -> bool:
        """Tell whether `absent` of `seen` tables are too many to be believed."""
        return absent >= self.least and absent > self.share * seen

    def of_a_bare_source(self) -> "RemovalRule":
        """Return what holds where there is nothing at all any more: however few tables there were.

        Whoever deletes the last table of a folder by hand accepts it; a lake of three tables on a
        disk that is not mounted is not lost.
        """
        return RemovalRule(self.share, 1)


CAREFUL = RemovalRule()
"""What holds where nobody configured anything else."""


def held_among(absent: Mapping[str, Any], seen: int, rule: RemovalRule | None) -> set[str]:
    """Return which absent tables are held, by their rows in the work list.

    Those that were held before count among the absent, so that tables cannot leave piecemeal, and
    stay held however few are left of them.

    Args:
        absent: The tables that a listing should have shown, by id; each row says `held_since`.
        seen: How many it should have shown in all.
        rule: None: a person has said that all of them were meant to go.
    """
    if rule is None:
        return set()
    if rule.holds(len(absent), seen):
        return set(absent)
    return {table_id for table_id, row in absent.items() if row.held_since is not None}


def tell_of_held(connection: Connection, source: str, held: Sequence[str], known: int) -> None:
    """Let the source have a problem while tables of it are held, and none after.

    Args:
        connection: Of the transaction that holds them.
        source: Its name.
        held: Its held tables.
        known: How many tables it has, held ones included.
    """
    here = and_(problems.c.source == source, problems.c.stage == STAGE)
    connection.execute(delete(problems).where(here))
    if held:
        told = {"subject": source, "source": source, "stage": STAGE}
        upsert(connection, problems, [{**told, "cause": _cause(source, held, known)}])


def how_to_accept(source: str) -> str:
    """Return what lets the held tables of this source go, and of no other."""
    return f"'pneuma-assets index --source {source} --accept-removals'"


def _cause(source: str, held: Sequence[str], known: int) -> str:
    named = [one_line(printable(table_id), _NAME_LENGTH) for table_id in sorted(held)[:_NAMED]]
    more = ", …" if len(held) > _NAMED else ""
    return (
        f"{len(held):,} of {known:,} tables are gone at once ({', '.join(named)}{more}), so they "
        "are held: searchable as they were. If a disk is not mounted or a grant is lost, bring it "
        f"back; if they were meant to go, run {how_to_accept(source)}, or the op of "
        f"raw_tables in Dagster with only: [{source}] and accept_removals: true"
    )
