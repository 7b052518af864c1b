"""Who may read a table of PostgreSQL, from the grants that its catalogue keeps.

Roles are told by name, those that are members of a granted role beside it, at any distance: they
may read, too. A role without USAGE on the schema or CONNECT on the database reads nothing in there.
Superusers and members of `pg_read_all_data` read everything. Where row-level security decides which
rows a role sees, only those count as readers that it does not bind, because sampled rows and
values are shown whole. So it is with a view of such a table, unless its owner sees all rows. A view
that asks on behalf of whoever reads it (`security_invoker`) is read by those who may read all that
it reads, and so is a view of one.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from pneuma_assets.core.text.safe import well_formed

PUBLIC = 0
"""What PostgreSQL's grants call everybody."""

_READS_ALL = "pg_read_all_data"


@dataclass(frozen=True, slots=True)
class Role:
    """One role, with the roles that are members of it."""

    name: str
    superuser: bool
    bypasses: bool
    members: tuple[int, ...]


class Grants:
    """Says who may read a table.

    Args:
        roles: All of the server, by their numbers.
        may_connect: Who may connect to the database.
    """

    def __init__(self, roles: Mapping[int, Role], may_connect: Iterable[int]) -> None:
        self._roles = roles
        self._supers = self._with_members(n for n, role in roles.items() if role.superuser)
        self._read_all = self._with_members(
            n for n, role in roles.items() if role.name == _READS_ALL
        )
        self._may_connect = self._all_of(may_connect)
        self._holders = cache(self._all_of_key)

    def readers(
        self,
        owner: int,
        may_select: Iterable[int],
        may_enter: Iterable[int],
        *,
        also: Iterable[Iterable[int]] = (),
        secured: bool = False,
        forced: bool = False,
    ) -> tuple[str, ...] | None:
        """Return the names of all roles that may read a table; None: everybody.

        A role whose name is no text is none of them: nobody can be known by it.

        Args:
            owner: Of the table.
            may_select: Roles that were granted SELECT on it.
            may_enter: Roles that were granted USAGE on its schema.
            also: Of a view that is or reads one which asks on behalf of whoever reads it
                (`security_invoker`), those who may read each table behind that.
            secured: Whether row-level security decides which rows of it a role sees.
            forced: Whether it binds the owner, too.
        """
        owners = self._with_members([owner])
        reading = self._all_of((owner, *may_select))
        for granted in also:
            reading = _both(reading, self._all_of(granted))
        entering = self._holders(tuple(sorted(may_enter)))
        found = _both(_both(reading, entering), self._may_connect)
        if secured:
            free = {n for n, role in self._roles.items() if role.bypasses}
            free |= set() if forced else owners
            found = _both(free, found)
        if found is None:
            return None
        everything = set() if secured else _both(self._read_all, self._may_connect) or set()
        every = found | everything | self._supers
        names = {self._roles[n].name for n in every if n in self._roles}
        return tuple(sorted(n for n in names if not n.startswith("pg_") and n == well_formed(n)))

    def _all_of_key(self, granted: tuple[int, ...]) -> set[int] | None:
        return self._all_of(granted)

    def _all_of(self, granted: Iterable[int]) -> set[int] | None:
        """Return these and their members; None: everybody."""
        granted = set(granted)
        return None if PUBLIC in granted else self._with_members(granted)

    def _with_members(self, granted: Iterable[int]) -> set[int]:
        found: set[int] = set()
        waiting = list(granted)
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += self._roles[number].members if number in self._roles else ()
        return found


def _both(left: Collection[int] | None, right: Collection[int] | None) -> set[int] | None:
    """Return who is in both; None stands for everybody."""
    if left is None or right is None:
        some = right if left is None else left
        return None if some is None else set(some)
    return set(left) & set(right)
