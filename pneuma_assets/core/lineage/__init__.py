"""Which table is built from which, and which column from which; no store, no Dagster."""
