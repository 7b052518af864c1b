"""Questions that were made, attempts that came to nothing, and the files of both."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pneuma_bench.files import whole


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
class Generated:
    """What a generator made of a set; `manifest` says of what and how."""

    asked: Sequence[Asked]
    rejected: Sequence[Rejected]
    manifest: Mapping[str, Any]


def together(first: Generated, second: Generated | None = None) -> Generated:
    """Return the questions of both kinds; the manifest has that of context questions apart."""
    if second is None:
        return first
    return Generated(
        [*first.asked, *second.asked],
        [*first.rejected, *second.rejected],
        {**first.manifest, "context": second.manifest},
    )


def reasons(rejected: Sequence[Rejected]) -> dict[str, int]:
    """Return how many attempts ended for each reason, the most frequent first."""
    return dict(Counter(one.reason for one in rejected).most_common())


def stages(
    names: Sequence[str], asked: int, rejected: Sequence[Rejected]
) -> dict[str, dict[str, Any]]:
    """Return of each stage how many attempts came in, and how many it rejected for which reasons.

    Args:
        names: Of all stages, in the order in which attempts go through them.
        asked: How many attempts passed all of them.
        rejected: The others.
    """
    at: dict[str, list[Rejected]] = {name: [] for name in names}
    for one in rejected:
        at[one.stage].append(one)
    found, came = {}, asked
    for name in reversed(names):
        came += len(at[name])
        found[name] = {"came": came, "rejected": len(at[name]), "reasons": reasons(at[name])}
    return {name: found[name] for name in names}


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
    texts = {
        "queries.jsonl": _lines(asked),
        "rejected.jsonl": _lines([asdict(one) for one in generated.rejected]),
        "manifest.json": json.dumps(dict(generated.manifest), indent=2, ensure_ascii=False) + "\n",
    }
    paths = []
    for suffix, text in texts.items():
        paths.append(folder / f"{name}.{suffix}")
        with whole(paths[-1]) as stream:
            stream.write(text.encode("utf-8", "replace"))
    return paths


def _lines(records: Sequence[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)
