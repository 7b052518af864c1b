"""What a tick sees: which sources it lists, whether a run is needed, and why."""

import subprocess
import sys

import pytest
from sqlalchemy import literal

from pneuma_assets.core.config.small_sections import IndexingConfig
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.pipeline.list import list_sources
from pneuma_assets.core.pipeline.watch import (
    BUDGET_S,
    NOTICE_S,
    TickBudget,
    WorkFound,
    check_for_work,
    list_and_time,
    slow_and_due,
)
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.listings import Listings, ListingTime
from pneuma_assets.core.store.queue import MAX_ATTEMPTS, Finished
from pneuma_assets.core.store.removals import CAREFUL, RemovalRule
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

    def watch(self, *, sources=None, settle=0.0, budget_s=BUDGET_S, spent=0.0, **more) -> WorkFound:
        config = IndexingConfig(quiet_period_seconds=settle)
        sources = self.sources if sources is None else sources
        budget = TickBudget(budget_s, self.clock)
        self.clock.now += spent
        return check_for_work(self.store, sources, config, self.look, budget=budget, **more)

    def claim(self, run_id: str = "run") -> list[str]:
        self.store.queue.claim(run_id, 100, 3, [source.name for source in self.sources])
        return [item.ref.table_id for item in self.store.queue.claimed(run_id)]

    def finish(self, run_id: str = "run") -> None:
        finished = [Finished(table_id, "hash", 2) for table_id in self.claim(run_id)]
        self.store.queue.finish(run_id, finished)
        self.store.access.mark_published(self.store.access.of_tables())


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
    for attempt in range(MAX_ATTEMPTS):
        for table_id in lake.claim():
            lake.store.queue.fail(Problem(table_id, "profile", "torn"))
        seen = lake.watch()
        left = attempt + 1 < MAX_ATTEMPTS
        assert (seen.to_do.resting, seen.reasons) == (2 if left else 0, [])


def test_a_table_that_killed_its_runs_is_named_and_not_waited_for(make):
    lake = make("lake")
    lake.watch()
    for number in range(MAX_ATTEMPTS):
        run = f"run{number}"
        lake.store.runs.begin(run)
        lake.claim(run)
        lake.store.runs.reading(run, "lake/t0")
        seen = lake.watch()
        assert seen.to_do.waiting == 1 + (number + 1 < MAX_ATTEMPTS)
    (problem,) = lake.store.problems.all()
    assert "killed the run 3 times" in problem.cause


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
    lake.store.queue.mark_pending(["lake/t1"])  # as a run does where the index lacks it
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
    assert lake.store.problems.unlisted_sources() == ["hill"]
    assert "hill cannot be listed: the mount is gone" in seen.told()
    lake.sources[0].cause = None
    assert lake.watch().unlisted == {}
    assert lake.store.problems.unlisted_sources() == []


def test_tables_of_a_source_that_is_away_wait_and_use_up_no_attempt(make):
    lake = make("hill", "lake")
    lake.watch()
    lake.claim()
    lake.store.queue.fail(Problem("hill/t0", "profile", "no such file"))  # it went meanwhile
    lake.sources[0].cause = "away"
    seen = lake.watch()
    assert (seen.to_do.waiting, seen.to_do.failed, seen.reasons) == (2, 0, ["2 tables wait"])
    assert lake.store.queue.waiting(["hill", "lake"]) == 2
    assert lake.claim("next") == ["lake/t0", "lake/t1"]
    lake.sources[0].cause = None
    seen = lake.watch()
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
    second = lake.watch(budget_s=40)
    assert (second.listed, second.left) == (["c", "a", "b"], [])
    assert lake.watch(budget_s=1).listed == ["c"], "one is always listed"
    assert lake.watch(budget_s=1).listed == ["a"]
    assert lake.watch(budget_s=1).listed == ["b"]


def test_a_listing_that_takes_long_is_not_begun_after_others(make):
    lake = make("a", "b", "c")
    for source, takes in zip(lake.sources, (20.0, 38.0, 1.0), strict=True):
        source.takes = takes
        assert lake.watch(budget_s=0).listed == [source.name]
    seen = lake.watch()
    assert (seen.listed, seen.left) == (["a", "c"], ["b"]), "20 and 38 s are too long for a tick"
    assert lake.watch().listed[0] == "b", "it has its turn"
    lake.watch()
    seen = lake.watch(spent=20.0)
    assert (seen.listed, seen.left) == (["b"], ["a", "c"]), "what the tick did before counts"


def test_no_source_waits_for_ever_behind_one_that_always_changes(make, monkeypatch):
    lake = make("busy", "slow")
    listed = []
    for minute in range(-2, 15):
        monkeypatch.setattr(lake.store._db, "clock", literal(1e9 + 60 * max(minute, 0)))
        for source in lake.sources:
            source.takes = 39.0
        if minute > 0:
            lake.store.mark_changed({}, {"busy": []}, "an event")
        listed += lake.watch(budget_s=40 if minute > 0 else 0).listed
    assert listed[:3] == ["busy", "slow", "busy"]
    slow = [minute for minute, name in enumerate(listed[3:], 1) if name == "slow"]
    assert slow == [NOTICE_S / 60 + 2, 2 * NOTICE_S / 60 + 4]


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
    assert lake.store.listings.times()["a"].seconds == 3.0


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
        "import sys, pneuma_assets.core.pipeline.watch\n"
        "from pneuma_assets.core.config.deployment import Deployment\n"
        "from pneuma_assets.core.pipeline.plan import expected_fingerprint\n"
        "asked = {'narration': {'model': '/m.gguf'}}\n"
        "assert expected_fingerprint(Deployment.model_validate(asked), None)\n"
        "print({'torch', 'transformers', 'sentence_transformers'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.parametrize(
    ("share", "left", "held"), [(0.5, None, 2), (0.5, ".hidden", 0), (1.0, None, 0)]
)
def test_a_folder_with_nothing_in_it_is_taken_for_an_outage_however_few_tables_it_had(
    tmp_path, share, left, held
):
    root = tmp_path / "lake"
    root.mkdir()
    for name in ("a.csv", "b.csv"):
        (root / name).write_text("a,b\n1,2\n")
    rule = RemovalRule(share)
    with Store(tmp_path / "state.db") as store:
        source = FileSource("lake", FolderStorage(root))
        list_sources(store, [source], rule)
        for name in ("a.csv", "b.csv"):
            (root / name).unlink()
        if left is not None:
            (root / left).touch()
        seen = list_sources(store, [source], rule)
        assert (seen.held, seen.gone) == (held, 2 - held)
        seen = list_sources(store, [source], rule, let_go=["lake"])
        assert seen.held == 0, "a person has accepted it"


def test_a_source_that_somebody_told_of_comes_first(make):
    lake = make("hill", "lake")
    lake.watch()
    lake.store.mark_changed({}, {"lake": []}, "a pipeline")
    for source in lake.sources:
        source.takes = 50.0
    assert list(lake.watch().listed) == ["lake"]
    assert lake.store.listings.notices() == {}


def test_a_source_that_events_tell_of_is_listed_for_a_notice_or_when_it_is_time(make):
    lake = make("hill", "lake")
    rests = {"lake": 3600.0}
    assert list(lake.watch(rests=rests).listed) == ["hill", "lake"], "never listed before"
    lake.finish()
    seen = lake.watch(rests=rests)
    assert (list(seen.listed), list(seen.rested), seen.reasons) == (["hill"], ["lake"], [])
    assert "no event was taken that tells of a change in lake" in seen.told()
    lake.store.mark_changed({}, {"lake": []}, "3 events")
    assert "lake" in lake.watch(rests=rests).listed
    assert "lake" in lake.watch(rests={"lake": -1.0}).listed


def test_a_source_that_takes_too_long_is_left_to_others_where_there_are_others(make):
    lake = make("hill", "lake")
    lake.sources[0].takes = 50.0
    lake.watch()
    seen = lake.watch(leave_slow=True)
    assert (list(seen.listed), list(seen.slow)) == (["lake"], ["hill"])
    names = ["hill", "lake"]
    assert slow_and_due(lake.store, names) == [], "it was listed just now"
    assert slow_and_due(lake.store, names, budget_s=0.0) == []
    lake.store.mark_changed({}, {"hill": []}, "")
    assert slow_and_due(lake.store, names) == ["hill"]
    lake.sources[0].takes = 1.0
    list_and_time(lake.store, lake.sources[0], names, CAREFUL, lake.clock)
    assert slow_and_due(lake.store, names) == []
    assert list(lake.watch(leave_slow=True).slow) == []


def test_a_listing_that_somebody_begins_at_this_moment_is_of_the_next_tick(make, monkeypatch):
    lake, waiting = make("lake"), Listings.notices

    def begun_meanwhile(notices):
        lake.store.listings.begin("lake", ["lake"])
        return waiting(notices)

    monkeypatch.setattr(Listings, "notices", begun_meanwhile)
    assert slow_and_due(lake.store, ["lake"]) == []
    assert slow_and_due(lake.store, ["lake"]) == [], "it may go on"
    seen = lake.watch(leave_slow=True)
    assert (list(seen.slow), list(seen.elsewhere)) == (["lake"], ["lake"])
    assert "another tick or run lists lake now" in seen.told()
    assert "takes too long" not in seen.told()


def test_a_listing_that_takes_long_goes_on_for_as_long_as_the_last_one_took():
    listing = ListingTime(1_000.0, seconds=600.0, open=True)
    assert listing.may_go_on(1_500.0, BUDGET_S)
    assert not listing.may_go_on(1_601.0, BUDGET_S)
    assert not ListingTime(1_000.0, seconds=600.0).may_go_on(1_001.0, BUDGET_S)
    assert ListingTime(1_000.0, open=True).due_at(BUDGET_S) == 1_000.0 + 2 * BUDGET_S


def test_what_has_changed_just_now_is_told_in_words_that_hold_for_a_grant_as_well(make):
    lake = make("lake")
    told = lake.watch(settle=3600.0).told()
    assert told.startswith("no table waits; 2 tables changed just now and may rest; ")
