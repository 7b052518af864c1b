"""How a stage reports: progress in the log, figures in the store, metadata in the UI."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import dagster as dg

from pneuma_assets.core.describe.kinds import makers_from
from pneuma_assets.core.describe.texts import Material
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.pipeline.stage import Figures
from pneuma_assets.core.progress import ProgressListener, listening
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.runs import StageRecord
from pneuma_assets.core.text.safe import one_line, plain_in_markdown, printable

LOG_EVERY_S = 10.0
"""Least time between two lines of the same work."""

SILENCE_S = 30.0
"""Most time without any line."""


@contextmanager
def beating(
    log: logging.Logger, stage: str, silence_s: float = SILENCE_S
) -> Iterator[ProgressListener]:
    """Yield a listener that logs what begins at once, and the rest every `LOG_EVERY_S`.

    It may be called by any thread. In silence the log says again what was said last, and for how
    long, until the `with` block ends.

    Args:
        log: Of the run.
        stage: What is said to be at work before anything was reported.
        silence_s: Most time without any line.
    """
    lock, ended = threading.Lock(), threading.Event()
    said, said_at = stage, time.monotonic()
    logged_at = said_at

    def hear(activity: str, done: int, total: int) -> None:
        nonlocal said, said_at, logged_at
        now = time.monotonic()
        with lock:
            line = said = f"{activity}: {done} of {total}" if total else activity
            said_at = now
            if done != 0 and now - logged_at < LOG_EVERY_S:
                return
            logged_at = now
        log.info(line)

    def repeat() -> None:
        nonlocal logged_at
        while not ended.wait(max(0.0, logged_at + silence_s - time.monotonic())):
            now = time.monotonic()
            with lock:
                if now - logged_at < silence_s:
                    continue
                logged_at = now
                line = f"still, after {now - said_at:.0f} s: {said}"
            log.info(line)

    thread = threading.Thread(target=repeat, name=f"heartbeat of {stage}", daemon=True)
    thread.start()
    try:
        yield hear
    finally:
        ended.set()
        thread.join()


DEPLOYMENT = "pneuma_assets/deployment"
"""Metadata of an event that says which deployment logged it."""

PREVIEWED = 5
CELL_LENGTH = 200

F = TypeVar("F", bound=Figures)


@dataclass(frozen=True, slots=True)
class Done(Generic[F]):
    """What a stage counted, the seconds it took, and the deployment whose stage it is."""

    figures: F
    seconds: float
    deployment: str

    def metadata(self) -> dict[str, dg.MetadataValue]:
        """Return figures and seconds as the UI shows them, and the mark of the deployment."""
        mark = {DEPLOYMENT: dg.MetadataValue.text(self.deployment)}
        return metadata({**self.figures.named(), "seconds": self.seconds}) | mark


def run_stage(context: dg.AssetExecutionContext, store: Store, work: Callable[[], F]) -> Done[F]:
    """Do a stage's work and keep what it counted.

    A stage works on what is ready for it, whichever run made it so: each can be materialized by
    itself, and a run that failed can be executed again from where it failed.

    Raises `dagster.Failure` with the cause in one line where the stage cannot go on, or where its
    asset has a history of somebody else's.
    """
    for key in context.selected_asset_keys:
        _refuse_history_of_others(context.instance, key)
    run_id = context.run.run_id
    if not store.runs.stages(run_id):
        store.runs.begin(run_id)
    started = time.monotonic()
    try:
        with beating(context.log, context.op_execution_context.op.name) as hear, listening(hear):
            figures = work()
    except PneumaError as error:
        raise dg.Failure(str(error), metadata={"error": type(error).__name__}) from error
    seconds = time.monotonic() - started
    store.runs.record(run_id, StageRecord(figures.stage, seconds, figures.named()))
    return Done(figures, round(seconds, 2), store.asset_keys.deployment())


def _refuse_history_of_others(instance: dg.DagsterInstance, key: dg.AssetKey) -> None:
    shown = latest_metadata(instance, key)
    if shown is not None and DEPLOYMENT not in shown:
        raise dg.Failure(
            f"the asset {key.to_user_string()} was materialized by somebody else; set another name "
            "in the deployment file, which is the prefix of all asset keys, or wipe that asset"
        )


def latest_metadata(
    instance: dg.DagsterInstance, key: dg.AssetKey
) -> Mapping[str, dg.MetadataValue] | None:
    """Return the metadata of an asset's last materialization; None if it never was."""
    event = instance.get_latest_materialization_event(key)
    made = event.asset_materialization if event is not None else None
    return made.metadata if made is not None else None


def metadata(figures: Mapping[str, float]) -> dict[str, dg.MetadataValue]:
    """Return figures as the UI shows them: whole numbers without a point."""
    return {
        name: dg.MetadataValue.int(int(value))
        if float(value).is_integer()
        else dg.MetadataValue.float(round(value, 2))
        for name, value in figures.items()
    }


def previews(
    store: Store, run_id: str, made_from: type[Material]
) -> Mapping[str, dg.MetadataValue]:
    """Return metadata: some documents of each kind that a stage makes, as the UI shows them."""
    shown = (
        _markdown(["table", maker.called], store.documents.preview(run_id, maker.kind, PREVIEWED))
        for maker in makers_from(made_from)
    )
    return {"preview": dg.MetadataValue.md("\n\n".join(shown))}


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> dg.MetadataValue:
    """Return rows as a table in the UI; text from outside cannot break out of its cell."""
    return dg.MetadataValue.md(_markdown(header, rows))


def _markdown(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    named, *shown = (" | ".join(_cell(value) for value in line) for line in [header, *rows])
    ruled = " | ".join(["---"] * len(header))
    return "\n".join(f"| {line} |" for line in (named, ruled, *shown))


def _cell(value: object) -> str:
    return plain_in_markdown(one_line(printable(str(value)), CELL_LENGTH))


@contextmanager
def event_log_open(instance: dg.DagsterInstance) -> Iterator[None]:
    """Keep the files of Dagster's event log open; one that is no SQLite is left alone.

    Dagster opens them anew for each access, twice an event, and compiles each statement again: half
    of what an event costs. It has no public way not to; where its inside is another, all is as is.
    """
    log: Any = instance.event_log_storage
    try:
        from dagster._core.storage.event_log.sqlite import sqlite_event_log as made_by

        opening, lock, initialized = log._connect, log._db_lock, log._initialized_dbs
        create: Any = made_by.create_engine  # type: ignore[attr-defined]
        wait_s: Any = made_by.SQLITE_BUSY_TIMEOUT_SECONDS  # type: ignore[attr-defined]
    except (ImportError, AttributeError):
        initialized = None
    if initialized is None or "_connect" in vars(log):
        yield
        return
    opened: dict[str, Any] = {}

    @contextmanager
    def connect(shard: str) -> Iterator[Any]:
        if shard not in initialized:  # the first time it makes the file
            with opening(shard) as connection:
                yield connection
            return
        with lock:
            if shard not in opened:
                asked = {"timeout": wait_s, "check_same_thread": False}
                engine = create(log.conn_string_for_shard(shard), connect_args=asked)
                kept.callback(engine.dispose)
                opened[shard] = kept.enter_context(engine.connect())
            with opened[shard].begin():
                yield opened[shard]

    with ExitStack() as kept:
        log._connect = connect
        try:
            yield
        finally:
            with lock:
                del log._connect
                kept.close()
