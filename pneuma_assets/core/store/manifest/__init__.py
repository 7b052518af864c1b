"""What of the store is needed to define the tables in Dagster, kept where it can be read alone.

Definitions are loaded by web servers, daemons and every step's process, while runs write the store,
or on a machine that has no right to write. So what they need is kept apart from
it, written by runs as one act: in a file beside a state file, in a table of a server. Reading it
opens nothing for writing, and never fails: what cannot be read is an empty manifest that says why.

It is in two parts, because definitions do not need the columns of 10,000 tables: the tables' pages
(`Manifest`), and what others may show of them (`DescribedTables`).

`contents` says what is in it; `kept` reads and writes it, in the shape of `packed`, where `places`
or `server` keep it; `making` makes it of the store.
"""
