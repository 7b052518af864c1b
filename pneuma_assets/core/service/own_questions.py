"""A deployment's own questions: made, and asked again after every change of models or options."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import BenchmarkError, PneumaError
from pneuma_assets.core.evaluation.ask_own_questions import WAITING, Standing, standing
from pneuma_assets.core.tables import content_hash

if TYPE_CHECKING:
    from pneuma_assets.core.index.base import SearchIndex
    from pneuma_assets.core.search.query import QueryEngine
    from pneuma_assets.core.service.workspace import Workspace
    from pneuma_assets.core.store import Store

QUESTIONS, SEED = 50, 0
"""How many questions `bench mine` makes, and what decides which."""

_BEGUN = "making or asking the questions did not end; the next run tries again"
"""What is noted before, and told where the process was killed."""


def mine(workspace: "Workspace", *, renew: bool = False) -> Standing:
    """Make questions where there are none, ask them, and return how things stand.

    Args:
        workspace: The deployment.
        renew: Make others in the place of those there are; the history of these ends.

    Raises:
        QueryError: Nothing is indexed.
        BenchmarkError: Nothing of it can be asked about.
    """
    engine = workspace.query_engine()
    loaded, store, index = workspace.loaded, workspace.store, workspace.search_index
    if renew or not store.questions.all():
        _make(store, index)
    return measure_now(loaded, store, index, engine)


def measure_now(
    loaded: LoadedDeployment, store: "Store", index: "SearchIndex", engine: "QueryEngine"
) -> Standing:
    """Ask all questions that their tables still answer, keep what came of it, and compare.

    Raises:
        BenchmarkError: No question is left.
        PneumaError: They cannot be asked; the state keeps why.
    """
    now = _now(loaded, store)
    _noting(store, now, lambda: _measure(store, index, engine, now))
    return standing(store)


def is_news(loaded: LoadedDeployment, store: "Store", known: Standing | None = None) -> bool:
    """Tell whether a check has more to do than to say how things stand.

    The questions are due and nobody has failed to ask them as things are; or they are not, and what
    kept them from being asked is past. `known` is how things stand, where that was read before.
    """
    tried, now = store.questions.tried(), _now(loaded, store)
    if not _is_due(store, known or standing(store), now):
        return bool(tried.cause)
    return not tried.cause or tried.key != now.tried


def catch_up(
    loaded: LoadedDeployment,
    store: "Store",
    index: Callable[[], "SearchIndex"],
    engine: Callable[[], "QueryEngine"],
) -> None:
    """Ask the questions if they are due, and make them where there are none.

    Raises:
        PneumaError: They cannot be made or asked; the state keeps why.
    """
    known, now = standing(store), _now(loaded, store)

    def make_and_measure() -> None:
        if not known.questions:
            _make(store, index())
        _measure(store, index(), engine(), now)

    if _is_due(store, known, now):
        _noting(store, now, make_and_measure)
    elif known.trouble:
        store.questions.mark_tried(now.tried)


@dataclass(frozen=True, slots=True)
class _Now:
    """What names the models and options by which questions are answered, and how many wait."""

    key: str
    waiting: int

    @property
    def tried(self) -> str:
        """Names the state of things for which asking is tried at most once by itself."""
        return f"{self.key} {'waiting' if self.waiting else 'settled'}"


def _now(loaded: LoadedDeployment, store: "Store") -> _Now:
    return _Now(key_of(loaded, store), len(store.queue.pending()))


def _noting(store: "Store", now: _Now, act: Callable[[], None]) -> None:
    """Note what is tried before an act, and what came of it after."""
    store.questions.mark_tried(now.tried, _BEGUN)
    try:
        act()
    except PneumaError as error:
        store.questions.mark_tried(now.tried, str(error))
        raise
    store.questions.mark_tried(now.tried)


def _make(store: "Store", index: "SearchIndex") -> None:
    """Put new questions in the place of those there are."""
    from pneuma_assets.core.evaluation.generate import mined_questions

    seen = store.questions.seen(store.tables.indexed())
    store.questions.replace(mined_questions(store, index, QUESTIONS, SEED), seen)


def _measure(store: "Store", index: "SearchIndex", engine: "QueryEngine", now: _Now) -> None:
    from pneuma_assets.core.evaluation.ask_own_questions import ask_mined, outlived

    questions = store.questions.all()
    left = list(outlived(store, index, questions))
    store.questions.drop([one.question_id for one in left])
    asked = [one for one in questions if one not in left]
    if not asked:
        raise BenchmarkError(
            "no question is left that its table answers; run: pneuma-assets bench mine --renew"
        )
    found = ask_mined(engine, asked, store.questions.arrivals(store.tables.indexed()))
    figures = {**found.figures, WAITING: now.waiting}
    store.questions.add(now.key, figures, found.places, found.newer)


def _is_due(store: "Store", known: Standing, now: _Now) -> bool:
    """Tell whether models or options are others than when the questions were last asked.

    So it is where nobody has asked all there are, and where tables waited then and none does now.
    New rows alone are no reason: what is asked is whether the search is as good as it was.
    """
    if not known.questions:
        return bool(store.tables.indexed())
    newest = known.history[-1] if known.history else None
    ids = {one.question_id for one in known.questions}
    if newest is None or newest.key != now.key or not ids <= newest.places.keys():
        return True
    return bool(newest.figures.get(WAITING)) and not now.waiting


def key_of(loaded: LoadedDeployment, store: "Store") -> str:
    """Return what names the models and options by which questions are answered now.

    How tables are represented counts from the run on that goes by it, how they are searched at
    once, and so does another version of the program.
    """
    deployment = loaded.deployment
    asked = deployment.query.model_dump_json(exclude={"min_confidence"})
    judge = deployment.judge.model_dump_json()
    index = deployment.index
    return content_hash(
        store.queue.recipe() or "",
        *(deployment.encoder.model.model, index.engine, index.analyzer),
        *(asked, judge, version("pneuma-assets")),
    )
