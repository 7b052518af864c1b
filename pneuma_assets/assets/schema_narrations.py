"""Third asset: what each column is, said by people, a model, or its values (Pneuma, section 4)."""

import dagster as dg

from pneuma_assets.assets.factory import stage
from pneuma_assets.assets.sampled_rows import sampled_rows
from pneuma_assets.assets.stage import metadata, previews, run_stage
from pneuma_assets.core.describe.texts import NarratedColumns
from pneuma_assets.core.pipeline.describe import describe_tables
from pneuma_assets.resources.models import EncoderResource, NarratorResource
from pneuma_assets.resources.options import IndexingOptionsResource
from pneuma_assets.resources.store import StoreResource


# After the rows, so that a table that cannot be read costs no call of the model. The pool holds
# where none is asked, too: the stage is then over in a moment.
@stage(after=[sampled_rows], code_version="2", pool="gpu")
def schema_narrations(
    context: dg.AssetExecutionContext,
    pneuma_options: IndexingOptionsResource,
    pneuma_store: StoreResource,
    pneuma_narrator: NarratorResource,
    pneuma_encoder: EncoderResource,
) -> dg.MaterializeResult:
    """A description of every column that can be described, and who says it.

    People's own words come first, from documents, comments and contexts. Where a language model is
    enabled it is asked for the other columns, once. For the rest the name and the values speak.
    """
    state = pneuma_store.store
    checks = pneuma_narrator.config.asks and pneuma_narrator.config.round_trip
    done = run_stage(
        context,
        state,
        lambda: describe_tables(
            state,
            context.run.run_id,
            pneuma_narrator.model,
            pneuma_narrator.config,
            pneuma_encoder.encoder if checks else None,
        ),
    )
    key = pneuma_narrator.key
    pneuma_narrator.release()
    shown = pneuma_options.dagster.show_rows  # what is said of a column may quote its values
    rate = done.figures.narrated / max(done.seconds, 0.01)
    return dg.MaterializeResult(
        metadata={
            **done.metadata(),
            **metadata({} if key is None else {"columns per second": rate}),
            "model": key or "none is asked",
            **(previews(state, context.run.run_id, NarratedColumns) if shown else {}),
        }
    )
