"""From the `state` section of a deployment file to the opened store."""

from collections.abc import Mapping
from pathlib import Path

from sqlalchemy import make_url

from pneuma_assets.core.config.state import StateConfig
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.store.postgresql_database import PostgreSQL, is_made
from pneuma_assets.core.store.store import Store


def open_store(config: StateConfig, file: Path, environ: Mapping[str, str]) -> Store:
    """Open what the project remembers, and create it where there is none.

    Args:
        config: Where it is.
        file: The state file, for a state that is on no server.
        environ: Holds the password of a server.

    Raises:
        ConfigError: The password's variable is not set.
        StateError: It cannot be opened.
    """
    server = server_of(config, environ)
    return Store(file if server is None else server)


def server_has_state(config: StateConfig, environ: Mapping[str, str]) -> bool:
    """Return whether anything was ever remembered on the server, if there is one; creates nothing.

    Raises:
        ConfigError: The password's variable is not set.
        StateError: The server cannot be asked.
    """
    server = server_of(config, environ)
    return server is not None and is_made(server)


def server_of(config: StateConfig, environ: Mapping[str, str]) -> PostgreSQL | None:
    """Return where the state's server is; None for a state that is on none.

    Raises:
        ConfigError: The password's variable is not set.
    """
    if config.url is None:
        return None
    password = None
    if config.password_env is not None:
        password = environ.get(config.password_env)
        if not password:
            raise ConfigError(
                f"state: the environment variable {config.password_env} is not set; it holds the "
                "password of the state's database"
            )
    return PostgreSQL(make_url(config.url), config.schema_name, password)
