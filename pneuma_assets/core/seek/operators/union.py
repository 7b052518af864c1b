"""Like tables under each other."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
from pydantic import Field

from pneuma_assets.core.answers.results import AnswerColumn
from pneuma_assets.core.seek.operators.base import Options, Outcome, SqlOperator, Work
from pneuma_assets.core.seek.operators.sql_text import kind_of, names_of, union
from pneuma_assets.core.seek.results import Finding, Severity
from pneuma_assets.core.seek.state import ColumnName, Name, Step
from pneuma_assets.core.seek.tables import Tables

_AT_ONCE = 50
"""Tables of one statement: each is an open file of its process."""


class UnionOptions(Options):
    """What tells the rows of the tables apart, and which columns are the same."""

    member: ColumnName = Field("member", description="the new column that says of which table")
    labels: dict[Name, str] = Field(
        default_factory=dict, max_length=50, description="what it says of each; else their names"
    )
    rename: dict[Name, dict[ColumnName, ColumnName]] = Field(
        default_factory=dict, max_length=50, description="of a table columns, and new names of them"
    )


class Union(SqlOperator):
    """Puts like tables under each other."""

    name = "union"
    summary = "puts like tables under each other, with a column that says of which each row is"
    model = UnionOptions
    reads = (2, 50)

    def render(self, work: Work) -> str:
        """Return its SQL."""
        return union(work.options, work.columns)

    def shape(self, step: Step, tables: Tables) -> Sequence[str]:
        """Return the columns of any of the tables, and the one that tells these apart."""
        work = self.work(step, tables)
        names = names_of(work.columns, work.options["rename"])
        return [*names.values(), work.options["member"]]

    def run(self, step: Step, tables: Tables) -> Outcome:
        """Unite them by a statement that the guard's bound on tables does not know."""
        work = self.work(step, tables)
        sql = union(work.options, work.columns)
        renamed = work.options["rename"]
        shapes = {
            table: [
                AnswerColumn(renamed.get(table, {}).get(one.name, one.name), one.type)
                for one in tables.columns(table)
            ]
            for table in step.reads
        }
        rows = tables.own(sql, step.reads)
        return Outcome(rows, list(unlike(step.makes, shapes)))


def unlike(subject: str, shapes: Mapping[str, Sequence[AnswerColumn]]) -> Iterator[Finding]:
    """Yield which columns not all of the tables have, or have as another type.

    Args:
        subject: What is made of them.
        shapes: The columns of each table.
    """
    kinds: dict[str, dict[str, str]] = defaultdict(dict)
    for table, columns in shapes.items():
        for one in columns:
            kinds[one.name.lower()][table] = one.type
    spelled = names_of({t: [(c.name, c.type) for c in some] for t, some in shapes.items()})
    for key, by_table in kinds.items():
        name = spelled[key]
        lacking = [table for table in shapes if table not in by_table]
        if lacking:
            text = f"column {name!r} is NULL in {len(lacking)} of {len(shapes)} tables, such as "
            text += f"{lacking[0]!r}, which have none of this name; rename it where it is another"
            figures = {"tables": float(len(shapes)), "lacking": float(len(lacking))}
            yield Finding("columns differ", Severity.WARNING, subject, text, figures)
        counted = Counter(by_table.values())
        if len({kind_of(kind) for kind in counted}) > 1:
            said = ", ".join(f"{kind} in {count}" for kind, count in counted.most_common())
            odd = next(t for t, kind in by_table.items() if kind == counted.most_common()[-1][0])
            text = f"column {name!r} is {said} of the tables, such as {odd!r}; it is read as text"
            yield Finding("types differ", Severity.WARNING, subject, text)


def united_in_parts(
    tables: Tables, names: Sequence[str], labels: Mapping[str, str], member: str
) -> pa.Table:
    """Return any number of like tables under each other, so many in one statement at a time."""
    columns = {name: [(c.name, c.type) for c in tables.columns(name)] for name in names}
    parts = []
    for at in range(0, len(names), _AT_ONCE):
        some = names[at : at + _AT_ONCE]
        sql = union({"member": member, "labels": labels, "only": some}, columns)
        parts.append(tables.own(sql, some))
    return pa.concat_tables(parts, promote_options="permissive")
