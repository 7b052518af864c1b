"""The options of experiments that name the models they ask."""

from argparse import ArgumentParser, Namespace

from pneuma_assets.core.models.base import LanguageModel
from pneuma_bench.models import ENDPOINT, PERSON, model_keys, open_model


def add_models(parser: ArgumentParser, *, person: bool = False) -> None:
    """Add the options that name the model, and who plays a person or judges."""
    told = f"its name at the endpoint in {ENDPOINT}, or a .gguf file"
    parser.add_argument("--model", default="default", help=told)
    if person:
        told = f"who plays the person, or judges: its name at the endpoint in {PERSON}"
        parser.add_argument("--person", default="default", help=told)


def open_person(options: Namespace) -> LanguageModel:
    """Return who plays the person or judges; says so where that is the system itself."""
    if model_keys(options.person, PERSON) == model_keys(options.model):
        print("the person is the system's own model, which knows how it reads itself")
    return open_model(options.person, PERSON)
