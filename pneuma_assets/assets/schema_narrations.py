"""Third asset: a language model says what each column is (Pneuma, section 4)."""

import dagster as dg

from pneuma_assets.assets.sampled_rows import sampled_rows
from pneuma_assets.assets.stage import metadata, previews, run_stage
from pneuma_assets.core.documents.maker import NarratedColumns
from pneuma_assets.core.pipeline.narrating import narrate_tables
from resources.models import NarratorResource
from resources.store import StoreResource


# After the rows, so that a table that cannot be read costs no call of the model.
@dg.asset(deps=[sampled_rows], group_name="indexing", kinds={"llm"}, code_version="1", pool="gpu")
def schema_narrations(
    context: dg.AssetExecutionContext,
    pneuma_store: StoreResource,
    pneuma_narrator: NarratorResource,
) -> dg.MaterializeResult:
    """A description of every column, written with the table's whole schema in view.

    Columns that were described before are not asked again. With narration switched off the
    column names stand in.
    """
    state = pneuma_store.store
    done = run_stage(
        context,
        state,
        lambda: narrate_tables(
            state, context.run.run_id, pneuma_narrator.model, pneuma_narrator.config
        ),
    )
    pneuma_narrator.release()
    rate = done.figures.narrated / max(done.seconds, 0.01)
    return dg.MaterializeResult(
        metadata={
            **done.metadata(),
            **metadata({"columns per second": rate}),
            "model": pneuma_narrator.key or "none: column names stand in",
            "preview": previews(state, context.run.run_id, NarratedColumns),
        }
    )
