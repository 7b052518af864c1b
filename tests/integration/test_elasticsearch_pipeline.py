"""The Dagster job with the Elasticsearch engine, on a real server; encoder and narrator are small.

What the job does with any engine is in `test_pipeline.py`; here is what this engine adds: an index
that other machines read meanwhile, and that is built anew beside the one they read.
"""

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import dagster as dg
import pytest
from elasticsearch import Elasticsearch

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import IndexMismatchError, SearchIndexError
from pneuma_assets.core.index import copy
from pneuma_assets.core.index.registry import begin_rebuild, publish_index
from pneuma_assets.core.progress import listening
from pneuma_assets.core.service.workspace import Workspace
from tests.support.deployment_files import deploy, folder_source
from tests.support.elasticsearch_server import client_of
from tests.support.fake_model import FakeLanguageModel
from tests.support.named_encoders import use_named_encoders
from tests.support.pipeline_support import run_job, small_lake
from tests.support.waiting import wait_until

pytestmark = pytest.mark.integration

TABLES = 6
QUESTION, ANSWER = "collected on island 4", "lake/t4"


@pytest.fixture(autouse=True)
def _small_encoders(monkeypatch):
    use_named_encoders(monkeypatch)


@pytest.fixture
def instance():
    with dg.DagsterInstance.ephemeral() as ephemeral:
        yield ephemeral


@pytest.fixture
def lake(tmp_path):
    return small_lake(tmp_path, TABLES)


@pytest.fixture
def client(elasticsearch_url):
    with client_of(elasticsearch_url) as connected:
        yield connected


@pytest.fixture
def deployed(tmp_path, lake, elasticsearch_url, index_name):
    """Return what loads a deployment on the test's own index; options are those of its parts."""

    def load(encoder: str = "words", tables_per_run: int = 100, **options) -> LoadedDeployment:
        server = {"urls": [elasticsearch_url], "name": index_name, "replicas": 0, **options}
        return deploy(
            tmp_path,
            folder_source(lake),
            file=f"{encoder}.yaml",
            encoder={"model": encoder},
            indexing={"tables_per_run": tables_per_run},
            index={"engine": "elasticsearch", "elasticsearch": server},
        )

    return load


def answer(loaded: LoadedDeployment) -> str:
    """Ask as another machine does: everything is opened for this question."""
    with Workspace(loaded, {}) as workspace:
        return workspace.ask(QUESTION, k=1)[0].table_id


def tables(loaded: LoadedDeployment) -> dict[str, int]:
    with Workspace(loaded, {}) as workspace:
        return workspace.search_index.list_tables()


def figures(result: dg.ExecuteInProcessResult, stage: str = "search_index") -> dict[str, object]:
    metadata = result.asset_materializations_for_node(f"pneuma_{stage}")[-1].metadata
    return {name: value.value for name, value in metadata.items()}


def whole_names(client: Elasticsearch, name: str) -> list[str]:
    return sorted(client.indices.get(index=f"{name}-*"))


def indices(client: Elasticsearch, name: str) -> list[str]:
    """Return the indices up to their numbers; a successor's name goes on, as nobody else's does."""
    return [index[: len(f"{name}-000001")] for index in whole_names(client, name)]


def test_a_lake_is_indexed_and_kept_up_to_date(deployed, instance, lake, client, index_name):
    loaded = deployed()
    result = run_job(loaded, instance)
    checks = {event.check_name: event.passed for event in result.get_asset_check_evaluations()}
    assert checks == {
        "every_table_indexed": True,
        "every_table_readable": True,
        "block_counts_agree": True,
        "no_removals_held": True,
        "listed_lake": True,
    }
    shown = figures(result)
    assert (shown["engine"], shown["health"]) == ("elasticsearch", "green")
    with Workspace(loaded, {}) as workspace:  # the server counts bytes anew every ten seconds
        wait_until(lambda: workspace.inspect_index().size_bytes > 0, "the server counts the bytes")
    assert shown["tables in the index"] == TABLES
    assert shown["dagster/row_count"] == sum(tables(loaded).values())
    assert shown["index index"] == f"{index_name}-000001"
    assert not shown["published"]
    assert answer(loaded) == ANSWER

    model = FakeLanguageModel()
    result = run_job(loaded, instance, model)
    assert (model.prompts, figures(result)["tables"]) == ([], 0)

    (lake / "t2.csv").unlink()
    changed = lake / "t1.csv"
    changed.write_text(changed.read_text().replace("label_1", "zanzibar"))
    before = tables(loaded)
    model = FakeLanguageModel()
    result = run_job(loaded, instance, model)
    assert model.prompts == []  # a column that is only renamed keeps what was said of it
    assert (figures(result)["tables"], figures(result)["removed"]) == (1, 1)
    assert tables(loaded).keys() == before.keys() - {"lake/t2"}
    with Workspace(loaded, {}) as workspace:
        assert workspace.query_engine().ask("zanzibar", k=1)[0].table_id == "lake/t1"
        assert workspace.status().counts() == {"indexed": TABLES - 1}
    assert indices(client, index_name) == [f"{index_name}-000001"]


@pytest.mark.slow
def test_a_dropped_index_comes_back_without_the_model(deployed, instance, client, index_name):
    loaded = deployed()
    run_job(loaded, instance)
    before = tables(loaded)
    client.indices.delete(index=f"{index_name}-000001")
    model = FakeLanguageModel()
    run_job(loaded, instance, model)
    assert model.prompts == []
    assert tables(loaded) == before


@pytest.mark.slow
def test_a_rebuild_keeps_an_index_that_can_be_used(deployed, instance, client, index_name):
    """Also one whose copies have no second node to live on, which is yellow."""
    loaded = deployed(replicas=1)
    run_job(loaded, instance)
    index = f"{index_name}-000001"
    before = client.indices.get_settings(index=index, flat_settings=True)
    held = tables(loaded)
    result = run_job(loaded, instance, rebuild=True)
    if client.cluster.health()["number_of_nodes"] == 1:
        assert figures(result)["health"] == "yellow"
    assert figures(result)["tables"] == TABLES
    assert client.indices.get_settings(index=index, flat_settings=True) == before, "made anew"
    assert indices(client, index_name) == [index]
    assert tables(loaded) == held


class Asking(threading.Thread):
    """Asks all the time, in turn with the old deployment and with the new one."""

    def __init__(self, old: LoadedDeployment, new: LoadedDeployment) -> None:
        super().__init__(daemon=True)
        self.deployments = {"old": old, "new": new}
        self.answers: list[tuple[str, str]] = []
        self.failure: Exception | None = None
        self._enough = threading.Event()

    def run(self) -> None:
        try:
            while not self._enough.wait(0.01):
                for name, loaded in self.deployments.items():
                    self.answers.append((name, answer(loaded)))
        except Exception as error:  # noqa: BLE001 (raised again by `stop`)
            self.failure = error

    def wait_for(self, deployment: str) -> None:
        """Wait until it has asked with this one; returns at once where it failed."""
        wait_until(
            lambda: self.failure or deployment in dict(self.answers),
            f"nobody asks with the {deployment} deployment",
        )

    def stop(self) -> None:
        self._enough.set()
        self.join()
        if self.failure is not None:
            raise self.failure


@contextmanager
def asking(old: LoadedDeployment, new: LoadedDeployment) -> Iterator[Asking]:
    thread = Asking(old, new)
    thread.start()
    try:
        yield thread
    finally:
        thread.stop()


@pytest.mark.slow
def test_another_encoder_is_refused_then_built_beside(deployed, instance, client, index_name):
    old, new = deployed(), deployed("longer", tables_per_run=2)
    run_job(old, instance)
    held = tables(old)
    with pytest.raises(dg.Failure, match=r"'words' of dimension 64.*'longer'.*--rebuild"):
        run_job(new, instance)
    assert indices(client, index_name) == [f"{index_name}-000001"]

    with Workspace(old, {}) as workspace, asking(old, new) as asker:
        index = workspace.search_index  # one that stays open all the time
        asker.wait_for("new")
        published = []
        for number in range(3):
            assert tables(old) == held
            assert answer(old) == ANSWER
            model = FakeLanguageModel()
            result = run_job(new, instance, model, rebuild=number == 0)
            assert model.prompts == [], "narrations do not depend on the encoder"
            published.append(bool(figures(result)["published"]))
            if number == 0:
                info = workspace.inspect_index()
                assert info.details["being built"] == whole_names(client, index_name)[1]
                assert (info.encoder, info.tables) == ("words", TABLES)
                assert answer(new) == ANSWER, "answered by the old index"
                with pytest.raises(dg.Failure, match="--rebuild"):
                    run_job(old, instance)  # cannot write into what the new one builds
        assert published == [False, False, True]
        assert answer(new) == ANSWER
        assert tables(new) == held
        with pytest.raises(IndexMismatchError, match="--rebuild"):
            index.list_tables()
        assert answer(old) == ANSWER, "answered by the new index"
    assert indices(client, index_name) == [f"{index_name}-000002"]
    assert {table_id for _, table_id in asker.answers} == {ANSWER}
    assert {deployment for deployment, _ in asker.answers} == {"old", "new"}
    model = FakeLanguageModel()
    assert figures(run_job(new, instance, model))["tables"] == 0


KILLED = """
import sys
from functools import partial
from pathlib import Path
import pytest
from pneuma_assets import index_run
from pneuma_assets.core.config.load import load_deployment
from pneuma_assets.core.progress import listening
from tests.support.named_encoders import use_named_encoders
from tests.support.elasticsearch_server import client_of
from tests.support.pipeline_support import CountingNarrator
overrides = {"pneuma_narrator": CountingNarrator.made()}
index_run.named_resources = partial(index_run.named_resources, overrides=overrides)
use_named_encoders(pytest.MonkeyPatch())

def heard(*said):
    print(*said, flush=True)
    sys.stdin.readline()  # goes on when it is told to

with listening(heard):
    index_run.run_indexing(load_deployment(config=Path(sys.argv[1]), environ={}), rebuild=True)
"""


@pytest.mark.slow
def test_a_rebuild_that_was_killed_goes_on(deployed, instance, client, index_name):
    old, new = deployed(), deployed("longer", tables_per_run=2)
    run_job(old, instance)
    held = tables(old)
    command = [sys.executable, "-c", KILLED, str(new.file)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as process:
        writes = 0
        for line in process.stdout:
            writes += line.startswith("writing the index")
            if writes == 1 and line.startswith("reading profiles"):  # in the second run
                process.send_signal(signal.SIGKILL)
                break
            process.stdin.write("\n")
            process.stdin.flush()
    assert writes == 1, "the process ended before it was killed"
    assert process.wait() == -signal.SIGKILL
    assert tables(old) == held
    assert answer(old) == ANSWER

    with Workspace(new, {}) as workspace:
        finished = workspace.status().counts()["indexed"]
    assert 2 <= finished < TABLES

    done, published = [], []
    while not (published and published[-1]):
        result = run_job(new, instance)  # no --rebuild: it was begun, and these runs go on
        done.append(figures(result)["tables"])
        published.append(bool(figures(result)["published"]))
        assert done[-1], "a run did nothing, and published nothing"
    assert sum(done) == TABLES - finished, "what was finished is not done again"
    assert tables(new) == held
    assert answer(new) == ANSWER
    assert indices(client, index_name) == [f"{index_name}-000002"]


@pytest.mark.slow
def test_a_successor_that_was_deleted_by_hand_is_begun_again(
    deployed, instance, client, index_name
):
    old, new = deployed(), deployed("longer", tables_per_run=2)
    run_job(old, instance)
    held = tables(old)
    run_job(new, instance, rebuild=True)
    client.indices.delete(index=whole_names(client, index_name)[1])
    assert answer(old) == ANSWER
    new = deployed("longer")
    run_job(new, instance, rebuild=True)
    assert tables(new) == held
    assert len(indices(client, index_name)) == 1


@pytest.mark.slow
def test_a_rebuild_for_a_third_encoder_drops_what_was_begun(deployed, instance, client, index_name):
    old, new = deployed(), deployed("longer", tables_per_run=2)
    run_job(old, instance)
    run_job(new, instance, rebuild=True)
    begun = whole_names(client, index_name)[1]
    with (
        Workspace(old, {}) as workspace,
        pytest.raises(SearchIndexError, match=rf"rebuilt as '{begun}'.*'pneuma-assets index'"),
    ):
        workspace.reindex()
    result = run_job(old, instance, rebuild=True)  # back to the first one, after all
    assert figures(result)["tables"] == TABLES
    assert answer(old) == ANSWER
    assert len(indices(client, index_name)) == 1


def copy_steps(monkeypatch: pytest.MonkeyPatch, at: int, do: Callable[[], object]):
    """Return what does something when a reindexing has copied so many tables."""
    monkeypatch.setattr(copy, "_TABLES_AT_ONCE", 1)

    def heard(task: str, done: int, total: int) -> None:
        if (task, done) == ("copying tables", at):
            do()

    return listening(heard)


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_an_interrupted_reindexing_holds_indexing_off_until_it_is_completed(
    deployed, instance, lake, client, index_name, monkeypatch
):
    loaded = deployed()
    run_job(loaded, instance)
    held = tables(loaded)
    sharded = deployed(shards=2)
    with Workspace(sharded, {}) as workspace:
        with (
            copy_steps(monkeypatch, 2, interrupt),
            pytest.raises(KeyboardInterrupt),
        ):
            workspace.reindex()
        begun = whole_names(client, index_name)
        assert indices(client, index_name) == [f"{index_name}-000001", f"{index_name}-000002"]
        (lake / "t2.csv").unlink()
        with pytest.raises(dg.Failure, match=r"is being copied to .*'pneuma-assets reindex'"):
            run_job(sharded, instance)
        assert tables(loaded) == held
        assert answer(loaded) == ANSWER
        workspace.reindex()
    assert whole_names(client, index_name) == begun[1:], "it has not gone on where it stopped"
    assert tables(loaded) == held
    assert answer(loaded) == ANSWER
    model = FakeLanguageModel()
    result = run_job(sharded, instance, model)
    assert (model.prompts, figures(result)["removed"]) == ([], 1)
    assert tables(loaded).keys() == held.keys() - {"lake/t2"}


@pytest.mark.slow
def test_while_an_index_is_copied_a_run_fails_and_nothing_is_published(
    deployed, instance, client, index_name, monkeypatch
):
    loaded = deployed()
    run_job(loaded, instance)
    held = tables(loaded)
    published = []

    def run() -> None:
        config, build = loaded.deployment.index, f"{index_name}-000001"
        published.append(publish_index(config, loaded.home, build))
        with pytest.raises(dg.Failure, match="is being copied"):
            run_job(loaded, instance)
        assert indices(client, index_name) == [f"{index_name}-000001", f"{index_name}-000002"]
        assert tables(loaded) == held

    with Workspace(deployed(shards=2), {}) as workspace, copy_steps(monkeypatch, 2, run):
        workspace.reindex()
    assert published == [False]
    assert indices(client, index_name) == [f"{index_name}-000002"]
    assert tables(loaded) == held
    assert figures(run_job(loaded, instance))["tables"] == 0


@pytest.mark.slow
def test_an_index_that_lacks_a_block_is_rebuilt(deployed, instance, client, index_name):
    loaded = deployed()
    run_job(loaded, instance)
    held = tables(loaded)
    (index,) = whole_names(client, index_name)
    found = client.search(index=index, query={"exists": {"field": "vector"}}, size=1)
    client.delete(index=index, id=found["hits"]["hits"][0]["_id"], refresh=True)
    with Workspace(loaded, {}) as workspace, pytest.raises(SearchIndexError, match="--rebuild"):
        list(workspace.search_index.blocks())
    run_job(loaded, instance, rebuild=True)  # as the message says
    with Workspace(loaded, {}) as workspace:
        assert len(list(workspace.search_index.blocks())) == sum(held.values())
    assert len(whole_names(client, index_name)) == 1


@pytest.mark.slow
def test_a_broken_table_holds_no_rebuild_up(deployed, instance, lake):
    old, new = deployed(), deployed("longer")
    (lake / "broken.parquet").write_bytes(b"PAR1 this is no parquet file PAR1")
    run_job(old, instance)
    held = tables(old)
    assert figures(run_job(new, instance, rebuild=True))["published"]
    assert tables(new) == held
    with Workspace(new, {}) as workspace:
        assert workspace.status().counts() == {"indexed": TABLES, "failed": 1}


@pytest.mark.slow
def test_two_runs_that_rebuild_at_once(deployed, instance, client, index_name):
    """As when a schedule and a person start one: both begin the same index, and both publish it."""
    old, new = deployed(), deployed("longer")
    run_job(old, instance)
    config, home = new.deployment.index, new.home

    def at_once(work: Callable[[], object]) -> list[object]:
        gate = threading.Barrier(3)
        with ThreadPoolExecutor(3) as pool:
            running = [pool.submit(lambda: (gate.wait(), work())[1]) for _ in range(3)]
        return [one.result() for one in running]

    at_once(lambda: begin_rebuild(config, home, "longer", 96))
    begun = whole_names(client, index_name)
    assert indices(client, index_name) == [f"{index_name}-000001", f"{index_name}-000002"]
    assert answer(old) == ANSWER
    assert any(at_once(lambda: publish_index(config, home, begun[1])))
    assert whole_names(client, index_name) == begun[1:]
    assert tables(new) == {}
    assert publish_index(config, home, begun[1]) is False
