"""Two runs at once, whose tables share schemas, ask the model for each column once."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.pipeline import describe
from pneuma_assets.core.pipeline.describe import answer_key, describe_tables
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Stage
from pneuma_assets.core.tables import Column, Table, TableRef
from tests.support.fake_model import FakeLanguageModel

CONFIG = NarrationConfig.model_validate({"model": {"model": "m", "endpoint_url": "http://h/v1"}})
"""Whose answers tables with one schema share."""


class Slow(FakeLanguageModel):
    """Lets the other run come to what this one is at."""

    def generate(self, prompts, max_new_tokens, stop=()):
        for generation in super().generate(prompts, max_new_tokens, stop):
            time.sleep(0.01)
            yield generation


def table(number: int) -> Table:
    """Tables 0 and 3, 1 and 4, 2 and 5 share a schema."""
    return Table(f"lake/t{number}", (Column(f"a{number % 3}", "INT"), Column("b", "INT")), 1, "")


def ready(store: Store, run: str) -> None:
    """Take three of the six tables to where they can be described."""
    store.listings.sync(
        "lake", [TableRef(f"lake/t{n}", "lake", f"/t{n}", "csv", "1") for n in range(6)]
    )
    store.queue.claim(run, 3, 3, ["lake"])
    taken = [table(int(item.ref.table_id[-1])) for item in store.queue.claimed(run)]
    store.queue.save_profiles(run, taken)
    store.queue.advance(run, Stage.SAMPLED, [one.table_id for one in taken])


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(describe, "WAIT_S", 0.01)


def test_each_column_is_asked_for_once(tmp_path):
    models = {"one": Slow(), "two": Slow()}
    together = Barrier(2)

    def work(run: str) -> int:
        with Store(tmp_path / "state.db") as store, store.runs.alive(run):
            together.wait()
            return describe_tables(store, run, models[run], CONFIG).narrated

    with Store(tmp_path / "state.db") as store, store.runs.alive("one"), store.runs.alive("two"):
        ready(store, "one")
        ready(store, "two")
        with ThreadPoolExecutor() as pool:
            assert sum(pool.map(work, models)) == 6
        for number in range(6):
            assert len(store.narrations.of_tables([f"lake/t{number}"])[f"lake/t{number}"]) == 2
    assert sum(len(model.prompts) for model in models.values()) == 6


def test_what_a_dead_run_had_reserved_is_asked_for(tmp_path):
    with Store(tmp_path / "state.db") as store:
        ready(store, "one")
        model = FakeLanguageModel()
        key = answer_key(model, CONFIG.prompt)
        store.narrations.reserve(key, {key.subject(table(0))}, "dead")
        assert describe_tables(store, "one", model, CONFIG).narrated == 6
