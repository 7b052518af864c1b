"""Connecting to the cluster."""

from elasticsearch import Elasticsearch, OrjsonSerializer

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.index.credentials import Credentials


def connect(config: ElasticsearchConfig, credentials: Credentials) -> Elasticsearch:
    """Return a client; nothing is sent before its first call.

    It tries each node once; waiting for a cluster that cannot answer is `failures.patiently`'s.

    Raises:
        ConfigError: The file of certificates does not exist, or a secret cannot be one.
    """
    if config.ca_certs is not None and not config.ca_certs.is_file():
        raise ConfigError(f"index.elasticsearch.ca_certs: there is no file {config.ca_certs}")
    options: dict[str, object] = {
        "api_key": _header_value(credentials.api_key, f"{config.api_key_env}"),
        "ca_certs": None if config.ca_certs is None else str(config.ca_certs),
        "ssl_assert_fingerprint": config.fingerprint,
    }
    if credentials.username is not None:
        options["basic_auth"] = (credentials.username, (credentials.password or "").strip())
    return Elasticsearch(
        list(config.urls),
        serializer=OrjsonSerializer(),
        request_timeout=config.timeout_seconds,
        max_retries=len(config.urls) - 1,
        **{name: value for name, value in options.items() if value is not None},  # type: ignore[arg-type]
    )


def _header_value(secret: str | None, variable: str) -> str | None:
    """Return a key that a header can hold; other libraries would show a bad one in their errors."""
    if secret is None:
        return None
    stripped = secret.strip()
    if not stripped or not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise ConfigError(
            f"index.elasticsearch.api_key_env: what {variable} holds is no API key; set it to the "
            "key's encoded form: letters, digits, '=' on one line"
        )
    return stripped
