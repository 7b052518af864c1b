"""Which columns of which tables each column of a query comes from.

sqlglot parses and finds the scopes; what a name means in a scope is found here. Its own `lineage`
follows each column by itself, through a common table expression once for each way that leads
there, and its `qualify` writes stars out: both take exponential time over a chain of twenty
expressions that each read the one before twice. Here each scope is looked at once, and the sources
that are passed on are counted.

`reader` goes through the scopes and tells what each gives; `meaning` tells what a name in one of
them means; `inputs`, what a scope has from what it reads: a table (`tables`), or another scope.
"""
