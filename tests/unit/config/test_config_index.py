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

URLS = {
    "http://localhost:9200": "http://localhost:9200",
    "https://host": "https://host:443",
    "https://host/": "https://host:443",
    "https://host:443/prefix/": "https://host:443/prefix",
    "https://host:9243/a/b": "https://host:9243/a/b",
    "HTTPS://Host:9200": "https://host:9200",
    "http://[::1]:9200": "http://[::1]:9200",
    "http://127.0.0.1:80": "http://127.0.0.1:80",
}
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
SIGNING_IN = ({"api_key_env": "KEY"}, {"username": "eve", "password_env": "WORD"})
NO_NAMES = ("", " ", " eve", "eve ", "eve:", ":", "eve:x", "e\nve", "eve\n", "\u00e9ve", "e\x00")


def load(tmp_path: Path, text: str) -> IndexConfig:
    file = tmp_path / "pneuma.yaml"
    file.write_text(text)
    return load_deployment(file, environ={}).deployment.index


@pytest.mark.parametrize(("said", "url"), URLS.items())
def test_addresses_name_their_port_and_the_client_takes_them_as_they_are(said, url):
    assert ElasticsearchConfig(urls=(said,)).urls == (url,)
    assert node_url(url) == url
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


@pytest.mark.parametrize("secret", SIGNING_IN, ids=["key", "password"])
def test_secrets_cross_a_network_unencrypted_only_where_that_is_asked_for(secret):
    for url in EXPOSED:
        for urls in ((url,), ("https://host", url)):
            with pytest.raises(ValidationError, match=r"the secret unencrypted.*insecure_http"):
                ElasticsearchConfig(urls=urls, **secret)
        assert ElasticsearchConfig(urls=(url,), insecure_http=True, **secret).insecure_http
        assert ElasticsearchConfig(urls=(url,)).urls, "without a secret nothing is given away"
    for url in PRIVATE:
        assert not ElasticsearchConfig(urls=(url,), **secret).insecure_http


def test_user_names_hide_no_password_and_are_such_that_servers_take_them():
    """Basic authentication divides name and password at the first colon."""
    for name in ("eve", "e", "Eve Smith", "eve@example.com", "a" * 1024):
        assert ElasticsearchConfig(username=name, password_env="WORD").username == name
    for name in (*NO_NAMES, "a" * 1025):
        with pytest.raises(ValidationError, match="username"):
            ElasticsearchConfig(username=name, password_env="WORD")


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ("certs/ca.crt", None),
        ("/etc/ca.crt", Path("/etc/ca.crt")),
        ("~/ca.crt", Path.home() / "ca.crt"),
    ],
)
def test_the_certificate_is_relative_to_the_file(tmp_path, said, path):
    index = load(
        tmp_path,
        "index:\n  engine: elasticsearch\n  analyzer: german\n  elasticsearch:\n"
        f"    urls: ['https://host']\n    ca_certs: {said}\n    shards: 3\n",
    )
    assert index.elasticsearch.ca_certs == (path or tmp_path / said)
    assert (index.engine, index.analyzer) == ("elasticsearch", "german"), "the rest survives it"
    assert index.elasticsearch.shards == 3


def test_every_analyzer_and_number_of_replicas_can_be_configured():
    for value in ("auto", 0, 10):
        assert ElasticsearchConfig(replicas=value).replicas == value
    for name in ANALYZERS:
        assert IndexConfig(analyzer=name).analyzer == name


def test_the_defaults_are_those_of_a_server_on_this_machine(tmp_path):
    index = load(tmp_path, "index: {engine: elasticsearch}\n")
    assert index == IndexConfig(engine="elasticsearch")
    assert index.analyzer == "english"
    assert index.elasticsearch.urls == ("http://localhost:9200",)
