"""A schema is described once, and a renamed column costs one call."""

import pytest

from pneuma_assets.core.store import Store
from pneuma_assets.core.store.narrations import Answer, AnswerKey, Subject
from pneuma_assets.core.tables import THE_TABLE, Column, Description, Provenance, Table
from tests.conformance.store import lake
from tests.support.narrations import said_before

M, OTHER = AnswerKey("m"), AnswerKey("other")
OF_TABLE = AnswerKey("m", of_table=True)
S = {name: Subject("", name) for name in "abc"}


def table(name: str, *columns: str) -> Table:
    return lake.table(name, *columns, kind="BIGINT")


def said_by(model: str, texts: dict[int, str]) -> dict[int, Description]:
    return {p: Description(text, Provenance.MODEL, model, 0.5) for p, text in texts.items()}


def texts_of(store: Store, table_id: str) -> dict[str, str]:
    return {
        name: one.text for name, one in store.narrations.of_tables([table_id])[table_id].items()
    }


def narrate(store: Store, key: AnswerKey, described: Table) -> None:
    """Do what the narration stage does, with the column's name as its narration."""
    answers = {p: f"about {c.name}" for p, c in enumerate(described.columns)}
    store.narrations.save(key, [(key.subject(described), p, t) for p, t in answers.items()])
    said = store.narrations.answers([key], [described])[described.table_id]
    store.narrations.assign([(described, said_by(key.model, answers), said)], asked=True)


def test_tables_with_one_schema_share_narrations(store):
    narrate(store, M, table("a", "x", "y"))
    assert said_before(store, M, table("b", "x", "y")) == {0: "about x", 1: "about y"}
    assert said_before(store, OTHER, table("b", "x", "y")) == {}


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        (("x", "y", "z"), 0),
        (("x DATE", "y", "z"), 1),
        (("x", "renamed", "z"), 1),
        (("z", "y", "x"), 0),
        (("x", "y", "z", "added"), 1),
        (("x", "p", "q"), 3),
        (("x",), 0),
    ],
    ids=["same", "another type", "renamed", "reordered", "added", "mostly new", "mostly dropped"],
)
def test_what_a_changed_schema_asks(store, columns, asked):
    narrate(store, M, table("a", "x", "y", "z"))
    typed = (Column(*(one.split() if " " in one else (one, "BIGINT"))) for one in columns)
    changed = Table("lake/a", tuple(typed), 1, "/x")
    store.narrations.carry_over(M, [changed])
    known = said_before(store, M, changed)
    assert len(columns) - len(known) == asked
    assert all(known[p] == f"about {columns[p]}" for p in known)


def test_a_narration_keeps_its_date(store):
    described = table("a", "x", "y", "z")
    began = store.now()
    narrate(store, M, described)
    ended = store.now()
    at = store.narrations.answers([M], [described])[described.table_id][0].said_at
    assert began <= at <= ended
    shown = {0: Description("about x", Provenance.MODEL, "m", 0.5, at)}
    store.narrations.assign(
        [(described, shown, store.narrations.answers([M], [described])[described.table_id])],
        asked=True,
    )
    assert store.narrations.of_tables(["lake/a"])["lake/a"]["x"].said_at == at
    changed = table("a", "y", "x", "z", "added")
    store.narrations.carry_over(M, [changed])
    assert store.narrations.answers([M], [changed])[changed.table_id][1] == Answer(
        "about x", "m", at
    )


@pytest.mark.parametrize(
    "name", ["x" * 5000, "\u5b57" * 400 + "\0\ud800", "".join(map(chr, range(0x4E00, 0x5A00)))]
)
def test_a_column_with_a_monstrous_name_is_described_like_others(store, name):
    narrate(store, M, table("a", name, "y"))
    assert said_before(store, M, table("b", name, "y")) == {
        0: said_before(store, M, table("a", name, "y"))[0],
        1: "about y",
    }
    assert texts_of(store, "lake/a")["y"] == "about y"
    narrate(store, M, table("a", "y"))
    assert texts_of(store, "lake/a") == {"y": "about y"}


def test_columns_without_a_description_are_asked_again_on_demand(store):
    described = table("a", "x", "y")
    store.narrations.save(M, [(M.subject(described), 0, ""), (M.subject(described), 1, "y")])
    assert said_before(store, M, described) == {0: "", 1: "y"}
    said = store.narrations.answers([M], [described])[described.table_id]
    store.narrations.assign([(described, said_by("m", {1: "y"}), said)], asked=True)
    store.narrations.forget_empty()
    store.narrations.carry_over(M, [described])
    assert said_before(store, M, described) == {1: "y"}


def test_who_says_what_is_kept_and_only_a_model_is_not_asked_again(store):
    described = table("a", "x", "y", "z")
    said = {
        0: Description("by hand", Provenance.PERSON, "the column's comment", 1.0),
        1: Description("about y", Provenance.MODEL, "m"),
        2: Description("one of 1, 2", Provenance.PROFILE, "values", 0.9),
    }
    store.narrations.assign([(described, said, {1: Answer("about y", "m")})], asked=True)
    assert store.narrations.of_tables(["lake/a"])["lake/a"] == dict(
        zip("xyz", said.values(), strict=True)
    )
    changed = table("a", "x", "y", "z", "added")
    store.narrations.carry_over(M, [changed])
    assert said_before(store, M, changed) == {1: "about y"}
    changed = table("a", "y", "p", "q")
    store.narrations.carry_over(M, [changed])
    assert said_before(store, M, changed) == {}  # one of three is too few


def test_what_was_said_and_not_shown_is_not_asked_again_for_a_renamed_column(store):
    described = table("a", "x", "y", "z")
    shown = {0: Description("one of 1, 2", Provenance.PROFILE, "values", 0.9)}
    answers = {0: Answer("about y", "m"), 1: Answer("", "m"), 2: Answer("about x", "m")}
    store.narrations.assign([(described, shown, answers)], asked=True)
    assert store.narrations.of_tables(["lake/a"])["lake/a"] == {"x": shown[0]}
    changed = table("a", "x", "y", "renamed")
    store.narrations.carry_over(M, [changed])
    assert said_before(store, M, changed) == {0: "about y", 1: ""}
    store.narrations.carry_over(OTHER, [changed])
    assert said_before(store, OTHER, changed) == {}


def test_an_answer_about_a_table_is_that_tables_alone_and_follows_it(store):
    narrate(store, OF_TABLE, table("a", "x", "y", "z"))
    assert said_before(store, OF_TABLE, table("a", "x", "y", "z"))[0] == "about x"
    assert said_before(store, OF_TABLE, table("b", "x", "y", "z")) == {}
    assert said_before(store, M, table("a", "x", "y", "z")) == {}
    changed = table("a", "z", "renamed", "x")
    store.narrations.carry_over(OF_TABLE, [changed])
    assert said_before(store, OF_TABLE, changed) == {0: "about z", 2: "about x"}


def test_what_was_said_of_a_table_alone_is_forgotten_with_it(store):
    """It may tell of the table's values; what was said of a schema tells of none."""
    one, other = table("a", "x", "y"), table("b", "x", "y")
    store.listings.sync("lake", [lake.ref("a"), lake.ref("b")])
    for described in (one, other):
        narrate(store, OF_TABLE, described)
    narrate(store, M, one)
    store.listings.sync("lake", [lake.ref("b")])
    store.removals.forget([one.table_id])
    assert said_before(store, OF_TABLE, one) == {}
    assert len(said_before(store, OF_TABLE, other)) == len(said_before(store, M, one)) == 2
    store.removals.retract(other.table_id)
    assert said_before(store, OF_TABLE, other) == {}


def test_what_is_said_of_a_table_is_kept_apart_and_goes_with_it(store):
    described = table("a", "", "y")
    said = {THE_TABLE: "One row is a game.", 0: "unnamed"}
    store.narrations.save(M, [(M.subject(described), at, text) for at, text in said.items()])
    answers = store.narrations.answers([M], [described])[described.table_id]
    shown = said_by("m", said)
    store.narrations.assign([(described, shown, answers)], asked=True)
    assert store.narrations.summaries(["lake/a", "lake/b"]) == {"lake/a": shown[THE_TABLE]}
    assert store.narrations.of_tables(["lake/a"])["lake/a"] == {"": shown[0]}
    assert store.narrations.of_all()["lake/a"] == {"": ("BIGINT", shown[0])}
    changed = table("a", "y")
    store.narrations.carry_over(M, [changed])
    assert said_before(store, M, changed) == {THE_TABLE: "One row is a game."}
    other = table("a", "p", "q", "r", "s")
    store.narrations.carry_over(M, [other])
    assert said_before(store, M, other) == {}, "another table under the same name"
    store.renaming.take_over("lake/a", "lake/c")
    assert store.narrations.summaries(["lake/a", "lake/c"]) == {"lake/c": shown[THE_TABLE]}


def test_a_table_of_which_the_model_had_nothing_to_say_is_asked_about_again_on_demand(store):
    described = table("a", "x")
    subject = M.subject(described)
    store.narrations.save(M, [(subject, THE_TABLE, ""), (subject, 0, "x")])
    answers = store.narrations.answers([M], [described])[described.table_id]
    store.narrations.assign([(described, said_by("m", {0: "x"}), answers)], asked=True)
    assert store.narrations.summaries(["lake/a"]) == {}
    store.narrations.forget_empty()
    store.narrations.carry_over(M, [described])
    assert said_before(store, M, described) == {0: "x"}
