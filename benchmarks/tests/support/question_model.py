"""A language model without a model that words questions of a template and leads them back."""

import json
import re
import time
from collections.abc import Callable
from pathlib import Path

from pneuma_bench.generator.annotating import Annotator
from pneuma_bench.generator.content import ContentSpec
from pneuma_bench.generator.drafting import Draft, Drafting
from pneuma_bench.generator.executing import Workbench
from pneuma_bench.generator.queries import subjects_of
from pneuma_bench.reading import read_tables
from tests.support.fake_model import FakeLanguageModel

LANDS = ["NO", "DE", "SE", "FI"]
_STIFF = re.compile(r'the new question alone:\n"(.*)"$')
_BACK = re.compile(r"\nQuestion: Please tell me: (.*)\nSQL:")


def write_towns(folder: Path) -> Path:
    """Write the tables of a small lake, two of which hold the same."""

    def rows(start: int) -> list[list[str]]:
        return [[f"city {n}", str(n * n % 97), LANDS[n % 4]] for n in range(start, start + 40)]

    columns = ["city", "people_thousand", "land"]
    tables = [
        {"id": "towns", "columns": columns, "rows": rows(0),
         "described": ["", "inhabitants in thousands", "A factor of lands"]},
        {"id": "towns_again", "columns": ["Land", "City", "people thousand"],
         "rows": [[c, a, b] for a, b, c in rows(0)]},
        {"id": "other_towns", "columns": columns, "rows": rows(500)},
        {"id": "empty", "columns": columns, "rows": []},
        {"id": "boats", "columns": ["boat", "metres"],
         "rows": [[f"b{n}", str(n % 13)] for n in range(40)]},
    ]  # fmt: skip
    path = folder / "t.tables.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in tables))
    return path


def answers_of(tables: Path, spec: ContentSpec, slow: float = 0.0) -> Callable[[str], str]:
    """Return answers to all prompts about a set: some are right, and some wrong in every way.

    Args:
        tables: The set's file.
        spec: What questions are made by.
        slow: Seconds that one answer takes.
    """
    queries = dict(_queries(tables, spec))

    def answer(prompt: str) -> str:
        time.sleep(slow)
        if stiff := _STIFF.search(prompt):
            return _reworded(stiff.group(1).removeprefix("Please tell me: "))
        back = _BACK.search(prompt)
        question = back.group(1) if back else ""
        return (
            "SELECT *" if _chance(question) == 3 else f"```sql\n{queries.get(question, '')};\n```"
        )

    return answer


def model_of(tables: Path, spec: ContentSpec, slow: float = 0.0) -> FakeLanguageModel:
    """Return a model that answers so."""
    return FakeLanguageModel("questions", answers=answers_of(tables, spec, slow))


def _reworded(question: str) -> str:
    wrong = ["I do not know.", question, f"Please tell me in 2099: {question}"]
    return dict(enumerate(wrong)).get(_chance(question), f"Please tell me: {question}")


def _chance(question: str) -> int:
    return sum(map(ord, question)) % 9


def _queries(tables: Path, spec: ContentSpec) -> list[tuple[str, str]]:
    """Return what the template asks of a set's tables, each question with its query."""
    dataset = read_tables(tables)
    subjects = subjects_of(dataset)
    with Workbench() as bench:
        drafting = Drafting(
            dataset,
            bench,
            Annotator(subjects, bench),
            spec.chances,
            seed=spec.seed,
            answers=spec.most_answers(len(subjects)),
            described=spec.described,
        )
        drafts = [drafting.draft(one, number) for one in subjects for number in range(30)]
    return [(one.question, one.made["sql"]) for one in drafts if isinstance(one, Draft)]
