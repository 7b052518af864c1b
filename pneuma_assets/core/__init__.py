"""Everything that knows nothing of Dagster: usable from a notebook, a script or a service."""
