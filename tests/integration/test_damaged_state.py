"""A damaged state file gives what was written or names the damage, and salvage saves the rest.

PNEUMA_DAMAGED_PLACES=100 damages as many places instead of the few that every run damages.
"""

import random
import shutil
from collections.abc import Callable
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from pneuma_assets.core.errors import StateError
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.narrations import AnswerKey
from pneuma_assets.core.store.runs import StageRecord
from pneuma_assets.core.store.salvage import salvage
from pneuma_assets.core.store.worklist.items import Finished
from pneuma_assets.core.tables import (
    Block,
    Column,
    Description,
    Document,
    DocumentKind,
    EmbeddedBlock,
    Problem,
    Provenance,
    Table,
    TableRef,
)
from tests.support.damage import DAMAGES, empty, garble, places, truncate

pytestmark = pytest.mark.integration

PLACES = sorted({*range(places(28)), 61, 90})  # 61 and 90: sound rows that no look-up finds
MODEL = AnswerKey("model")
COUNT = 60
IDS = [f"lake/t{number}" for number in range(COUNT)]


def table(number: int) -> Table:
    columns = tuple(Column(f"column_{number}_{place}", "DOUBLE") for place in range(6))
    return Table(IDS[number], columns, 10 * number, f"/lake/t{number}.csv")


def fill(store: Store) -> None:
    """Write what several runs and people write, in many transactions."""
    chance = random.Random(1)
    refs = [TableRef(i, "lake", f"/{i}.csv", "csv", "v1") for i in IDS]
    store.inventory.reconcile("lake", refs)
    store.work.claim("run", COUNT, 3, ["lake"])
    store.runs.begin("run")
    store.results.save_profiles("run", [table(number) for number in range(COUNT)])
    for number in range(COUNT):
        texts = {place: f"narration {number} {place} {chance.random()}" for place in range(6)}
        described = table(number)
        store.narrations.save(
            MODEL,
            [(described.schema_hash, place, text) for place, text in texts.items()],
        )
        said = {p: Description(t, Provenance.MODEL, "model") for p, t in texts.items()}
        answers = store.narrations.answers(MODEL, described)
        store.narrations.assign(MODEL, [(described, said, answers)])
        rows = [Document(IDS[number], DocumentKind.ROWS, "row " * 60 + str(n)) for n in range(5)]
        store.documents.replace(DocumentKind.ROWS, [(IDS[number], rows)])
    staged = [
        EmbeddedBlock(Block(i, DocumentKind.ROWS, f"text of {i}"), np.full(64, 0.125, np.float32))
        for i in IDS[:9]
    ]
    store.documents.stage("m", [(item.block.table_id, [item]) for item in staged])
    finished = [Finished(i, table(n).schema_hash, 3) for n, i in enumerate(IDS) if n > 9]
    store.results.finish("run", finished)
    store.runs.record("run", StageRecord("raw_tables", 2.0, {"tables": 1.5, "rows": 3.0}))
    store.record_problems("lake", "profile", [Problem(i, "profile", "odd") for i in IDS[3:6]])
    for number in range(0, COUNT, 2):
        size = 9000 if number % 5 == 0 else 40
        store.add_context(IDS[number], "wiki", f"what I know of {number} " + "words " * size)


def later(store: Store) -> list[Callable[[], Any]]:
    """Return transactions that stay in the log."""
    return [
        lambda: store.backlog.let_wait([IDS[0]]),
        lambda: store.narrations.save(MODEL, [("hash", 0, "said later")]),
        lambda: store.record_problems("lake", "sample", [Problem(IDS[9], "sample", "late")]),
    ]


def asking(store: Store) -> dict[str, Callable[[], Any]]:
    """Return everything that can be asked of a store."""
    return {
        "records": store.tables.records,
        "claimed": lambda: store.work.claimed("run"),
        "gone": store.leaving.gone,
        "pending": store.backlog.pending,
        "known": lambda: sorted(store.tables.known()),
        "problems": store.problems,
        "narrations": lambda: [store.narrations.known(MODEL, table(n)) for n in range(COUNT)],
        "narrated": lambda: [store.narrations.of_table(i) for i in IDS],
        "documents": lambda: [store.documents.of_table(i) for i in IDS],
        "staged": lambda: [
            [(e.block, e.vector.tobytes()) for e in store.documents.staged("m", i)] for i in IDS
        ],
        "contexts": lambda: contexts(store),
        "stages": lambda: store.runs.stages("run"),
    }


def contexts(store: Store) -> dict[str, Any]:
    return {i: store.user_contexts(i) for i in IDS if store.user_contexts(i)}


def answers(store: Store) -> dict[str, Any]:
    return {name: ask() for name, ask in asking(store).items()}


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """One state, closed in order and as a killed process leaves it, and its last states."""
    home = tmp_path_factory.mktemp("sound")
    for name in ("closed", "killed", "live"):
        (home / name).mkdir()
    with Store(home / "live" / "state.db") as store:
        fill(store)
        true = [answers(store)]
        for change in later(store):
            change()
            true.append(answers(store))
        for file in ("state.db", "state.db-wal", "state.db.made"):
            shutil.copy(home / "live" / file, home / "killed")
    for file in ("state.db", "state.db.made"):
        shutil.copy(home / "live" / file, home / "closed")
    return home, true


@pytest.mark.parametrize("state", ["closed", "killed"])
def test_the_state_is_sound(sound, state, tmp_path):
    home, true = sound
    path = shutil.copytree(home / state, tmp_path / "copy") / "state.db"
    with Store(path) as store:
        assert answers(store) == true[-1]
    assert salvage(path) is None


@pytest.mark.parametrize("place", PLACES)
def test_nothing_wrong_is_read_and_salvage_saves_the_rest(sound, tmp_path, place):
    home, true = sound
    chance = random.Random(f"place {place}")
    killed = place % 3 == 2
    path = shutil.copytree(home / ("killed" if killed else "closed"), tmp_path / "h") / "state.db"
    in_log = killed and place % 6 == 5
    damage = DAMAGES[place % len(DAMAGES)]
    damage(path.with_name("state.db-wal") if in_log else path, chance)
    check_damaged(path, true, damage, in_log)


def check_damaged(path, true, damage, in_log: bool) -> None:
    """Ask a damaged file everything, salvage it, and compare both with what was written."""
    # SQLite takes a damaged log for one that a crash cut off; what people wrote is never in it.
    named = ask_everything(path, true if in_log else true[-1:])
    salvaged = salvage(path)
    assert named <= (salvaged is not None)
    with Store(path) as store:
        store.check()
        saved = contexts(store)
        narrations = answers(store)["narrations"]
    for table_id, texts in saved.items():
        assert texts == true[-1]["contexts"][table_id]
    assert all(
        a.items() <= b.items() for a, b in zip(narrations, true[-1]["narrations"], strict=True)
    )
    missing = len(true[-1]["contexts"]) - len(saved)
    if salvaged is None:
        print("unharmed", missing)
        assert not missing
        return
    print("damaged", damage.__name__, "in log" if in_log else "", "contexts missing:", missing)
    assert salvaged.kept.stat().st_size or damage is empty
    told = salvaged.lost.get("user_contexts", 0)
    assert missing == told or damage in {truncate, empty, garble} or salvaged.contexts_unsure


def ask_everything(path, true: list[dict[str, Any]]) -> bool:
    """Return whether damage was named; every question opens the file anew."""
    named = False
    for name in true[0]:
        try:
            with closing(Store(path)) as store:
                found = asking(store)[name]()
        except StateError as error:
            named |= names_remedy(error)
        else:
            assert found in [one[name] for one in true], name
    try:
        with closing(Store(path)) as store:
            store.check()
            store.backlog.let_wait(IDS)
    except StateError as error:
        return names_remedy(error)
    assert not named
    return named


def names_remedy(error: StateError) -> bool:
    assert "pneuma-assets salvage" in str(error)
    assert "\n" not in str(error)
    return True
