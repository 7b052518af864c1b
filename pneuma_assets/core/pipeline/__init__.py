"""The stages of an indexing run, free of Dagster: list, profile, sample, narrate, embed, index.

Each works on the tables that the run has claimed in the store, keeps what it made there, and
returns figures. A stage that dies half-way is continued by the next run.
"""
