"""1,000 values that rules hide are planted in a lake, and looked for wherever anything is kept.

Runs, questions and the command line are the real ones; only the encoder is small.
"""

import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
import pytest

from pneuma_assets.cli.app import app
from pneuma_assets.core.config.elasticsearch import ElasticsearchConfig
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.pipeline.optimise import optimise_index
from pneuma_assets.core.service.workspace import Workspace
from pneuma_assets.core.store import Store
from pneuma_assets.dagster_instance import open_instance
from pneuma_assets.index_run import run_indexing
from tests.support.canaries import RULES, SHOWN, Lake, contents, hashes, hashes_in, hearing, leaks
from tests.support.deployment_files import deploy
from tests.support.elasticsearch_server import documents
from tests.support.fake_model import shown_tables
from tests.support.reading import reading_here
from tests.support.recording_endpoint import Endpoint, prompt_of, recording_endpoint
from tests.support.waiting import wait_until

pytestmark = pytest.mark.integration

QUESTIONS = ["who earns what", "ssn of people", "plainvalue7", "kanari0007", "7711770001"]


@dataclass
class Deployed:
    """A deployment, what it printed and logged, and what its endpoint heard."""

    lake: Lake
    loaded: LoadedDeployment
    endpoint: Endpoint
    heard: io.StringIO

    @property
    def home(self) -> Path:
        return self.loaded.home

    def everything(self) -> Iterator[tuple[str, bytes]]:
        yield from contents(self.home)
        yield "prompts", self.endpoint.said
        yield "output and logs", self.heard.getvalue().encode()

    def leaks(self) -> dict[str, set[bytes]]:
        return {where: found for where, data in self.everything() if (found := leaks(data))}


@pytest.fixture(scope="module", autouse=True)
def _as_from_a_shell(small_encoder):
    with pytest.MonkeyPatch.context() as patched:
        patched.delenv("DAGSTER_HOME", raising=False)
        yield


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Lake:
    planted = Lake(tmp_path_factory.mktemp("canaries"))
    assert len(set(planted.planted)) == 1000
    return planted


def load(
    folder: Path,
    lake: Lake,
    *,
    rules: bool = True,
    only: str = "",
    environ: Mapping[str, str] | None = None,
    **more: object,
) -> LoadedDeployment:
    told = {"privacy": RULES} if rules else {}
    sources = [one for one in lake.sources(rules=rules) if only in ("", one["name"])]
    return deploy(folder, *sources, environ=environ, **told, **more)


def quoting(prompt: str) -> str:
    """Answer as a model does that repeats what it is shown, of a table and of each column."""
    if '{"table":' not in prompt:
        return "Yes."
    shown = prompt.partition("Its columns")[2].partition("Answer with one JSON")[0]
    said = "It is one of the things that are kept"
    numbered = re.findall(r"^(\d+)\. (.*)$", shown, re.MULTILINE)
    columns = [{"n": int(n), "description": f"{said}: {line}"} for n, line in numbered]
    return json.dumps({"table": f"It holds {shown[-300:]}", "columns": columns})


def models(endpoint: Endpoint, *, send_values: bool) -> dict[str, object]:
    one = {"model": "m", "endpoint_url": endpoint.url, "send_values": send_values}
    judge = {"judge": {"model": "there"}} if send_values else {}
    asked = {"narration": {"model": "there"}, "answers": {"model": "there"}}
    return {"models": {"there": one}, **asked, **judge}


def use(loaded: LoadedDeployment) -> None:
    """Index, ask, and look at everything that the command line shows."""
    run_indexing(loaded)
    with Workspace(loaded, {}) as workspace:
        for question in QUESTIONS:
            judge = not leaks(question.encode())  # a judge is shown the question
            print([result.to_dict() for result in workspace.ask(question, k=20, judge=judge)])
            if judge:
                print(workspace.answer(question))
        for table in workspace.status().tables:
            print(table)
    config = ["--config", str(loaded.file)]
    for command in (
        ["status", "--problems"],
        ["status", "--json"],
        ["describe", "lake/hr/people"],
        ["describe", "people/main/staff"],
        ["search", "plainvalue3", "--json"],
        ["bench", "--renew", "--json"],
    ):
        group = ["bench", "mine"] if command[0] == "bench" else command[:1]
        shown(group + config + command[1:])


def shown(arguments: list[str]) -> None:
    """Run the command line in this process; what it prints is heard by whoever listens."""
    with pytest.raises(SystemExit):
        app(arguments)


def deployed(folder: Path, lake: Lake, endpoint: Endpoint, **more: object) -> Deployed:
    loaded = load(folder, lake, **more)
    with hearing() as heard:
        use(loaded)
    return Deployed(lake, loaded, endpoint, heard)


@pytest.fixture(scope="module")
def everything_on(tmp_path_factory, lake):
    """All that shows values is switched on: endpoints, and rows on pages."""
    with recording_endpoint(quoting) as endpoint:
        shows = {"dagster": {"show_rows": True}, "bench": {"mined": True}}
        more = {**models(endpoint, send_values=True), **shows}
        yield deployed(tmp_path_factory.mktemp("on"), lake, endpoint, **more)


def test_nothing_hidden_is_anywhere(everything_on):
    assert everything_on.leaks() == {}


def test_a_judge_is_shown_no_name_of_a_hidden_column(everything_on):
    judged = [
        one for body in everything_on.endpoint.requests for one in shown_tables(prompt_of(body))
    ]
    assert {one["id"] for one in judged} >= {"lake/hr/people", "people/main/staff"}
    assert SHOWN in json.dumps(judged).encode()
    assert not re.search("ssn|salary|mail|nick|payer", json.dumps(judged), re.IGNORECASE)
    columns = {one["id"]: one["columns"] for one in judged}
    assert sorted(columns["lake/hr/people"]) == ["city", "id"]
    assert columns["people/main/staff"] == ["id", "place"]


def test_a_narrator_is_shown_no_name_of_a_hidden_column(everything_on):
    prompts = map(prompt_of, everything_on.endpoint.requests)
    asked = [one for one in prompts if one.startswith("Describe a table")]
    assert len(asked) > 10
    assert any("hr/people" in one and "2. city" in one for one in asked)
    named = re.compile("ssn|salary|mail|nick|payer", re.IGNORECASE)
    assert [found for one in asked for found in named.findall(one)] == []


def test_what_no_rule_hides_is_everywhere(everything_on):
    found = {where for where, data in everything_on.everything() if SHOWN in data}
    assert {"prompts", "output and logs"} < found
    for kept in ("state.db (values)", "index.db (values)", "dagster"):
        assert any(kept in where for where in found), kept
    with Workspace(everything_on.loaded, {}) as workspace:
        store = workspace.store
        said = store.narrations.summaries(store.tables.known()).values()
        assert any(SHOWN.decode() in one.text for one in said), "a model repeats what it is shown"


def test_tables_are_asked_about_by_what_no_rule_hides(everything_on):
    with Workspace(everything_on.loaded, {}) as workspace:
        asked = workspace.store.questions.all()
        assert len(workspace.store.questions.measurements()) == 2, "a run's check and a command"
    assert len(asked) > 20
    assert {one.kind for one in asked} >= {"name", "columns"}
    assert all(one.question in everything_on.heard.getvalue() for one in asked)


def test_no_hash_confirms_a_guess(everything_on, lake):
    unsalted = hashes(lake)
    assert hashes_in(b"%d" % min(unsalted) + b" " * 3 + max(unsalted).to_bytes(8), unsalted)
    found = {where: hashes_in(data, unsalted) for where, data in contents(everything_on.home)}
    assert {where: some for where, some in found.items() if some} == {}


def test_hidden_columns_keep_their_names_and_tables_what_else_they_have(everything_on):
    with Workspace(everything_on.loaded, {}) as workspace:
        tables = {table.table_id: table for table in workspace.status().tables}
    assert tables["closed/diagnoses"].state == "indexed"
    assert tables["closed/diagnoses"].rows == 100
    output = everything_on.heard.getvalue()
    assert "ssn" in output
    assert "clinic by the river" in output or "closed/visits" in output


def test_columns_that_are_shown_have_profiles_and_hidden_ones_none(everything_on):
    with Workspace(everything_on.loaded, {}) as workspace:
        store = workspace.store
        tables = {one.table_id: one for one in workspace.status().tables}
        people = store.statistics.column_profiles("lake/hr/people")
        assert people["city"].distinct == people["id"].distinct == 20
        assert "ssn" not in people
        assert store.statistics.column_profiles("closed/diagnoses") == {}
        assert [rows for _, rows in store.statistics.row_counts("closed/diagnoses")] == [100]
        assert not leaks(profiles(store, tables))


def test_readers_that_fail_say_only_what_failed(everything_on):
    with Workspace(everything_on.loaded, {}) as workspace:
        causes = {p.subject: p.cause for p in workspace.status().problems}
    for table in ("people/main/counted", "people/main/failing", "lake/cut"):
        assert "hidden values" in causes[table], table


def test_an_endpoint_sees_no_value_unless_told_to(tmp_path, lake):
    with recording_endpoint(quoting) as endpoint, reading_here():
        more = models(endpoint, send_values=False)
        loaded = load(tmp_path, lake, only="lake", **more)
        run_indexing(loaded)
        with Workspace(loaded, {}) as workspace:
            assert workspace.ask("plainvalue7")
            asked = len(endpoint.requests)
            workspace.answer("who earns what")
            notices = workspace.status().notices
    assert b"city" in endpoint.said
    assert b"salary" not in endpoint.said
    assert b"Describe a table" in endpoint.said
    assert any("CREATE TABLE" in prompt_of(one) for one in endpoint.requests[asked:])
    assert SHOWN not in endpoint.said
    assert not leaks(endpoint.said)
    told = [notice.partition(":")[0] for notice in notices]
    assert told[:3] == ["narration", "answers", "privacy"]


@pytest.mark.slow
def test_what_is_hidden_later_leaves_with_the_next_run(tmp_path, lake):
    with recording_endpoint(quoting) as endpoint, reading_here():
        open_to_all = {**models(endpoint, send_values=True), "bench": {"mined": True}}
        before = load(tmp_path, lake, rules=False, **open_to_all)
        run_indexing(before)
        assert leaks(questions(before))
        with Workspace(before, {}) as workspace:
            assert leaks(profiles(workspace.store, workspace.store.tables.known()))
        kept = {where.rpartition("/")[2] for where, data in contents(before.home) if leaks(data)}
        assert {"index.db (values)", "state.db"} <= kept  # or nothing can be found
        after = load(tmp_path, lake, rules=True, **open_to_all)
        run_indexing(after)
        assert questions(after)
        assert not leaks(questions(after))
        with Workspace(after, {}) as workspace:
            assert workspace.ask("plainvalue7", judge=False)
    left = {where: found for where, data in contents(after.home) if (found := leaks(data))}
    assert {where for where in left if "/dagster/" not in where} == set()
    with open_instance(after.home) as instance:
        assert not leaks(repr(list(pages(instance))).encode())
    shown_again = load(tmp_path, lake, rules=False, only="lake")
    with reading_here():
        run_indexing(shown_again)
    with Workspace(shown_again, {}) as workspace:
        assert workspace.ask(lake.planted[0], k=1)[0].table_id == "lake/hr/people"


def profiles(store: Store, table_ids: Iterable[str]) -> bytes:
    return repr([store.statistics.column_profiles(one) for one in table_ids]).encode()


def questions(loaded: LoadedDeployment) -> bytes:
    """Return what is asked again after every change of models or options."""
    with Workspace(loaded, {}) as workspace:
        return " ".join(one.question for one in workspace.store.questions.all()).encode()


def pages(instance: dg.DagsterInstance) -> Iterator[object]:
    for key in instance.get_asset_keys():
        yield from instance.fetch_materializations(key, limit=1000).records


@pytest.mark.slow
def test_elasticsearch_holds_nothing_hidden(
    tmp_path, lake, elasticsearch_url, index_name, monkeypatch
):
    # What was removed is kept for two requests' time, for searches under way.
    monkeypatch.setattr(ElasticsearchConfig, "timeout_seconds", 3.0)
    server = {"urls": [elasticsearch_url], "name": index_name, "replicas": 0}
    more = {"index": {"engine": "elasticsearch", "elasticsearch": server}, "only": "lake"}
    with reading_here():
        run_indexing(load(tmp_path, lake, rules=False, **more))
        assert leaks(documents(elasticsearch_url, index_name))
        after = load(tmp_path, lake, rules=True, **more)
        run_indexing(after)

    def nothing_left() -> bool:
        with Workspace(after, {}) as workspace:
            optimise_index(workspace.search_index)
        return not leaks(documents(elasticsearch_url, index_name))

    wait_until(nothing_left, "what is hidden is removed")
    assert SHOWN in documents(elasticsearch_url, index_name)
