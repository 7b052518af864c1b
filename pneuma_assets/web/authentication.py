"""Who asks: the person who started a local server, who holds a key, or whom a provider names."""

import getpass
from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.service.access_keys import asker_of
from pneuma_assets.web.key_ring import KeyRing
from pneuma_assets.web.oidc import Provider
from pneuma_assets.web.policy import Policy
from pneuma_assets.web.problems import RefusedError
from pneuma_assets.web.sessions import Sessions


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and how that is known.

    Attributes:
        asker: Who asks.
        counted_as: By which their requests are counted.
        session_id: Of a login in a browser; empty for others.
        is_ambient: Whether a browser proves it by itself, whatever page has it ask.
    """

    asker: Asker
    counted_as: str
    session_id: str = ""
    is_ambient: bool = False


class Authentication:
    """Tells who asks, of one worker.

    Args:
        loaded: The deployment.
        policy: How the server is reached.
        environ: Holds the secrets that the deployment names.
    """

    def __init__(
        self, loaded: LoadedDeployment, policy: Policy, environ: Mapping[str, str]
    ) -> None:
        web = loaded.deployment.web
        self.sessions = Sessions(policy, web.session_hours * 3600)
        self.provider = None if web.oidc.issuer is None else Provider(web, environ)
        self.keys = KeyRing(loaded, environ)
        self._local = Caller(local_asker(), "local", is_ambient=True) if policy.is_local else None

    async def caller_of(self, request: HTTPConnection) -> Caller | None:
        """Return who asks; None for who proves nothing.

        Raises:
            RefusedError: What proves it is wrong, or too old.
            StateError: Keys cannot be read.
        """
        if self._local is not None:
            return self._local
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme:
            asker = await self._by_token(token.strip()) if scheme.lower() == "bearer" else None
            if asker is None:
                raise RefusedError(
                    401,
                    "not-known",
                    "This key or token is wrong, has run out, or was revoked; ask for another.",
                    {"WWW-Authenticate": 'Bearer error="invalid_token"'},
                )
            return Caller(asker, f"token {asker.name}")
        return await self._by_session(request)

    async def by_key(self, text: str) -> tuple[Asker, str] | None:
        """Return who holds a key, and the key's id; raises `StateError` likewise."""
        key = await self.keys.find(text)
        return None if key is None else (asker_of(key), key.key_id)

    def close(self) -> None:
        """Let go of the state."""
        self.keys.close()

    async def _by_token(self, token: str) -> Asker | None:
        if token.startswith("pneuma_"):
            found = await self.by_key(token)
            return None if found is None else found[0]
        return None if self.provider is None else await self.provider.asker_of_token(token)

    async def _by_session(self, request: HTTPConnection) -> Caller | None:
        session = self.sessions.session_of(request)
        if session is None:
            return None
        if "key" in session:
            key = await self.keys.by_id(str(session["key"]))
            asker = None if key is None else asker_of(key)
        else:
            mine = self.provider
            asker = None if mine is None else mine.asker(session["names"])
        if asker is None:
            return None
        return Caller(asker, f"session {asker.name}", str(session["id"]), is_ambient=True)


def local_asker() -> Asker:
    """Return who is logged in on this machine, who may see and change all."""
    try:
        name = getpass.getuser()
    except (ImportError, KeyError, OSError):
        name = "local"
    return Asker(name, is_operator=True)
