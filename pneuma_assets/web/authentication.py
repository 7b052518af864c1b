"""Who asks: the person who started a local server, who holds a key, or whom a provider names."""

import asyncio
import getpass
import logging
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from starlette.requests import HTTPConnection

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.service.access_keys import asker_of, find_key
from pneuma_assets.core.service.state import StateReader
from pneuma_assets.core.store.keys import AccessKey
from pneuma_assets.web.oidc import Provider
from pneuma_assets.web.policy import Policy
from pneuma_assets.web.problems import RefusedError
from pneuma_assets.web.sessions import Sessions

logger = logging.getLogger(__name__)

_FRESH_SECONDS = 2.0
"""How long what was read counts: a key that was revoked is refused within it."""
_NOTED_SECONDS = 60.0


class KeyRing:
    """The keys of a deployment, for the event loop of one worker.

    Args:
        loaded: The deployment.
        environ: Holds the secrets that its file names.
    """

    def __init__(self, loaded: LoadedDeployment, environ: Mapping[str, str]) -> None:
        self._state = StateReader(loaded, environ)
        self._reading = ThreadPoolExecutor(1, "pneuma-keys")
        self._writing = ThreadPoolExecutor(1, "pneuma-keys-used")
        self._lock = asyncio.Lock()
        self._keys: list[AccessKey] = []
        self._read_at = float("-inf")
        self._used: dict[str, float] = {}

    async def find(self, text: str) -> AccessKey | None:
        """Return the valid key of this text.

        Raises:
            StateError: The state cannot be read, so nobody knows which keys count.
        """
        return self._noted(find_key(await self._current(), text, time.time()))

    async def by_id(self, key_id: str) -> AccessKey | None:
        """Return the valid key with this id, by which somebody logged in; raises likewise."""
        now = time.time()
        keys = await self._current()
        found = (one for one in keys if one.key_id == key_id and one.is_valid(now))
        return self._noted(next(found, None))

    def close(self) -> None:
        """Close the state."""
        for one in (self._reading, self._writing):
            one.shutdown(wait=False, cancel_futures=True)
        self._state.close()

    async def _current(self) -> list[AccessKey]:
        async with self._lock:
            if time.monotonic() - self._read_at > _FRESH_SECONDS:
                begun = time.monotonic()
                loop = asyncio.get_running_loop()
                self._keys = await loop.run_in_executor(self._reading, self._read)
                self._read_at = begun
            return self._keys

    def _read(self) -> list[AccessKey]:
        return self._state.read(lambda store: store.keys.all(), [])

    def _noted(self, key: AccessKey | None) -> AccessKey | None:
        """Have the use noted, seldom, by a thread that may wait for others that write."""
        if key is not None and time.monotonic() - self._used.get(key.key_id, -1e9) > _NOTED_SECONDS:
            self._used[key.key_id] = time.monotonic()
            self._writing.submit(self._note, key.key_id)
        return key

    def _note(self, key_id: str) -> None:
        try:
            self._state.read(lambda store: store.keys.note_used([key_id]), None)
        except PneumaError as error:
            logger.warning("that a key was used is not noted: %s", error)


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
            asker = None if mine is None else mine.asker(session["name"], session["readers"])
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
