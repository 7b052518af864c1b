"""The work list: which tables wait, what was done of each, which run works on it.

A table waits when its version differs from the one that was indexed. A run claims tables and moves
them on from stage to stage until they are searchable. What a run that is no more had claimed is
released, and whoever takes it goes on where that run stopped, unless the table changed meanwhile.
Nothing is written for a run that no longer holds the table.

All of this is told of each table by one row. `inventory` writes what a listing says; `backlog`
knows which wait, and lets them; `work` deals them out to runs; `results` keeps what these made of
them; `leaving` forgets those that are gone; `known` tells of them all. What the columns of a row
mean is said by `listed` (of a listing), `profiles` (of a schema), `items` and `records`.
"""
