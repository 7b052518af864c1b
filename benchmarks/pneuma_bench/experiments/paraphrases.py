"""Which questions are taken for ones that ask the same, and which wrongly.

    python -m pneuma_bench.experiments.paraphrases --data FOLDER

All questions of a set are confirmed, and then asked in other words: by hand (`paraphrases.tsv`,
with the number of the question in its file; written before anything was measured), and by rules.
Each is also asked as it is with all others confirmed, which shows what is taken for another
question, and with one number, name or direction changed, which makes it another.
"""

import argparse
import csv
import json
import random
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from pneuma_assets.core.answer_feedback import SavedAnswer
from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.search.paraphrases import KnownAnswers
from pneuma_assets.core.tables import Vector

SETS = {
    "warehouse": "warehouse/questions.jsonl",
    "beaver": "sets/beaver_dw.queries.jsonl",
    "spider": "sets/spider_schemas_dev.queries.jsonl",
    "fetaqa": "retrieval/fetaqa_dev.queries.jsonl",
    "spider2": "sets/spider2_dev.queries.jsonl",
}
BEGINNINGS = [
    (r"^(what|which) (is|are|was|were) ", ["Show ", "Find ", "Give me ", ""]),
    (r"^how many ", ["Number of ", "Count of "]),
    (
        r"^(show|list|find out|find|give me|return) ",
        ["What are ", "Please show ", "Get ", ""],
    ),
    (r"^who ", ["Which person "]),
    (r"^for each ", ["For every ", "Per "]),
]
SYNONYMS = [
    ("number of", "count of"), ("total", "overall"), ("highest", "largest"), ("names", "name"),
    ("most", "largest number of"), ("sorted by", "ordered by"), ("each", "every"), ("all ", ""),
    ("lowest", "smallest"), ("customers", "clients"), ("students", "pupils"), ("average", "mean"),
]  # fmt: skip
OPPOSITES = [
    ("highest", "lowest"), ("most", "fewest"), ("largest", "smallest"), ("longest", "shortest"),
    ("average", "total"), ("before", "after"), ("maximum", "minimum"), ("top", "bottom"),
    ("with", "without"), ("first", "last"), ("ascending", "descending"), ("more", "fewer"),
    ("oldest", "newest"), ("earliest", "latest"),
]  # fmt: skip
NAMES = ["Paris", "Boston", "Smith", "Acme", "Kenya", "Laura"]


def reworded(question: str, chance: random.Random) -> str:
    """Return a question with another beginning and some synonyms."""
    for pattern, others in BEGINNINGS:
        if re.match(pattern, question, re.IGNORECASE):
            question = re.sub(pattern, chance.choice(others), question, count=1, flags=re.I)
            break
    for word, other in chance.sample(SYNONYMS, 5):
        question = question.replace(word, other, 1)
    if chance.random() < 0.5:
        question = question.rstrip("?. ")
    return question.lower() if chance.random() < 0.3 else question


def changed(question: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield other questions that differ in one thing, each with what that is."""
    for one, other in (pair for two in OPPOSITES for pair in (two, two[::-1])):
        if found := re.search(rf"\b{one}\b", question, re.IGNORECASE):
            yield "direction", question[: found.start()] + other + question[found.end() :]
    if found := re.search(r"\d+", question):
        number = str(int(found.group()) + 1)
        yield "number", question[: found.start()] + number + question[found.end() :]
    if names := [*re.finditer(r"(?<=[a-z,] )[A-Z][a-z]{2,}", question)]:
        found = chance.choice(names)
        yield "name", question[: found.start()] + chance.choice(NAMES) + question[found.end() :]


def main() -> None:
    """Print the shares of each set."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, required=True)
    data = parser.parse_args().data
    encoder, chance = open_encoder(EncoderConfig()), random.Random(1)
    with Path(__file__).with_suffix(".tsv").open(encoding="utf-8", newline="") as file:
        by_hand = [*csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    for name, path in SETS.items():
        lines = (data / path).read_text(encoding="utf-8").splitlines()
        asked = [json.loads(line) for line in lines]
        texts = [one["question"] for one in asked]
        vectors = dict(zip(texts, encoder.encode_queries(texts), strict=True))
        answers = [
            SavedAnswer(str(at), text, ("",), "", True, "", "") for at, text in enumerate(texts)
        ]
        known = KnownAnswers.of(answers, vectors)

        hand = [(int(one["line"]), one["reworded"]) for one in by_hand if one["set"] == name]
        rule = [(at, reworded(text, chance)) for at, text in enumerate(texts[:300])]
        rule = [(at, text) for at, text in rule if text != texts[at]]
        other = [(at, *one) for at, text in enumerate(texts) for one in changed(text, chance)]
        new = [text for *_, text in (*hand, *rule, *other)]
        vectors |= zip(new, encoder.encode_queries(new), strict=True)

        def found(
            text: str,
            known: KnownAnswers = known,
            vectors: Mapping[str, Vector] = vectors,
        ) -> list[int]:
            matches = known.matching(text, vectors[text])
            return [int(match.answer.answer_id) for match in matches]

        others = [next((o for o in found(t) if o != at), None) for at, t in enumerate(texts)]
        same = [o for at, o in enumerate(others) if o is not None
                and set(asked[o]["tables"]) == set(asked[at]["tables"])]  # fmt: skip
        wrong = sum(o is not None for o in others) - len(same)
        print(f"{name}: {len(texts)} questions")
        for what, some in (("by hand", hand), ("by rule", rule)):
            print(f"  {what}: {sum(found(t)[:1] == [at] for at, t in some)} of {len(some)}")
        print(f"  taken for another: {wrong / len(texts):.3f} of other tables, ", end="")
        print(f"{len(same) / len(texts):.3f} of the same")
        kinds: dict[str, list[bool]] = {}
        for at, kind, text in other:
            kinds.setdefault(kind, []).append(at in found(text))
        for kind, taken in sorted(kinds.items()):
            print(f"  with another {kind}: {sum(taken)} of {len(taken)}")


if __name__ == "__main__":
    main()
