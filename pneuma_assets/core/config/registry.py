"""What this project and others bring under names: kinds of source, engines, kinds of document.

A package announces each as an entry point of one group, which is imported with its first use: no
text of a deployment file is taken for the name of a module. Reading the metadata of an environment
takes some 10 ms, so it is read where a name is not known.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar

from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.text.suggest import nearest

T = TypeVar("T")

_CAUSE_CHARACTERS = 200


@dataclass
class Registry(Generic[T]):
    """What is known under names: built in, registered in this process, or installed.

    Attributes:
        group: The group of entry points.
        what: What people call one of these, such as "source type".
        checked: Returns the name of one of these; raises `ConfigError` of any other object.
        place: Returns what tells one from another of the same name, such as its module.
        built_in: Those of this project that are imported with their first use.
        known: Those that are imported.
    """

    group: str
    what: str
    checked: Callable[[T], str]
    place: Callable[[T], str] = repr
    built_in: Mapping[str, EntryPoint] = field(default_factory=dict)
    known: dict[str, T] = field(default_factory=dict)

    def register(self, one: T) -> None:
        """Make one known in this process; in others, its package does so by an entry point.

        Raises:
            ConfigError: It is not a whole one, or its name is another's.
        """
        name = self.checked(one)
        known = self.known.get(name)
        if known is None and name in self.built_in:
            known = self.built_in[name].load()
        if known is not None and known != one:
            raise ConfigError(
                f"{self.what} {name!r} is {self.place(known)}; give {self.place(one)} another name"
            )
        self.known[name] = one

    def names(self) -> list[str]:
        """Return all names: built in, in the order of registration, then of installed packages."""
        return [*dict.fromkeys([*self.built_in, *self.known, *sorted(self.installed())])]

    def installed(self) -> set[str]:
        """Return every name that a package announces; imports nothing."""
        return set(entry_points(group=self.group).names)

    def find(self, name: str) -> T | None:
        """Return what is known under a name, imported with its first use; None if nothing is.

        Raises `ConfigError` where an installed package announces it and does not bring it.
        """
        if name not in self.known:
            found = self.built_in[name].load() if name in self.built_in else self._announced(name)
            if found is None:
                return None
            self.register(found)
        return self.known[name]

    def _announced(self, name: str) -> T | None:
        announced = list(entry_points(group=self.group, name=name))
        values = sorted({point.value for point in announced})
        if not announced:
            return None
        if len(values) > 1:
            raise ConfigError(
                f"several packages bring {self.what} {name!r} ({', '.join(values)}); uninstall "
                "all but one"
            )
        told = f"{self.what} {name!r} is announced by an installed package"
        try:
            found: T = announced[0].load()
            own_name = self.checked(found)
        except Exception as error:  # a package of others raises what it likes
            cause = " ".join(f"{type(error).__name__}: {error}".split())[:_CAUSE_CHARACTERS]
            raise ConfigError(
                f"{told} that does not bring it ({values[0]}: {cause}); repair that package, or "
                "uninstall it"
            ) from error
        if own_name != name:
            raise ConfigError(
                f"{told} whose {values[0]} is {self.what} {own_name!r}; repair that package, "
                "or uninstall it"
            )
        return found


def one_of(what: str, known: Iterable[str], name: str) -> str:
    """Say that a name is none of those known, the nearest first: for a `ValueError`."""
    known = list(known)
    near = nearest(name, known, 1, 0.6)
    hint = f"did you mean '{near[0]}'? " if near else ""
    return f"is not {what}; {hint}use one of: {', '.join(known)}"
