"""An OpenID Connect provider on a port of this machine, which signs in whoever a test says."""

import base64
import hashlib
import hmac
import json
import time
from contextlib import contextmanager
from typing import Annotated
from urllib.parse import urlencode

from fastapi import FastAPI, Form, Request
from fastapi.responses import JSONResponse, RedirectResponse
from joserfc import jwt
from joserfc.jwk import ECKey, RSAKey

from tests.support.served_port import listening

CLIENT, CLIENT_SECRET = "pneuma", "of the client"


class OidcProvider:
    """Its keys, whom it signs in next, and what was asked of it."""

    def __init__(self) -> None:
        self.issuer = ""
        self.keys = {"one": RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})}
        self.curve = ECKey.generate_key("P-256", {"kid": "curve", "use": "sig"})
        self.claims: dict[str, object] = {"sub": "ana", "groups": ["finance"]}
        self.nonce_of_answer: str | None = None
        self.asked: list[str] = []
        self._codes: dict[str, dict[str, str]] = {}
        self.app = FastAPI()
        self.app.get("/.well-known/openid-configuration")(self._metadata)
        self.app.get("/jwks")(self._jwks)
        self.app.get("/authorize")(self._authorize)
        self.app.post("/token")(self._token)

    def token(self, alg: str = "RS256", kid: str = "one", key=None, **claims: object) -> str:
        """A token as this provider signs it; a claim that is None is left out."""
        now = int(time.time())
        whole = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, **self.claims}
        whole = {name: one for name, one in (whole | claims).items() if one is not None}
        chosen = key or (self.curve if kid == "curve" else self.keys.get(kid) or self.keys["one"])
        return jwt.encode({"alg": alg, "kid": kid}, whole, chosen, algorithms=[alg])

    def unsigned(self) -> str:
        """A token of the algorithm `none`, which nobody signed."""
        parts = ({"alg": "none"}, {"iss": self.issuer, "aud": CLIENT, **self.claims})
        packed = (base64.urlsafe_b64encode(json.dumps(one).encode()).decode() for one in parts)
        return ".".join(packed).replace("=", "") + "."

    def by_public_key(self) -> str:
        """A token signed by a secret that everybody knows: the provider's public key."""
        head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "one"}).encode())
        signed = head.rstrip(b"=") + b"." + self.token().split(".")[1].encode()
        public = self.keys["one"].as_pem(private=False)
        mac = base64.urlsafe_b64encode(hmac.digest(public, signed, "sha256"))
        return f"{signed.decode()}.{mac.decode().rstrip('=')}"

    async def _metadata(self) -> dict[str, str]:
        self.asked.append("metadata")
        return {
            "issuer": self.issuer,
            "jwks_uri": f"{self.issuer}/jwks",
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
        }

    async def _jwks(self) -> dict[str, object]:
        self.asked.append("jwks")
        return {"keys": [one.as_dict(private=False) for one in (*self.keys.values(), self.curve)]}

    async def _authorize(self, request: Request) -> RedirectResponse:
        asked = dict(request.query_params)
        assert asked["code_challenge_method"] == "S256"
        assert asked["response_type"] == "code"
        code = f"code-{len(self._codes)}"
        self._codes[code] = asked
        given = urlencode({"code": code, "state": asked["state"]})
        return RedirectResponse(f"{asked['redirect_uri']}?{given}", 303)

    async def _token(
        self,
        request: Request,
        code: Annotated[str, Form()],
        code_verifier: Annotated[str, Form()],
        redirect_uri: Annotated[str, Form()],
    ) -> JSONResponse:
        asked = self._codes.pop(code, None)
        digest = hashlib.sha256(code_verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        client = base64.b64encode(f"{CLIENT}:{CLIENT_SECRET.replace(' ', '+')}".encode()).decode()
        plain = base64.b64encode(f"{CLIENT}:{CLIENT_SECRET}".encode()).decode()
        is_client = request.headers["authorization"] in (f"Basic {client}", f"Basic {plain}")
        is_right = asked and asked["code_challenge"] == challenge and is_client
        if not is_right or asked["redirect_uri"] != redirect_uri:
            return JSONResponse({"error": "invalid_grant"}, 400)
        token = self.token(nonce=self.nonce_of_answer or asked["nonce"])
        return JSONResponse({"access_token": "x", "token_type": "Bearer", "id_token": token})


@contextmanager
def running_provider():
    provider = OidcProvider()
    with listening(provider.app) as port:
        provider.issuer = f"http://127.0.0.1:{port}"
        yield provider
