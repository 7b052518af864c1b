"""What an operator is, and what one that consists of SQL does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, ValidationError

from pneuma_assets.core.answers.statements import Checked
from pneuma_assets.core.errors import SqlFailedError
from pneuma_assets.core.seek.operators.sql_text import Columns
from pneuma_assets.core.seek.results import Finding, Severity, as_far_as_counted
from pneuma_assets.core.seek.state import StateInvalidError, Step
from pneuma_assets.core.seek.tables import Tables, results_of
from pneuma_assets.core.text.validation_messages import readable


class Options(BaseModel):
    """What an operator is told; column and table names are those of what it reads."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The rows that a step made, and what its rules found."""

    rows: pa.Table
    findings: Sequence[Finding] = ()


class Operator:
    """An act of the registry.

    Attributes:
        name: By which steps call it.
        summary: What it does, for people and for prompts.
        model: What its options are; None where a step has code in their place.
        reads: How many tables it reads at least and at most.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    model: ClassVar[type[Options] | None] = None
    reads: ClassVar[tuple[int, int]] = (1, 1)

    def options(self, step: Step) -> dict[str, Any]:
        """Return a step's options as JSON has them, defaults included.

        Raises:
            StateInvalidError: They are not those of its model, or it reads too few or many tables.
        """
        least, most = self.reads
        if not least <= len(step.reads) <= most:
            raise StateInvalidError(
                f"{self.name} reads {least if least == most else f'{least} to {most}'} tables, "
                f"not {len(step.reads)}"
            )
        if self.model is None:
            return {}
        try:
            return self.model.model_validate(step.options).model_dump(mode="json")
        except ValidationError as error:
            wrong = "; ".join(map(str, readable(error.errors()[:10], "options", self.model)))
            raise StateInvalidError(f"options of {self.name}: {wrong}") from None

    def shape(self, step: Step, tables: Tables) -> Sequence[str] | None:
        """Return the names of the columns that a step makes, before it does; None if not known.

        Raises:
            PneumaError: It cannot run.
        """
        raise NotImplementedError

    def run(self, step: Step, tables: Tables) -> Outcome:
        """Make a table.

        Raises:
            PneumaError: Why it cannot be made; what is said lets somebody mend the step.
        """
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Work:
    """A step of an operator that consists of SQL, and what there is to run it.

    Attributes:
        step: It.
        options: As its model has them.
        tables: All that there is.
        columns: Of each table that it reads.
        extra: Tables of the operator's own, which its statements read.
    """

    step: Step
    options: Mapping[str, Any]
    tables: Tables
    columns: Columns
    extra: Sequence[str] = ()

    @property
    def base(self) -> str:
        """The first table that it reads."""
        return self.step.reads[0]

    def ask(self, sql: str, most_rows: int = 60_000) -> Sequence[Sequence[Any]]:
        """Return the rows of a query over what it reads."""
        return self.tables.ask(sql, self.names, most_rows).rows

    def examples(self, cell: str, source: str) -> str:
        """Return some values of what stands behind FROM, the most frequent first."""
        sql = f"SELECT {cell} AS v FROM {source} GROUP BY v ORDER BY count(*) DESC, v LIMIT 5"
        return ", ".join(repr(str(one)[:40]) for (one,) in self.ask(sql))

    @property
    def names(self) -> Sequence[str]:
        """What its statements may read."""
        return [*self.step.reads, *self.extra]

    def finding(self, rule: str, severity: Severity, text: str, **figures: float) -> Finding:
        """Return what a rule found about it."""
        return Finding(rule, severity, self.step.makes, text, figures)


class SqlOperator(Operator):
    """An operator that writes one query of what it reads."""

    def render(self, work: Work) -> str:
        """Return its SQL; a `ValueError` says why there is none."""
        raise NotImplementedError

    def check(self, work: Work) -> None:
        """Raise `StateInvalidError` where options contradict what the step reads."""

    def findings(self, work: Work) -> Iterator[Finding]:  # noqa: ARG002
        """Yield what its own rules find, once it ran."""
        yield from ()

    def work(self, step: Step, tables: Tables) -> Work:
        """Return a step as it is run."""
        columns = {name: [(c.name, c.type) for c in tables.columns(name)] for name in step.reads}
        work = Work(step, self.options(step), tables, columns)
        self.check(work)
        return work

    def statement(self, work: Work) -> Checked:
        """Return its query, checked as one that a stranger wrote."""
        try:
            sql = self.render(work)
        except ValueError as error:
            raise SqlFailedError(str(error)) from error
        return work.tables.check(sql, work.names)

    def shape(self, step: Step, tables: Tables) -> Sequence[str] | None:
        """Return the columns of its query."""
        return results_of(self.statement(self.work(step, tables)))

    def run(self, step: Step, tables: Tables) -> Outcome:
        """Run its query, and look for what its own rules find."""
        work = self.work(step, tables)
        statement = self.statement(work)
        rows = tables.arrow(statement)
        findings = as_far_as_counted(self.findings(work), step.makes)
        return Outcome(rows, list(findings))
