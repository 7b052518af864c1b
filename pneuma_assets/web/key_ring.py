"""The API keys that count now, read from the state beside the requests that bring them."""

import asyncio
import logging
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import PneumaError, StateError
from pneuma_assets.core.service.access_keys import find_key
from pneuma_assets.core.service.state import StateReader
from pneuma_assets.core.store.keys import AccessKey

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
        for one in (self._reading, self._writing):
            one.submit(int)  # starts its thread: later there may be none left
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
        keys = self._state.read(lambda store: store.keys.all(), None)
        if keys is None:
            raise StateError("The state is gone, so nobody knows which keys count.")
        return keys

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
