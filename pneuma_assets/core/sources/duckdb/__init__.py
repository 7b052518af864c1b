"""DuckDB: the sessions that read files, and databases that are sources themselves."""
