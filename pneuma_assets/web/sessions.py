"""Logins of browsers in signed cookies, and the tokens by which a page's own requests are told."""

import hashlib
import hmac
import secrets
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer
from starlette.requests import HTTPConnection
from starlette.responses import Response

from pneuma_assets.web.policy import Policy
from pneuma_assets.web.problems import RefusedError

CSRF_HEADER, CSRF_FIELD = "X-CSRF-Token", "csrf_token"
_MOST_BYTES = 3_800
"""Of a cookie; browsers drop those of more than 4,096 with its name and attributes."""
_LOGIN_SECONDS = 600
"""How long somebody may take at the provider's."""


class Sessions:
    """Writes and reads the cookies of one server.

    Args:
        policy: Has the secret that signs them.
        seconds: How long a login lasts.
    """

    def __init__(self, policy: Policy, seconds: float) -> None:
        self._policy, self._seconds = policy, int(seconds)
        self._prefix = "__Host-" if policy.is_encrypted else ""

    def begin(self, response: Response, who: dict[str, Any]) -> None:
        """Let a browser be logged in from this response on."""
        session = {**who, "id": secrets.token_urlsafe(16)}
        self._set(response, "pneuma-session", session, self._seconds)

    def session_of(self, request: HTTPConnection) -> dict[str, Any] | None:
        """Return who was logged in, unless the cookie is forged or too old."""
        return self._get(request, "pneuma-session", self._seconds)

    def begin_login(self, response: Response, kept: dict[str, Any]) -> None:
        """Keep in the browser what its return from the provider is checked against."""
        self._set(response, "pneuma-login", kept, _LOGIN_SECONDS)

    def login_of(self, request: HTTPConnection) -> dict[str, Any] | None:
        """Return what `begin_login` kept."""
        return self._get(request, "pneuma-login", _LOGIN_SECONDS)

    def end(self, response: Response, *names: str) -> None:
        """Have the browser forget cookies: `pneuma-session`, `pneuma-login`."""
        for name in names:
            response.delete_cookie(
                self._prefix + name,
                secure=self._policy.is_encrypted,
                httponly=True,
                samesite="lax",
            )

    def csrf_token(self, session_id: str) -> str:
        """Return a token for the forms of one page; another each time, as pages are compressed."""
        salt = secrets.token_hex(8)
        return f"{salt}.{self._mac(salt, session_id)}"

    def is_own(self, token: str, session_id: str) -> bool:
        """Tell whether a token was made for this session."""
        salt, _, mac = token.partition(".")
        return hmac.compare_digest(mac.encode(), self._mac(salt, session_id).encode())

    def _mac(self, salt: str, session_id: str) -> str:
        text = f"csrf {salt} {session_id}".encode("utf-8", "replace")
        return hmac.new(self._policy.secret.encode(), text, hashlib.sha256).hexdigest()

    def _signer(self, name: str) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(
            self._policy.secret, salt=name, signer_kwargs={"digest_method": hashlib.sha256}
        )

    def _set(self, response: Response, name: str, value: dict[str, Any], seconds: int) -> None:
        text = self._signer(name).dumps(value)
        if len(text) > _MOST_BYTES:
            raise RefusedError(
                403,
                "too-many-groups",
                "The provider names more groups of yours than a login can hold; have it name only "
                "those that tables let in.",
            )
        response.set_cookie(
            self._prefix + name,
            str(text),
            max_age=seconds,
            secure=self._policy.is_encrypted,
            httponly=True,
            samesite="lax",
        )

    def _get(self, request: HTTPConnection, name: str, seconds: int) -> dict[str, Any] | None:
        text = request.cookies.get(self._prefix + name)
        if text is None:
            return None
        try:
            value = self._signer(name).loads(text, max_age=seconds)
        except BadData:
            return None
        return value if isinstance(value, dict) else None
