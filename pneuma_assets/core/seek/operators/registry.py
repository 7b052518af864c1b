"""The operators that there are, by name; a new one is added to the list here."""

from typing import Any

from pneuma_assets.core.seek.operators.base import Operator
from pneuma_assets.core.seek.operators.code import Python, Sql
from pneuma_assets.core.seek.operators.convert import Convert
from pneuma_assets.core.seek.operators.join import FuzzyMatch, Join
from pneuma_assets.core.seek.operators.pivot import Pivot, Unpivot
from pneuma_assets.core.seek.operators.union import Union
from pneuma_assets.core.seek.state import StateInvalidError, Step
from pneuma_assets.core.text.suggest import check_known

OPERATORS = {
    one.name: one
    for one in (Sql(), Python(), Join(), Union(), FuzzyMatch(), Convert(), Pivot(), Unpivot())
}


def operator_of(step: Step) -> Operator:
    """Return the operator of a step.

    Raises:
        StateInvalidError: There is none of this name; the message names the nearest.
    """
    others = f"there are {', '.join(OPERATORS)}"
    check_known("operator", [step.operator], OPERATORS, StateInvalidError, otherwise=others)
    return OPERATORS[step.operator]


def describe(*names: str) -> str:
    """Return what operators do and what their options are, a line each, for people and prompts.

    Args:
        names: Those that are described; without any, all.
    """
    lines = []
    for one in OPERATORS.values():
        if not names or one.name in names:
            schema = {} if one.model is None else one.model.model_json_schema()
            options = f"; options: {_told(schema, schema.get('$defs', {}))}" if schema else ""
            lines.append(f"{one.name}: {one.summary}{options}")
    return "\n".join(lines)


def _told(schema: dict[str, Any], named: dict[str, Any]) -> str:
    """Return a JSON schema in short: `?` marks what may be left out."""
    schema = named[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if parts := schema.get("oneOf") or schema.get("anyOf"):
        return " or ".join(_told(part, named) for part in parts)
    if "properties" in schema:
        needed = schema.get("required", ())
        fields = (
            f"{name}{'' if name in needed else '?'}: {_told(one, named)}{_said(one)}"
            for name, one in schema["properties"].items()
        )
        return f"{{{', '.join(fields)}}}"
    if "items" in schema:
        return f"[{_told(schema['items'], named)}]"
    patterns = [*schema.get("patternProperties", {}).values()]
    if inner := [one for one in (schema.get("additionalProperties"), *patterns) if one]:
        return f"{{NAME: {_told(inner[0], named)}}}"
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else ())
    return "|".join(map(str, values)) or str(schema.get("type", "any"))


def _said(schema: dict[str, Any]) -> str:
    return f" ({schema['description']})" if "description" in schema else ""
