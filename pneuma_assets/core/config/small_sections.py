"""The sections of a deployment file that need no module of their own."""

import re
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pneuma_assets.core.config.secrets import EndpointUrl, Url, VariableName
from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.config.values import KeyPrefix, LocalPath, Owner, is_exposed, matching


def _database_url(value: str) -> str:
    try:
        parts = urlsplit(value)
        named = bool(parts.path.strip("/"))
        usable = parts.scheme in {"postgresql", "postgres"} and bool(parts.hostname) and named
        _ = parts.port
    except ValueError:
        usable = False
    if not usable or not value.isprintable() or " " in value:
        raise ValueError("must be a database's address, such as postgresql://user@host:5432/name")
    return value.replace("postgres://", "postgresql://", 1)


_SCHEMA_NAME = matching(
    r"(?!pg_)[a-z_][a-z0-9_]{0,62}",
    "must be of lower-case letters, digits and '_', at most 63, no digit first, and not begin with "
    "'pg_'",
)
"""Needs no quotes anywhere, and is none that PostgreSQL keeps for itself."""


class StateConfig(Section):
    """A PostgreSQL database that several machines share; without one, a file of this machine."""

    url: Annotated[Url, AfterValidator(_database_url)] | None = Field(
        None, description="postgresql://USER@HOST:PORT/DATABASE; none: state.db in `home`."
    )
    password_env: VariableName | None = Field(
        None, description="Names the variable with the password; else libpq's own ways (.pgpass)."
    )
    schema_name: Annotated[str, _SCHEMA_NAME] = Field(
        "pneuma", description="The database's schema for the tables; made where there is none."
    )

    @model_validator(mode="after")
    def _password_has_a_use(self) -> Self:
        """Catch a section whose address was forgotten: the state would be in a file."""
        if self.password_env is not None and self.url is None:
            raise ValueError("password_env is given, but no url that it is the password of")
        return self

    def location(self, home: Path) -> str:
        """Return where the state is, as people write it; `home` is the state folder."""
        return str(home) if self.url is None else f"{self.url}, schema {self.schema_name}"


def _an_address_is_enough(given: Any) -> Any:
    """Let `state: postgresql://…` stand for a section with nothing but its address."""
    return {"url": given} if isinstance(given, str) else given


StateChoice = Annotated[
    StateConfig, BeforeValidator(_an_address_is_enough, json_schema_input_type=str | StateConfig)
]
"""The section, or the address alone."""

_LONGEST = 200


def _pattern(value: str) -> str:
    """Check what is to match names, so that no rule silently matches nothing."""
    if not value.strip():
        raise ValueError("is empty; name a column, or write a pattern such as '*ssn*'")
    if len(value) > _LONGEST:
        raise ValueError(f"has more than {_LONGEST} characters; write a shorter pattern")
    if len(value) > 1 and value.startswith("/") and value.endswith("/"):
        try:
            re.compile(value[1:-1])
        except re.error as error:
            raise ValueError(f"is no regular expression ({error}); correct it") from error
    return value


NamePattern = Annotated[str, AfterValidator(_pattern)]
"""A name, a pattern with `*`, `?` and `[...]`, or a regular expression between slashes."""


class PrivacyConfig(Section):
    """What is never read into anything, of all sources or of one.

    Rules of all sources hold in each of them; a source adds its own and takes none away.
    """

    schema_only: bool = Field(False, description="No cell of any table is kept or shown.")
    hidden_columns: tuple[NamePattern, ...] = Field(
        (), description="Columns whose values are never kept: names and patterns."
    )
    hidden_tags: tuple[NamePattern, ...] = Field((), description="Likewise, by tags of columns.")
    hide_names: bool = Field(False, description="Whether names of hidden columns go, too.")

    def joined(self, others: Self) -> Self:
        """Return the rules of both."""
        return self.model_copy(
            update={
                "schema_only": self.schema_only or others.schema_only,
                "hidden_columns": _both(self.hidden_columns, others.hidden_columns),
                "hidden_tags": _both(self.hidden_tags, others.hidden_tags),
                "hide_names": self.hide_names or others.hide_names,
            }
        )


def _both(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*one, *other]))


class SamplingConfig(Section):
    """Which rows stand for a table (Pneuma, section 4: r = 5)."""

    rows: int = Field(5, ge=0, le=1000)
    values: bool = Field(True, description="Whether tables are found by what all rows say.")


class IndexingConfig(Section):
    """How much one run takes on."""

    row_change: ClassVar[float] = 0.2
    """Share of a table's rows that must change before all sampled rows are drawn again, for new
    rows are embedded again; those that left the table are replaced at once all the same."""

    tables_per_run: int = Field(2000, ge=1)
    quiet_period_seconds: float = Field(
        10.0, ge=0.0, le=3600.0, description="Sensors leave a table alone that was just written."
    )


class LimitsConfig(Section):
    """How much the reading of one table may take before it becomes that table's problem."""

    seconds_per_gigabyte: ClassVar[float] = 300.0
    """Beside `seconds_per_table`, for each GB of its files, so that 3.3 MB a second are enough."""

    seconds_per_table: float = Field(60.0, gt=0, le=86_400)
    memory_gigabytes: float = Field(2.0, ge=1, description="Of the process that reads.")
    temporary_gigabytes: float = Field(20.0, gt=0, description="Unpacked text, spilled rows.")


class WebserverConfig(Section):
    """A webserver of Dagster, or a deployment of Dagster+, whose assets may be tables."""

    url: EndpointUrl | None = Field(
        None, description="As a browser opens it, such as `http://localhost:3000`; none: not asked."
    )
    token_env: VariableName | None = Field(
        None, description="Names the variable with a user token of Dagster+."
    )

    @model_validator(mode="after")
    def _token_is_encrypted(self) -> Self:
        """A token that crosses a network in the clear is everybody's."""
        if self.token_env is not None and self.url is not None and is_exposed(self.url):
            raise ValueError(f"{self.url} would carry the token unencrypted; use https")
        return self


class LineageConfig(Section):
    """Files of other tools, read again when they change, a webserver, and who is told."""

    dbt: tuple[LocalPath, ...] = Field(
        (), description="Folders with a `manifest.json` of dbt, such as `target`, or such files."
    )
    openlineage: tuple[LocalPath, ...] = Field(
        (), description="Files of OpenLineage events, one JSON object a line, or folders of them."
    )
    emit: LocalPath | None = Field(
        None,
        description="An `openlineage.yml` of openlineage-python: runs send there what changed.",
    )
    webserver: WebserverConfig = Field(
        WebserverConfig(), description="Of Dagster, which knows other code locations."
    )


def _time_zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError("must be the name of a time zone, such as Europe/Berlin") from error
    return value


def _cron_field(value: str, alone: str = r"\*") -> str:
    """Return the pattern of one field: values, ranges and steps, a comma between them."""
    item = rf"({alone}|({value})(-({value}))?)(/[1-9]\d*)?"
    return f"{item}(,{item})*"


_CRON_FIELDS = (
    _cron_field(r"[0-5]?\d"),
    _cron_field(r"[01]?\d|2[0-3]"),
    _cron_field(r"0?[1-9]|[12]\d|3[01]", r"\*|\?|l"),
    _cron_field(r"0?[1-9]|1[0-2]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"),
    _cron_field(r"l?0?[0-7]|(sun|mon|tue|wed|thu|fri|sat|0?[0-7])(#[1-5])?", r"\*|\?"),
)
Cron = Annotated[
    str,
    matching(
        rf"(?i:{' '.join(_CRON_FIELDS)}|@(hourly|daily|midnight|weekly|monthly|yearly|annually))",
        "must be five fields (minute, hour, day, month, weekday) within their bounds, such as "
        "'0 * * * *' for every hour",
    ),
]
"""A schedule as Dagster takes it, but for days that never come, such as 31 February."""

TimeZone = Annotated[str, AfterValidator(_time_zone)]
"""Where a cron's hours are told."""

_DAGSTER_NAME = r"[A-Za-z0-9_]{1,100}"

DagsterName = Annotated[
    str,
    Field(json_schema_extra={"pattern": f"^{_DAGSTER_NAME}$"}),
    matching(_DAGSTER_NAME, "use letters, digits, '_', at most 100"),
]
"""What Dagster takes for the name of a group or a pool."""

INDEX_WRITER_POOL = "index_writer"
"""Whose limit, 1, keeps two runs from writing one index; waiting for another's is no harm."""


class ReloadConfig(Section):
    """Who is told to load definitions anew when tables came or went, so that they have pages."""

    url: EndpointUrl | None = Field(None, description="Where Dagster's webserver listens.")
    location: str | None = Field(None, description="The code location; None: the sensor's own.")


class DagsterConfig(Section):
    """Names, owners, times and tags of everything that Dagster shows of a deployment."""

    key_prefix: KeyPrefix | None = Field(None, description="Parts with '/' between them.")
    owners: tuple[Owner, ...] = Field((), description="Of all assets: e-mail addresses, 'team:x'.")
    tags: dict[str, str] = Field({}, description="Of all assets.")
    run_tags: dict[str, Any] = Field({}, description="Of all runs: index, check, optimise.")
    indexing_tags: dict[str, Any] = Field({}, description="Of runs that index, before run_tags.")
    gpu_pool: DagsterName = Field("gpu", description="Of the stages that run a model.")
    cron: Cron = Field("0 * * * *", description="When the schedule lists the sources.")
    optimise_cron: Cron = Field("0 4 * * 0", description="When the index is optimised.")
    time_zone: TimeZone = "UTC"
    watch_seconds: int = Field(60, ge=10, description="How often the sensor lists the sources.")
    listed_within_hours: float = Field(26.0, gt=0, description="Else a source's check fails.")
    show_rows: bool = Field(False, description="Whether cells are shown in the UI.")
    reload: ReloadConfig = ReloadConfig()
