"""What is measured, as options by name: keys of a deployment file, and options of a question.

A name with a dot is a key of a deployment file (`sampling.rows`, `query.alpha`); one without is an
argument of `QueryEngine.ask_many` (`k`, `judge`), or `kinds` or `without`, the kinds of documents
to look in or not to. What a later version adds to either can be measured without a change here.
Sets are indexed by the embedded engine, whatever the deployment has: both rank alike.
"""

import inspect
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.models import NarrationConfig
from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.config.section_base import Section
from pneuma_assets.core.config.yaml_file import read_yaml
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.search.results import check_judge, check_tau, checked_options
from pneuma_assets.core.tables import DocumentKind, content_hash
from pneuma_assets.core.terms.fields import KIND_OF
from pneuma_assets.core.text.suggest import nearest

INDEXED = ("sampling", "narration", "encoder", "index")
"""Sections that decide what is in an index."""

ASKED = ("query", "judge")
"""Sections that decide how it is asked."""


class LabNarration(NarrationConfig):
    """What describes columns, with what a deployment file cannot say."""

    facts: bool = True
    """Whether names spelt out, and values, describe columns that no model describes."""


_WIDER: Mapping[str, type[Section]] = {"narration": LabNarration, "query": QueryOptions}
"""Sections that have more keys here than in a file."""

KINDS, WITHOUT = "kinds", "without"


@dataclass(frozen=True, slots=True)
class Setting:
    """One configuration: a deployment with some keys replaced, and options of its questions.

    `given` are the options that make it another than the deployment's own.
    """

    deployment: Deployment
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The options that were given, as people read them; 'default' without any."""
        return name_of(self.given)

    @property
    def index_key(self) -> str:
        """Equal for settings that are answered from the same index."""
        return content_hash(*(getattr(self.deployment, one).model_dump_json() for one in INDEXED))

    @property
    def key(self) -> str:
        """Equal for settings that give the same answers."""
        asked = (getattr(self.deployment, one).model_dump_json() for one in ASKED)
        options = sorted(f"{key}={value!r}" for key, value in self._arguments().items())
        return content_hash(self.index_key, *asked, *options)

    def check_question(self) -> None:
        """Refuse what no question may ask for, which is known before anything is indexed.

        Raises:
            QueryError: An option is out of range or of another type.
        """
        checked_options(
            QueryOptions.of(self.deployment.query), *map(self.given.get, ("k", "n", "alpha"))
        )
        check_judge(self.given.get("judge"))
        check_tau(self.given.get("tau"))

    def ask_options(self, kinds: Iterable[DocumentKind]) -> dict[str, Any]:
        """Return the arguments of `ask_many`.

        Args:
            kinds: Of the documents there are; the evidence of tables has kinds beside.

        Raises:
            BenchmarkError: The setting leaves out all there is.
        """
        arguments = self._arguments()
        chosen, without = arguments.pop(KINDS, ()), arguments.pop(WITHOUT, ())
        if chosen or without:
            arguments["where"] = _looked_in(kinds, chosen, without)
        return arguments

    def _arguments(self) -> dict[str, Any]:
        return {key: value for key, value in self.given.items() if "." not in key}


DEFAULT = Setting(Deployment())
"""The product's own defaults."""


def name_of(options: Mapping[str, Any]) -> str:
    """Return options as people read them; 'default' without any."""
    shown = {
        key: "+".join(map(str, value)) if isinstance(value, list | tuple) else value
        for key, value in options.items()
    }
    return ", ".join(f"{key}={value}" for key, value in shown.items()) or "default"


def _looked_in(
    there_are: Iterable[DocumentKind], kinds: Collection[str], without: Collection[str]
) -> IndexFilter:
    """Return the filter that looks in some kinds of documents only, or not in some."""
    known = [*map(DocumentKind, kinds)] or sorted({*there_are, *KIND_OF.values()})
    left = tuple(kind for kind in known if kind not in {*map(DocumentKind, without)})
    if not left:
        raise BenchmarkError("no kind of document is left to look in; leave out fewer")
    return IndexFilter(kinds=left)


def setting_of(deployment: Deployment, options: Mapping[str, Any]) -> Setting:
    """Return a deployment's configuration with these options; those that are None stay as it has.

    Raises:
        BenchmarkError: There is no such option, or its value cannot be used.
    """
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if "." in name:
            deployment = _with_key(deployment, name, value)
        else:
            _check_argument(name, value)
    return Setting(deployment, given)


@cache
def argument_names() -> tuple[str, ...]:
    """Return the options of a question."""
    known = inspect.signature(QueryEngine.ask_many).parameters
    return (*(name for name in known if name not in {"self", "questions", "where"}), KINDS, WITHOUT)


def _with_key(deployment: Deployment, name: str, value: Any) -> Deployment:
    """Return the deployment with one key replaced, checked as a file's is."""
    first, *keys = name.split(".")
    if first == "index" and keys != ["analyzer"]:
        raise _unknown(name, ["index.analyzer"])
    if first not in INDEXED + ASKED:
        raise _unknown(name, [f"{one}." for one in INDEXED + ASKED])
    section: Section = getattr(deployment, first)
    kind = _WIDER.get(first, type(section))
    data = kind.model_validate(section.model_dump()).model_dump()
    place: Any = data
    for key in keys[:-1]:
        place = place.get(key) if isinstance(place, dict) else None
    if not isinstance(place, dict) or (place is data and keys[-1] not in data):
        raise _unknown(name, [f"{first}.{one}" for one in data])
    place[keys[-1]] = value
    try:
        return deployment.model_copy(update={first: kind.model_validate(data)})
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise BenchmarkError(f"{name}: {value!r} cannot be used ({problem})") from error


def _check_argument(name: str, value: Any) -> None:
    if name not in argument_names():
        raise _unknown(name, argument_names())
    if name in {KINDS, WITHOUT}:
        if not isinstance(value, list | tuple):
            raise BenchmarkError(f"{name} must be a list of kinds of documents, not {value!r}")
        try:
            [DocumentKind(kind) for kind in value]
        except ValueError as error:
            raise BenchmarkError(f"{name}: {error}") from error


def _unknown(name: str, known: Iterable[str]) -> BenchmarkError:
    known = list(known)
    near = nearest(name, known, 1, 0.6)
    hint = f"did you mean {near[0]!r}? " if near else ""
    return BenchmarkError(f"there is no option {name!r}; {hint}use one of: {', '.join(known)}")


class Spec(BaseModel):
    """The settings to compare, as benchmarks/README.md has them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base: dict[str, Any] = {}
    vary: dict[str, list[Any]] = {}
    cells: dict[str, dict[str, Any]] = {}

    def settings(self, deployment: Deployment) -> dict[str, Setting]:
        """Return each setting by its name, the default first.

        Raises:
            BenchmarkError: There is no such option, a value cannot be used, or a cell is named
                as the setting that all are compared with.
        """
        if "default" in self.cells:
            raise BenchmarkError("'default' is what the base is called; name the cell otherwise")
        varied = [{name: value} for name, values in self.vary.items() for value in values]
        if len(varied) + len(self.cells) >= MOST_CELLS:
            raise BenchmarkError(f"more than {MOST_CELLS:,} settings; compare fewer")
        named: dict[str, dict[str, Any]] = {"default": {}}
        named |= {name_of(one): one for one in varied} | self.cells
        return {name: setting_of(deployment, self.base | one) for name, one in named.items()}


MOST_CELLS = 1_000


PAPER = Path(__file__).with_name("paper.yaml")


def read_spec(path: Path = PAPER) -> Spec:
    """Read a specification; that of what Pneuma varies, where none is named.

    Raises:
        ConfigError: It is no YAML of keys and values.
        BenchmarkError: It has other keys than a specification, or values of other types.
    """
    try:
        return Spec.model_validate(read_yaml(path).data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BenchmarkError(f"{path}: {where}: {first['msg']}") from error
