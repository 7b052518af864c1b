"""What is indexed, what is not and why, and what to do where nothing is."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.config.owner import owner_of
from pneuma_assets.core.config.small_sections import PrivacyConfig
from pneuma_assets.core.errors import ConfigError, QueryError
from pneuma_assets.core.index.base import IndexInfo
from pneuma_assets.core.service.describe import ColumnDescription, corrections_of, moment
from pneuma_assets.core.sources.privacy.rules import Rules
from pneuma_assets.core.tables import Problem, source_of

if TYPE_CHECKING:
    from pneuma_assets.core.store import Store
    from pneuma_assets.core.store.tables import TableRecord


@dataclass(frozen=True, slots=True)
class TableStatus:
    """Where one table stands."""

    table_id: str
    state: str
    location: str
    rows: int | None
    columns: int | None
    blocks: int | None
    indexed_at: str | None
    problem: str | None
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """A configured source, how many tables of it are known, and when it was listed last, if ever.

    Times are ISO 8601 in UTC.
    """

    name: str
    type: str
    where: str
    tables: int
    listed_at: str | None


@dataclass(frozen=True, slots=True)
class RunStatus:
    """An indexing run: `outcome` is `ended`, `running`, or `died` where its process was killed."""

    started_at: str | None
    ended_at: str | None
    outcome: str


@dataclass(frozen=True, slots=True)
class Status:
    """Where a whole deployment stands.

    `last_run` is None before the first one, and older than the listings of `sources` where later
    calls found nothing to do.
    `corrections` are what people described or rejected, also of what is not there any more.
    `notices` are what the configuration withholds from models, and which key changes that; and what
    rules of privacy hide, do not hide before the next run, or name in vain. `answers` counts those
    that people `confirmed` and `rejected`.
    """

    home: Path
    tables: Sequence[TableStatus]
    problems: Sequence[Problem]
    index: IndexInfo | None
    corrections: Sequence[ColumnDescription] = ()
    notices: Sequence[str] = ()
    answers: Mapping[str, int] = field(default_factory=dict)
    sources: Sequence[SourceStatus] = ()
    last_run: RunStatus | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing was ever indexed, or tried to be."""
        return not self.tables and not self.problems and self.index is None

    @property
    def usable(self) -> bool:
        """Whether the index is not damaged and can be reached, where there is one."""
        return self.index is None or self.index.usable

    def counts(self) -> dict[str, int]:
        """Return the number of tables by state."""
        return dict(Counter(table.state for table in self.tables))

    def to_dict(self) -> dict[str, Any]:
        """Return the status as JSON types; the keys are part of the command line's contract."""
        problems = [{"table": p.subject, "stage": p.stage, "cause": p.cause} for p in self.problems]
        told = {"home": str(self.home), "counts": self.counts(), "problems": problems}
        return asdict(self) | told


def read_status(store: "Store", loaded: LoadedDeployment, index: IndexInfo | None) -> Status:
    """Gather the status from the store and, where there is one, the index."""
    problems = store.problems.all()
    causes = {problem.subject: problem.cause for problem in reversed(problems)}  # the first of each
    tables = [_table_status(record, causes) for record in store.tables.records()]
    corrections = corrections_of(store, loaded.deployment)
    verdicts = [one.confirmed for one in store.usage.answers()]
    said = {"confirmed": verdicts.count(True), "rejected": verdicts.count(False)}
    counts, listed_at = Counter(map(source_of, store.tables.listed())), store.listings.listed_at()
    sources = [
        SourceStatus(
            *(one.name, one.type, one.location, counts[one.name]), moment(listed_at.get(one.name))
        )
        for one in loaded.deployment.sources
    ]
    return Status(
        *(loaded.home, tables, problems, index, corrections),
        answers=said,
        sources=sources,
        last_run=_last_run(store),
    )


def _last_run(store: "Store") -> RunStatus | None:
    newest = store.runs.newest()
    if newest is None:
        return None
    lives = newest.run_id in store.runs.living()
    outcome = "ended" if newest.ended_at is not None else "running" if lives else "died"
    return RunStatus(moment(newest.started_at), moment(newest.ended_at), outcome)


def _table_status(record: "TableRecord", causes: Mapping[str, str]) -> TableStatus:
    return TableStatus(
        record.table_id,
        str(record.state),
        record.location,
        record.rows,
        record.columns,
        record.block_count,
        moment(record.indexed_at),
        causes.get(record.table_id),
        notes_of(record),
    )


def notes_of(record: "TableRecord") -> tuple[str, ...]:
    """Return what to know of a table: of where it stands, then of its reading."""
    return (*_notes(record), *record.notes)


def _notes(record: "TableRecord") -> Iterator[str]:
    if record.held_since is not None:
        yield f"not in its source since {moment(record.held_since)}; held as it was"
    if record.state != "failed":
        return
    from pneuma_assets.core.store.queue import MAX_ATTEMPTS

    most = max(record.attempts, MAX_ATTEMPTS)
    used = f"failed {record.attempts:,} of {most:,} times since it changed or a person asked"
    if record.attempts >= MAX_ATTEMPTS:
        yield f"{used}; again when it changes, or by a run that is started by hand"
    elif record.retry_at is not None:
        at = datetime.fromtimestamp(record.retry_at, UTC)
        yield f"{used}; next retry at {at:%Y-%m-%d %H:%M} UTC"


def check_answerable(loaded: LoadedDeployment) -> None:
    """Raise `QueryError` where there is no index to ask.

    It may come from elsewhere: kept by a cluster, or copied here.
    """
    from pneuma_assets.core.index.registry import may_have_index

    if not may_have_index(loaded.deployment.index, loaded.home):
        told = f"nothing is indexed in {loaded.home} yet; {how_to_index(loaded)}"
        raise QueryError(told).saying_elsewhere("nothing is indexed yet")


def no_table_known(loaded: LoadedDeployment) -> ConfigError:
    """Return the refusal of what is about one table, where none was ever listed."""
    told = f"no table is known in {loaded.home} yet; {how_to_index(loaded)}"
    return ConfigError(told).saying_elsewhere("no table is known yet")


def how_to_index(loaded: LoadedDeployment, *, on_page: bool = False) -> str:
    """Return the command that fills an empty index.

    Whoever reads it on a page gave no options: there it names the deployment.
    """
    owner = owner_of(loaded)
    if owner is not None:
        return f"in the project of {owner.component} run: {owner.command}"
    options = ""
    if on_page:
        options = f" --home {quote(str(loaded.home))}"
        options += f" --config {quote(str(loaded.file))}" if loaded.file else ""
    folder = "" if loaded.deployment.sources else " FOLDER"
    return f"run: pneuma-assets{options} index{folder}"


def why_not_indexed(table_id: str, store: "Store") -> str:
    """Return why a table that is listed is not in the index: its problem, or its source's."""
    causes = {problem.subject: problem.cause for problem in store.problems.all()}
    if table_id in causes:
        return causes[table_id]
    source = source_of(table_id)
    if source in causes:
        return f"its source {source} has a problem: {causes[source]}"
    return "it waits for the next run; run: pneuma-assets index"


_NAME_HIDDEN = re.compile(r"hidden_\d+_*")


def privacy_notices(store: "Store", deployment: Deployment) -> list[str]:
    """Return what the status says of rules: nothing where there are none and were none."""
    from pneuma_assets.core.pipeline.profile import rules_that_changed  # no question needs it

    rules = {one.name: Rules(one.privacy) for one in deployment.sources}
    listed = store.tables.listed()
    known = set(map(source_of, listed))
    changed = [name for name in rules_that_changed(store, rules) if name in known]
    said = []
    if changed:
        said.append(
            f"privacy: the rules of {', '.join(changed)} have changed; they are in force after the "
            "next run, and until then what was read by the old ones can be found: "
            "run pneuma-assets index"
        )
    ruled = {name for name, one in rules.items() if one.hide_anything}
    idle = list(_patterns(deployment)) if ruled else []
    tables = hidden = of_tables = 0
    for table in store.tables.profiles(one for one in listed if source_of(one) in ruled):
        concealed = [column.name for column in table.columns if column.hidden]
        tables, hidden, of_tables = tables + 1, hidden + len(concealed), of_tables + bool(concealed)
        if any(map(_NAME_HIDDEN.fullmatch, concealed)):  # any pattern may mean it
            idle = [one for one in idle if source_of(table.table_id) not in one[2]]
        else:
            idle = [
                (told, alone, sources)
                for told, alone, sources in idle
                if source_of(table.table_id) not in sources
                or not alone.hidden(table.table_id, table.columns)
            ]
    if not tables:
        return said
    said.append(f"privacy: {hidden:,} columns of {of_tables:,} tables are hidden")
    return said + [
        f"{told} means no column of any table that was read; correct or remove it"
        for told, _, _ in idle
    ]


def _patterns(deployment: Deployment) -> Iterator[tuple[str, Rules, Collection[str]]]:
    """Yield each pattern by its key and text, as a rule of its own, with the sources it is for.

    First those of all sources, then of each source those that it adds.
    """
    names = [one.name for one in deployment.sources]
    for key in ("hidden_columns", "hidden_tags"):
        of_all = getattr(deployment.privacy, key)
        stated = [("privacy", text, names) for text in of_all]
        for source in deployment.sources:
            own = [text for text in getattr(source.privacy, key) if text not in of_all]
            stated += [(f"privacy of {source.name}", text, [source.name]) for text in own]
        for where, text, sources in stated:
            alone = Rules(PrivacyConfig.model_validate({key: (text,)}))
            yield f"{where}.{key}: {text!r}", alone, sources
