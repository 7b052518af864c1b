"""A source of a deployment file becomes one that can be read; drivers are imported here."""

from importlib import import_module
from typing import TYPE_CHECKING

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.sources.sql.catalog import Wanted
from pneuma_assets.core.sources.sql.connecting import Server
from pneuma_assets.core.sources.sql.dialect import Dialect
from pneuma_assets.core.sources.sql.engines import ENGINES
from pneuma_assets.core.sources.sql.source import SqlSource
from pneuma_assets.core.text.suggest import nearest

if TYPE_CHECKING:
    from pneuma_assets.core.sources.kinds.sql import SqlSourceConfig

_ROOM = __package__


def open_source(config: "SqlSourceConfig", password: str | None) -> SqlSource:
    """Return what reads a database; nothing is reached yet.

    Raises:
        ConfigError: Its driver is not installed, or its URL is none that SQLAlchemy takes.
    """
    url = _url(config, password)
    module, _, name = config.engine.place.partition(":")
    try:
        dialect: Dialect = getattr(import_module(f"{_ROOM}.{module}"), name)(config.bounds)
        url.get_dialect().import_dbapi()
    except (ImportError, NoSuchModuleError) as error:
        raise ConfigError(_missing(config, error)) from error
    wanted = Wanted(config.include, config.exclude, config.schemas)
    return SqlSource(
        config.name, Server(url, dialect, password, config.databases), wanted, config.location_of
    )


def _url(config: "SqlSourceConfig", password: str | None) -> URL:
    try:
        url = make_url(config.url)
    except ArgumentError as error:
        raise ConfigError(
            f"source {config.name!r}: its url is none that SQLAlchemy takes; write it as "
            "dialect://user@host:port/database"
        ) from error
    if config.engine.driver and "+" not in url.drivername:
        url = url.set(drivername=config.engine.driver)
    return url if password is None else url.set(password=password)


def _missing(config: "SqlSourceConfig", error: Exception) -> str:
    extra, kind = config.engine.extra, config.engine.kind
    known = {engine.kind for engine in ENGINES.values()}
    if kind not in known and (meant := nearest(kind, known, most=1, alike=0.75)):
        return (
            f"source {config.name!r}: SQLAlchemy has no dialect {kind!r}, with which its url "
            f"begins; did you mean {meant[0]}?"
        )
    remedy = (
        f"pip install 'pneuma-assets[{extra}]'"
        if extra
        else "install the package that brings this dialect of SQLAlchemy and its driver"
    )
    return f"source {config.name!r} cannot be read without its driver ({error}); {remedy}"
