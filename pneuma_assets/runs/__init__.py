"""One indexing run, started from Python or a command line."""
