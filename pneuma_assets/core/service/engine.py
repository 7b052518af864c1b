"""Questions go on while the index is built anew for another encoder, and after it changed places.

Vectors can be compared only if one encoder made them, so a question is encoded by the one that
built the index which answers it: the configured one, or else the one that the index names. When
another index takes that one's place, the question is asked again there.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import IndexMismatchError, ModelError, SearchIndexError
from pneuma_assets.core.service.state import StateReader, known_tables, open_store
from pneuma_assets.core.service.status import why_not_indexed

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import SearchIndex
    from pneuma_assets.core.index.identity import OtherIdentityError
    from pneuma_assets.core.index.registry import Credentials
    from pneuma_assets.core.models.base import Encoder, LanguageModel
    from pneuma_assets.core.search.query import QueryEngine

T = TypeVar("T")

_ATTEMPTS = 3
"""An index is replaced at most once in hours; a third one in a row is no chance."""


@dataclass
class Opened:
    """An index that was opened with the encoder that built it, and how many ask it now."""

    index: "SearchIndex"
    encoder: "Encoder"
    engine: "QueryEngine"
    asking: int = 0
    retired: bool = False


class LiveQueryEngine:
    """The query engine of a deployment, for any number of threads.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
        encoder: Returns the configured encoder.
        judge: Returns the deployment's judge.
        credentials: How to sign in at the index.
    """

    def __init__(
        self,
        loaded: LoadedDeployment,
        environ: Mapping[str, str],
        encoder: "Callable[[], Encoder]",
        judge: "Callable[[], LanguageModel | None]",
        credentials: "Credentials",
    ) -> None:
        self._loaded = loaded
        self._environ = environ
        self._encoder = encoder
        self._judge = judge
        self._credentials = credentials
        self._lock = threading.RLock()
        self._current: Opened | None = None
        self._state = StateReader(loaded, environ)

    def ask(self, question: "Callable[[QueryEngine], T]") -> T:
        """Return what a question to the engine returns, asked again where the index was replaced.

        Raises:
            SearchIndexError: The index cannot be opened, or not with any encoder there is.
        """
        for _ in range(_ATTEMPTS - 1):
            one = self._take()
            try:
                return question(one.engine)
            except IndexMismatchError:
                self._retire(one)
            finally:
                self._give_back(one)
        one = self._take()
        try:
            return question(one.engine)
        finally:
            self._give_back(one)

    def current(self) -> Opened:
        """Return what answers questions, opened if nothing is; it may be retired at any time."""
        with self._lock:
            if self._current is None:
                self._current = self._open()
            return self._current

    def close(self) -> None:
        """Close the index and the state; a next question opens them again."""
        self._state.close()
        with self._lock:
            if self._current is not None:
                self._current.index.close()
            self._current = None

    def _take(self) -> Opened:
        with self._lock:
            one = self.current()
            one.asking += 1
            return one

    def _give_back(self, one: Opened) -> None:
        with self._lock:
            one.asking -= 1
            if one.retired and not one.asking:
                one.index.close()

    def _retire(self, one: Opened) -> None:
        """Ask it nothing more; it is closed when the last question that it answers has ended."""
        with self._lock:
            one.retired = True
            if self._current is one:
                self._current = None

    def _open(self) -> Opened:
        index, encoder = open_to_ask(self._loaded, self._encoder(), self._credentials)
        try:
            engine = build_query_engine(
                self._loaded, self._environ, index, encoder, self._judge(), self._state
            )
        except BaseException:
            index.close()
            raise
        return Opened(index, encoder, engine)


def open_to_ask(
    loaded: LoadedDeployment, encoder: "Encoder", credentials: "Credentials"
) -> "tuple[SearchIndex, Encoder]":
    """Open the index with the configured encoder, or else with the one that built it.

    Raises:
        IndexMismatchError: It was built with another one, which cannot be opened here.
        SearchIndexError: It cannot be opened.
    """
    from pneuma_assets.core.index.identity import OtherIdentityError

    for _ in range(_ATTEMPTS - 1):
        try:
            return _open_to_ask(loaded, encoder, credentials)
        except OtherIdentityError:  # replaced at this moment, or of other rules than there are here
            continue
    return _open_to_ask(loaded, encoder, credentials)


def _open_to_ask(
    loaded: LoadedDeployment, encoder: "Encoder", credentials: "Credentials"
) -> "tuple[SearchIndex, Encoder]":
    from pneuma_assets.core.index.identity import (
        NewerRulesError,
        OlderRulesError,
        OtherIdentityError,
    )
    from pneuma_assets.core.index.registry import open_as_built, open_index
    from pneuma_assets.core.models.encoder.remembered import open_remembered

    config = loaded.deployment.index
    try:
        index = open_index(config, loaded.home, encoder.name, encoder.dimension, credentials)
    except (NewerRulesError, OlderRulesError):
        raise
    except OtherIdentityError as error:
        built = error.found
        try:
            if built.encoder != encoder.name:
                encoder = open_remembered(loaded.home, built.encoder, loaded.deployment.encoder)
            return open_as_built(config, loaded.home, built, credentials), encoder
        except OtherIdentityError:
            raise
        except (ModelError, SearchIndexError) as cause:
            told = _why_nobody_answers(loaded, error, str(cause), credentials)
            raise IndexMismatchError(told) from cause
    return index, encoder


def _why_nobody_answers(
    loaded: LoadedDeployment, error: "OtherIdentityError", cause: str, credentials: "Credentials"
) -> str:
    """Return that the configured encoder's index is not there yet, how far it is, what to do."""
    from pneuma_assets.core.index.registry import begins_by_itself, inspect_index

    config = loaded.deployment.index
    if not begins_by_itself(config):
        return f"{error} It is not asked as what it is: {cause.rstrip('.')}."
    found = error.found
    told = (
        f"The search index was built with encoder {found.encoder!r} and analyzer "
        f"{found.analyzer!r}, and cannot be asked with these: {cause.rstrip('.')}. "
    )
    info = inspect_index(config, loaded.home, credentials)
    begun = None if info is None else info.details.get("being built")
    if info is None or begun is None:
        return f"{told}Run `pneuma-assets index`, which builds another as it is configured."
    return (
        f"{told}Another is being built as it is configured ({begun}, of about {info.tables:,}); "
        "let `pneuma-assets index` end, then ask again: nothing else is needed."
    )


def build_query_engine(
    loaded: LoadedDeployment,
    environ: Mapping[str, str],
    index: "SearchIndex",
    encoder: "Encoder",
    judge: "LanguageModel | None",
    state: StateReader,
) -> "QueryEngine":
    """Return what answers questions over an opened index, by the deployment's settings.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
        index: The deployment's, opened for asking.
        encoder: The one that embedded its blocks.
        judge: The deployment's; None: it names none.
        state: Tells which tables can be joined, and what is kept of headers.
    """
    from pneuma_assets.core.config.query import QueryOptions
    from pneuma_assets.core.search.names import Elsewhere
    from pneuma_assets.core.search.query import QueryEngine
    from pneuma_assets.core.text.analysis import analyzer_named

    deployment = loaded.deployment
    return QueryEngine(
        index,
        encoder,
        judge,
        QueryOptions.of(deployment.query),
        analyzer=analyzer_named(deployment.index.analyzer),
        elsewhere=Elsewhere(
            partial(known_tables, loaded, environ),
            [source.name for source in deployment.sources],
            document_kinds,
            partial(_why_not_indexed, loaded, environ),
        ),
        joins_of=state.joins_of,
        kept_headers=partial(state.headers_of, encoder.name),
    )


def document_kinds() -> list[str]:
    """Return the kinds of documents that are made, as a filter names them.

    Raises:
        ConfigError: An installed package announces a kind and does not bring it.
    """
    from pneuma_assets.core.describe.kinds import makers

    return [str(kind) for kind in makers()]


def _why_not_indexed(loaded: LoadedDeployment, environ: Mapping[str, str], table_id: str) -> str:
    with open_store(loaded, environ) as store:
        return why_not_indexed(store, table_id)
