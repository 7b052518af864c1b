"""The deployment's state: whether there is one, opening and restoring it, and reading it."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pneuma_assets.core.close_once import Closing, Shared
from pneuma_assets.core.config.load import FILE_NAME, LoadedDeployment
from pneuma_assets.core.errors import StateError
from pneuma_assets.core.sqlite_codes import address_of, identity_of

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store
    from pneuma_assets.core.store.restore import Restored
    from pneuma_assets.core.store.usage import Usage

T = TypeVar("T")

STATE_FILE = "state.db"


def has_state(loaded: LoadedDeployment, environ: Mapping[str, str]) -> bool:
    """Return whether anything was ever remembered of this deployment; creates nothing.

    Raises:
        ConfigError: A variable that holds a secret of the state is not set.
        StateError: The state's server cannot be asked.
    """
    if loaded.deployment.state.url is None:  # without what it takes to open one
        names = STATE_FILE, f"{STATE_FILE}.backup"  # opening tells to restore one that is gone
        return any((loaded.home / one).exists() for one in names)
    from pneuma_assets.core.store import postgresql_database

    server = postgresql_database.server_of(loaded.deployment.state, environ)
    return server is not None and postgresql_database.is_made(server)


def has_keys(loaded: LoadedDeployment, environ: Mapping[str, str]) -> bool:
    """Return whether an API key was ever made, be it revoked or not; creates nothing.

    Raises:
        ConfigError: A variable that holds a secret of the state is not set.
        StateError: Nobody knows: the state cannot be read, or is absent where not all is new.
    """
    from pneuma_assets.core.index.registry import may_have_index

    what = there = ""
    if has_state(loaded, environ):
        with open_store(loaded, environ) as store:
            if not store.keys.are_unknown():
                return bool(store.keys.all())
        what, there = "The state has no key", "keys were made, or may have been, in another"
    elif loaded.deployment.state.url is None:
        found = {one.name for one in loaded.home.iterdir()} if loaded.home.exists() else set()
        own = {one for one in found - {FILE_NAME, f"{FILE_NAME}.lock"} if not one.startswith(".")}
        elsewhere = may_have_index(loaded.deployment.index, loaded.home)
        what = "There is no state"
        there = ", ".join(sorted(own)[:3]) or "an index elsewhere" * elsewhere
    if there:
        raise StateError(
            f"{what} in {loaded.home}, but {there}: nobody knows whether there were keys. Name the "
            "right folder by --home, bring back state.db or said.jsonl, or make a key: "
            "pneuma-assets keys create NAME --operator"
        )
    return False


def open_store(loaded: LoadedDeployment, environ: Mapping[str, str]) -> "Store":
    """Open what the project remembers, and create it where there is none.

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


def history_of(home: Path) -> str:
    """Return what tells the history that Dagster has of runs from any other, also one made anew."""
    folder = Path(os.environ.get("DAGSTER_HOME") or home / "dagster")
    events = folder / "history" / "runs" / "index.db"
    return f"{folder} {events.stat().st_ino if events.exists() else 'elsewhere'}"


def _state_file(loaded: LoadedDeployment) -> Path:
    return loaded.home / STATE_FILE


def _identity_of_state(loaded: LoadedDeployment) -> tuple[int, ...] | None:
    """Return which file the state is, another one where it was replaced; None where there is none.

    None, too, where it is on a server.
    """
    if loaded.deployment.state.url is not None:
        return None
    try:
        return identity_of(_state_file(loaded))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StateError(
            f"The state file cannot be looked at ({error}); check who may read the folder."
        ) from error


def _nobody_answered(loaded: LoadedDeployment) -> bool:
    """Tell that the state file has no answers, without what it takes to open it as a state."""
    if loaded.deployment.state.url is not None:
        return False
    try:
        where = address_of(_state_file(loaded), "rw")
        with closing(sqlite3.connect(where, uri=True)) as connection:
            (there,) = connection.execute("SELECT EXISTS (SELECT 1 FROM answers)").fetchone()
    except sqlite3.Error:  # opening it says why
        return False
    return not there


def models_folder(loaded: LoadedDeployment) -> Path:
    """Return the folder that converted language models are kept in."""
    return loaded.home / "models"


class KeptStore(Closing):
    """The state, kept open between its uses by any number of threads.

    It is opened again where its file is another by now, and closed after the last use that had
    begun before.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
    """

    def __init__(self, loaded: LoadedDeployment, environ: Mapping[str, str]) -> None:
        self._loaded, self._environ = loaded, environ
        self._lock = threading.Lock()
        self._store: Shared[Store] = Shared(lambda: open_store(loaded, environ))
        self._identity: tuple[int, ...] | None = None

    @contextmanager
    def use(self) -> "Iterator[Store | None]":
        """Keep the state open within the block; None where there is none, and none is created.

        Raises:
            StateError: The state cannot be opened.
        """
        with ExitStack() as kept:
            with self._lock:
                identity = _identity_of_state(self._loaded)
                if identity != self._identity:
                    self._store.retire()
                    self._identity = identity
                there = self._store.is_open or has_state(self._loaded, self._environ)
                store = kept.enter_context(self._store.use()) if there else None
            yield store

    @property
    def is_open(self) -> bool:
        """Whether the state is open now."""
        return self._store.is_open

    def current(self) -> "Store":
        """Return the state, created where there is none; it may be closed at any time."""
        with self._lock:
            store = self._store.current()
            self._identity = self._identity or _identity_of_state(self._loaded)
            return store

    def close(self) -> None:
        """Close the state when its last use has ended; a next one opens it."""
        self._store.retire()


_FEW = 2
"""How often one command reads answers, for which opening the state would take too long."""


class StateReader(Closing):
    """Asks the state as it is now; for any number of threads.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
    """

    def __init__(self, loaded: LoadedDeployment, environ: Mapping[str, str]) -> None:
        self._loaded, self._kept = loaded, KeptStore(loaded, environ)
        self._asked = 0

    def answers(self, question: "Callable[[Usage], T]", nothing: T) -> T:
        """Return what reading answers that people gave comes to; `nothing` without a state.

        Raises:
            StateError: The state cannot be opened or read.
        """
        self._asked += 1
        few = self._asked <= _FEW and not self._kept.is_open
        if few and _nobody_answered(self._loaded):
            return nothing
        return self.read(lambda store: question(store.usage), nothing)

    def close(self) -> None:
        """Close the state when the last question that reads it has ended; a next one opens it."""
        self._kept.close()

    def read(self, question: "Callable[[Store], T]", nothing: T) -> T:
        """Return what asking the state comes to; `nothing` where there is none: none is created.

        Raises:
            StateError: The state cannot be opened, or not be read or written.
        """
        try:
            return self._read_once(question, nothing)
        except StateError:  # another than it was: seen by opening it
            self.close()
        return self._read_once(question, nothing)

    def _read_once(self, question: "Callable[[Store], T]", nothing: T) -> T:
        with self._kept.use() as store:
            return nothing if store is None else question(store)
