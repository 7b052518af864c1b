"""Make every table of a lake or warehouse findable by asking in plain language, with Dagster."""
