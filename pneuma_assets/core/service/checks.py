"""What is to be checked of a deployment: what was found, in figures, and what to do about it.

Nothing here is measured twice: a run and a tick that asks whether a check would come out otherwise
come to the same findings from the same state.
"""

import hashlib
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pneuma_assets.core.evaluation.ask_own_questions import WAITING, Standing
from pneuma_assets.core.store import Store
from pneuma_assets.core.store.removals import STAGE as REMOVALS
from pneuma_assets.core.store.tables import TableRecord, TableState
from pneuma_assets.core.tables import Problem

LISTED = "listed_"
"""How the names of the checks begin that are of one source each."""

_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class CheckResult:
    """How one check comes out.

    Attributes:
        check: Its name.
        passed: Whether all is well.
        told: What was found and, where it is not well, what to do.
        figures: Numbers that are worth following over time.
        severe: Whether somebody should look at once, if it did not pass.
        header: Of the rows.
        rows: Cases, for people to look at.
        about: What is not well, without figures: others are news, however long the first last.
    """

    check: str
    passed: bool
    told: str
    figures: Mapping[str, float] = field(default_factory=dict)
    severe: bool = True
    header: Sequence[str] = ()
    rows: Sequence[Sequence[object]] = ()
    about: Collection[tuple[str, ...]] = ()

    @property
    def fingerprint(self) -> str:
        """Tell findings about different things apart; empty where all is well."""
        if self.passed:
            return ""
        return hashlib.sha256(json.dumps(sorted(self.about)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Known:
    """What the store knows when it is asked; times are in seconds since 1970, by its clock.

    Attributes:
        records: All tables that have not left their source.
        problems: Of tables and sources.
        listed_at: When each source was listed last.
        now: The time.
        working: The runs that have not come to their checks, so that what they hold is not left.
    """

    records: Sequence[TableRecord]
    problems: Sequence[Problem]
    listed_at: Mapping[str, float | None]
    now: float
    working: Collection[str] = ()

    @classmethod
    def of(cls, store: Store, checking: str | None = None) -> "Known":
        """Ask the store.

        Args:
            store: The store.
            checking: The run that asks, whose stages have ended.
        """
        working = store.runs.living() - {checking}  # before the records: what ends now is not left
        return cls(
            store.tables.records(),
            store.problems.all(),
            store.listings.listed_at(),
            store.now(),
            working,
        )

    @property
    def held(self) -> list[TableRecord]:
        """The tables that are absent but held."""
        return [record for record in self.records if record.held_since is not None]

    @property
    def waiting(self) -> list[TableRecord]:
        """The tables without index or problem that can be read."""
        named = {problem.subject for problem in self.problems}
        return [
            record
            for record in self.records
            if record.state != TableState.INDEXED
            and record.table_id not in named
            and record.held_since is None
        ]

    def hours_since(self, source: str) -> float | None:
        """Return how long ago a source was listed; None: never."""
        at = self.listed_at.get(source)
        return None if at is None else max(0.0, self.now - at) / _HOUR


def check_names(sources: Collection[str]) -> dict[str, str]:
    """Return what the check of each source is called: letters, digits and '_', no two alike.

    A source whose name needs no change keeps it, whatever others are called.
    """
    plain = {source: re.sub(r"[^A-Za-z0-9_]", "_", source) for source in sources}
    names: dict[str, str] = {}
    for source in sorted(plain, key=lambda one: (plain[one] != one, one)):
        name = first = f"{LISTED}{plain[source]}"
        number = 1
        while name in names.values():
            number += 1
            name = f"{first}_{number}"
        names[source] = name
    return {source: names[source] for source in sources}


def state_findings(
    known: Known, sources: Collection[str], within_hours: float
) -> list[CheckResult]:
    """Return the findings that need nothing but the store.

    Args:
        known: What it knows.
        sources: The configured ones.
        within_hours: How long ago each may have been listed.
    """
    names = check_names(sources)
    listed = [_listed(known, source, name, within_hours) for source, name in names.items()]
    return [_readable(known), _removals(known), *listed]


def index_findings(
    known: Known, sources: Collection[str], held: Mapping[str, int] | str
) -> list[CheckResult]:
    """Return the findings about the search index.

    Args:
        known: What the store knows.
        sources: The configured ones.
        held: The number of blocks of each table that the index holds, or why it cannot be used.
    """
    figures = overview(known, sources)
    if isinstance(held, str):
        return [
            CheckResult("every_table_indexed", False, held, figures),
            CheckResult("block_counts_agree", False, held),
        ]
    return [_indexed(known, figures), _agreeing(known, held)]


def overview(known: Known, sources: Collection[str]) -> dict[str, float]:
    """Return the numbers that tell how a deployment is getting on."""
    ages = [age for source in sources if (age := known.hours_since(source)) is not None]
    counted = {
        "tables": len(known.records),
        "indexed": sum(record.indexed_at is not None for record in known.records),
        "waiting": len(known.waiting),
        "problems": len(known.problems),
        "held": len(known.held),
    }
    return counted | ({"hours since the oldest listing": round(max(ages), 2)} if ages else {})


def _indexed(known: Known, figures: Mapping[str, float]) -> CheckResult:
    """Tables that wait for their turn are no error; those that a run took and left are."""
    waiting, total = known.waiting, len(known.records)
    claimed = [record for record in waiting if record.claimed]
    left = [record.table_id for record in claimed if record.claimed_by not in known.working]
    told = f"All {total:,} tables are indexed, or have a problem with a cause."
    if waiting:
        told = (
            f"{len(waiting) - len(claimed):,} tables wait for the next run, a run works on "
            f"{len(claimed) - len(left):,}, {len(left):,} were taken and left, of {total:,}. "
            "The schedule, the sensor or 'pneuma-assets index' goes on with them."
        )
    rows = [(table_id,) for table_id in left]
    return CheckResult(
        "every_table_indexed", not waiting, told, figures, bool(left), ["table"], rows
    )


def _agreeing(known: Known, held: Mapping[str, int]) -> CheckResult:
    expected = {
        record.table_id: record.block_count
        for record in known.records
        if record.indexed_at is not None and record.block_count is not None
    }
    wrong = sorted(i for i in {*held, *expected} if held.get(i) != expected.get(i))
    told = f"{len(wrong):,} of {len(expected):,} tables differ"
    return CheckResult(
        "block_counts_agree",
        not wrong,
        f"{told}; the next run fixes them." if wrong else f"{told}.",
        {"differing": len(wrong), "blocks": sum(held.values())},
        header=["table", "written", "in the index"],
        rows=[(i, expected.get(i, "none"), held.get(i, "none")) for i in wrong],
    )


def _readable(known: Known) -> CheckResult:
    found = [(problem.subject, problem.stage, problem.cause) for problem in known.problems]
    return CheckResult(
        "every_table_readable",
        not found,
        f"{len(found):,} problems; each says what to do." if found else "No problems.",
        {"problems": len(found)},
        severe=False,
        header=["table", "stage", "cause"],
        rows=found,
        about={(subject, stage) for subject, stage, _ in found},
    )


def _removals(known: Known) -> CheckResult:
    causes = [f"{p.subject}: {p.cause}." for p in known.problems if p.stage == REMOVALS]
    absent = [(one, known.now - (one.held_since or known.now)) for one in known.held]
    return CheckResult(
        "no_removals_held",
        not absent,
        " ".join(causes) or "No table is held.",
        {"held": len(absent)},
        header=["table", "hours"],
        rows=[(one.table_id, round(seconds / _HOUR, 1)) for one, seconds in absent],
        about={(one.source,) for one, _ in absent},
    )


def _listed(known: Known, source: str, name: str, within_hours: float) -> CheckResult:
    hours = known.hours_since(source)
    figures = {} if hours is None else {"hours since the listing": round(hours, 2)}
    told = f"The source {source} has not been listed yet"
    if hours is not None:
        told = f"The source {source} was listed {hours:,.1f} hours ago"
        if hours <= within_hours:
            return CheckResult(name, True, f"{told}.", figures)
    causes = [p.cause for p in known.problems if (p.subject, p.stage) == (source, "listing")]
    why = "; ".join(cause.rstrip(".") for cause in causes) or (
        "see that Dagster's daemon runs, and that the schedule or the sensor is switched on"
    )
    told = f"{told}, {within_hours:g} may pass (dagster.listed_within_hours): {why}."
    return CheckResult(name, False, told, figures)


def questions_finding(standing: Standing, *, show_texts: bool) -> CheckResult:
    """Return the finding about the deployment's own questions.

    Args:
        standing: How they are answered, as far as the state knows.
        show_texts: Whether people are shown the questions, which hold cells of tables.
    """
    name, now, change = "questions_answered", standing.now, standing.change
    if standing.trouble:
        told = f"The questions could not be asked: {standing.trouble}"
        return CheckResult(name, False, told, severe=False, about={("trouble", standing.trouble)})
    if now is None:
        told = "No questions were asked yet; the next run makes and asks them."
        return CheckResult(name, True, told)
    figures = {**now.figures, "questions": len(standing.questions), "worse": len(change.worse)}
    figures.pop(WAITING, None)
    few = ""
    if standing.few:
        few = (
            f"Only {len(standing.questions)} questions are left; run: pneuma-assets bench mine "
            "--renew"
        )
        if not change.red:
            return CheckResult(name, False, few, figures, severe=False, about={("few",)})
    return CheckResult(
        name,
        not change.red,
        f"{_compared_in_words(standing)} {few}".rstrip(),
        figures,
        header=["id", "kind", "table", "before", "now", *(["question"] if show_texts else [])],
        rows=[
            (
                *(one.question_id, one.kind, one.table_id),
                *("not found" if place is None else str(place) for place in (before, after)),
                *([one.question] if show_texts else []),
            )
            for one, before, after in standing.worse()
        ],
        about={(one,) for one in change.worse},
    )


def _compared_in_words(standing: Standing) -> str:
    change, best = standing.change, standing.best
    if best is None:
        return "There is nothing to compare with yet."
    told = (
        f"Of {change.asked} questions {len(change.worse)} are answered worse than in measurement "
        f"{best.number}, the best so far, and {len(change.better)} better"
    )
    if standing.not_compared:
        told += (
            f"; {standing.not_compared} are not compared, since tables that came meanwhile are "
            "found in place of theirs"
        )
    if not change.red:
        return f"{told}."
    return (
        f"{told}. That is more than chance explains. See which in the cases; take back the last "
        "change of models or options, or accept what it cost: pneuma-assets bench mine --accept"
    )
