"""Questions go on while the index is built anew for another encoder, and after it changed places.

Vectors can be compared only if one encoder made them, so a question is encoded by the one that
built the index which answers it: the configured one, or else the one that the index names. When
another index takes that one's place, the question is asked again there.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pneuma_assets.core.close_once import Closing, Shared
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import IndexMismatchError, ModelError, SearchIndexError
from pneuma_assets.core.models.encoder.late_encoder import LateEncoder
from pneuma_assets.core.service.state import StateReader
from pneuma_assets.core.service.status import why_not_indexed

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import SearchIndex
    from pneuma_assets.core.index.identity import Identity, OtherIdentityError
    from pneuma_assets.core.index.registry import Credentials
    from pneuma_assets.core.models.base import Encoder
    from pneuma_assets.core.search.judge import Judge
    from pneuma_assets.core.search.query import QueryEngine

T = TypeVar("T")

_ATTEMPTS = 3
"""An index is replaced at most once in hours; a third one in a row is no chance."""


@dataclass(frozen=True, eq=False)
class Opened(Closing):
    """An index that was opened with the encoder that built it, and what answers from it."""

    index: "SearchIndex"
    encoder: "Encoder"
    engine: "QueryEngine"

    def close(self) -> None:
        """Close the index."""
        self.index.close()


class LiveQueryEngine(Closing):
    """The query engine of a deployment, for any number of threads.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
        encoder: Returns the configured encoder.
        judge: Returns the deployment's judge.
    """

    def __init__(
        self,
        loaded: LoadedDeployment,
        environ: Mapping[str, str],
        encoder: "Callable[[], Encoder]",
        judge: "Callable[[], Judge | None]",
    ) -> None:
        self._loaded, self._environ = loaded, environ
        self._encoder, self._judge = encoder, judge
        self._opened: Shared[Opened] = Shared(self._open)
        self._state = StateReader(loaded, environ)

    def ask(self, question: "Callable[[QueryEngine], T]") -> T:
        """Return what a question to the engine returns, asked again where the index was replaced.

        Raises:
            SearchIndexError: The index cannot be opened, or not with any encoder there is.
        """
        for _ in range(_ATTEMPTS - 1):
            with self._opened.use() as one:
                try:
                    return question(one.engine)
                except IndexMismatchError:
                    self._opened.retire(one)
                    if isinstance(one.encoder, LateEncoder):  # another index would need it, too
                        raise
        with self._opened.use() as one:
            return question(one.engine)

    def current(self) -> Opened:
        """Return what answers questions, opened if nothing is; it may be closed at any time."""
        return self._opened.current()

    def close(self) -> None:
        """Close the index and the state after their last use; a next question opens them again."""
        self._state.close()
        self._opened.retire()

    def _open(self) -> Opened:
        from pneuma_assets.core.config.query import QueryOptions
        from pneuma_assets.core.index.registry import index_credentials
        from pneuma_assets.core.search.names import Elsewhere
        from pneuma_assets.core.search.paraphrases import AnswerMemory, KnownAnswers
        from pneuma_assets.core.search.query import QueryEngine
        from pneuma_assets.core.text.analysis import analyzer_named

        deployment = self._loaded.deployment
        credentials = index_credentials(deployment.index, self._environ)
        index, encoder = self._index_and_encoder(credentials)
        memory = AnswerMemory(encoder.name, lambda read: self._state.answers(read, KnownAnswers()))
        try:
            engine = QueryEngine(
                index,
                encoder,
                self._judge(),
                QueryOptions.of(deployment.query),
                analyzer=analyzer_named(deployment.index.analyzer),
                elsewhere=Elsewhere(
                    lambda: self._state.read(lambda store: store.tables.listed(), []),
                    [source.name for source in deployment.sources],
                    document_kinds,
                    lambda table_id: self._state.read(partial(why_not_indexed, table_id), ""),
                ),
                joins_of=lambda ids: self._state.read(lambda store: store.joins.of_tables(ids), []),
                kept_headers=lambda headers: self._state.read(
                    lambda store: dict(store.headers.of(encoder.name, headers)), {}
                ),
                answers=memory.known,
                profiles=lambda ids: self._state.read(
                    lambda store: {one.table_id: one for one in store.tables.profiles(ids)}, {}
                ),
            )
        except BaseException:
            index.close()
            raise
        return Opened(index, encoder, engine)

    def _index_and_encoder(self, credentials: "Credentials") -> "tuple[SearchIndex, Encoder]":
        """Open both; where the encoder is away, something stands in that says so when it is used.

        Raises:
            SearchIndexError: It cannot be opened.
        """
        from pneuma_assets.core.index.registry import open_as_built

        loaded = self._loaded
        try:
            encoder = self._encoder()
        except ModelError:
            built = _built_with(loaded, credentials)
            index = open_as_built(loaded.deployment.index, loaded.home, built, credentials)
            return index, LateEncoder(built.encoder, built.dimension, self._encoder)
        return _open_to_ask(loaded, encoder, credentials)


_NOBODY = "no encoder"
"""The name of none, so that an index refuses to be opened with it and says what built it."""


def _built_with(loaded: LoadedDeployment, credentials: "Credentials") -> "Identity":
    """Return what the index was built with.

    Raises:
        SearchIndexError: It cannot be opened.
    """
    from pneuma_assets.core.index.identity import OtherIdentityError
    from pneuma_assets.core.index.registry import open_index

    try:
        index = open_index(loaded.deployment.index, loaded.home, _NOBODY, 1, credentials)
    except OtherIdentityError as error:
        return error.found
    with closing(index):
        return index.identity


def _open_to_ask(
    loaded: LoadedDeployment, encoder: "Encoder", credentials: "Credentials"
) -> "tuple[SearchIndex, Encoder]":
    """Open the index with the configured encoder, or else with the one that built it.

    Raises:
        SearchIndexError: It cannot be opened.
    """
    from pneuma_assets.core.index.identity import OtherIdentityError

    for attempt in range(1, _ATTEMPTS + 1):
        try:
            return _open_once(loaded, encoder, credentials)
        except OtherIdentityError:  # replaced at this moment, or of other rules than there are here
            if attempt == _ATTEMPTS:
                raise
    raise AssertionError


def _open_once(
    loaded: LoadedDeployment, encoder: "Encoder", credentials: "Credentials"
) -> "tuple[SearchIndex, Encoder]":
    from pneuma_assets.core.index.identity import OtherIdentityError
    from pneuma_assets.core.index.registry import open_as_built, open_index
    from pneuma_assets.core.models.encoder.known_encoders import open_remembered

    config, home = loaded.deployment.index, loaded.home
    try:
        return open_index(config, home, encoder.name, encoder.dimension, credentials), encoder
    except OtherIdentityError as error:
        built, refused = error.found, error
    remembered = partial(open_remembered, home, built.encoder, loaded.deployment.encoder)
    why = partial(_why_nobody_answers, loaded, refused, credentials=credentials)
    if built.encoder != encoder.name:
        try:
            encoder = remembered()
        except ModelError as cause:
            again = partial(_opened_or_told, remembered, why(str(cause)))
            encoder = LateEncoder(built.encoder, built.dimension, again)
    try:
        return open_as_built(config, home, built, credentials), encoder
    except OtherIdentityError:
        raise
    except SearchIndexError as cause:
        raise IndexMismatchError(why(str(cause))) from cause


def _opened_or_told(open_it: "Callable[[], Encoder]", told: str) -> "Encoder":
    """Return the encoder that built the index; raises `IndexMismatchError` while it is away."""
    try:
        return open_it()
    except ModelError as error:
        raise IndexMismatchError(told) from error


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


def document_kinds() -> list[str]:
    """Return the kinds of documents that are made, as a filter names them.

    Raises:
        ConfigError: An installed package announces a kind and does not bring it.
    """
    from pneuma_assets.core.describe.kinds import makers

    return [str(kind) for kind in makers()]
