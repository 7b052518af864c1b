"""An OpenID Connect provider: its tokens are checked here, and it signs people in for the page."""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.httpx_client import AsyncOAuth2Client
from joserfc import jwt
from joserfc.errors import BadSignatureError, InvalidKeyIdError, JoseError
from joserfc.jwk import KeySet

from pneuma_assets.core.access_names import Asker, names_of_asker
from pneuma_assets.core.config.secrets import read_secret
from pneuma_assets.core.config.web import WebConfig
from pneuma_assets.core.errors import QueryError
from pneuma_assets.web.problems import RefusedError

logger = logging.getLogger(__name__)

ALGORITHMS = tuple(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512))
"""Signatures by keys of which the other half stays with the provider; no others are ever taken."""

_MOST_BYTES = 1_000_000
_MOST_TOKEN = 16_000
_SECONDS = 5.0
_KEPT_SECONDS = 3600.0
_LEAST_BETWEEN = 30.0
"""Seconds between two looks for a key that is not known, however many tokens ask for one."""
_LEEWAY = 30


class Provider:
    """One provider, as the deployment names it.

    Args:
        config: The section `web`.
        environ: Holds the client's secret.
    """

    def __init__(self, config: WebConfig, environ: Mapping[str, str]) -> None:
        self._config, self._oidc = config, config.oidc
        self._issuer, self.client_id = str(config.oidc.issuer), str(config.oidc.client_id)
        variable, where = config.oidc.client_secret_env, "web.oidc.client_secret_env"
        self._secret = variable and read_secret(environ, variable, where, "the client's secret")
        self._kept: dict[str, tuple[float, dict[str, Any]]] = {}
        self._failed: dict[str, float] = {}
        self._lock = asyncio.Lock()

    async def asker_of_token(self, token: str) -> Asker | None:
        """Return whom a token names that a program sends; None where it does not count."""
        names = self._names_in(await self._claims(token, self._oidc.audience or self.client_id))
        return None if names is None else self.asker(names)

    def asker(self, names: Sequence[str]) -> Asker:
        """Return who has a name and groups, with the rights that the deployment gives these now.

        Args:
            names: Their own name, then their groups.
        """
        is_operator = not set(names).isdisjoint(self._config.operators)
        may_edit = is_operator or not set(names).isdisjoint(self._config.editors)
        return Asker(names[0], None if is_operator else tuple(names), may_edit, is_operator)

    async def begin_login(self, redirect_uri: str) -> tuple[str, dict[str, str]]:
        """Return where a browser signs in, and what its return is checked against."""
        kept = {name: secrets.token_urlsafe(32) for name in ("state", "nonce", "code_verifier")}
        kept["code_verifier"] += secrets.token_urlsafe(16)
        found = await self._metadata()
        async with self._client(redirect_uri) as client:
            url, _ = client.create_authorization_url(found["authorization_endpoint"], **kept)
        return str(url), kept

    async def end_login(self, kept: Mapping[str, Any], code: str, redirect_uri: str) -> list[str]:
        """Return the name of who signed in, then their groups.

        Raises:
            RefusedError: The provider takes the code for none of its own, or its answer is wrong.
        """
        found = await self._metadata()
        try:
            async with self._client(redirect_uri) as client:
                answer = await client.fetch_token(
                    found["token_endpoint"], code=code, code_verifier=kept["code_verifier"]
                )
            token = str(answer["id_token"])
        except (AuthlibBaseError, httpx.HTTPError, KeyError, ValueError) as error:
            raise _not_confirmed() from error
        claims = await self._claims(token, self.client_id)
        names = self._names_in(claims)
        if names is None or claims.get("nonce") != kept["nonce"]:
            raise _not_confirmed()
        return names

    def _client(self, redirect_uri: str) -> AsyncOAuth2Client:
        return AsyncOAuth2Client(
            self.client_id,
            self._secret,
            token_endpoint_auth_method="client_secret_basic" if self._secret else "none",
            scope="openid profile email",
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            timeout=_SECONDS,
        )

    def _names_in(self, claims: Mapping[str, Any]) -> list[str] | None:
        """Return the name in claims, then the groups; None without a name, or with too many."""
        claim = self._oidc.name_claim
        name = claims.get(claim)
        is_proved = claim != "email" or claims.get("email_verified") is True
        if not isinstance(name, str) or not name.strip() or not is_proved:
            return None
        groups = claims.get(self._oidc.groups_claim) or []
        groups = [groups] if isinstance(groups, str) else groups
        if not isinstance(groups, list) or not all(isinstance(one, str) for one in groups):
            return None
        try:
            names_of_asker([name, *groups])
        except QueryError:
            return None
        return [name, *groups]

    async def _claims(self, token: str, audience: str) -> dict[str, Any]:
        """Return the claims of a token that this provider signed for this audience, and now."""
        if len(token) > _MOST_TOKEN or token.count(".") != 2:
            return {}
        for is_sought in (False, True):
            keys = await self._keys(is_sought=is_sought)
            try:
                found = jwt.decode(token, keys, algorithms=ALGORITHMS).claims
                self._registry(audience).validate(found)
            except (InvalidKeyIdError, BadSignatureError):
                continue  # by a key that the provider may have only since shortly, under an old id
            except (JoseError, ValueError, TypeError, KeyError):
                return {}
            return dict(found)
        return {}

    def _registry(self, audience: str) -> jwt.JWTClaimsRegistry:
        return jwt.JWTClaimsRegistry(
            leeway=_LEEWAY,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": audience},
            exp={"essential": True},
        )

    async def _metadata(self) -> dict[str, Any]:
        url = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
        found = await self._fetched(url, _KEPT_SECONDS)
        if found.get("issuer") != self._issuer:
            raise _away()
        return found

    async def _keys(self, *, is_sought: bool) -> KeySet:
        """Return the public keys; fetched anew, but seldom, where one is sought that is absent."""
        found = await self._metadata()
        kept = _LEAST_BETWEEN if is_sought else _KEPT_SECONDS
        answer = await self._fetched(str(found.get("jwks_uri")), kept)
        try:
            keys = [one for one in answer["keys"] if one.get("kty") in ("RSA", "EC")]
            return KeySet.import_key_set(
                {"keys": [k for k in keys if k.get("use", "sig") == "sig"]}
            )
        except (JoseError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise _away() from error

    async def _fetched(self, url: str, kept_seconds: float) -> dict[str, Any]:
        """Return a JSON document of the provider, so old at most, or while it is away as it was."""
        async with self._lock:
            now = time.monotonic()
            at, found = self._kept.get(url, (float("-inf"), {}))
            if now - at >= kept_seconds and now - self._failed.get(url, -60.0) > _SECONDS:
                try:
                    found = await _fetch(url)
                    self._kept[url] = now, found
                except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                    self._failed[url] = time.monotonic()
                    logger.warning("the provider of web.oidc did not answer: %s", error)
            if not found:
                raise _away()
            return found


async def _fetch(url: str) -> dict[str, Any]:
    async with (
        httpx.AsyncClient(timeout=_SECONDS) as client,
        client.stream("GET", url) as response,
    ):
        response.raise_for_status()
        body = b""
        async for part in response.aiter_bytes():
            body += part
            if len(body) > _MOST_BYTES:
                raise ValueError(url)
    found = json.loads(body)
    if not isinstance(found, dict):
        raise httpx.DecodingError(url)
    return found


def _not_confirmed() -> RefusedError:
    return RefusedError(
        403, "login-failed", "The provider did not confirm the login; log in again."
    )


def _away() -> RefusedError:
    return RefusedError(503, "provider-away", "Who asks cannot be checked now; ask again later.")
