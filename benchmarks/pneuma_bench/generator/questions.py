"""Questions that are made, attempts that came to nothing, and the files of both."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from pneuma_bench.files import whole, write_lines
from pneuma_bench.generator.queries import SqlQuery, Subject


@dataclass(frozen=True, slots=True)
class Spec:
    """How questions are made.

    Attributes:
        questions: How many.
        seed: Decides which.
        answers: Most tables that may answer one; None: a twentieth of all, but ten.
        described: Whether a template calls columns by what people wrote about them, not by names.
    """

    questions: int = 300
    seed: int = 0
    answers: int | None = None
    described: bool = False

    def most_answers(self, tables: int) -> int:
        """Return how many of so many tables may answer a question."""
        return max(10, tables // 20) if self.answers is None else self.answers


@dataclass(frozen=True, slots=True)
class Asked:
    """A question that passed every stage.

    Attributes:
        question: In plain language.
        tables: Ids of all tables that answer it; the one it was made for comes first.
        kind: `content` or `context`.
        made: How: its query as SQL, or its context, and what each stage found.
    """

    question: str
    tables: tuple[str, ...]
    kind: str
    made: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rejected:
    """An attempt that ended at a stage, and why; `made` as far as it came."""

    kind: str
    table: str
    stage: str
    reason: str
    made: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Draft:
    """A content question on its way through the stages; `tables` are spelled as in the set."""

    subject: Subject
    query: SqlQuery
    tables: tuple[str, ...]
    question: str
    made: Mapping[str, Any]

    def now(self, question: str, **found: object) -> "Draft":
        """Return it with other words, and what this stage found."""
        return replace(self, question=question, made={**self.made, **found})

    def rejected(self, stage: str, reason: str, **found: object) -> Rejected:
        """Return that it ended at a stage."""
        made = {**self.made, "question": self.question, **found}
        return Rejected("content", self.tables[0], stage, reason, made)

    def asked(self) -> Asked:
        """Return it as a question that passed every stage."""
        return Asked(self.question, self.tables, "content", self.made)


@dataclass(frozen=True, slots=True)
class Generated:
    """What a generator made of a set; `manifest` says of what and how."""

    asked: Sequence[Asked]
    rejected: Sequence[Rejected]
    manifest: Mapping[str, Any]


def together(first: Generated, *others: Generated) -> Generated:
    """Return the questions of both kinds; the manifest has that of context questions apart."""
    for one in others:
        manifest = {**first.manifest, "context": one.manifest}
        rejected = [*first.rejected, *one.rejected]
        first = Generated([*first.asked, *one.asked], rejected, manifest)
    return first


def stages(came: Mapping[str, int], rejected: Sequence[Rejected]) -> dict[str, dict[str, Any]]:
    """Return of each stage how many attempts came in, and how many it rejected for which reasons.

    Args:
        came: How many came to each.
        rejected: What ended at one of them; the most frequent reason comes first.
    """
    why = {stage: Counter(one.reason for one in rejected if one.stage == stage) for stage in came}
    return {
        stage: {
            "came": n,
            "rejected": why[stage].total(),
            "reasons": dict(why[stage].most_common()),
        }
        for stage, n in came.items()
    }


def write_generated(folder: Path, name: str, generated: Generated) -> list[Path]:
    """Write `NAME.queries.jsonl`, `NAME.rejected.jsonl` and `NAME.manifest.json`; return the paths.

    Nothing in them depends on when, where or how fast they were made: the same set, options and
    seed give the same bytes.

    Raises:
        BenchmarkError: A file cannot be written.
    """
    asked = [
        {
            "question": one.question,
            "tables": list(one.tables),
            "kind": one.kind,
            "id": f"{one.kind}-{number:04}",
            "made": dict(one.made),
        }
        for number, one in enumerate(generated.asked, start=1)
    ]
    kinds = ("queries.jsonl", "rejected.jsonl", "manifest.json")
    paths = [folder / f"{name}.{kind}" for kind in kinds]
    write_lines(paths[0], asked)
    write_lines(paths[1], map(asdict, generated.rejected))
    with whole(paths[2]) as stream:
        stream.write(json.dumps(dict(generated.manifest), indent=2).encode() + b"\n")
    return paths
