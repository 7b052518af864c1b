"""What a tick sees: which sources it lists, whether a run is needed, and why."""

import subprocess
import sys

import pytest

from pneuma_assets.core.config.indexing import IndexingConfig
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.pipeline.watching import Watched, watch
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.records import Finished
from pneuma_assets.core.tables import Problem


class Clock:
    """Seconds that pass only where a source takes them."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class TimedSource(FileSource):
    """A folder whose listing takes a time of its own, or fails."""

    def __init__(self, name, folder, clock, *, takes=0.0) -> None:
        super().__init__(name, FolderStorage(folder))
        self.clock, self.takes, self.cause = clock, takes, None

    def list_tables(self, *known):
        self.clock.now += self.takes
        if self.cause is not None:
            raise SourceError(self.cause)
        return super().list_tables(*known)


class Lake:
    """A store, folders of two tables each, and runs that hold what they claim until they end."""

    def __init__(self, folder, *names: str) -> None:
        self.store = Store(folder / "state.db")
        self.clock = Clock()
        self.sources = []
        for name in names:
            (folder / name).mkdir()
            for number in range(2):
                (folder / name / f"t{number}.csv").write_text("a,b\n1,2\n")
            self.sources.append(TimedSource(name, folder / name, self.clock))
        self.asked = []
        self.told = []

    def look(self, to_do):
        self.asked.append(to_do)
        return self.told

    def watch(self, *, attempts=3, sources=None, **more) -> Watched:
        config = IndexingConfig(max_attempts=attempts)
        sources = self.sources if sources is None else sources
        return watch(self.store, sources, config, self.look, clock=self.clock, **more)

    def claim(self, run_id: str = "run") -> list[str]:
        self.store.work.claim(run_id, 100, 3, [source.name for source in self.sources])
        return [item.ref.table_id for item in self.store.work.claimed(run_id)]

    def finish(self, run_id: str = "run") -> None:
        finished = [Finished(table_id, "hash", 2) for table_id in self.claim(run_id)]
        self.store.work.finish(run_id, finished)


@pytest.fixture
def make(tmp_path):
    made = []

    def lake(*names):
        made.append(Lake(tmp_path, *names))
        return made[-1]

    yield lake
    for one in made:
        one.store.close()


def test_new_tables_are_work_and_indexed_ones_are_not(make):
    lake = make("hill", "lake")
    seen = lake.watch()
    assert seen.reasons == ["4 tables wait"]
    assert (seen.figures.tables, seen.figures.new, seen.to_do.waiting) == (4, 4, 4)
    lake.finish()
    seen = lake.watch()
    assert seen.reasons == []
    assert seen.told() == "no table waits; 4 tables listed in 0.0 s"
    assert (seen.to_do.indexed, seen.to_do.with_blocks) == (4, 4)


def test_what_a_living_run_holds_is_its_own_work_and_a_dead_runs_is_ours(make):
    lake = make("lake")
    lake.watch()
    with lake.store.runs.alive("run"):
        assert len(lake.claim()) == 2
        seen = lake.watch()
        assert (seen.reasons, seen.to_do.claimed) == ([], 2)
        assert "runs hold 2" in seen.told()
        assert lake.asked == []
    assert lake.watch().reasons == ["2 tables wait"]


def test_failed_tables_are_told_while_they_have_attempts_left(make):
    lake = make("lake")
    lake.watch()
    for attempt in (1, 2):
        for table_id in lake.claim():
            lake.store.work.fail(Problem(table_id, "profile", "torn"))
        seen = lake.watch(attempts=2)
        assert (seen.to_do.failed, seen.reasons) == ((2, 0)[attempt - 1], [])


def test_a_table_that_killed_its_runs_is_named_and_not_waited_for(make):
    lake = make("lake")
    lake.watch()
    for number in range(2):
        run = f"run{number}"
        lake.store.runs.begin(run)
        lake.claim(run)
        lake.store.runs.reading(run, "lake/t0")
        seen = lake.watch(attempts=2)
        assert seen.to_do.waiting == 2 - number
    (problem,) = lake.store.problems()
    assert "killed the run 2 times" in problem.cause


def test_tables_that_left_are_work(make, tmp_path):
    lake = make("hill", "lake")
    lake.watch()
    lake.finish()
    (tmp_path / "hill" / "t0.csv").unlink()
    assert lake.watch().reasons == ["1 table has left its source"]


def test_a_table_that_was_indexed_while_a_tick_lists_stays(make, tmp_path, monkeypatch):
    lake = make("lake")
    lake.watch()
    lake.finish()
    listing = lake.sources[0].list_tables

    def overtaken(*known):
        listed = listing(*known)
        monkeypatch.undo()
        (tmp_path / "lake" / "t2.csv").write_text("a,b\n1,2\n")
        lake.watch()
        lake.finish()
        return listed

    monkeypatch.setattr(lake.sources[0], "list_tables", overtaken)
    seen = lake.watch()
    assert (seen.reasons, seen.to_do.gone, seen.to_do.indexed) == ([], 0, 3)


def test_a_source_that_is_not_named_is_told_and_left_to_runs(make):
    lake = make("hill", "lake")
    lake.watch()
    lake.finish()
    seen = lake.watch(sources=lake.sources[:1])
    assert (seen.reasons, seen.to_do.gone, seen.unnamed) == ([], 0, ["lake"])
    assert "does not name lake, of which there are tables: the next run lets them" in seen.told()
    assert lake.watch().unnamed == []


def test_tables_that_are_held_are_told_and_are_no_work(make, tmp_path):
    lake = make("lake")
    for number in range(2, 12):
        (tmp_path / "lake" / f"t{number}.csv").write_text("a,b\n1,2\n")
    lake.watch()
    lake.finish()
    for file in (tmp_path / "lake").iterdir():
        file.unlink()
    seen = lake.watch()
    assert (seen.reasons, seen.to_do.with_blocks) == ([], 12)
    assert "12 absent ones are held" in seen.told()
    lake.store.work.let_wait(["lake/t1"])  # as a run does where the index lacks it
    assert lake.watch().to_do.with_blocks == 11


def test_no_source_at_all_is_told_and_asks_for_no_run(make):
    lake = make("lake")
    lake.watch()
    lake.finish()
    seen = lake.watch(sources=[])
    assert (seen.reasons, seen.to_do.gone) == ([], 0)
    assert "no source" in seen.told()


def test_a_source_that_cannot_be_listed_is_a_problem_and_keeps_its_tables(make):
    lake = make("hill", "lake")
    lake.watch()
    lake.finish()
    lake.sources[0].cause = "the mount is gone"
    seen = lake.watch()
    assert (seen.listed, seen.unlisted, seen.reasons) == (
        ["lake"],
        {"hill": "the mount is gone"},
        [],
    )
    assert lake.store.unlisted_sources() == ["hill"]
    assert "hill cannot be listed: the mount is gone" in seen.told()
    lake.sources[0].cause = None
    assert lake.watch().unlisted == {}
    assert lake.store.unlisted_sources() == []


def test_tables_of_a_source_that_is_away_wait_and_use_up_no_attempt(make):
    lake = make("hill", "lake")
    lake.watch()
    lake.claim()
    lake.store.work.fail(Problem("hill/t0", "profile", "no such file"))  # it went meanwhile
    lake.sources[0].cause = "away"
    seen = lake.watch()
    assert (seen.to_do.waiting, seen.to_do.failed, seen.reasons) == (2, 0, ["2 tables wait"])
    assert lake.store.work.waiting(["hill", "lake"]) == 2
    assert lake.claim("next") == ["lake/t0", "lake/t1"]
    lake.sources[0].cause = None
    seen = lake.watch(attempts=1)
    assert (seen.to_do.waiting, seen.to_do.failed) == (3, 1), "all have all their attempts"


def test_no_run_is_asked_for_while_no_source_can_be_listed(make):
    lake = make("lake")
    lake.watch()
    lake.sources[0].cause = "away"
    seen = lake.watch()
    assert (seen.to_do.waiting, seen.reasons, seen.no_source) == (0, [], True)


def test_time_that_is_spent_leaves_sources_to_the_next_tick(make):
    lake = make("a", "b", "c")
    for source, takes in zip(lake.sources, (30.0, 20.0, 5.0), strict=True):
        source.takes = takes
    first = lake.watch(budget_s=40)
    assert (first.listed, first.left, first.seconds) == (["a", "b"], ["c"], 50.0)
    assert "no time was left for c: first" in first.told()
    assert "a takes 30 s to list" in first.told()
    second = lake.watch(budget_s=40)
    assert (second.listed, second.left) == (["c", "a", "b"], [])
    assert lake.watch(budget_s=1).listed == ["c"], "one is always listed"
    assert lake.watch(budget_s=1).listed == ["a"]
    assert lake.watch(budget_s=1).listed == ["b"]


def test_a_tick_that_is_ended_from_outside_does_not_keep_the_others_waiting(make, monkeypatch):
    lake = make("a", "b")
    monkeypatch.setattr(lake.sources[0], "list_tables", lambda *_: sys.exit("killed"))
    with pytest.raises(SystemExit):
        lake.watch()
    monkeypatch.undo()
    seen = lake.watch(budget_s=0)
    assert (seen.listed, seen.left) == (["b"], ["a"])
    lake.sources[0].takes = 3.0
    assert lake.watch(budget_s=0).listed == ["a"]
    assert lake.store.listing_times.read()["a"].seconds == 3.0


def test_the_index_is_looked_at_only_where_nothing_else_is_to_be_done(make):
    lake = make("lake")
    lake.told = ["the index holds 0 of 2 tables"]
    assert lake.watch().reasons == ["2 tables wait"]
    assert lake.asked == []
    lake.finish()
    assert lake.watch().reasons == lake.told
    assert len(lake.asked) == 1


def test_a_tick_imports_no_model():
    code = (
        "import sys, pneuma_assets.core.pipeline.watching, pneuma_assets.core.pipeline.looking\n"
        "from pneuma_assets.core.config.deployment import Deployment\n"
        "from pneuma_assets.core.pipeline.recipe import foreseen_recipe\n"
        "asked = {'narration': {'enabled': True, 'model': '/m.gguf'}}\n"
        "assert foreseen_recipe(Deployment.model_validate(asked), None)\n"
        "print({'torch', 'transformers', 'sentence_transformers'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
