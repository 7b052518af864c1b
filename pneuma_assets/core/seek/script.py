"""One Python script that makes a state's tables and results without a model and this project."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from pprint import pformat

from pneuma_assets.core.errors import PneumaError
from pneuma_assets.core.seek import operators
from pneuma_assets.core.seek.operators.registry import operator_of
from pneuma_assets.core.seek.sources import members_of
from pneuma_assets.core.seek.state import State, Step, TargetTable, check_state, order_of_tables

_PARTS = ("sql_text", "sql_convert", "sql_match")
_OWN = re.compile(r"^from pneuma_assets[^(\n]*(\([^)]*\)|[^\n]*)\n", re.MULTILINE)
_DOCSTRING = re.compile(r'\A""".*?"""\n', re.DOTALL)
_FUNCTIONS = ("join", "union", "fuzzy_match", "convert", "pivot", "unpivot")

_HEAD = '''\
"""Makes {made}.

Written by pneuma-assets from a conversation. It needs Python 3.11 or later and
`pip install {needs}`, reads what SOURCES names, and asks no model. Run it as: python THIS_FILE
"""
'''

_RUNNER = '''

def columns_of(table):
    """Return the names and types of a table's columns."""
    found = DATABASE.sql(f"SELECT * FROM {quoted(table)}")
    return list(zip(found.columns, map(str, found.types)))


def ask(sql):
    """Return the rows of a query."""
    return DATABASE.sql(sql).fetchall()


def make(name, sql):
    """Make a table of the rows that a query gives."""
    DATABASE.execute(f"CREATE OR REPLACE TABLE {quoted(name)} AS {sql}")


def read_source(name, places):
    """Make a table of one that exists, or of several like ones."""
    for at, place in enumerate(places.values()):
        make(f"part {at}" if len(places) > 1 else name, f"SELECT * FROM {place}")
    if len(places) > 1:
        parts = {f"part {at}": columns_of(f"part {at}") for at in range(len(places))}
        labels = dict(zip(parts, places))
        make(name, union({"member": member_of(parts), "labels": labels}, parts))


def step(operator, reads, makes, options):
    """Make a table by an operator."""
    columns = {name: columns_of(name) for name in reads}
    if operator == "fuzzy_match":
        import pyarrow

        kinds = {"value": "string", "match": "string", "score": "double"}
        pairs = matching(options, columns, ask)
        DATABASE.register("pairs_view", pyarrow.table(pairs, schema=pyarrow.schema(kinds)))
        make(PAIRS, "SELECT * FROM pairs_view")
    make(makes, OPERATORS[operator](options, columns, ask))


def python_step(code, reads, makes):
    """Make a table by code that assigns a data frame to `result`."""
    frames = {name: DATABASE.sql(f"SELECT * FROM {quoted(name)}").df() for name in reads}
    import numpy as np
    import pandas as pd

    names = {"__name__": "__main__", "pd": pd, "np": np, "tables": frames, **frames}
    exec(compile(code, makes, "exec"), names)
    DATABASE.register("result_view", names["result"])
    make(makes, "SELECT * FROM result_view")


OPERATORS = {name: globals()[name] for name in FUNCTIONS}

if __name__ == "__main__":
    main()
'''


def as_script(state: State, places: Mapping[str, str]) -> str:
    """Return a script that needs duckdb, and pandas, pyarrow or rapidfuzz where its steps do.

    Args:
        state: What is made.
        places: Of each table id, and of each person's own file, what DuckDB selects from there:
            `'data/orders.parquet'`, `read_csv('a.csv')`, `shop.orders` of a database attached.

    Raises:
        StateInvalidError: The state cannot be, or options of a step are none.
        PneumaError: A source has no place.
    """
    check_state(state)
    used = {step.operator for table in state.tables for step in table.steps}
    needs = ["duckdb", *(["pandas"] if "python" in used else [])]
    needs += ["rapidfuzz", "pyarrow"] if "fuzzy_match" in used else []
    made = ", ".join(one.name for one in order_of_tables(state)) or "nothing"
    parts = [part for part in _PARTS if part != "sql_match" or "fuzzy_match" in used]
    functions = [one for one in _FUNCTIONS if one != "fuzzy_match" or "fuzzy_match" in used]
    return "".join(
        [
            _HEAD.format(made=made, needs=" ".join(needs)),
            "\nimport duckdb\n\nDATABASE = duckdb.connect()\n\n",
            *_sources(state, places),
            "\n\ndef main():\n",
            *(f"    {line}\n" for line in _acts(state)),
            "\n\n# What follows is the same for every state: what each operator does, as SQL.\n\n",
            *(_source_of(part) for part in parts),
            f"\n\nFUNCTIONS = {functions!r}\n",
            _RUNNER,
        ]
    )


def _source_of(part: str) -> str:
    text = (Path(operators.__file__).parent / f"{part}.py").read_text(encoding="utf-8")
    return _DOCSTRING.sub("", _OWN.sub("", text))


def _sources(state: State, places: Mapping[str, str]) -> Iterator[str]:
    yield "SOURCES = {\n"
    for source in state.sources:
        yield f"    {source.name!r}: {{\n"
        for label, one in members_of(source).items():
            key = one.file or one.table_ids[0]
            if key not in places:
                raise PneumaError(f"nobody says where {key} lies; give it a place")
            yield f"        {label!r}: {places[key]!r},\n"
        yield "    },\n"
    yield "}\n"


def _acts(state: State) -> Iterator[str]:
    yield "for name, places in SOURCES.items():"
    yield "    read_source(name, places)"
    for table in order_of_tables(state):
        yield f"# {table.name}"
        for step in table.steps:
            yield from _act(step)
        yield from _as_wanted(table)
    for query in state.queries:
        yield f"print({query.name!r})"
        yield f"print(DATABASE.sql({_readable(query.sql)}))"


def _act(step: Step) -> Iterator[str]:
    if step.operator == "sql":
        yield f"make({step.makes!r}, {_readable(step.code.strip().rstrip(';'))})"
    elif step.operator == "python":
        yield f"python_step({_readable(step.code)}, {list(step.reads)!r}, {step.makes!r})"
    else:
        options = pformat(operator_of(step).options(step), width=90, sort_dicts=False)
        yield f"step({step.operator!r}, {list(step.reads)!r}, {step.makes!r}, {options})"


def _readable(code: str) -> str:
    """Return a literal of Python, lines as lines where nothing in them could end or hide it."""
    plain = all(sign.isprintable() or sign == "\n" for sign in code)
    closed = '"""' not in code and not code.endswith(('"', "\\"))
    return f'r"""{code}"""' if plain and closed and "\n" in code else repr(code)


def _as_wanted(table: TargetTable) -> Iterator[str]:
    if table.columns:
        wanted = [(one.name, one.type) for one in table.columns]
        name = table.name
        yield f"make({name!r}, as_wanted({wanted!r}, {name!r}, {{{name!r}: columns_of({name!r})}}))"
