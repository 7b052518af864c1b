"""Where the project remembers what it did: a file in the state folder, or a server."""

import re
from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from pneuma_assets.core.config.secrets import Url, VariableName
from pneuma_assets.core.config.section import Section


def _database_url(value: str) -> str:
    """Check the form of a database's address."""
    try:
        parts = urlsplit(value)
        named = bool(parts.path.strip("/"))
        usable = parts.scheme in {"postgresql", "postgres"} and bool(parts.hostname) and named
        _ = parts.port
    except ValueError:
        usable = False
    if not usable or not value.isprintable() or " " in value:
        raise ValueError("must be a database's address, such as postgresql://user@host:5432/name")
    return value.replace("postgres://", "postgresql://", 1)


def _schema_name(value: str) -> str:
    """Keep to names that need no quotes anywhere, and that PostgreSQL does not keep for itself."""
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", value) or value.startswith("pg_"):
        raise ValueError(
            "must be of lower-case letters, digits and '_', at most 63, no digit first, and not "
            "begin with 'pg_'"
        )
    return value


class StateConfig(Section):
    """A PostgreSQL database that several machines share; without one, a file of this machine."""

    url: Annotated[Url, AfterValidator(_database_url)] | None = Field(
        None, description="postgresql://USER@HOST:PORT/DATABASE; none: state.db in `home`."
    )
    password_env: VariableName | None = Field(
        None, description="Names the variable with the password; else libpq's own ways (.pgpass)."
    )
    schema_name: Annotated[str, AfterValidator(_schema_name)] = Field(
        "pneuma",
        description="The database's schema for the tables; made where there is none.",
    )

    @model_validator(mode="before")
    @classmethod
    def _an_address_is_enough(cls, given: Any) -> Any:
        """Let `state: postgresql://…` stand for a section with nothing but its address."""
        return {"url": given} if isinstance(given, str) else given

    @model_validator(mode="after")
    def _password_has_a_use(self) -> Self:
        """Catch a section whose address was forgotten: the state would be in a file."""
        if self.password_env is not None and self.url is None:
            raise ValueError("password_env is given, but no url that it is the password of")
        return self

    def location(self, home: Path) -> str:
        """Return where the state is, as people write it; `home` is the state folder."""
        return str(home) if self.url is None else f"{self.url}, schema {self.schema_name}"
