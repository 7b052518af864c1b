"""Every promise of the store is kept by a SQLite file and by a PostgreSQL server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

from pneuma_assets.core.store import Store
from pneuma_assets.core.store.postgresql_database import PostgreSQL

BACKENDS = ["sqlite", pytest.param("postgresql", marks=pytest.mark.integration)]


@pytest.fixture(params=BACKENDS)
def state(request, tmp_path) -> Path | PostgreSQL:
    """Where a state is, or will be."""
    if request.param == "sqlite":
        return tmp_path / "state.db"
    url = make_url(request.getfixturevalue("postgresql_database"))
    return PostgreSQL(url, "pneuma", url.password)


@pytest.fixture
def open_store(state) -> Callable[[], Store]:
    """Open one and the same state, as often as it is called."""
    return lambda: Store(state)


@pytest.fixture
def store(open_store) -> Iterator[Store]:
    """An empty state."""
    with open_store() as opened:
        yield opened
