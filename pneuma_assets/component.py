"""A deployment as a component of somebody's `dg` project: a few lines of YAML in its own folder.

It keeps no state of Dagster's: which tables there are is read from the manifest that runs write,
so there is nothing to refresh when a project is built, and nothing in an image that grows old.
"""

import logging
import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Self

import dagster as dg
import yaml
from pydantic import (
    BaseModel,
    Field,
    GetJsonSchemaHandler,
    ModelWrapValidatorHandler,
    ValidationError,
    create_model,
    model_validator,
)

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.explain import key_path
from pneuma_assets.core.config.indexed_folders import source_name
from pneuma_assets.core.config.load import (
    FILE_NAME,
    HOME_NAME,
    LoadedDeployment,
    inline_deployment,
    load_deployment,
)
from pneuma_assets.core.config.secrets import redacted
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.definitions import build_definitions

logger = logging.getLogger(__name__)

SOURCE = "lake"
"""What the source of `folder` is called, wherever it is: when the path is changed, its tables are
held as gone at once, where those of a source that is no more would leave unasked."""

_HEAD = "# docs/configuration.md of pneuma-assets has every key. Paths start from this folder.\n"
_NO_SOURCE = """\
sources: []
# - type: folder  # or s3, duckdb
#   name: lake
#   path: ../lake
"""


class _AsDeployment:
    """Lets the schema of a mapping be that of a deployment file, while it may hold templates."""

    def __get_pydantic_json_schema__(self, _: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return dict(handler.resolve_ref_schema(handler(Deployment.__pydantic_core_schema__)))


class _Unquoted(BaseModel):
    """Of what is wrong no error shows what was given, which may be a password.

    Where it reads a file, Dagster does not keep to `hide_input_in_errors`.
    """

    @model_validator(mode="wrap")
    @classmethod
    def _without_input(cls, given: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        try:
            return handler(given)
        except ValidationError as error:
            found: list[Any] = [{**one, "input": "***"} for one in error.errors()]
            raise ValidationError.from_exception_data(error.title, found) from None


class ScaffoldParams(_Unquoted):
    """What `dg scaffold defs` asks for."""

    folder: str | None = Field(None, description="A folder of tables, to be the first source.")


class PneumaScaffolder(dg.Scaffolder[ScaffoldParams]):
    """Writes the component, and a deployment file beside it."""

    @classmethod
    def get_scaffold_params(cls) -> type[ScaffoldParams]:
        """Return what may be asked for."""
        return ScaffoldParams

    def scaffold(self, request: dg.ScaffoldRequest[ScaffoldParams]) -> None:
        """Write both files; a deployment file that is there already stays."""
        dg.scaffold_component(request, {"config": FILE_NAME})
        folder = request.target_path.parent if request.append else request.target_path
        file = folder / FILE_NAME
        if not file.exists():
            project = request.project_root or folder
            file.write_text(_deployment_file(folder, project, request.params.folder), "utf-8")


def _deployment_file(folder: Path, project: Path, tables: str | None) -> str:
    """Return a file whose deployment has a name, so that a second one does not clash with it."""
    name = re.sub("[^A-Za-z0-9]", "_", folder.name).lstrip("_")[:64] or "lake"
    head = {"name": name, "home": os.path.relpath(project / HOME_NAME / name, folder)}
    text = _HEAD + yaml.safe_dump(head, sort_keys=False)
    if tables is None:
        return text + _NO_SOURCE
    path = Path(tables).expanduser().resolve()
    inside = path.is_relative_to(project.resolve())  # a project may be moved, with what it holds
    written = os.path.relpath(path, folder.resolve()) if inside else str(path)
    source = {"type": "folder", "name": source_name(path.name, set()), "path": written}
    return text + yaml.safe_dump({"sources": [source]}, sort_keys=False)


def _text(context: dg.ResolutionContext, written: Any) -> str:
    """Return a text without templates; what is given and is nothing is empty, not absent."""
    value = context.resolve_value(written)
    return "" if value is None else str(value)


def _given_as_text(description: str, example: str) -> dg.Resolver:
    return dg.Resolver(
        _text,
        model_field_type=str,
        inject_before_resolve=False,
        description=description,
        examples=[example],
    )


def _mapping(
    context: dg.ResolutionContext, written: Any, keys: tuple[str | int, ...] = ("deployment",)
) -> Any:
    """Return values without templates; raises `ConfigError` for one that stands for nothing."""
    if isinstance(written, dict):
        return {name: _mapping(context, one, (*keys, str(name))) for name, one in written.items()}
    if isinstance(written, list | tuple):
        return [_mapping(context, one, (*keys, at)) for at, one in enumerate(written)]
    value = context.resolve_value(written)
    if value is None and written is not None:
        raise ConfigError(
            f"{key_path(keys)}: its template is nothing; set its variable, or remove the key"
        )
    return value


def _warn_of_absent(loaded: LoadedDeployment) -> None:
    """Name folders that are not there: no error, as a disk may be away while definitions load."""
    for source in loaded.deployment.sources:
        if source.folder is not None and not os.path.isdir(source.folder):  # noqa: PTH112
            logger.warning(
                "The folder %s of source '%s' is not there; relative paths start from %s",
                source.folder,
                source.name,
                loaded.base,
            )


@cache
def _model_of(component: type[dg.Resolvable]) -> type[BaseModel]:
    derived = component.model()
    about = derived.model_fields["deployment"].description
    kind = Annotated[dict[str, Any], _AsDeployment()]
    return create_model(
        derived.__name__,
        __base__=(_Unquoted, derived),
        deployment=(kind, Field(None, description=about)),
    )


@dg.scaffold_with(PneumaScaffolder)
@dataclass
class PneumaComponent(dg.Component, dg.Resolvable):
    """Makes every table of a lake or warehouse findable by asking in plain language.

    One of the attributes says which deployment it is; without any, it is `config: pneuma.yaml`.
    Relative paths start from the folder of `defs.yaml`. A file keeps its state where it says; of
    the others it is below `.pneuma` at the root of the project, unless `home` inside `deployment`
    says otherwise. The variables PNEUMA_CONFIG and PNEUMA_HOME do not count, as a project may have
    several.
    """

    config: Annotated[str | None, _given_as_text("A deployment file.", FILE_NAME)] = None
    folder: Annotated[
        str | None,
        _given_as_text("A folder of tables; all else is as by default.", "{{ project_root }}/data"),
    ] = None
    name: Annotated[
        str | None,
        _given_as_text("With folder: tells its deployment from others in one Dagster.", "sales"),
    ] = None
    deployment: Annotated[
        dict[str, Any] | None,
        dg.Resolver(  # not the default one, which forgets the type
            _mapping,
            model_field_type=Annotated[dict[str, Any], _AsDeployment()],
            inject_before_resolve=False,
            description="What a deployment file would say, in its place.",
        ),
    ] = None

    @classmethod
    def get_model_cls(cls) -> type[BaseModel]:
        """Return the model of the attributes, `deployment` without the alternative of a text.

        Where there are alternatives, `dg check yaml` names neither key nor value of what is wrong.
        """
        return _model_of(cls)

    def build_defs(self, context: dg.ComponentLoadContext) -> dg.Definitions:
        """Return all that the deployment has in Dagster.

        Raises:
            ConfigError: The deployment is wrong, or several are given.
        """
        loaded = self.deployment_at(context.path, context.project_root)
        _warn_of_absent(loaded)
        return build_definitions(loaded)

    def deployment_at(self, folder: Path, project: Path) -> LoadedDeployment:
        """Return the deployment of a component in this folder; raises as `build_defs`."""
        where = str(folder / "defs.yaml")
        given = self._given(where)
        if "name" in given and self.folder is None:
            raise ConfigError(f"{where}: name: is for folder alone; name it in the deployment")
        if len({*given} - {"name"}) > 1:
            raise ConfigError(f"{where}: give one of config, folder and deployment, not several")
        if self.folder is not None:
            source = {"type": "folder", "name": SOURCE, "path": self.folder}
            named = {} if self.name is None else {"name": self.name}
            data: dict[str, Any] = {**named, "sources": [source]}
        elif self.deployment is not None:
            data = self.deployment
        else:
            return load_deployment(self._file(folder, where), environ={})
        return inline_deployment(data, folder, project / HOME_NAME, where)

    def _file(self, folder: Path, where: str) -> Path:
        file = folder / (self.config or FILE_NAME)
        if not os.path.lexists(file):
            remedy = "check that path" if self.config else "write it, or give config or folder"
            named = folder / redacted(self.config or FILE_NAME)  # it may be an address, by mistake
            raise ConfigError(f"{where}: config: deployment file {named} does not exist; {remedy}")
        return file

    def _given(self, where: str) -> list[str]:
        """Return the names of attributes that are given; raises `ConfigError` for an empty one."""
        given = {
            "config": self.config,
            "folder": self.folder,
            "deployment": self.deployment,
            "name": self.name,
        }
        for name, value in given.items():
            if value is not None and not (value.strip() if isinstance(value, str) else value):
                raise ConfigError(
                    f"{where}: {name}: is empty; fill it, or remove it (a variable that it names "
                    "may not be set)"
                )
        return [name for name, value in given.items() if value is not None]
