"""The section `index`: what a file may say, and what a deployment holds after loading."""

from pathlib import Path

import pytest
from elasticsearch import Elasticsearch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.config.values import node_url
from pneuma_assets.core.text.analysis import ANALYZERS

URLS = [
    ("http://localhost:9200", "http://localhost:9200"),
    ("https://host", "https://host:443"),
    ("https://host/", "https://host:443"),
    ("https://host:443/prefix/", "https://host:443/prefix"),
    ("https://host:9243/a/b", "https://host:9243/a/b"),
    ("HTTPS://Host:9200", "https://host:9200"),
    ("http://[::1]:9200", "http://[::1]:9200"),
    ("http://127.0.0.1:80", "http://127.0.0.1:80"),
]


def load(tmp_path: Path, text: str) -> IndexConfig:
    file = tmp_path / "pneuma.yaml"
    file.write_text(text)
    return load_deployment(file, environ={}).deployment.index


@pytest.mark.parametrize(("given_url", "url"), URLS)
def test_addresses_name_their_port(given_url, url):
    assert ElasticsearchConfig(urls=(given_url,)).urls == (url,)
    assert node_url(url) == url


@pytest.mark.parametrize("given_url", [case[0] for case in URLS])
def test_the_client_takes_the_address_as_it_is(given_url):
    (url,) = ElasticsearchConfig(urls=(given_url,)).urls
    with Elasticsearch([url]) as client:
        (node,) = client.transport.node_pool.all()
        assert node.base_url == url


@given(st.one_of(st.text(), st.text().map("http://".__add__), st.from_regex(r"https?://\\S{1,20}")))
def test_any_address_is_taken_or_refused(text):
    try:
        config = ElasticsearchConfig(urls=(text,))
    except ValidationError:
        return
    assert config.urls[0].startswith(("http://", "https://"))
    assert node_url(config.urls[0]) == config.urls[0]


SIGNING_IN = ({"api_key_env": "KEY"}, {"username": "eve", "password_env": "WORD"})
EXPOSED = (
    "http://es.example.com:9200",
    "http://10.0.0.7:9200",
    "http://[2001:db8::1]:9200",
    "http://localhost.example.com:9200",
    "http://127.0.0.1.example.com:9200",
    "HTTP://host:9200",
)
PRIVATE = (
    "https://es.example.com",
    "http://localhost:9200",
    "http://LOCALHOST:9200",
    "http://127.0.0.1:9200",
    "http://127.8.9.10:9200",
    "http://[::1]:9200",
)


@pytest.mark.parametrize("secret", SIGNING_IN, ids=["key", "password"])
@pytest.mark.parametrize("url", EXPOSED)
def test_secrets_cross_a_network_unencrypted_only_where_that_is_asked_for(url, secret):
    for urls in ((url,), ("https://host", url)):
        with pytest.raises(ValidationError, match=r"carry the secret unencrypted.*insecure_http"):
            ElasticsearchConfig(urls=urls, **secret)
    assert ElasticsearchConfig(urls=(url,), insecure_http=True, **secret).insecure_http
    assert ElasticsearchConfig(urls=(url,)).urls, "without a secret nothing is given away"


@pytest.mark.parametrize("secret", SIGNING_IN, ids=["key", "password"])
@pytest.mark.parametrize("url", PRIVATE)
def test_secrets_may_be_sent_to_this_machine_or_through_tls(url, secret):
    assert not ElasticsearchConfig(urls=(url,), **secret).insecure_http


@pytest.mark.parametrize("name", ["eve", "e", "Eve Smith", "eve@example.com", "a" * 1024])
def test_user_names(name):
    assert ElasticsearchConfig(username=name, password_env="WORD").username == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        " eve",
        "eve ",
        "eve:",
        ":",
        "eve:x",
        "e\nve",
        "eve\n",
        "\u00e9ve",
        "e\x00",
        "a" * 1025,
    ],
    ids=repr,
)
def test_user_names_that_no_server_takes_or_that_would_hide_a_password(name):
    """Basic authentication divides name and password at the first colon."""
    with pytest.raises(ValidationError, match="username"):
        ElasticsearchConfig(username=name, password_env="WORD")


def test_the_certificate_is_relative_to_the_file(tmp_path):
    text = "index: {elasticsearch: {urls: ['https://host'], ca_certs: %s}}\n"
    assert load(tmp_path, text % "certs/ca.crt").elasticsearch.ca_certs == tmp_path / "certs/ca.crt"
    assert load(tmp_path, text % "/etc/ca.crt").elasticsearch.ca_certs == Path("/etc/ca.crt")
    assert load(tmp_path, text % "~/ca.crt").elasticsearch.ca_certs == Path.home() / "ca.crt"


def test_the_rest_of_the_section_survives_the_certificate(tmp_path):
    index = load(
        tmp_path,
        "index:\n  engine: elasticsearch\n  analyzer: german\n  elasticsearch:\n"
        "    urls: ['https://host']\n    ca_certs: ca.crt\n    shards: 3\n",
    )
    assert (index.engine, index.analyzer, index.elasticsearch.shards) == (
        "elasticsearch",
        "german",
        3,
    )


@pytest.mark.parametrize("value", ["auto", 0, 10])
def test_replicas(value):
    assert ElasticsearchConfig(replicas=value).replicas == value


@pytest.mark.parametrize("name", ANALYZERS)
def test_every_analyzer_can_be_configured(name):
    assert IndexConfig(analyzer=name).analyzer == name


def test_the_defaults_are_those_of_a_server_on_this_machine(tmp_path):
    index = load(tmp_path, "index: {engine: elasticsearch}\n")
    assert index == IndexConfig(engine="elasticsearch")
    assert index.analyzer == "english"
    assert index.elasticsearch.urls == ("http://localhost:9200",)
