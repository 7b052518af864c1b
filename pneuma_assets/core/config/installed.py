"""What installed packages bring: kinds of source, search engines, kinds of document.

A package announces each under a name in its metadata, as an entry point of one group. Names are
read without importing anything; what a name stands for is imported with its first use, and only
ever what a package announces: no text of a deployment file is taken for the name of a module.
Reading the metadata of an environment takes some 10 ms, so it is read where a name is not known.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from pneuma_assets.core.errors import ConfigError

T = TypeVar("T")

_CAUSE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Installed(Generic[T]):
    """What packages announce in one group.

    Attributes:
        group: The group of entry points.
        what: What people call one of these, such as "source type".
        checked: Returns the name of an object that is one of these; raises `ConfigError` of any
            other.
    """

    group: str
    what: str
    checked: Callable[[T], str]

    def names(self) -> set[str]:
        """Return every name that is announced; imports nothing."""
        return set(entry_points(group=self.group).names)

    def find(self, name: str) -> T | None:
        """Return what is announced under a name, imported; None if nothing is.

        Raises:
            ConfigError: Several packages announce it, or one that does not bring it.
        """
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
