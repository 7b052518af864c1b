"""Users x tables over HTTP: of a table that somebody may not see, no answer says anything.

Each user is compared with one who asks of a table that never was: the same words, the same counts.
"""

import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from starlette.testclient import TestClient

from pneuma_assets.core.service.access_keys import create_key
from pneuma_assets.core.service.state import open_store
from pneuma_assets.core.service.workspace import Workspace
from tests.support.served_home import client_of, guarded_app, loaded_from

API = "/api/v1"
TABLES: Mapping[str, str] = {
    "open/nature/penguins": "penguins on islands Gentoo",
    "open/nature/rivers": "river length Danube",
    "finance/salaries": "payslip zloty monthly wages",
    "vault/keys": "passphrase xylophone volga",
}
"""Each with words that it alone has."""
OWN_WORDS: Mapping[str, tuple[str, ...]] = {
    "finance/salaries": ("salaries", "payslip", "zloty", "wages"),
    "vault/keys": ("vault", "xylophone", "passphrase", "volga"),
}
OPEN = {"open/nature/penguins", "open/nature/rivers"}
USERS: Mapping[str, tuple[tuple[str, ...], bool, set[str]]] = {
    "nobody": ((), True, OPEN),
    "eve": (("eve", "finance_ro", "open/finance", "finance/x"), True, OPEN),
    "fred": (("finance",), True, {*OPEN, "finance/salaries"}),
    "olga": ((), False, set(TABLES)),
}
"""Names, whether they are no operators, and what they see."""


@contextmanager
def users_of(file: Path) -> Iterator[dict[str, TestClient]]:
    """A client of each user, by keys of their own; people have said things of hidden tables."""
    loaded = loaded_from(file)
    with Workspace(loaded, {}) as desk:
        desk.describe("vault/keys", "xylophone", "of the passphrase", author="olga")
        desk.add_context("vault/keys", "volga", "a passphrase")
        join = ("finance/salaries", ["payslip"], "vault/keys", ["passphrase"])
        desk.judge_join(*join, holds=True, author="olga")
        for table in OWN_WORDS:
            desk.confirm_answer(TABLES[table], [table], author="olga")
        desk.note_question("the xylophone of the vault", "refused", door="http")
    with open_store(loaded, {}) as store:
        keys = {
            name: create_key(store, name, readers, may_edit=True, is_operator=not limited)[1]
            for name, (readers, limited, _) in USERS.items()
        }
    app = guarded_app(file)
    with client_of(app):
        yield {name: client_of(app, Authorization=f"Bearer {key}") for name, key in keys.items()}


def everything(client: TestClient, words: str) -> str:
    """All that the interface tells somebody who asks for these words, without their own words."""
    texts = []
    for path in (
        *(f"/search?q={words}", f"/search?q={words}&words_only=true", f"/groups?q={words}"),
        *(f"/suggestions?q={word[:4]}" for word in words.split()),
        *("/tables", "/joins/verdicts", "/confirmed", "/status", f"/confirmed?q={words}"),
        *(f"/table{part}?id=open/nature/rivers" for part in ("", "/joins", "/lineage")),
    ):
        answer = client.get(API + path)
        assert answer.status_code == 200, answer.text
        texts.append(_without(answer.json(), words))
    answered = client.post(f"{API}/answers", json={"question": words, "model": False}).json()
    texts += [_without(answered, words), client.get("/metrics").text]
    return "\n".join(texts)


def _without(found: object, words: str) -> str:
    """An answer as text, without the question in it."""
    return json.dumps(found, ensure_ascii=False).replace(json.dumps(words), "")


def check_nothing_is_told(users: Mapping[str, TestClient], caplog) -> None:
    """Everything that each user is told names what they see, and nothing of what they do not."""
    for name, (_, limited, sees) in USERS.items():
        client = users[name]
        listed = client.get(f"{API}/tables").json()
        assert {one["table_id"] for one in listed["tables"]} == sees
        assert listed["total"] == len(sees)
        assert client.get(f"{API}/status").json()["tables"] == len(sees)
        for facet in listed["facets"].values():
            assert max((one["tables"] for one in facet), default=0) <= len(sees)
        for hidden in TABLES.keys() - sees:
            with caplog.at_level(logging.INFO):
                told = everything(client, TABLES[hidden]).casefold()
            for word in OWN_WORDS[hidden]:
                assert word not in told, (name, word)
        mine = (one for one in caplog.records if one.name.startswith("pneuma_assets"))
        logged = "\n".join(one.getMessage() for one in mine).casefold()
        assert "/api/v1/search" in logged
        assert not [word for words in OWN_WORDS.values() for word in words if word in logged]
        assert (client.get(f"{API}/questions/failing").status_code == 200) is not limited
        assert (client.get("/metrics").status_code == 200) is not limited
    assert "vault/keys" in everything(users["olga"], TABLES["vault/keys"])


def check_hidden_is_absent(users: Mapping[str, TestClient]) -> None:
    """Whatever is asked about a hidden table is answered as for one that never was."""
    for name, (_, _, sees) in USERS.items():
        for hidden in TABLES.keys() - sees:
            absent = hidden[:-1] + "z"
            for ask in ASKED:
                one, other = ask(users[name], hidden), ask(users[name], absent)
                assert one.status_code == other.status_code, (name, hidden, one.text)
                assert one.status_code in (404, 422), (name, hidden, one.text)
                assert one.text.replace(hidden, "T") == other.text.replace(absent, "T")


def _get(path: str, key: str = "id"):
    return lambda client, table: client.get(API + path, params={"q": "river", key: table})


def _send(method: str, path: str, **body: object):
    def ask(client: TestClient, table: str):
        given = {name: [table] if name == "tables" else one for name, one in body.items()}
        given |= {} if "tables" in body else {"table_id": table}
        return client.request(method, API + path, json=given)

    return ask


def _joined(client: TestClient, table: str):
    body = {
        **{"table_id": "open/nature/rivers", "columns": ["river"]},
        **{"other": table, "other_columns": ["river"], "holds": True},
    }
    return client.put(f"{API}/table/join", json=body)


ASKED = (
    *(_get(f"/table{part}") for part in ("", "/rows", "/lineage", "/joins", "/descriptions")),
    _get("/table/contexts"),
    _send("PUT", "/table/description", column=None, text="x"),
    _send("PUT", "/table/description", column="xylophone", text=None),
    _send("PUT", "/table/context", name="n", text="x"),
    lambda client, table: client.delete(f"{API}/table/description", params={"id": table}),
    lambda client, table: client.delete(
        f"{API}/table/context", params={"id": table, "name": "volga"}
    ),
    _joined,
    _send("POST", "/statements", sql="SELECT 1 FROM keys", tables=[]),
    _send("POST", "/statements/export", sql="SELECT 1 FROM keys", tables=[]),
    _send("POST", "/confirmed", question="river", tables=[]),
)
