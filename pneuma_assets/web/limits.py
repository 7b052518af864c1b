"""How much one asker may send: so many requests a minute, a body so large and so soon."""

import asyncio
import time
from collections import OrderedDict

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from pneuma_assets.web.problems import RefusedError

MOST_BODY_BYTES = 1_000_000
_BODY_SECONDS = 15.0
_MOST_COUNTED = 10_000


class RateLimiter:
    """A bucket of requests for each asker, of one worker process; several workers count apart.

    Args:
        per_minute: How many fit into a bucket, which is full again after a minute.
    """

    def __init__(self, per_minute: int) -> None:
        self._most, self._rate = float(per_minute), per_minute / 60.0
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str) -> None:
        """Count a request; raises `RefusedError` (429) where there were too many."""
        now = time.monotonic()
        left, at = self._left.pop(who, (self._most, now))
        left = min(self._most, left + (now - at) * self._rate)
        is_taken = left >= 1.0
        self._left[who] = left - is_taken, now
        if len(self._left) > _MOST_COUNTED:
            self._left.popitem(last=False)
        if not is_taken:
            wait = str(max(1, round((1.0 - left) / self._rate)))
            raise RefusedError(429, "too-many", "Too many requests; wait.", {"Retry-After": wait})


async def read_body(receive: Receive, declared: str | None) -> Receive:
    """Read the body of a request, and return what gives it again.

    Args:
        receive: Of the request.
        declared: Its Content-Length, if it says one.

    Raises:
        RefusedError: It is too large, or comes too slowly.
        ClientDisconnect: Who asks has left.
    """
    if declared is not None and (not declared.isdecimal() or int(declared[:20]) > MOST_BODY_BYTES):
        raise _too_large()
    messages: list[Message] = []
    size = 0
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            while not messages or messages[-1].get("more_body"):
                messages.append(await receive())
                if messages[-1]["type"] == "http.disconnect":
                    raise ClientDisconnect
                size += len(messages[-1].get("body", b""))
                if size > MOST_BODY_BYTES:
                    raise _too_large()
    except TimeoutError as error:
        raise RefusedError(408, "too-slow", "The request came too slowly.") from error
    messages.reverse()

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def _too_large() -> RefusedError:
    return RefusedError(413, "too-large", f"Send at most {MOST_BODY_BYTES:,} bytes.")
