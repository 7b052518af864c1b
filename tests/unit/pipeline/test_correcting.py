"""What people say of a column stands before all that others say, run after run."""

import random

import pytest

from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.pipeline.describe import describe_tables
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Stage
from pneuma_assets.core.tables import (
    Column,
    Description,
    DocumentKind,
    Provenance,
    Table,
    TableRef,
    TableTerms,
)
from tests.support.fake_model import FakeLanguageModel, asked_columns

ASKING = NarrationConfig.model_validate({"model": "m"})
RUN = "run"
WRITTEN = Description("in litres", Provenance.DOCUMENT, "rain.md", 1.0)
COMMENT = Description("in inches", Provenance.PERSON, "comment", 1.0)


def table(*columns: str, name: str = "rain") -> Table:
    return Table(f"lake/{name}", tuple(Column(one, "VARCHAR") for one in columns), 4, "")


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "state.db") as store, store.runs.alive(RUN):
        yield store


def narrate(
    store: Store,
    described: Table,
    version: str,
    said: list[tuple[int, Description]] | None = None,
    model: str = "fake",
) -> FakeLanguageModel:
    """Describe a table as a run does that has read this of it."""
    asked = FakeLanguageModel(model)
    ref = TableRef(described.table_id, "lake", "/rain", "csv", version)
    store.listings.sync("lake", [ref])
    store.queue.claim(RUN, 1, 3, ["lake"])
    store.queue.save_profiles(RUN, [described])
    store.descriptions.replace([(described.table_id, said or [])])
    store.profiles.save_terms({described.table_id: TableTerms(rows=(("few",) * 3,) * 4)})
    store.queue.advance(RUN, Stage.SAMPLED, [described.table_id])
    describe_tables(store, RUN, asked, ASKING)
    return asked


def shown(store: Store, table_id: str = "lake/rain") -> dict[str, Description]:
    return store.narrations.of_tables([table_id])[table_id]


def indexed(store: Store) -> str:
    documents = store.documents.of_tables(["lake/rain"])["lake/rain"]
    return " ".join(one.text for one in documents if one.kind == DocumentKind.SCHEMA)


def test_it_survives_fifty_narrations(store):
    """Columns move, come and go; models, documents and comments say what they like."""
    store.correct("lake/rain", "mm", "Millimetres of rain in a day.", "Ann")
    store.correct("lake/rain", "site", "", "Bo")
    chance = random.Random(4)
    for turn in range(50):
        columns = ["mm", "site", f"other_{turn}"]
        chance.shuffle(columns)
        said = [(at, chance.choice([WRITTEN, WRITTEN, COMMENT])) for at in range(3)]
        said = [one for one in said if columns[one[0]] != "site" or one[1] is WRITTEN]
        model = narrate(store, table(*columns), str(turn), said if turn % 2 else None, str(turn))
        one = shown(store)["mm"]
        assert (one.text, one.source) == ("Millimetres of rain in a day.", "Ann")
        assert one.provenance == Provenance.CORRECTION
        assert one.said_at is not None
        assert "site" not in shown(store)
        assert "Millimetres of rain in a day." in indexed(store)
        new = [] if turn % 2 else [columns.index(f"other_{turn}") + 1]
        assert [asked_columns(prompt) for prompt in model.prompts] == [new]


def test_a_column_that_comes_back_has_its_correction(store):
    store.correct("lake/rain", "mm", "Millimetres of rain.", "Ann")
    narrate(store, table("mm", "site", "day"), "1")
    narrate(store, table("depth", "site", "day"), "2")
    assert "Millimetres" not in indexed(store)
    narrate(store, table("site", "day", "mm"), "3")
    assert shown(store)["mm"].text == "Millimetres of rain."


def test_what_is_rejected_is_neither_shown_nor_indexed_until_that_is_taken_back(store):
    before = [(0, WRITTEN)]
    narrate(store, table("mm", "site", "day"), "1", before)
    assert shown(store)["mm"] == WRITTEN
    store.correct("lake/rain", "mm", "", "Ann")
    narrate(store, table("mm", "site", "day"), "2", before)
    assert "mm" not in shown(store)
    assert WRITTEN.text not in indexed(store)
    assert "mm" in indexed(store)  # its name stands in
    store.withdraw_correction("lake/rain", "mm")
    narrate(store, table("mm", "site", "day"), "3", before)
    assert shown(store)["mm"] == WRITTEN


def test_who_rejects_what_machines_say_keeps_what_people_wrote(store):
    store.correct("lake/rain", "mm", "", "Ann")
    narrate(store, table("mm", "site", "day"), "1", [(0, COMMENT), (0, WRITTEN)])
    assert shown(store)["mm"] == COMMENT


def test_a_rejected_answer_of_the_model_is_kept_and_not_asked_again(store):
    narrate(store, table("mm", "site", "day"), "1")
    said = shown(store)["mm"]
    assert said.provenance == Provenance.MODEL
    store.correct("lake/rain", "mm", "", "Ann")
    narrate(store, table("mm", "site", "day"), "2")
    assert "mm" not in shown(store)
    store.withdraw_correction("lake/rain", "mm")
    model = narrate(store, table("mm", "site", "day"), "3")
    assert shown(store)["mm"] == said
    assert model.prompts == []


def test_one_tables_correction_is_no_others(store):
    store.correct("lake/rain", "mm", "Millimetres of rain.", "Ann")
    narrate(store, table("mm", "site", "day", name="snow"), "1")
    assert shown(store, "lake/snow")["mm"].provenance == Provenance.MODEL
