"""Turns pydantic's findings into lines that name the key, the bad value and the remedy."""

from collections.abc import Iterator, Sequence
from typing import Any, get_origin

from pydantic import BaseModel, ValidationError

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.config.secrets import redacted, sounds_secret
from pneuma_assets.core.config.section_base import Section, may_hold_secret, section_in
from pneuma_assets.core.config.source_kinds import section_of
from pneuma_assets.core.config.yaml_file import YamlFile
from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.text.suggest import nearest
from pneuma_assets.core.text.validation_messages import did_you_mean, phrased, unknown_key

MAX_LINES = 20

Path = tuple[str | int, ...]


def explain(error: ValidationError, document: YamlFile) -> ConfigError:
    """Return one error whose message has a line for each finding, `MAX_LINES` at most."""
    found = _findings(error, document.data)
    lines = [f"{document.file}, line {document.line_of(keys)}: {told}" for keys, told in found]
    return _told(lines, str(document.file))


def explain_mapping(error: ValidationError, data: Any, where: str) -> ConfigError:
    """Return the same of a deployment that stands in `where`, whose lines are not known."""
    return _told([f"{where}: {told}" for _, told in _findings(error, data)], where)


def _told(lines: list[str], where: str) -> ConfigError:
    if len(lines) > MAX_LINES:
        lines[MAX_LINES:] = [f"{where}: {len(lines) - MAX_LINES} more errors"]
    return ConfigError("\n".join(lines))


def _findings(error: ValidationError, data: Any) -> Iterator[tuple[Path, str]]:
    for finding in error.errors(include_url=False):
        if finding["type"] == "too_short" and finding["input"]:
            continue  # pydantic counts the entries that are right; the wrong ones have a line each
        keys = finding["loc"]
        section, inner = _section_at(keys, data)
        yield keys, _message(finding, keys, section, secret=may_hold_secret(section, inner))


def _section_at(keys: Path, data: Any) -> tuple[type[Section], str]:
    """Return the section that holds the last of these keys, and which key of it that is in."""
    section: type[Section] = Deployment
    if keys[:1] == ("sources",) and len(keys) > 2:
        section, keys = section_of(data["sources"][keys[1]]), keys[2:]
    while len(keys) > 1:
        annotation = section.model_fields[str(keys[0])].annotation
        inner = section_in(annotation)
        if inner is None:
            break
        section, keys = inner.in_force(), keys[2 if get_origin(annotation) is dict else 1 :]
    return section, str(keys[0]) if keys else ""


def _message(finding: Any, keys: Path, model: type[BaseModel], *, secret: bool) -> str:
    kind, value, context = finding["type"], finding["input"], finding.get("ctx", {})
    if kind == "invalid_key":  # a number or a date where a key should stand
        keys = (*keys[:-1], str(keys[-1]))
    key = key_path(keys)
    if kind in {"extra_forbidden", "invalid_key"}:
        return _unknown_key(key, str(keys[-1]), model)
    hidden = secret and isinstance(value, str | int | float)
    shown, types = "its value" if hidden else _shown(value), context.get("types", ())
    messages = {
        "missing": f"{key}: is missing; add it",
        "secret_given": f"{key}: {finding['msg']}{_named_by(_env_keys(model))}",
        "source_type_missing": f"{key}: is missing; set it to {_choices(types)}",
        "source_type_unknown": f"{key}: {shown} is not known;{did_you_mean(str(value), types)} "
        f"set it to {_choices(types)}",
        "source_type_broken": f"{key}: {finding['msg']}",
        "model_unknown": f"{key}: {shown} is no entry of models; did you mean "
        f"{_shown(context.get('near'))}?",
        "literal_error": f"{key}: {shown} is not allowed; set it to {context.get('expected')}",
        "too_short": f"{key}: is empty; give it an entry, or remove the key",
        "tuple_type": f"{key}: must be a list, each entry starting with '- ', not {shown}",
        "string_type": f"{key}: {shown} is not a text; put it in quotes",
        "path_type": f"{key}: {shown} is not a path; put it in quotes",
        **dict.fromkeys(
            ("model_type", "model_attributes_type", "dict_type"),
            f"{key}: must hold 'key: value' lines, not {shown}",
        ),
    }
    return messages.get(kind) or _out_of_range(key, str(finding["msg"]), None if secret else value)


def _out_of_range(key: str, message: str, value: object) -> str:
    message = phrased(message)
    if message.startswith(key) or message.startswith("sources["):
        return message
    if value is None or isinstance(value, dict | list | BaseModel):
        return f"{key}: {message}"
    return f"{key}: {_shown(value)}: {message}"


def _unknown_key(key: str, name: str, model: type[BaseModel]) -> str:
    """Suggest the nearest key, or the way a secret is passed; never repeat the value."""
    if sounds_secret(name) and not name.endswith("_env"):
        env_keys = _env_keys(model)
        near = nearest(f"{name}_env", env_keys, 1, 0.8) or env_keys
        remedy = f"set an environment variable{_named_by(near)}"
        return f"{key}: secrets do not belong in the file; {remedy}"
    return f"{key}: {unknown_key(name, model.model_fields)}"


def _env_keys(model: type[BaseModel]) -> list[str]:
    return [field for field in model.model_fields if field.endswith("_env")]


def _named_by(keys: Sequence[str]) -> str:
    return f" and name that by {' or '.join(keys)}" if keys else ""


def _choices(known: Any) -> str:
    return "one of " + ", ".join(f"'{name}'" for name in known)


def _shown(value: object) -> str:
    """Show a value on one line, short, without control characters and an address's password."""
    if value is None:
        return "nothing (remove the key, or fill it)"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple | set):
        return "a list"
    text = ascii(value) if not isinstance(value, str) or not value.isprintable() else repr(value)
    text = redacted(text)
    return text if len(text) <= 60 else text[:57] + "..."


def key_path(keys: Path) -> str:
    """Write keys the way people do: `sources[0].path`."""
    text = ""
    for key in keys:
        if key == "[key]":  # what pydantic says of a key itself
            continue
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            shown = redacted(key if key.isprintable() else ascii(key)[1:-1])
            text += f".{shown[:60]}" if text else shown[:60]
    return text or "the file"
