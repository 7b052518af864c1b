"""Every mistake in a deployment file becomes lines that name file, key, value and remedy."""

import string
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.errors import ConfigError

LAKE = "sources:\n- {type: folder, name: lake, path: x}\n"

CASES = {
    "empty": ("", ["is empty"]),
    "only comments": ("# nothing\n", ["is empty"]),
    "top-level list": ("- a\n", ["top level", "a list"]),
    "top-level text": ("hello", ["top level", "a single value"]),
    "syntax": ("home: .\nsources: [a, b\n", ["line 3", "not valid YAML"]),
    "tab": ("query:\n\ttrust: 0\n", ["line 2", "not valid YAML"]),
    "two documents": ("home: a\n---\nhome: b\n", ["not valid YAML"]),
    "python object": ("home: !!python/object/apply:os.getcwd []\n", ["line 1", "not valid YAML"]),
    "duplicate key": ("home: a\nquery: {}\nhome: b\n", ["line 3", "'home' stands twice", "line 1"]),
    "duplicate nested": ("query:\n  trust: 0\n  trust: 1\n", ["line 3", "'trust' stands twice"]),
    "unknown key": ("sorces: []\n", ["line 1", "sorces: unknown key; did you mean 'sources'?"]),
    "unknown nested": ("query:\n  trust: 0\n  trst: 1\n", ["line 3", "query.trst", "'trust'"]),
    "unknown in source": (
        "sources:\n- type: folder\n  name: lake\n  pth: x\n",
        [
            "line 4: sources[0].pth: unknown key; did you mean 'path'?",
            "sources[0].path: is missing",
        ],
    ),
    "list for mapping": ("query: [1]\n", ["query: must hold 'key: value' lines, not a list"]),
    "nothing for mapping": ("query:\n", ["query:", "remove the key"]),
    "mapping for list": ("sources: {lake: x}\n", ["sources: must be a list", "a mapping"]),
    "text for source": ("sources: [lake]\n", ["sources[0]", "'lake'"]),
    "no type": ("sources: [{name: a, path: b}]\n", ["sources[0].type: is missing", "'folder'"]),
    "bad type": (
        "sources: [{type: foldr, name: a, path: b}]\n",
        ["sources[0].type: 'foldr' is not known; did you mean 'folder'?"],
    ),
    "name of the deployment": (
        "name: a-b\n",
        ["name: 'a-b': use letters, digits, '_', at most 64, a letter or digit first"],
    ),
    "device": (
        "models: {a: {model: b, device: gpu}}\n",
        ["models.a.device: 'gpu': must be a device of torch: auto, cpu, cuda"],
    ),
    "text for a number": ("sampling: {rows: many}\n", ["'many': must be a whole number"]),
    "user": ("index: {elasticsearch: {username: 'a:b'}}\n", ["without ':'"]),
    "number as name": ("sources: [{type: folder, name: 7, path: b}]\n", ["7", "in quotes"]),
    "bad name": (
        "sources: [{type: folder, name: a/b, path: b}]\n",
        ["sources[0].name: 'a/b': use letters, digits"],
    ),
    "empty prefix": ("dagster: {key_prefix: ''}\n", ["dagster.key_prefix", "one to eight parts"]),
    "prefix of nothing": ("dagster: {key_prefix: a//b}\n", ["'a//b'", "one to eight parts"]),
    "hostile prefix": ('dagster: {key_prefix: "a/\\n[x]"}\n', ["one to eight parts"]),
    "same name": (
        "sources: [{type: folder, name: a, path: b}, {type: duckdb, name: a, path: c}]\n",
        ["sources[1].name: 'a' is already the name of sources[0]"],
    ),
    "empty path": ("sources: [{type: folder, name: a, path: ''}]\n", ["sources[0].path", "empty"]),
    "NUL in path": ('sources: [{type: folder, name: a, path: "x\\0"}]\n', ["NUL"]),
    "number as path": ("home: 7\n", ["home: 7 is not a path; put it in quotes"]),
    "out of range": ("query: {trust: 2}\n", ["query.trust: 2: must be less than or equal to 0.2"]),
    "not a number": ("query: {trust: .nan}\n", ["query.trust"]),
    "infinite": ("limits: {memory_gigabytes: .inf}\n", ["limits.memory_gigabytes"]),
    "choice": (
        "models: {m: {model: x, dtype: int2}}\n",
        ["models.m.dtype: 'int2' is not allowed", "bfloat16"],
    ),
    "unknown key of a model": (
        "models:\n  gpt: {model: m, device: cpu}\n  big: {model: m, devise: cpu}\n",
        ["line 3: models.big.devise: unknown key; did you mean 'device'? known here: model,"],
    ),
    "unknown model": (
        "models: {gpt: {model: m}}\nanswers: {model: gtp}\n",
        ["line 2: answers.model: 'gtp' is no entry of models; did you mean 'gpt'?"],
    ),
    "model in place": ("answers: {model: {modle: m}}\n", ["answers.model.modle: unknown key"]),
    "judge that sees nothing": (
        "models: {gpt: {model: m, endpoint_url: 'http://h/v1'}}\njudge: {model: gpt}\n",
        ["line 2: judge.model: the judge reads rows", "set send_values: true"],
    ),
    "encoder elsewhere": (
        "models: {gpt: {model: m, endpoint_url: 'http://h/v1'}}\nencoder: {model: gpt}\n",
        ["line 2: encoder.model: the encoder reads rows", "set send_values: true"],
    ),
    "encoder of unknown vectors": (
        "encoder: {model: {model: m, endpoint_url: 'http://h/v1', send_values: true}}\n",
        ["line 1: encoder: set dimensions"],
    ),
    "prefix of an encoder here": (
        "encoder: {query_prefix: 'query: '}\n",
        ["line 1: encoder: dimensions, window and prefixes are of a model behind an endpoint"],
    ),
    "number as a model's name": ("models: {1: {model: m}}\n", ["models[1]: 1 is not a text"]),
    "address as a model": (
        "judge: {model: 'http://me:hunter2@host/v1'}\n",
        ["judge.model.model: 'http://***@host/v1'", "is an address; set endpoint_url to it"],
    ),
    "key of another version": (
        "narration: {enabled: true}\n",
        ["narration.enabled: unknown key; known here: model, budget"],
    ),
    "not an address": (
        "models: {m: {endpoint_url: 'localhost:9'}}\n",
        ["models.m.endpoint_url", "web address"],
    ),
    "engine": (
        "index: {engine: elastic}\n",
        [
            "index.engine: 'elastic': is not a search engine; did you mean 'elasticsearch'?",
            "use one of: embedded, elasticsearch",
        ],
    ),
    "analyzer": (
        "index: {analyzer: Englsh}\n",
        ["index.analyzer: 'Englsh': is not an analyzer; did you mean 'english'?", "plain, arabic,"],
    ),
    "no such analyzer": (
        "index: {analyzer: xx}\n",
        ["'xx': is not an analyzer; use one of: plain"],
    ),
    "unknown in a section of a section": (
        "index:\n  elasticsearch:\n    shrads: 2\n",
        ["line 3: index.elasticsearch.shrads: unknown key; did you mean 'shards'?"],
    ),
    "key of the inner section": (
        "index: {shards: 2}\n",
        ["index.shards: unknown key; known here: engine, analyzer, elasticsearch"],
    ),
    "text for a section of a section": (
        "index: {elasticsearch: localhost}\n",
        ["index.elasticsearch: must hold 'key: value' lines, not 'localhost'"],
    ),
    "text for urls": (
        "index: {elasticsearch: {urls: 'http://host:9200'}}\n",
        ["index.elasticsearch.urls: must be a list, each entry starting with '- '"],
    ),
    "no urls": ("index: {elasticsearch: {urls: []}}\n", ["index.elasticsearch.urls: is empty"]),
    "no address": (
        "index:\n  elasticsearch:\n    urls:\n    - https://a\n    - b:9200\n",
        ["line 5: index.elasticsearch.urls[1]: must be a web address"],
    ),
    "no port": (
        "index: {elasticsearch: {urls: ['http://host']}}\n",
        ["index.elasticsearch.urls[0]: has no port; add it"],
    ),
    "port 0": ("index: {elasticsearch: {urls: ['https://host:0']}}\n", ["urls[0]: has no port"]),
    "parameters in an address": (
        "index: {elasticsearch: {urls: ['https://host/?pretty']}}\n",
        ["index.elasticsearch.urls[0]: must not go on after the path"],
    ),
    "name of an index": (
        "index: {elasticsearch: {name: Lake}}\n",
        ["index.elasticsearch.name: 'Lake': must be the name of an index: lower-case"],
    ),
    "replicas": (
        "index: {elasticsearch: {replicas: 11}}\n",
        ["index.elasticsearch.replicas: 11: must be 'auto', or a whole number from 0 to 10"],
    ),
    "quantization": (
        "index: {elasticsearch: {quantization: int4}}\n",
        ["index.elasticsearch.quantization: 'int4' is not allowed", "'bbq'"],
    ),
    "two ways to sign in": (
        "index:\n  elasticsearch: {api_key_env: A, username: me, password_env: B}\n",
        ["line 2: index.elasticsearch: give api_key_env, or username and password_env, not both"],
    ),
    "half a password": (
        "index: {elasticsearch: {username: me}}\n",
        ["index.elasticsearch: username and password_env belong together"],
    ),
    "certificate without TLS": (
        "index: {elasticsearch: {ca_certs: ca.crt}}\n",
        ["index.elasticsearch: ca_certs needs https, but urls has http://local"],
    ),
    "two errors": (
        "query: {trust: 2, min_confidence: 2}\n",
        ["query.trust", "query.min_confidence"],
    ),
    "int key": ("1: 2\n", ["1: unknown key"]),
    "too deep": ("a: " + "[" * 5000, ["nested too deeply"]),
    "endless number": ("query: {trust: " + "9" * 5000 + "}\n", ["cannot be read"]),
    "impossible date": ("home: 2024-99-99\n", ["cannot be read"]),
    "too large": ("#" * 300_000, ["larger than 256 KiB"]),
    "own parent": ("query: &q\n  trust: *q\n", ["aliases"]),
    "list key": ("? [a, b]\n: c\n", ["not valid YAML"]),
}


def fail(tmp_path: Path, content: str | bytes) -> str:
    file = tmp_path / "pneuma.yaml"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError) as caught:
        load_deployment(file, environ={})
    message = str(caught.value)
    for line in message.splitlines():
        assert str(file) in line
        assert len(line) < 600
        assert line.isprintable()
    return message


@pytest.mark.parametrize(("text", "wanted"), CASES.values(), ids=CASES.keys())
def test_mistakes(tmp_path, text, wanted):
    message = fail(tmp_path, text)
    for part in wanted:
        assert part in message


def numbers(section: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Every key of a section, and of those in it, that takes a number."""
    for name, field in section.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from numbers(field.annotation, f"{prefix}{name}.")
        elif type(field.default) in {int, float} or name == "replicas":
            yield prefix + name


@pytest.mark.parametrize("key", list(numbers(Deployment)))
@pytest.mark.parametrize("value", ["true", "no"])
def test_no_number_is_true_or_false(tmp_path, key, value):
    *sections, name = key.split(".")
    text = "".join(f"{section}: {{" for section in sections) + f"{name}: {value}"
    message = fail(tmp_path, text + "}" * len(sections))
    assert message.endswith(f"{key}: {value == 'true'}: is no number; write one in its place")


def test_several_mistakes_are_a_line_each(tmp_path):
    assert len(fail(tmp_path, "query: {trust: 2, min_confidence: 7, k: 1}\n").splitlines()) == 3
    many = "query:\n" + "".join(f"  x{i}: 1\n" for i in range(40))
    lines = fail(tmp_path, many).splitlines()
    assert len(lines) == 21
    assert lines[-1].endswith("20 more errors")


def test_a_finding_of_several_kinds_of_value_is_one_line(tmp_path):
    for value in ("11", "-1", "x", "1.5", "[1]"):
        assert (
            len(fail(tmp_path, f"index: {{elasticsearch: {{replicas: {value}}}}}").split("\n")) == 1
        )


def test_not_utf8(tmp_path):
    assert "line 2: not UTF-8" in fail(tmp_path, b"home: a\nquery: \xff\n")
    assert "not UTF-8" in fail(tmp_path, LAKE.encode("utf-16"))


def test_a_bom_is_fine(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_bytes(b"\xef\xbb\xbf" + LAKE.encode())
    assert len(load_deployment(file, environ={}).deployment.sources) == 1


def test_missing_file_and_folder_for_file(tmp_path):
    with pytest.raises(ConfigError, match="does not exist; check --config"):
        load_deployment(tmp_path / "none.yaml", environ={})
    with pytest.raises(ConfigError, match="is a folder; name the file"):
        load_deployment(tmp_path, environ={})


S3 = "sources:\n- type: s3\n  name: lake\n  bucket: bucket\n"
SERVER = "index:\n  elasticsearch:\n"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (S3 + "  access_key_id: hunter2\n", "prefix_env"),
        (S3 + "  secret_access_key: hunter2\n", "prefix_env"),
        (S3 + "  prefix_env: hunter2/hunter2+\n", "environment variable"),
        (S3 + "  prefix_env: AKIAHUNTER2HUNTER22X\n", "environment variable"),
        (S3 + "  endpoint_url: http://me:hunter2@host:9000\n", "prefix_env"),
        ("models: {m: {api_key: hunter2}}\n", "api_key_env"),
        ("models: {m: {api_key_env: [hunter2]}}\n", "a list"),
        (SERVER + "    api_key: hunter2\n", "name that by api_key_env"),
        (SERVER + "    encoded_api_key: hunter2\n", "api_key_env"),
        (SERVER + "    password: hunter2\n", "name that by password_env"),
        (SERVER + "    token: hunter2\n", "api_key_env or password_env"),
        (SERVER + "    api_key_env: aHVudGVyMg:hunter2==\n", "environment variable"),
        (SERVER + "    password_env: hunter2!\n", "environment variable"),
        (SERVER + "    urls: [ 'https://me:hunter2@host:9200' ]\n", "urls[0]: must not hold"),
        (SERVER + "    urls: ['https://host:9200/?key=hunter2']\n", "urls[0]: must not hold"),
        (SERVER + "    urls: https://me:hunter2@host:9200\n", "not its value"),
        ("index: {elasticsearch: 'https://me:hunter2@host:9200'}\n", "not 'https://***@host:9200'"),
        ("models: {m: {endpoint_url: 'https://hunter2@host/v1'}}\n", "*_env"),
        ("index: {'https://me:hunter2@h:9200': 1}\n", "index.https://***@h:9200: unknown key"),
        (SERVER + "    urls: ['me:hunter2@host:9200']\n", "urls[0]: must be a web address"),
    ],
)
def test_secrets_are_refused_and_never_repeated(tmp_path, text, hint):
    message = fail(tmp_path, text)
    assert "hunter2" not in message.lower()
    assert hint in message


def test_a_number_for_a_variable_is_not_repeated(tmp_path):
    message = fail(tmp_path, SERVER + "    password_env: 4711\n")
    assert "password_env: its value is not a text" in message
    assert "4711" not in message


def test_aliases_share_sections_but_do_not_explode(tmp_path):
    file = tmp_path / "p.yaml"
    file.write_text("models: {a: &m {device: cpu, model: a}, b: {<<: *m, model: b}}\n")
    models = load_deployment(file, environ={}).deployment.models
    assert [(one.device, one.model) for one in models.values()] == [("cpu", "a"), ("cpu", "b")]
    bomb = "a0: &a0 [x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12)
    )
    assert "aliases" in fail(tmp_path, bomb)
    merges = "a0: &a0 {x: y}\n" + "".join(
        f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}\n" for i in range(1, 12)
    )
    assert "aliases" in fail(tmp_path, merges)


FRAGMENTS = ["sources", ":", " ", "\n", "- ", "{", "}", "type: folder", "query", "[", "]", "&a"]
FRAGMENTS += ["*a", "<<: ", "!!set ", "1", ".nan", "'", "k: 3", "name: ", "? ", ">", "\t"]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.one_of(
        st.binary(max_size=80),
        st.text(alphabet=string.printable + "é\x85\u2028\ud800", max_size=80).map(
            lambda t: t.encode("utf-8", "surrogatepass")
        ),
        st.lists(st.sampled_from(FRAGMENTS), max_size=25).map(
            lambda parts: "".join(parts).encode()
        ),
    )
)
def test_any_bytes_load_or_raise_a_config_error(tmp_path_factory, content):
    file = tmp_path_factory.mktemp("any") / "pneuma.yaml"
    file.write_bytes(content)
    message = str(file)
    try:
        load_deployment(file, environ={})
    except ConfigError as error:
        message = str(error)
    assert all(str(file) in line and line.isprintable() for line in message.split("\n"))
