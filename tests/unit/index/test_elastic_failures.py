"""What a cluster's refusals become: one line that says what to do, and never a secret."""

import pytest
import tenacity
from elastic_transport import (
    ApiResponseMeta,
    ConnectionTimeout,
    HttpHeaders,
    NodeConfig,
    SerializationError,
    SniffingError,
    TlsError,
)
from elastic_transport import ConnectionError as UnreachableError
from elasticsearch import (
    ApiError,
    AuthenticationException,
    AuthorizationException,
    BadRequestError,
    ConflictError,
    NotFoundError,
    UnsupportedProductError,
)
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.errors import ConfigError, SearchIndexError
from pneuma_assets.core.index.elastic.client import connect
from pneuma_assets.core.index.elastic.errors import (
    IndexGoneError,
    ItemError,
    explained,
    is_gone,
    is_transient,
    item_error,
    with_retries,
)
from pneuma_assets.core.index.elastic.lifecycle import ElasticsearchKind
from pneuma_assets.core.index.registry import Credentials
from tests.support.elasticsearch_index import configured

NODE = NodeConfig("http", "localhost", 9200)
PRODUCT = HttpHeaders({"x-elastic-product": "Elasticsearch"})
CLASSES = {
    400: BadRequestError,
    401: AuthenticationException,
    403: AuthorizationException,
    404: NotFoundError,
    409: ConflictError,
}


def refusal(status: int, error: object) -> ApiError:
    meta = ApiResponseMeta(status, "1.1", PRODUCT, 0.01, NODE)
    message = error.get("type", error) if isinstance(error, dict) else error  # as the client does
    body = {"error": error, "status": status}
    return CLASSES.get(status, ApiError)(message, meta, body)


def cause(kind: str, reason: str, **more: object) -> dict:
    root = {"type": kind, "reason": reason}
    return {"root_cause": [root], **root, **more}


def raw(
    status: int,
    body: object,
    kind: type[ApiError] = ApiError,
    headers: HttpHeaders = HttpHeaders(),  # noqa: B008
) -> ApiError:
    return kind(str(body), ApiResponseMeta(status, "1.1", headers, 0.01, NODE), body)


def es(status: int, kind: str, reason: str, **more: object) -> ApiError:
    return refusal(status, cause(kind, reason, **more))


def item(status: int, kind: str, reason: str) -> ItemError:
    return ItemError(status, cause(kind, reason))


SECURITY, NOT_FOUND = "security_exception", "index_not_found_exception"
URLS, LOGS, SAFE = "index.elasticsearch.urls", "health and logs", "running again is safe"
FOREIGN = f"{URLS}: what answers there is not Elasticsearch"
REBUILD = "pneuma-assets index"
FLOOD = "index [zz1] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark"
STRICT = "[1:6] mapping set to strict, dynamic introduction of [b] within [_doc] is not allowed"
UNPARSED = (
    "[1:6] failed to parse field [a] of type [integer] in document with id '7'. "
    "Preview of field's value: 'private'"
)
SHARDS = {
    "type": "search_phase_execution_exception",
    "reason": "",
    "root_cause": [],
    "failed_shards": [{"type": "no_shard_available_action_exception", "reason": "shard 0 lost"}],
}
NESTED = {"type": "x", "reason": "outer", "caused_by": cause("x", "Result window is too large")}
INNER = {"type": "number_format_exception", "reason": "of: 'private'"}

# The failure, what its message must hold, what the remedy must hold, and whether it may pass.
CASES = [
    (es(401, SECURITY, "unable to authenticate [x]"), "authenticate [x]", "password_env", False),
    (es(403, SECURITY, "action [bulk] is denied"), "is denied", "docs/elasticsearch.md", False),
    (es(404, NOT_FOUND, "no such index [nope]"), "no such index [nope]", REBUILD, False),
    (raw(404, {"found": False}, NotFoundError, PRODUCT), "", REBUILD, False),
    (raw(404, "<h1>Not found</h1>", NotFoundError), "Not found", FOREIGN, False),
    (raw(405, "<h1>Method not allowed</h1>"), "Method not allowed", FOREIGN, False),
    (es(400, "strict_dynamic_mapping_exception", STRICT), "introduction of [b]", "reindex", False),
    (
        es(400, "document_parsing_exception", UNPARSED, caused_by=INNER),
        "failed to parse field [a] of type [integer] in document with id '7'.",
        "reindex",
        False,
    ),
    (es(429, "cluster_block_exception", FLOOD), "flood-stage", "free disk space", True),
    (es(403, "cluster_block_exception", "[FORBIDDEN/8]"), "FORBIDDEN/8", "lift the block", False),
    (es(429, "es_rejected_execution_exception", "rejected"), "rejected", "later is safe", True),
    (es(429, "circuit_breaking_exception", "Data too large"), "too large", "overloaded", True),
    (raw(413, "<html>Entity Too Large</html>"), "Too Large", "max_content_length", False),
    (es(503, "master_not_discovered_exception", ""), "master_not_discovered", LOGS, True),
    (raw(502, "<html>\n<h1>Bad\tGateway</h1>\n</html>"), "<h1>Bad Gateway</h1>", SAFE, True),
    (raw(504, ""), "", SAFE, True),
    (
        es(400, "search_phase_execution_exception", "all shards failed", caused_by=NESTED),
        "Result window is too large",
        LOGS,
        False,
    ),
    (refusal(503, SHARDS), "shard 0 lost", LOGS, True),
    (refusal(500, "it broke"), "it broke", LOGS, False),
    (refusal(500, ["it", 7]), "it", LOGS, False),
    (raw(500, None), "", LOGS, False),
    (raw(200, "not the product", UnsupportedProductError), "not the product", URLS, False),
    (es(409, "version_conflict_engine_exception", "seqNo [1]"), "seqNo [1]", SAFE, False),
    (UnreachableError("<urllib3>: Failed to\nestablish"), "Failed to establish", URLS, True),
    (ConnectionTimeout("timed out"), "did not answer in time", SAFE, True),
    (TlsError("self-signed certificate"), "self-signed", "ca_certs", False),
    (SerializationError("Unable to deserialize as JSON"), "deserialize", "urls", False),
    (SniffingError("No viable nodes"), "No viable nodes", "urls", False),
    (item(400, "document_parsing_exception", "failed to parse"), "to parse", "reindex", False),
    (item(429, "es_rejected_execution_exception", "queue is full"), "is full", "later", True),
    (item(503, "unavailable_shards_exception", "not active"), "not active", SAFE, True),
    (ItemError(500, "no cause\ngiven"), "no cause given", "health", False),
    (IndexGoneError("there is no index 'a'"), "no index 'a'", "index", False),
]


@pytest.mark.parametrize(("error", "words", "remedy", "may_pass"), CASES)
def test_a_failure_is_one_line_with_cause_and_remedy(error, words, remedy, may_pass):
    with pytest.raises(SearchIndexError) as raised, explained("The index 'x' cannot be read"):
        raise error
    message = str(raised.value)
    assert message.startswith("The index 'x' cannot be read: ")
    assert words in message
    assert remedy in message
    assert "\n" not in message
    assert "private" not in message, "what tables hold does not belong into logs"
    assert raised.value.__cause__ is error
    assert is_transient(error) is may_pass


def test_a_long_cause_is_cut():
    with pytest.raises(SearchIndexError) as raised, explained("It cannot be read"):
        raise raw(500, "x" * 100_000)
    assert len(str(raised.value)) < 1000


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "reason", "caused_by", "root_cause", "failed_shards", "x"]),
            inner,
        )
    ),
    max_leaves=12,
)


@given(JSON, st.sampled_from([400, 403, 429, 500]))
def test_any_answer_becomes_one_line(error, status):
    with pytest.raises(SearchIndexError) as raised, explained("It cannot be read"):
        raise refusal(status, error)
    assert "\n" not in str(raised.value)


def test_an_item_of_a_dropped_index_makes_it_be_found_again():
    found = item_error(404, cause("index_not_found_exception", "no such index [a]"))
    assert isinstance(found, IndexGoneError)
    assert isinstance(item_error(404, {"type": "x"}), ItemError)


@pytest.mark.parametrize(
    ("error", "gone"),
    [
        (refusal(404, cause("index_not_found_exception", "no such index [a]")), True),
        (IndexGoneError("there is no index 'a'"), True),
        (refusal(404, cause("resource_not_found_exception", "no such alias")), False),
        (refusal(400, cause("index_not_found_exception", "an alias is asked for")), False),
        (raw(404, {"found": False}, NotFoundError), False),
        (raw(404, "<html>not found</html>", NotFoundError), False),
        (KeyError("index_not_found_exception"), False),
    ],
)
def test_what_makes_the_index_be_found_again(error, gone):
    assert is_gone(error) is gone


def test_causes_nested_without_end_are_read_in_the_end():
    nested: dict = cause("x", "innermost")
    for _ in range(5_000):
        nested = cause("x", "outer", caused_by=nested)
    assert str(item_error(400, nested)) in {"x outer", "x innermost"}


@pytest.mark.parametrize(
    "error", [KeyError("x"), ValueError("x"), SearchIndexError("told already")]
)
def test_what_no_cluster_said_goes_through(error):
    with pytest.raises(type(error)) as raised, explained("It cannot be read"):
        raise error
    assert raised.value is error
    assert not is_transient(error)


class Failing:
    """Fails so often, then answers."""

    def __init__(self, times: int, error: Exception) -> None:
        self.left = times
        self.error = error
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.left:
            self.left -= 1
            raise self.error
        return "answer"


def test_what_may_pass_is_tried_again_and_nothing_else():
    call = Failing(2, ConnectionTimeout("slow"))
    assert with_retries(20.0, call) == "answer"
    assert call.calls == 3
    call = Failing(1, refusal(403, "denied"))
    with pytest.raises(ApiError):
        with_retries(20.0, call)
    assert call.calls == 1


class Clock:
    """Goes on while something sleeps, and only then."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def monotonic(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.mark.parametrize("patience", [0.0, 0.3, 60.0])
def test_patience_ends_with_the_failure_itself(patience, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(tenacity, "time", clock)
    monkeypatch.setattr(tenacity.nap, "time", clock)
    error = refusal(503, "busy")
    call = Failing(1000, error)
    with pytest.raises(ApiError) as raised:
        with_retries(patience, call)
    assert raised.value is error
    assert patience <= clock.seconds < patience + 5.0
    assert call.calls > 1 or not patience


@pytest.mark.parametrize(
    ("error", "least", "most"),
    [
        (ConnectionTimeout("slow"), 5.0, 10.0),
        (refusal(503, "busy"), 60.0, 65.0),
        (item_error(429, "busy"), 60.0, 65.0),
    ],
)
def test_silence_is_told_sooner_than_a_busy_cluster(error, least, most, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(tenacity, "time", clock)
    monkeypatch.setattr(tenacity.nap, "time", clock)
    with pytest.raises(type(error)):
        with_retries(60.0, Failing(1000, error), silence=5.0)
    assert least <= clock.seconds < most


SECRET = "c2VjcmV0LXNlY3JldA"


def config(**options: object) -> ElasticsearchConfig:
    return configured(urls=("http://127.0.0.1:1",), patience_seconds=0, **options)


@pytest.mark.parametrize(
    "credentials", [Credentials(api_key=SECRET), Credentials(username="eve", password=SECRET)]
)
def test_secrets_show_in_no_repr_and_no_error(credentials):
    assert SECRET not in f"{credentials!r} {credentials}"
    with connect(config(), credentials) as client:
        assert SECRET not in repr(client)
        with pytest.raises(SearchIndexError) as raised, explained("It cannot be read"):
            client.info()
    chain: list[BaseException] = [raised.value]
    while chain[-1].__cause__ is not None:
        chain.append(chain[-1].__cause__)
    assert SECRET not in " ".join(f"{error} {error!r}" for error in chain)


@pytest.mark.parametrize(
    "wrong",
    [f"{SECRET}\nx{SECRET}", f"{SECRET}\r\nx", f"{SECRET}\u4e2d", f"\u201c{SECRET}\u201d"],
    ids=["two lines", "two lines of Windows", "Chinese", "typographic quotes"],
)
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(wrong):
    with pytest.raises(ConfigError, match="PNEUMA_KEY") as raised:
        connect(config(api_key_env="PNEUMA_KEY"), Credentials(api_key=wrong))
    assert SECRET not in str(raised.value)
    assert raised.value.__cause__ is None


def credentials_of(config: ElasticsearchConfig, environ: dict[str, str]) -> Credentials:
    return ElasticsearchKind().credentials(config, environ)


def test_credentials_come_from_the_variables_that_are_named():
    environ = {"KEY": f" {SECRET}\n", "WORD": "p\u00e4ss"}
    assert credentials_of(config(), environ) == Credentials()
    assert credentials_of(config(api_key_env="KEY"), environ) == Credentials(SECRET)
    signed = credentials_of(config(username="eve", password_env="WORD"), environ)
    assert signed == Credentials(None, "eve", "p\u00e4ss")


@pytest.mark.parametrize("environ", [{}, {"KEY": ""}, {"KEY": " \n"}])
@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"api_key_env": "KEY"}, "api_key_env"),
        ({"username": "eve", "password_env": "KEY"}, "password_env"),
    ],
)
def test_a_variable_that_is_not_set_is_named(environ, options, key):
    with pytest.raises(ConfigError, match=f"index.elasticsearch.{key}: .*KEY is not set"):
        credentials_of(config(**options), environ)


def test_certificates_that_are_not_there_are_named(tmp_path):
    options = {"urls": ("https://localhost:9200",), "ca_certs": tmp_path / "none.crt"}
    with pytest.raises(ConfigError, match=r"ca_certs: there is no file .*none\.crt"):
        connect(ElasticsearchConfig(**options), Credentials())
