"""The names under which tables let people in, and those of who asks.

A name is any text. The roles of a source are spelt `SOURCE/ROLE`, since roles of one name in two
warehouses are different ones; names of a deployment's own (`finance`, `ana@example.com`) stand as
they are. `SOURCE/public` is everybody whom the source knows: whoever asks under any of its names. A
table that its source lets everybody read has no readers at all, unless the deployment file says who
may find such tables.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from pneuma_assets.core.errors import ConfigError, QueryError

PUBLIC = "public"
"""The role that everybody has whom a source knows; PostgreSQL lets nobody create it."""

MOST_NAMES = 1_000
"""Of one asker."""

_LONGEST = 1_000


def role_of(source: str, role: str) -> str:
    """Return the name of a source's role in the deployment."""
    return f"{source}/{role}"


def names_of_asker(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of who asks, each once, with what everybody has whom a source knows.

    Raises:
        QueryError: A name is empty or too long, or there are too many.
    """
    given = list(dict.fromkeys(names))
    if len(given) > MOST_NAMES:
        raise QueryError(f"The asker has {len(given):,} names; {MOST_NAMES:,} at most.")
    for name in given:
        if not name.strip() or len(name) > _LONGEST:
            raise QueryError(
                f"A name of who asks has {len(name):,} characters; give 1 to {_LONGEST:,}, such as "
                "finance or warehouse/analyst"
            )
    sources = (name.split("/", 1)[0] for name in given if "/" in name)
    return tuple(dict.fromkeys((*given, *(role_of(source, PUBLIC) for source in sources))))


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks through a door: the page, HTTP, an agent's tools.

    Attributes:
        name: Signs what they say: corrections, confirmed answers.
        readers: The names under which tables let them in; None: they may see all.
        may_edit: Whether they may correct, confirm, reject and add.
        is_operator: Whether they see what is told to operators alone, such as problems of sources.
    """

    name: str
    readers: tuple[str, ...] | None = None
    may_edit: bool = True
    is_operator: bool = False

    def __post_init__(self) -> None:
        """Refuse an operator who may not see all: what operators are told names every table.

        Raises:
            ConfigError: The asker is such a one.
        """
        if self.is_operator and self.readers is not None:
            raise ConfigError("an operator sees all tables; give them no readers")
