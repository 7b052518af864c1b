"""The job that brings the index up to date: one run for many tables, in one process."""

import dagster as dg

index_tables_job = dg.define_asset_job(
    "index_tables",
    selection=dg.AssetSelection.groups("indexing"),
    description="List all sources and index every table that is new or changed.",
    # One process: the multiprocess executor would load torch and the models once a step.
    executor_def=dg.in_process_executor,
)
