"""Asks the demo's questions, shows the best tables with the reason, and counts the hits.

Run `python examples/demo/ask.py --home .demo/home` once `.demo/lake` is indexed there. The exit
code is 1 if fewer than eight wanted tables come first, or if the questions cannot be asked.
"""

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import yaml
from demo_display import show_answer
from pydantic import BaseModel, ConfigDict, TypeAdapter
from rich.console import Console

from pneuma_assets import PneumaError, QueryError, TableResult, open_workspace
from pneuma_assets.core.silence_libraries import quieten_libraries
from pneuma_assets.core.text.safe import printable

QUESTIONS = Path(__file__).with_name("questions.yaml")
REQUIRED_FIRST = 8
WIDTH = 100


class Question(BaseModel):
    """One question, the table that answers it, and what carries the answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    question: str
    table: str
    kind: Literal["content", "column", "row", "context"]


def main() -> int:
    """Ask, show, count; the last line is `demo: N/10 first`."""
    parser = argparse.ArgumentParser(description="Ask the demo's questions.")
    parser.add_argument("--home", type=Path, required=True, help="the state folder of the demo")
    home: Path = parser.parse_args().home
    quieten_libraries()
    questions = TypeAdapter(list[Question]).validate_python(
        yaml.safe_load(QUESTIONS.read_text(encoding="utf-8"))
    )
    try:
        answers = ask([question.question for question in questions], home)
    except PneumaError as error:
        print(f"error: {printable(str(error))}", file=sys.stderr)
        return 1
    seen = shutil.get_terminal_size((WIDTH, 24)).columns if sys.stdout.isatty() else WIDTH
    printer = Console(width=min(WIDTH, seen), markup=False, emoji=False, highlight=False)
    for number, (question, results) in enumerate(zip(questions, answers, strict=True), start=1):
        show_answer(printer, number, question.question, question.table, results)
    first = sum(
        bool(results) and results[0].table_id == question.table
        for question, results in zip(questions, answers, strict=True)
    )
    print(f"demo: {first}/{len(questions)} first")
    return 0 if first >= REQUIRED_FIRST else 1


def ask(questions: Sequence[str], home: Path) -> Sequence[Sequence[TableResult]]:
    """Return the ranked tables for each question, from the index under `home`.

    Raises:
        PneumaError: Nothing is indexed there, or the index cannot be opened.
    """
    with open_workspace(home=home) as workspace:
        if workspace.status().empty:
            raise QueryError(f"nothing is indexed in {workspace.loaded.home}; run: make demo")
        return workspace.ask_many(questions)


if __name__ == "__main__":
    sys.exit(main())
