"""Tables joined along a known path, and by values that are spelled otherwise."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import pyarrow as pa
from pydantic import Field, model_validator

from pneuma_assets.core.answers.allowed_sql import MOST_TABLES
from pneuma_assets.core.errors import SqlFailedError
from pneuma_assets.core.seek.operators.base import Options, Outcome, SqlOperator, Work
from pneuma_assets.core.seek.operators.sql_match import PAIRS, fuzzy_match, joins_of, matching
from pneuma_assets.core.seek.operators.sql_text import Columns, condition, join, joined, of, quoted
from pneuma_assets.core.seek.results import Finding, Severity, as_far_as_counted
from pneuma_assets.core.seek.state import ColumnName, Name, StateInvalidError, Step
from pneuma_assets.core.seek.tables import InHand, Tables

_SHOWN = 5
_PAIRS = pa.schema([("value", pa.string()), ("match", pa.string()), ("score", pa.float64())])


class JoinOn(Options):
    """How one table is joined to those before it."""

    table: Name = Field(description="the table before it that refers")
    columns: tuple[ColumnName, ...] = Field(min_length=1, max_length=10)
    other: Name = Field(description="the table that is joined")
    other_columns: tuple[ColumnName, ...] = Field(min_length=1, max_length=10)
    kind: Literal["left", "inner"] = Field("left", description="inner drops rows without a partner")
    expect: Literal["one", "any"] = Field(
        "one", description="how many rows of `other` a row goes with at most"
    )
    fold: bool = Field(False, description="whether capitals and blanks around do not count")

    @model_validator(mode="after")
    def _has_pairs(self) -> "JoinOn":
        if len(self.columns) != len(self.other_columns):
            raise ValueError("columns and other_columns are pairs; give as many of each")
        return self


Chosen: Any = Field(
    default_factory=dict,
    max_length=200,
    description="the columns of the result, each with its `table.column`; without it, all",
)


class JoinOptions(Options):
    """By which columns tables are joined, in this order, and what is kept of them."""

    joins: tuple[JoinOn, ...] = Field(min_length=1, max_length=10)
    columns: dict[ColumnName, str] = Chosen


class FuzzyOptions(Options):
    """By which columns two tables are joined whose values are spelled otherwise."""

    column: ColumnName = Field(description="of the first table")
    other_column: ColumnName = Field(description="of the second table")
    least: float = Field(88, ge=50, le=100, description="least likeness, of 100")
    kind: Literal["left", "inner"] = "left"
    expect: Literal["one", "any"] = "one"
    columns: dict[ColumnName, str] = Chosen


def _check_columns(chosen: Mapping[str, str], names: Iterable[str]) -> None:
    for one in chosen.values():
        if "." not in one or one.partition(".")[0] not in names:
            raise StateInvalidError(
                f"columns: {one[:60]!r} is no `table.column` of {', '.join(names)}"
            )


class Join(SqlOperator):
    """Joins tables by columns that are equal, and counts rows before and after each."""

    name = "join"
    summary = "joins tables by equal columns, along a path of one join each"
    model = JoinOptions
    reads = (2, 11)

    def render(self, work: Work) -> str:
        """Return its SQL."""
        return join(work.options, work.columns)

    def check(self, work: Work) -> None:
        """Refuse a path that is not one of the tables that the step reads."""
        before, (_, *others) = [work.base], work.step.reads
        for on in work.options["joins"]:
            if on["table"] not in before or on["other"] not in others:
                raise StateInvalidError(
                    f"the join of {on['table']} with {on['other']}: the first has to stand before "
                    f"it ({', '.join(before)}), and the step has to read the second "
                    f"({', '.join(others)}), each joined once"
                )
            before.append(on["other"])
            others.remove(on["other"])
        if others:
            raise StateInvalidError(f"no join says how {', '.join(others)} is joined")
        _check_columns(work.options["columns"], work.step.reads)

    def findings(self, work: Work) -> Iterator[Finding]:
        """Yield how many rows each join keeps, loses and multiplies."""
        yield from join_findings(work, work.options["joins"], work.columns)


class FuzzyMatch(SqlOperator):
    """Joins two tables by values that name the same, spelled otherwise."""

    name = "fuzzy_match"
    summary = "joins two tables by names that are spelled otherwise; adds `match_score`"
    model = FuzzyOptions
    reads = (2, 2)

    def render(self, work: Work) -> str:
        """Return its SQL, over a table of pairs as well."""
        return fuzzy_match(work.options, work.columns)

    def work(self, step: Step, tables: Tables) -> Work:
        """Return a step with a table of pairs, which is empty before it runs."""
        tables.put(PAIRS, InHand(_PAIRS.empty_table()))
        return replace(super().work(step, tables), extra=(PAIRS,))

    def check(self, work: Work) -> None:
        """Refuse columns of tables that the step does not read."""
        _check_columns(work.options["columns"], work.step.reads)

    def run(self, step: Step, tables: Tables) -> Outcome:
        """Look for the pairs, then join by them."""
        work = self.work(step, tables)
        try:
            pairs = pa.table(matching(work.options, work.columns, work.ask), schema=_PAIRS)
        except ValueError as error:
            raise SqlFailedError(str(error)) from error
        tables.put(PAIRS, InHand(pairs))
        rows = tables.arrow(self.statement(work))
        findings = as_far_as_counted(self._findings(work, pairs.to_pylist()), step.makes)
        return Outcome(rows, list(findings))

    def _findings(self, work: Work, pairs: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
        yield from _pair_findings(work, pairs)
        shapes = {**work.columns, PAIRS: [("value", "VARCHAR"), ("match", "VARCHAR")]}
        to_pairs, to_other = joins_of(work.options, *work.step.reads)
        expected = {**to_other, "expect": work.options["expect"]}
        counted = join_findings(work, [expected], shapes, before=[to_pairs])
        yield from (one for one in counted if one.rule != "join unmatched")  # told by its values


def _pair_findings(work: Work, rows: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    """Yield which values go with none, and of which that is a guess, the least sure first."""
    alone = [row["value"] for row in rows if row["match"] is None]
    if alone:
        shown = ", ".join(repr(one[:40]) for one in alone[:_SHOWN])
        text = f"{len(alone):,} of {len(rows):,} different values go with none, such as {shown}"
        if left_out := sum(row["score"] == 0 for row in rows):
            text += f"; {left_out:,} were not compared, for there are too many: match fewer at once"
        figures = {"values": float(len(rows)), "unmatched": float(len(alone))}
        yield work.finding("unmatched values", Severity.WARNING, text, **figures)
    guessed = sorted(
        (row for row in rows if row["match"] is not None and row["score"] < 100),
        key=lambda row: float(row["score"]),
    )
    if guessed:
        shown = ", ".join(
            f"{row['value'][:40]!r} with {row['match'][:40]!r} ({row['score']:.0f})"
            for row in guessed[:_SHOWN]
        )
        text = f"{len(guessed):,} values are matched because they are alike; see {shown}"
        yield work.finding("alike values", Severity.NOTE, text, guessed=len(guessed))


def join_findings(
    work: Work,
    joins: Sequence[Mapping[str, Any]],
    columns: Columns,
    before: Sequence[Mapping[str, Any]] = (),
) -> Iterator[Finding]:
    """Yield of each join how many rows there are before and after, what it loses and multiplies.

    Args:
        work: The step; its first table is joined with others.
        joins: Those to look at, in order.
        columns: Of all that is read.
        before: Joins that stand before these.
    """
    ways = [*before, *joins]
    firsts = [joined(work.base, ways[:at], columns) for at in range(len(before), len(ways) + 1)]
    sides = [f"JOIN {quoted(on['other'])} ON {condition(on, columns)}" for on in joins]
    counted = [*firsts, *(f"{one} SEMI {side}" for one, side in zip(firsts, sides, strict=False))]
    counts = list(_counts(work, counted, max(1, MOST_TABLES // (len(ways) + 1))))
    rows, matched = counts[: len(firsts)], counts[len(firsts) :]
    for at, on in enumerate(joins):
        yield _of_rows(work, on, rows[at], matched[at], rows[at + 1])
        if matched[at] < rows[at]:
            alone = f"{firsts[at]} ANTI {sides[at]}"
            yield _alone(work, on, alone, rows[at], rows[at] - matched[at])


def _counts(work: Work, relations: Sequence[str], at_once: int) -> Iterator[int]:
    """Yield how many rows each has, some in a statement, which may read so many tables alone."""
    for start in range(0, len(relations), at_once):
        some = relations[start : start + at_once]
        cells = (f"(SELECT count(*) FROM {one}) AS n{at}" for at, one in enumerate(some))
        yield from work.ask(f"SELECT {', '.join(cells)}", 1)[0]


def _of_rows(work: Work, on: Mapping[str, Any], rows: int, matched: int, after: int) -> Finding:
    other, paired = on["other"], after - (rows - matched if on["kind"] == "left" else 0)
    text = f"joining {other}: {rows:,} rows before, {after:,} after"
    rule, severity = "join", Severity.NOTE
    if paired > matched:
        rule = "join multiplies"
        text += f": it multiplies rows, {matched:,} rows go with {paired:,} of {other}"
        if on.get("expect", "one") == "one":
            severity = Severity.ERROR
            text += "; choose one row of each before, join by more columns, or say expect: any"
    return work.finding(rule, severity, text, before=rows, matched=matched, after=after)


def _alone(work: Work, on: Mapping[str, Any], alone: str, rows: int, count: int) -> Finding:
    """Return that rows have no partner, with values of theirs."""
    keys = " || ' / ' || ".join(
        f"coalesce(CAST({of(on['table'], one)} AS VARCHAR), 'NULL')" for one in on["columns"]
    )
    kept = "have NULL in its columns" if on["kind"] == "left" else "are left out"
    text = f"{count:,} of {rows:,} rows have no partner in {on['other']} and {kept}, such as "
    severity = Severity.ERROR if count == rows else Severity.WARNING
    shown = work.examples(keys, alone)
    return work.finding("join unmatched", severity, text + shown, rows=rows, unmatched=count)
