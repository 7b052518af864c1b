"""From a deployment to its opened parts: the one place that puts them together.

Every door comes here: the command line, Python, Dagster's resources and jobs. What a part is opened
with is decided once, so no door can forget a key of the deployment file.
"""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.service.readiness import why_not_indexed

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import SearchIndex
    from pneuma_assets.core.models.base import Encoder, LanguageModel
    from pneuma_assets.core.relations.join_graph import JoinEdge
    from pneuma_assets.core.search.query import QueryEngine
    from pneuma_assets.core.store import Store
    from pneuma_assets.core.store.restore import Restored
    from pneuma_assets.core.tables import Vector

STATE_FILE = "state.db"


def has_state(loaded: LoadedDeployment, environ: Mapping[str, str]) -> bool:
    """Return whether anything was ever remembered of this deployment; creates nothing.

    Raises:
        ConfigError: A variable that holds a secret of the state is not set.
        StateError: The state's server cannot be asked.
    """
    if loaded.deployment.state.url is None:  # without what it takes to open one
        return _state_file(loaded).exists()
    from pneuma_assets.core.store import postgresql_database

    return postgresql_database.server_has_state(loaded.deployment.state, environ)


def open_store(loaded: LoadedDeployment, environ: Mapping[str, str]) -> "Store":
    """Open what the project remembers, and create it where there is none.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.

    Raises:
        ConfigError: A variable that holds a secret of the state is not set.
        StateError: It cannot be opened.
    """
    from pneuma_assets.core.store import store

    return store.open_store(loaded.deployment.state, _state_file(loaded), environ)


def restore_state(loaded: LoadedDeployment) -> "Restored | None":
    """Put a sound state file in the place of a damaged one; None if the file is whole.

    Raises:
        StateError: There is no file, it cannot be used, or the state is on a server.
    """
    if loaded.deployment.state.url is not None:
        raise StateError(
            "The state is in a PostgreSQL database, and `restore` is for a state file; bring back "
            "the database from a backup (docs/several-machines.md)."
        )
    from pneuma_assets.core.store.restore import restore

    return restore(_state_file(loaded))


def _state_file(loaded: LoadedDeployment) -> Path:
    return loaded.home / STATE_FILE


def identity_of_state(loaded: LoadedDeployment) -> tuple[int, int] | None:
    """Return which file the state is, another one where it was replaced; None where there is none.

    None, too, where it is on a server.
    """
    if loaded.deployment.state.url is not None:
        return None
    try:
        found = _state_file(loaded).stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateError(
            f"The state file cannot be looked at ({error}); check who may read the folder."
        ) from error
    return found.st_dev, found.st_ino


def models_folder(loaded: LoadedDeployment) -> Path:
    """Return the folder that converted language models are kept in."""
    return loaded.home / "models"


class AskedState(Protocol):
    """What questions ask of the state, as `kept_state.KeptState` answers it."""

    def joins_of(self, table_ids: Collection[str]) -> "Sequence[JoinEdge]":
        """Return the joins of some tables with any."""

    def headers_of(self, encoder: str, headers: Sequence[str]) -> "Mapping[str, Vector]":
        """Return the embeddings that are kept of headers by this encoder."""


def build_query_engine(
    loaded: LoadedDeployment,
    environ: Mapping[str, str],
    index: "SearchIndex",
    encoder: "Encoder",
    judge: "LanguageModel",
    state: AskedState,
) -> "QueryEngine":
    """Return what answers questions over an opened index, by the deployment's settings.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
        index: The deployment's, opened for asking.
        encoder: The one that embedded its blocks.
        judge: The deployment's, also where it is off by default: a question may ask for it.
        state: Tells which tables can be joined, and what is kept of headers.
    """
    from pneuma_assets.core.search.names import Elsewhere
    from pneuma_assets.core.search.query import QueryEngine
    from pneuma_assets.core.text.analysis import analyzer_named

    deployment = loaded.deployment
    return QueryEngine(
        index,
        encoder,
        judge,
        deployment.query,
        judge_by_default=deployment.judge.enabled,
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


def known_tables(loaded: LoadedDeployment, environ: Mapping[str, str]) -> list[str]:
    """Return the ids of the tables that are listed, indexed or not; creates nothing."""
    if not has_state(loaded, environ):
        return []
    with open_store(loaded, environ) as store:
        return store.tables.listed()


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
