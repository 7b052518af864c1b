"""How a stage reports: progress in the log, figures in the store, metadata in the UI."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import dagster as dg

from pneuma_assets.assets.heartbeat import beating
from pneuma_assets.core.describe.kinds import makers_from
from pneuma_assets.core.describe.texts import Material
from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.pipeline.stage import Figures
from pneuma_assets.core.progress import listening
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.runs import StageRecord
from pneuma_assets.core.text.safe import one_line, plain_in_markdown, printable

PREVIEWED = 5
CELL_LENGTH = 200

F = TypeVar("F", bound=Figures)


@dataclass(frozen=True, slots=True)
class Done(Generic[F]):
    """What a stage counted, and the seconds it took."""

    figures: F
    seconds: float

    def metadata(self) -> dict[str, dg.MetadataValue]:
        """Return figures and seconds as the UI shows them."""
        return metadata({**self.figures.named(), "seconds": self.seconds})


def run_stage(context: dg.AssetExecutionContext, store: Store, work: Callable[[], F]) -> Done[F]:
    """Do a stage's work and keep what it counted.

    A stage works on what is ready for it, whichever run made it so: each can be materialized by
    itself, and a run that failed can be executed again from where it failed.

    Raises `dagster.Failure` with the cause in one line where the stage cannot go on.
    """
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
    return Done(figures, round(seconds, 2))


def metadata(figures: Mapping[str, float]) -> dict[str, dg.MetadataValue]:
    """Return figures as the UI shows them: whole numbers without a point."""
    return {
        name: dg.MetadataValue.int(int(value))
        if float(value).is_integer()
        else dg.MetadataValue.float(round(value, 2))
        for name, value in figures.items()
    }


def spread(name: str, values: Sequence[float]) -> dict[str, dg.MetadataValue]:
    """Return the least, middle and greatest of values, as the UI shows and plots them."""
    if not values:
        return {}
    middle = statistics.median(values)
    return metadata(
        {f"{name} min": min(values), f"{name} median": middle, f"{name} max": max(values)}
    )


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
