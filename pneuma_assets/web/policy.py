"""How a server is reached, which decides who may ask without proof and how cookies are kept."""

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from ipaddress import ip_address
from typing import Any, Final, Self
from urllib.parse import urlsplit

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.secrets import read_secret
from pneuma_assets.core.errors import ConfigError

VARIABLE = "PNEUMA_WEB"
"""Carries the policy to the worker processes of one server."""

SERVER: Final[Mapping[str, Any]] = {
    "http": "h11",  # bounds the head of a request; the other parser does not
    "ws": "none",
    "access_log": False,
    "log_level": "warning",
    "server_header": False,
    "timeout_graceful_shutdown": 5,
}
"""How uvicorn runs the app.

It ends no connection that sends nothing, and `limit_concurrency` would count those: a few idle ones
would have everybody refused. A proxy ends them (docs/web.md).
"""

_LEAST_SECRET = 32
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
_OF_PROXIES = (
    *("forwarded", "via", "x-forwarded", "x-real-ip", "x-client-ip", "x-cluster-client-ip"),
    *("x-original-", "x-envoy-", "x-proxy", "x-arr-", "x-azure-", "x-amzn-", "x-appengine-"),
    *("cf-", "cdn-", "true-client-ip", "fastly-", "fly-", "tailscale-"),
)
"""How names of headers begin that proxies, tunnels and load balancers add."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What `serve` decided before its workers started.

    Attributes:
        is_local: Whoever reaches it is the one person who started it, without proof.
        is_encrypted: Browsers reach it by https, so that cookies go nowhere else.
        secret: Signs sessions and the tokens against forged requests.
    """

    is_local: bool
    is_encrypted: bool
    secret: str

    def to_environ(self) -> str:
        """Return what `from_environ` reads, for the variable of the workers."""
        return json.dumps(asdict(self))

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Self:
        """Return the policy that the variable carries.

        Raises:
            ConfigError: It carries none.
        """
        try:
            return cls(**json.loads(environ[VARIABLE]))
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError("start the server by: pneuma-assets serve") from error

    def allows(self, headers: Mapping[str, str], http_version: str) -> bool:
        """Tell whether a request may have come from the one person of a local server.

        None has by another name, which a page elsewhere may rebind, or by a proxy, which may write
        this name into the requests of others; nginx asks by HTTP 1.0 unless configured otherwise.
        """
        host = headers.get("host", "")
        name = host if host.endswith("]") else host.rpartition(":")[0] or host
        is_passed_on = http_version == "1.0" or any(one.startswith(_OF_PROXIES) for one in headers)
        return not self.is_local or (name.lower() in _LOCAL_NAMES and not is_passed_on)


def is_loopback(host: str) -> bool:
    """Tell whether a server that binds to this host is reached from its own machine alone."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def policy_of(
    loaded: LoadedDeployment, host: str, environ: Mapping[str, str], *, has_keys: bool
) -> Policy:
    """Return the policy of a server that binds to a host.

    Args:
        loaded: The deployment.
        host: Where it binds.
        environ: Holds the secrets that the deployment names.
        has_keys: Whether a key was ever made, be it revoked or not.

    Raises:
        ConfigError: It would be open to everybody, or its secret is missing or too short.
    """
    web = loaded.deployment.web
    is_local = not has_keys and web.oidc.issuer is None
    # Of a state on a server, nothing here tells whether it is new or was emptied.
    if is_local and (not is_loopback(host) or loaded.deployment.state.url is not None):
        where = "the server of the state" if is_loopback(host) else host
        other = "keep the state in a file" if is_loopback(host) else "bind to 127.0.0.1"
        raise ConfigError(
            f"{where} can be reached from other machines, and nothing says who may ask: make a key "
            f"(pneuma-assets keys create NAME --reader NAME), set web.oidc, or {other}"
        )
    secret = secrets.token_urlsafe(48)
    if web.session_secret_env is not None:
        where = "web.session_secret_env"
        secret = read_secret(environ, web.session_secret_env, where, "what signs logins")
        if len(secret) < _LEAST_SECRET:
            raise ConfigError(f"{where}: has less than {_LEAST_SECRET} characters; make it longer")
    is_encrypted = web.base_url is not None and urlsplit(web.base_url).scheme == "https"
    return Policy(is_local, is_encrypted, secret)
