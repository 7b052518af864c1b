"""What a run takes on: which sources, which tables, and what it does to a work list."""

from math import inf

import pytest

from pneuma_assets.core.config.small_sections import IndexingConfig
from pneuma_assets.core.errors import SourceError
from pneuma_assets.core.pipeline.list import RawTablesFigures
from pneuma_assets.core.pipeline.plan import Indexed, RunRequest, claim_tables
from pneuma_assets.core.sources.files.folder import FolderStorage
from pneuma_assets.core.sources.files.source import FileSource
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.queue import Finished


class Deployment:
    """A store and folders of tables; each run dies without a word, unless it is finished."""

    def __init__(self, folder) -> None:
        self.store = Store(folder / "state.db")
        self.sources = [self.source(folder, "hill", 1), self.source(folder, "lake", 3)]
        self.runs = 0
        self.indexed: dict[str, int] = {}
        self.asked_at = inf

    def source(self, folder, name: str, tables: int) -> FileSource:
        (folder / name).mkdir()
        for number in range(tables):
            (folder / name / f"t{number}.csv").write_text("a,b\n1,2\n")
        return FileSource(name, FolderStorage(folder / name))

    def begin(self, *, recipe="models", per_run=100, sources=None, **asked) -> RawTablesFigures:
        self.runs += 1
        request = RunRequest(self.sources if sources is None else sources, **asked)
        config = IndexingConfig(tables_per_run=per_run)
        run_id = f"run{self.runs}"
        indexed = Indexed(self.indexed, self.asked_at)
        return claim_tables(self.store, run_id, request, config, recipe=recipe, indexed=indexed)

    def finish(self) -> None:
        run_id = f"run{self.runs}"
        ids = [item.ref.table_id for item in self.store.queue.claimed(run_id)]
        self.store.queue.finish(run_id, [Finished(table_id, "hash", 2) for table_id in ids])
        self.indexed |= dict.fromkeys(ids, 2)


@pytest.fixture
def deployment(tmp_path):
    made = Deployment(tmp_path)
    yield made
    made.store.close()


def test_a_request_names_what_is_listed_and_what_is_configured(deployment):
    hill, lake = deployment.sources
    assert RunRequest([hill, lake]).listed == [hill, lake]
    request = RunRequest([hill, lake], only=["lake"])
    assert request.listed == [lake]
    assert request.configured == ["hill", "lake"]


def test_a_first_run_claims_as_many_tables_as_it_may(deployment):
    assert deployment.begin(per_run=3) == RawTablesFigures(tables=4, new=4, claimed=3, waiting=1)


def test_a_run_goes_on_with_what_a_dead_one_held(deployment):
    deployment.begin()
    figures = deployment.begin()
    assert (figures.unchanged, figures.claimed, figures.waiting) == (4, 4, 0)


def test_only_chosen_sources_are_listed_and_the_others_stay(deployment):
    figures = deployment.begin(only=["lake"])
    assert (figures.tables, figures.claimed, figures.gone) == (3, 3, 0)
    deployment.finish()
    figures = deployment.begin(only=["hill"])
    assert (figures.tables, figures.claimed, figures.gone) == (1, 1, 0)


def test_tables_of_a_source_that_is_not_configured_any_more_are_gone(deployment):
    deployment.begin()
    deployment.finish()
    assert deployment.begin(sources=deployment.sources[:1]).gone == 3


def test_without_a_source_nothing_is_begun(deployment):
    for asked in ({"sources": []}, {"only": ["nowhere"]}):
        with pytest.raises(SourceError, match="no source to index"):
            deployment.begin(**asked)


def test_nothing_changed_nothing_is_claimed(deployment):
    deployment.begin()
    deployment.finish()
    assert deployment.begin() == RawTablesFigures(tables=4, unchanged=4)


def test_another_recipe_lets_every_table_wait(deployment):
    deployment.begin()
    deployment.finish()
    assert deployment.begin(recipe="others").claimed == 4


def test_a_rebuild_is_of_the_chosen_sources(deployment):
    deployment.begin()
    deployment.finish()
    assert deployment.begin(rebuild=True, only=["lake"]).claimed == 3


def test_tables_of_which_the_index_lost_blocks_are_indexed_again(deployment):
    deployment.begin()
    deployment.finish()
    deployment.indexed["lake/t1"] = 1
    del deployment.indexed["lake/t2"]
    figures = deployment.begin()
    assert (figures.lost, figures.claimed) == (2, 2)


def test_what_another_run_writes_meanwhile_is_not_lost(deployment):
    """The index was asked before another run put a table into it, or while one replaces it."""
    deployment.begin()
    deployment.finish()
    deployment.indexed.clear()
    deployment.asked_at = 0.0
    assert deployment.begin().lost == 0
    deployment.asked_at = inf
    deployment.store.queue.mark_pending(["lake/t1"])
    with deployment.store.runs.alive("another"):
        deployment.store.queue.claim("another", 1, 3, ["lake"])
        assert deployment.begin().lost == 3


class Emptied(Deployment):
    """A dozen tables were indexed; then their folder was empty, as if nothing were mounted."""

    def __init__(self, root) -> None:
        self.root = root
        self.store = Store(root / "state.db")
        self.sources = [self.source(root, "coast", 12)]
        self.runs, self.indexed, self.asked_at = 0, {}, inf
        self.begin()
        self.finish()
        (root / "coast").rename(root / "away")
        (root / "coast").mkdir()

    def mount(self) -> None:
        (self.root / "coast").rmdir()
        (self.root / "away").rename(self.root / "coast")

    def stages_of_problems(self) -> list[str]:
        return [problem.stage for problem in self.store.problems.all()]


@pytest.fixture
def emptied(tmp_path):
    made = Emptied(tmp_path)
    yield made
    made.store.close()


def test_an_emptied_source_is_held_until_somebody_accepts(emptied):
    for _ in range(2):
        assert emptied.begin() == RawTablesFigures(held=12)
        assert emptied.stages_of_problems() == ["removals"]
    assert emptied.begin(accept_removals=True) == RawTablesFigures(gone=12)
    assert emptied.stages_of_problems() == []


@pytest.fixture
def two_emptied(emptied):
    """Another source beside the emptied one, whose folder is empty by now, too."""
    emptied.begin()
    emptied.sources.append(emptied.source(emptied.root, "dunes", 12))
    emptied.begin()
    emptied.finish()
    (emptied.root / "dunes").rename(emptied.root / "away dunes")
    (emptied.root / "dunes").mkdir()
    return emptied


@pytest.mark.parametrize("only", [[], ["coast", "dunes"]])
def test_tables_of_several_sources_are_let_go_one_source_at_a_time(two_emptied, only):
    two_emptied.begin()
    with pytest.raises(SourceError, match="tables of 2 sources are held") as refused:
        two_emptied.begin(only=only, accept_removals=True)
    for name in ("coast", "dunes"):
        accept = f"'pneuma-assets index --source {name} --accept-removals'"
        assert accept in str(refused.value)
        assert accept in next(
            p.cause for p in two_emptied.store.problems.all() if p.subject == name
        )
    assert two_emptied.begin(only=["coast"], accept_removals=True).gone == 12
    figures = two_emptied.begin()
    assert (figures.gone, figures.held) == (0, 12)
    assert two_emptied.begin(accept_removals=True).gone == 12, "one is left, so it is meant"


def test_a_source_that_nobody_has_seen_empty_is_not_let_go_with_another(two_emptied):
    figures = two_emptied.begin(accept_removals=True)
    assert (figures.gone, figures.held) == (12, 12)
    assert [p.subject for p in two_emptied.store.problems.all()] == ["dunes"]


def test_a_new_index_is_no_reason_to_let_go_of_sources_that_were_not_named(two_emptied):
    figures = two_emptied.begin(only=["coast"], anew=True, accept_removals=True)
    assert (figures.gone, figures.held) == (12, 12)


@pytest.mark.parametrize("asked", [{"rebuild": True}, {"recipe": "others"}, {"retry": True}])
def test_what_is_held_waits_for_its_return_to_be_made_anew(emptied, asked):
    figures = emptied.begin(**asked)
    assert (figures.held, figures.claimed, figures.waiting, figures.gone) == (12, 0, 0, 0)
    assert len(emptied.store.tables.indexed()) == 12, "it is searchable as it was"
    emptied.mount()
    again = asked.keys() - {"retry"}
    figures = emptied.begin(recipe=asked.get("recipe", "models"))
    assert (figures.held, figures.claimed) == (0, 12 if again else 0)


def test_an_index_that_is_built_anew_does_not_forget_what_is_held(emptied):
    """Nobody can read them now, so that index is not complete; the old one answers meanwhile."""
    emptied.indexed = {}
    figures = emptied.begin()
    assert (figures.held, figures.lost, figures.claimed) == (12, 12, 0)
    assert emptied.stages_of_problems() == ["held", "removals"]
    assert len(emptied.store.queue.pending()) == 12, "what publishes an index waits for them"
    emptied.mount()
    assert emptied.begin().claimed == 12
    emptied.finish()
    assert emptied.begin().lost == 0
    assert emptied.stages_of_problems() == []
