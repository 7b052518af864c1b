"""A language model without a model that words questions of a template and leads them back."""

import json
import re
import time
from dataclasses import replace
from pathlib import Path

from pneuma_bench.generator.content import content_questions
from pneuma_bench.generator.questions import Spec
from pneuma_bench.reading import read_tables
from tests.support.fake_model import FakeLanguageModel

_STIFF = re.compile(r'the new question alone:\n"(.*)"$')
_BACK = re.compile(r"\nQuestion: Please tell me: (.*)\nSQL:")


def write_towns(folder: Path) -> Path:
    """Write the tables of a small lake, two of which hold the same."""

    def rows(start: int) -> list[list[str]]:
        lands = ["NO", "DE", "SE", "FI"]
        return [[f"city {n}", str(n * n % 97), lands[n % 4]] for n in range(start, start + 40)]

    columns = ["city", "people_thousand", "land"]
    tables = [
        {"id": "towns", "columns": columns, "rows": rows(0),
         "descriptions": ["", "inhabitants in thousands", "A factor of lands"]},
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


def model_of(tables: Path, spec: Spec, slow: float = 0.0) -> FakeLanguageModel:
    """Return a model that answers all prompts about a set: some rightly, some wrong in every way.

    Args:
        tables: The set's file.
        spec: What questions are made by.
        slow: Seconds that one answer takes.
    """
    made = content_questions(read_tables(tables), replace(spec, questions=150)).asked
    queries = {one.question: one.made["sql"] for one in made}

    def answer(prompt: str) -> str:
        time.sleep(slow)
        if stiff := _STIFF.search(prompt):
            return _reworded(stiff.group(1).removeprefix("Please tell me: "))
        back = _BACK.search(prompt)
        question = back.group(1) if back else ""
        return (
            "SELECT *" if _chance(question) == 3 else f"```sql\n{queries.get(question, '')};\n```"
        )

    return FakeLanguageModel("questions", answers=answer)


def _reworded(question: str) -> str:
    wrong = ["I do not know.", question, f"Please tell me in 2099: {question}"]
    return dict(enumerate(wrong)).get(_chance(question), f"Please tell me: {question}")


def _chance(question: str) -> int:
    return sum(map(ord, question)) % 9
