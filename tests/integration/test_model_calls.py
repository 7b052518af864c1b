"""What each change of a table asks of the language model, counted through real runs.

Every table is changed in its own way, so that one run shows what each way asks.
"""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import dagster as dg
import pytest

from pneuma_assets.core.service.workspace import Workspace
from tests.support.fake_model import FakeLanguageModel, asked_columns
from tests.support.pipeline_support import deployment, run_job

pytestmark = [pytest.mark.integration, pytest.mark.usefixtures("small_encoder")]

ROWS = 400
_NAMED = re.compile(r"Its name:\n/\*\n(?:\S*/)?(\S+)\n")
FOLDER = [f"invoice{number}" for number in range(12)]


class Lake:
    """A folder, and runs of the job over it."""

    def __init__(self, folder: Path, instance: dg.DagsterInstance) -> None:
        self.folder = folder / "lake"
        self.folder.mkdir()
        self.loaded = deployment(folder, self.folder)
        self._instance = instance

    def path(self, name: str) -> Path:
        return self.folder / f"{name}.csv"

    def write(self, name: str, columns: Sequence[Sequence[str]]) -> None:
        """Write a table; the first cell of each column is its name."""
        self.path(name).parent.mkdir(exist_ok=True)
        rows = zip(*columns, strict=True)
        self.path(name).write_text("\n".join(",".join(row) for row in rows))

    def run(self) -> None:
        """Run the job; keep what was asked of tables, what stages counted, what pages said."""
        model = FakeLanguageModel()
        done = run_job(self.loaded, self._instance, model)
        named = [
            (_NAMED.search(prompt).group(1), asked_columns(prompt)) for prompt in model.prompts
        ]
        self.asked = {name: len(columns) for name, columns in named}
        assert len(self.asked) == len(named), "a request a table"
        self.figures: dict[str, dict[str, float]] = {}
        self.shares: dict[str, tuple[float | None, str | None]] = {}
        for event in done.get_asset_materialization_events():
            metadata = event.materialization.metadata
            if "seconds" in metadata:
                counted = {name: entry.value for name, entry in metadata.items()}
                self.figures[event.asset_key.path[-1]] = counted
            else:
                shares = metadata.get("changed_share"), metadata.get("measured_by")
                self.shares[event.asset_key.path[-1]] = tuple(one and one.value for one in shares)

    def said(self, name: str) -> dict[str, str]:
        with Workspace(self.loaded, {}) as workspace:
            found = workspace.store.narrations.of_tables([f"lake/{name}"])[f"lake/{name}"]
        return {column: one.text for column, one in found.items()}


def column(name: str, spelling: str, count: int) -> list[str]:
    return [name, *(spelling.format(i) for i in range(count))]


def of(name: str, *, buyer: str = "buyer", rows: int = ROWS) -> list[list[str]]:
    """Return columns of a table like no other."""
    return [
        column("number", "{}", rows),
        column(buyer, f"{name} person {{}}", rows),
        column("paid", "{}.5", rows),
    ]


TABLES = (
    "renames",
    "noted",
    "gains",
    "retypes",
    "loses",
    "grows",
    "moves",
    "written",
    "copied",
    "touched",
)


@pytest.fixture
def lake(tmp_path, instance):
    lake = Lake(tmp_path, instance)
    for name in (*TABLES, "dropped"):
        lake.write(name, of(name))
    for name in FOLDER:
        lake.write(f"march/{name}", [[name, "paid in full"]])
    lake.run()
    assert lake.asked == dict.fromkeys((*TABLES, "dropped"), 3) | dict.fromkeys(FOLDER, 1)
    return lake


def change_all(lake: Lake) -> None:
    lake.write("renames", of("renames", buyer="customer"))
    lake.write("noted", of("noted", buyer="guest"))
    lake.write("gains", [*of("gains"), column("town", "town {}", ROWS)])
    number, buyer, paid = of("retypes")
    lake.write("retypes", [number, buyer, ["paid", *(f"day {cell}" for cell in paid[1:])]])
    lake.write("loses", of("loses")[1:])
    lake.write("grows", of("grows", rows=ROWS * 105 // 100))
    lake.path("moves").rename(lake.path("moved"))
    (lake.folder / "march").rename(lake.folder / "april")
    again = lake.path("written").read_text()
    lake.path("written").unlink()
    lake.path("rewritten").write_text(again + "\n")  # of another size and time
    shutil.copy2(lake.path("copied"), lake.path("duplicate"))
    os.utime(lake.path("touched"))
    lake.path("dropped").unlink()


def test_only_what_is_new_is_asked(lake):
    before = {name: lake.said(name) for name in TABLES}
    with Workspace(lake.loaded, {}) as workspace:
        store = workspace.store
        store.correct("lake/renames", "buyer", "Who bought it", "ada")
        store.correct("lake/moves", "paid", "Euros", "ada")
        store.correct("lake/moves", None, "All sales", "ada")
        store.add_context("lake/moves", "note", "Only what was paid.")
        columns = "# Columns\n\n- number: Counted from 0\n- paid: In euros\n- buyer: Who came\n"
        store.add_context("lake/noted", "columns", columns)
    change_all(lake)
    lake.run()
    assert lake.asked == {"gains": 1, "retypes": 1, "duplicate": 3}

    renames = before["renames"]
    kept = {"number": renames["number"], "paid": renames["paid"]}
    assert lake.said("renames") == {**kept, "customer": "Who bought it"}
    noted = {"number": "Counted from 0", "paid": "In euros", "guest": "Who came"}
    assert lake.said("noted") == noted
    assert lake.said("moved") == {**before["moves"], "paid": "Euros"}
    assert lake.said("rewritten") == before["written"]
    assert lake.said("copied") == before["copied"]
    assert set(lake.said("loses")) == {"buyer", "paid"}
    with Workspace(lake.loaded, {}) as workspace:
        store = workspace.store
        assert [
            one.text for one in store.documents.user_contexts(["lake/moved"])["lake/moved"]
        ] == ["Only what was paid."]
        assert len(store.descriptions.corrections(["lake/moved"])) == 2
        left = {"lake/moves", "lake/written", "lake/dropped", *(f"lake/march/{n}" for n in FOLDER)}
        assert not left & store.tables.known()
        assert not left & workspace.search_index.list_tables().keys()
        assert {f"lake/april/{name}" for name in FOLDER} <= store.tables.known()

    listed, drawn = lake.figures["raw_tables"], lake.figures["sampled_rows"]
    found = {name: listed[name] for name in ("renamed", "new", "gone", "held")}
    assert found == {"renamed": 1 + len(FOLDER), "new": 2, "gone": 2, "held": 0}
    assert drawn["changed little"] == 1
    # Rows of other columns are other rows; a column that is called otherwise makes none.
    assert drawn["changed much"] == 0
    assert drawn["other columns"] == len(["gains", "retypes", "loses"])
    assert lake.shares["gains"] == lake.shares["loses"] == (None, None)
    assert drawn["same"] == len(["renames", "noted", "moved", "touched", *FOLDER])
    assert "copied" not in lake.shares, "its page says nothing new"
    assert lake.shares["touched"] == (0.0, "sketch"), "its page says when it was written"
    assert lake.shares["grows"] == (0.05, "sketch")
    assert lake.shares["duplicate"] == (None, None)

    lake.write("grows", of("grows", rows=ROWS * 121 // 100))
    lake.run()
    assert lake.asked == {}, "5 % and then 16 %: rows are drawn anew, and nothing is asked"
    drawn = lake.figures["sampled_rows"]
    assert drawn["changed much"] == 1

    os.utime(lake.path("touched"))
    lake.run()
    assert lake.asked == {}
    drawn, embedded = lake.figures["sampled_rows"], lake.figures["embedding_blocks"]
    assert (drawn["same"], drawn["tables"], embedded["embedded"]) == (1, 0, 0)
    assert lake.shares == {"touched": (0.0, "sketch")}
