"""Steps whose code somebody wrote: SQL in the locked DuckDB, Python in the sandbox."""

from collections.abc import Sequence

import pyarrow as pa

from pneuma_assets.core.answers.allowed_sql import MOST_TABLES
from pneuma_assets.core.errors import SqlStoppedError
from pneuma_assets.core.extras import installed, needs_extra
from pneuma_assets.core.sandbox.guards import SandboxUnavailableError
from pneuma_assets.core.sandbox.run import CodeFailedError, run_python, why_unavailable
from pneuma_assets.core.seek.operators.base import Operator, Outcome
from pneuma_assets.core.seek.skeptic.statements import findings_of
from pneuma_assets.core.seek.state import Step
from pneuma_assets.core.seek.tables import Tables, check_apart, results_of


class Sql(Operator):
    """Runs a statement over what the step reads."""

    name = "sql"
    summary = "one SELECT of DuckDB over the tables that the step reads; code is the statement"
    reads = (1, MOST_TABLES)

    def shape(self, step: Step, tables: Tables) -> Sequence[str]:
        """Return what its results are called."""
        return results_of(tables.check(step.code, step.reads))

    def run(self, step: Step, tables: Tables) -> Outcome:
        """Run it, and look at its joins, filters and quotients."""
        statement = tables.check(step.code, step.reads)
        rows = tables.arrow(statement)
        return Outcome(rows, list(findings_of(statement, step.makes, tables)))


class Python(Operator):
    """Runs Python over what the step reads, confined."""

    name = "python"
    summary = (
        "Python with pandas as `pd` and numpy as `np`; each table that the step reads is a data "
        "frame of its name; code assigns the data frame that it makes to `result`"
    )
    reads = (1, MOST_TABLES)

    def shape(self, step: Step, tables: Tables) -> None:  # noqa: ARG002
        """Nobody knows what it makes; raises where no Python runs."""
        check_python()

    def run(self, step: Step, tables: Tables) -> Outcome:
        """Run it over tables whose columns have their types."""
        check_python()
        given = {
            name: tables.arrow(tables.check(f'SELECT * FROM "{name}"', [name]))
            for name in step.reads
        }
        made = run_python(step.code, given, tables.bounds.code).tables
        if len(made) != 1:
            raise CodeFailedError(f"result is {len(made)} tables; assign one data frame to it")
        (rows,) = made.values()
        check_apart(rows.schema.names)
        if rows.num_rows > tables.bounds.rows:
            raise SqlStoppedError(f"it gives more than {tables.bounds.rows:,} rows; filter before")
        return Outcome(_plain(rows))


def check_python() -> None:
    """Raise `SandboxUnavailableError` unless steps of Python can run here."""
    if not installed("pandas"):
        raise SandboxUnavailableError(f"{needs_extra('a step of Python', 'seek')}; or use SQL")
    if (reason := why_unavailable()) is not None:
        raise SandboxUnavailableError(f"Python is not run here: {reason}; use SQL")


def _plain(rows: pa.Table) -> pa.Table:
    """Return a table whose texts are of the type that DuckDB gives, and no column has categories.

    What pandas makes is chunked by its own means, and may be hostile: it was validated before.
    """
    fields = [one.with_type(_plain_type(one.type)) for one in rows.schema]
    return rows.cast(pa.schema(fields))


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_dictionary(kind):
        return _plain_type(kind.value_type)
    text = pa.types.is_large_string(kind) or pa.types.is_string_view(kind) or pa.types.is_null(kind)
    return pa.string() if text else kind
