"""How to sign in at an engine that asks: which variables hold the secrets, and the secrets."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pneuma_assets.core.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Credentials:
    """How to sign in; the secrets never show in a repr."""

    api_key: str | None = field(default=None, repr=False)
    username: str | None = None
    password: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SignIn:
    """What a deployment file says of signing in: it names variables and holds no secret.

    With neither key nor user nobody signs in.
    """

    api_key_env: str | None = None
    username: str | None = None
    password_env: str | None = None

    def read(self, section: str, environ: Mapping[str, str]) -> Credentials:
        """Read the secrets; `section` is where a message finds the names of their variables.

        Raises:
            ConfigError: A variable is not set.
        """

        def secret(variable: str | None, key: str) -> str | None:
            if variable is None:
                return None
            value = environ.get(variable, "").strip()
            if not value:
                raise ConfigError(
                    f"{section}.{key}: the environment variable {variable} is not set; "
                    "set it to the secret"
                )
            return value

        return Credentials(
            secret(self.api_key_env, "api_key_env"),
            self.username,
            secret(self.password_env, "password_env"),
        )

    def holding(self, api_key: str | None, password: str | None) -> Credentials:
        """Return the credentials with secrets that somebody else has read."""
        return Credentials(api_key, self.username, password)
