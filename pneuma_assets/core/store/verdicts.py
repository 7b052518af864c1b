"""How each check came out last, so that nobody need run them to know that nothing is otherwise."""

import json
from collections.abc import Mapping

from sqlalchemy import select

from pneuma_assets.core.store.database import Database
from pneuma_assets.core.store.schema import meta
from pneuma_assets.core.store.statements import upsert

_KEY = "verdicts"


class Verdicts:
    """The part of the store that knows what people were told by the checks."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def read(self) -> dict[str, bool]:
        """Return of each check that has run, by name, whether it passed."""
        found = self._db.read(select(meta.c.value).where(meta.c.key == _KEY))
        known: dict[str, bool] = json.loads(found[0].value) if found else {}
        return known

    def keep(self, verdicts: Mapping[str, bool]) -> None:
        """Note how checks came out; those not named are as they were."""
        with self._db.write() as connection:
            value = json.dumps({**self.read(), **verdicts})
            upsert(connection, meta, [{"key": _KEY, "value": value}])
