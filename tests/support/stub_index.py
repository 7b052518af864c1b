"""A search engine that the project does not know, as an installed package brings one.

It keeps its index as the embedded engine does, on a named shelf of the state folder, and may want a
key. So it shows what another engine has to bring: an `EngineKind`, a section, and one call of
`register_engine`.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from pneuma_assets.core.config.index import Engine, register_engine
from pneuma_assets.core.config.secrets import VariableName, read_secret
from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.errors import SearchIndexError
from pneuma_assets.core.index.base import IndexInfo, SearchIndex
from pneuma_assets.core.index.builds import Builds
from pneuma_assets.core.index.embedded.lifecycle import EmbeddedKind
from pneuma_assets.core.index.identity import Identity
from pneuma_assets.core.index.registry import Credentials, IndexPlace

NAME = "stub"
Result = TypeVar("Result")


class StubSection(Section):
    """Several indexes may stand beside one state folder; a key may guard them."""

    shelf: str = "first"
    api_key_env: VariableName | None = None


Place = IndexPlace[StubSection]


class StubKind:
    """Keeps `core.index.registry.EngineKind`."""

    technologies = frozenset({"python"})

    def credentials(self, settings: StubSection, environ: Mapping[str, str]) -> Credentials:
        variable = settings.api_key_env
        where = f"index.{NAME}.api_key_env"
        key = None if variable is None else read_secret(environ, variable, where, "the key")
        return Credentials(key)

    def exists(self, place: Place) -> bool:
        return EmbeddedKind().exists(_on_shelf(place))

    def open(
        self, place: Place, wanted: Identity, *, building: bool = False, build: str | None = None
    ) -> SearchIndex:
        if place.settings.api_key_env is not None and not place.credentials.api_key:
            raise SearchIndexError("The shelf is locked; give the key.")
        return EmbeddedKind().open(_on_shelf(place), wanted, building=building, build=build)

    def inspect(self, place: Place) -> IndexInfo | None:
        info = EmbeddedKind().inspect(_on_shelf(place))
        return None if info is None else replace(info, engine=NAME)

    def administer(self, place: Place, step: Callable[[Builds], Result]) -> Result:
        return EmbeddedKind().administer(_on_shelf(place), step)


def _on_shelf(place: Place) -> Place:
    return replace(place, home=place.home / "shelves" / place.settings.shelf)


ENGINE = Engine(NAME, "tests.support.stub_index:StubKind", StubSection, of_one_machine=True)


def register_stub() -> None:
    register_engine(ENGINE)
