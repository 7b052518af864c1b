"""Which tables everybody may see who may see another."""

from collections import defaultdict
from collections.abc import Collection, Container, Iterable

from pneuma_assets.core.copies.names import letters_of

Readers = frozenset[str] | None
"""Who may see a table; None: everybody."""


class Sight:
    """Compares who may see tables; without any readers, everybody may see all."""

    def __init__(self, readers: Iterable[Collection[str] | None] = ()) -> None:
        self._given = {None if one is None else frozenset(one) for one in readers}
        self._with_name: dict[str, list[frozenset[str]]] = defaultdict(list)
        for one in self._given:
            for name in one or ():
                self._with_name[name].append(one or frozenset())
        self._wider: dict[Readers, frozenset[Readers]] = {}

    def of(self, readers: Collection[str] | None) -> Readers:
        """Return who may see a table of these readers."""
        return None if readers is None or not self._given else frozenset(readers)

    def wider(self, readers: Readers) -> frozenset[Readers]:
        """Return the readers of tables that all of these may see; what nobody sees has none."""
        if readers not in self._wider:
            found: set[Readers] = {None}
            if readers:
                rarest = min((self._with_name[name] for name in readers), key=len)
                found.update(one for one in rarest if readers <= one)
            self._wider[readers] = frozenset(found if readers is None or readers else ())
        return self._wider[readers]


class KnownLetters:
    """The letters of tables' names (`letters_of`), as who may see a table knows them."""

    def __init__(self, sight: Sight) -> None:
        self._sight = sight
        self._readers: dict[str, set[Readers]] = defaultdict(set)

    def add(self, table_id: str, readers: Readers) -> None:
        """Know of a table that these may see."""
        self._readers[letters_of(table_id)].add(readers)

    def known_to(self, readers: Readers) -> Container[str]:
        """Return the letters of the tables that all of these may see."""
        return _Known(self._readers, self._sight.wider(readers))


class _Known(Container[str]):
    def __init__(self, readers: dict[str, set[Readers]], seen: frozenset[Readers]) -> None:
        self._readers, self._seen = readers, seen

    def __contains__(self, letters: object) -> bool:
        return isinstance(letters, str) and not self._seen.isdisjoint(
            self._readers.get(letters, ())
        )
