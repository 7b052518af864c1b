"""The models that benchmarks ask: behind an endpoint that a variable names, or in a file.

One variable is of whatever is measured, in all experiments. A second one is of who plays a person
or judges what was measured: it has to be set for itself, so that nobody marks their own work
without having said so.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel

from pneuma_assets.core.config.models import ModelConfig
from pneuma_assets.core.errors import BenchmarkError, ModelError
from pneuma_assets.core.models.base import Conversation, LanguageModel, conversation
from pneuma_assets.core.models.language.forms import Answer, ask
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.tables import content_hash
from pneuma_bench.files import KeptFile

ENDPOINT, PERSON = "PNEUMA_BENCH_ENDPOINT", "PNEUMA_BENCH_PERSON"
F = TypeVar("F", bound=BaseModel)


def model_keys(model: str, variable: str = ENDPOINT) -> dict[str, Any]:
    """Return the keys of a model in a deployment file.

    Its key is in the variable with `_KEY` behind its name, else in OPENAI_API_KEY.

    Raises:
        BenchmarkError: It is no file, and the variable names no endpoint.
    """
    if model.endswith(".gguf"):
        return {"model": str(Path(model).resolve()), "device": "cpu"}
    endpoint, key = os.environ.get(variable), f"{variable}_KEY"
    if not endpoint:
        raise BenchmarkError(f"a model is asked: set {variable} to an endpoint, or name a .gguf")
    own_key = {"api_key_env": key} if key in os.environ else {}
    return {
        "model": model,
        "endpoint_url": endpoint,
        "send_values": True,
        "timeout": 600,
        **own_key,
    }


def open_model(model: str, variable: str = ENDPOINT) -> LanguageModel:
    """Return the model; raises as `model_keys`."""
    config = ModelConfig.model_validate(model_keys(model, variable))
    return open_language_model(config, Path(), os.environ)


def with_sections(file: Path, sections: Mapping[str, Mapping[str, Any]]) -> Path:
    """Write a deployment with other keys of some sections beside the one without; return where."""
    described = yaml.safe_load(file.read_text(encoding="utf-8"))
    for name, keys in sections.items():
        described[name] = {**(described.get(name) or {}), **keys}
    here = file.with_name("with_model.yaml")
    here.write_text(yaml.safe_dump(described), encoding="utf-8")
    return here


def answer_of(
    model: LanguageModel, prompt: str | Conversation, form: type[F], tokens: int
) -> Answer[F]:
    """Ask one prompt; a model that fails gives no answer, which the caller has to count."""
    try:
        (found,) = ask(model, [conversation(prompt)], form, tokens)
    except ModelError as error:
        return Answer(0, None, str(error))
    return found


def answers_of(
    model: LanguageModel,
    prompts: Sequence[str | Conversation],
    form: type[F],
    tokens: int,
    kept: KeptFile,
) -> list[Answer[F]]:
    """Return an answer a prompt, in their order; what a model answered before is not asked again.

    Raises:
        ModelError: The model is missing or fails; what it answered until then is kept.
    """
    keys = [content_hash(model.name, form.__name__, str(one)) for one in prompts]
    known = {key: form.model_validate_json(one) for key, one in kept.known(keys).items()}
    new = [at for at, key in enumerate(keys) if key not in known]
    told = {
        at: Answer(at, known.get(key), "" if key in known else "the model gave no answer")
        for at, key in enumerate(keys)
    }
    for one in ask(model, [conversation(prompts[at]) for at in new], form, tokens):
        told[new[one.index]] = one
        if one.value is not None:
            kept.add({keys[new[one.index]]: one.value.model_dump_json().encode()})
    return [*told.values()]
