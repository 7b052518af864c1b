"""How many questions of a warehouse get the right rows, and what each part of answering is worth.

    python -m pneuma_bench.experiments.answers --config FILE --home HOME \
        --questions FILE --database postgresql://... [--model NAME] [--every 3] \
        [--ways "all,no repair,..."] [--out FILE]

The deployment is of PostgreSQL with the seven schemas of the warehouse; the model is behind the
endpoint in PNEUMA_BENCH_ENDPOINT. A question counts as answered rightly if its first answer has the
rows of one of the question's right statements: as many rows, and for each column of that statement
a column of the same values in the same rows, numbers to two places; other columns beside them do
not matter. Questions that nothing answers should be refused. `--every 3` takes each third question.
With `--out`, what an earlier call found stays.
"""

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import mean, median
from typing import Any

import psycopg

from pneuma_assets import open_workspace
from pneuma_assets.core.answers.answer import Ways
from pneuma_assets.core.answers.results import CellAnswer, Outcome
from pneuma_assets.core.index.base import NO_FILTER
from pneuma_bench.experiments.support.models import add_models
from pneuma_bench.files import write_lines
from pneuma_bench.models import model_keys, with_sections

WAYS: Mapping[str, Ways] = {
    "all": Ways(),
    "no clusters": Ways(clustered=False),
    "no correction": Ways(corrected=False),
    "one repair": Ways(repairs=1),
    "no repair": Ways(repairs=0),
}


@dataclass(frozen=True)
class Question:
    """A question, the tables that it needs, and its right statements."""

    text: str
    schema: str
    tables: tuple[str, ...]
    gold: tuple[str, ...]
    answerable: bool


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--ways", default="all")
    parser.add_argument("--k", type=int)
    parser.add_argument("--out", type=Path, help="what became of each question, a line each")
    add_models(parser)
    options = parser.parse_args()
    config = with_sections(options.config, {"answers": {"model": model_keys(options.model)}})
    every = questions(options.questions)
    asked = list(islice(every, 0, None, options.every))
    known: dict[tuple[str, str], dict[str, Any]] = {}
    if options.out and options.out.exists():
        lines = map(json.loads, options.out.read_text().splitlines())
        known = {(line["way"], line["question"]): line for line in lines}
    with (
        open_workspace(config, options.home) as workspace,
        psycopg.connect(options.database, autocommit=True) as connection,
    ):
        answering = workspace._session.answering
        for way in options.ways.split(","):
            for one in asked:
                if (way, one.text) in known:
                    continue
                began = time.perf_counter()
                answer = answering.answer(one.text, options.k, True, NO_FILTER, WAYS[way])
                seconds = time.perf_counter() - began
                line = {"way": way, **judged(one, answer, connection, seconds)}
                known[way, one.text] = line
                print(json.dumps(line)[:600], flush=True)
                if options.out:
                    write_lines(options.out, known.values())
            report(way, [known[way, one.text] for one in asked])


def questions(path: Path) -> Iterable[Question]:
    for line in path.read_text("utf-8").splitlines():
        one = json.loads(line)
        tables = tuple(table.replace(".", "/") for table in one["tables"])
        yield Question(
            one["question"], one["schema"], tables, tuple(one["gold"] or ()), bool(one["tables"])
        )


def judged(
    one: Question, answer: CellAnswer, connection: "psycopg.Connection[Any]", seconds: float
) -> dict[str, Any]:
    first = answer.answers[0] if answer.answers else None
    right = first is not None and any(same(rows, first.rows) for rows in gold_rows(one, connection))
    asked = {table.split("/", 1)[1] for ids in answer.answers for table in ids.tables}
    return {
        "question": one.text,
        "answerable": one.answerable,
        "tables": len(one.tables),
        "outcome": answer.outcome,
        "right": right,
        "has_tables": set(one.tables) <= asked,
        "made_by": first.made_by if first else "",
        "sql": first.sql if first else "",
        "rows": [list(row) for row in first.rows[:3]] if first else [],
        "gold": one.gold[0] if one.gold else "",
        "corrections": [f"{c.said}->{c.stored}" for c in first.corrections] if first else [],
        "repaired": first.repaired if first else False,
        "unlikely": answer.unlikely,
        "readings": [one.means for one in answer.answers if one.means],
        "doubts": list(first.doubts) if first else [],
        "unread": list(first.unmatched) if first else [],
        "reason": answer.reason,
        "problems": [problem.cause[:200] for problem in answer.problems],
        "calls": answer.usage.calls,
        "read": answer.usage.read,
        "written": answer.usage.written,
        "seconds": round(seconds, 2),
    }


def gold_rows(one: Question, connection: "psycopg.Connection[Any]") -> Iterable[list[Any]]:
    for sql in one.gold:
        connection.execute(f'SET search_path TO "{one.schema}"')
        yield connection.execute(sql).fetchall()  # type: ignore[call-overload]


def same(gold: Sequence[Sequence[Any]], mine: Sequence[Sequence[Any]]) -> bool:
    """Tell whether each column of the gold rows is one of mine, row by row, in any order of rows.

    Columns are matched one by one, in any order; two equal columns may be the same one.
    """
    if not gold or len(gold) != len(mine):
        return len(gold) == len(mine)
    theirs, ours = ([[*map(cell, column)] for column in zip(*r, strict=True)] for r in (gold, mine))
    chosen: list[list[list[str]]] = [[]]
    for column in theirs:
        alike = [one for one in ours if Counter(one) == Counter(column)]
        chosen = [[*some, one] for some in chosen for one in alike][:200]
    wanted = Counter(zip(*theirs, strict=True))
    return any(Counter(zip(*some, strict=True)) == wanted for some in chosen if some)


def cell(value: Any) -> str:
    try:
        return str(round(float(value), 2) + 0.0)
    except (TypeError, ValueError):
        return str(value)


def report(way: str, told: Sequence[Mapping[str, Any]]) -> None:
    print(f"\n== {way}: {len(told)} questions")
    kinds = {
        "answerable": [one for one in told if one["answerable"]],
        "one table": [one for one in told if one["answerable"] and one["tables"] == 1],
        "several": [one for one in told if one["tables"] > 1],
        "unanswerable": [one for one in told if not one["answerable"]],
    }
    for kind, some in kinds.items():
        if not some:
            continue
        count = len(some)
        right = sum(one["right"] for one in some)
        outcomes = Counter(str(one["outcome"]) for one in some)
        answered = outcomes[Outcome.ANSWERED]
        print(
            f"  {kind:13} {count:4}  right {right / count:.3f}  of answered "
            f"{right / max(1, answered):.3f}  {dict(outcomes)}  "
            f"calls {mean(one['calls'] for one in some):.2f}  "
            f"tokens {mean(one['read'] + one['written'] for one in some):.0f}  "
            f"seconds {median(one['seconds'] for one in some):.1f}"
        )
        for unread in (False, True):
            these = [one for one in some if one["sql"] and bool(one["unread"]) == unread]
            what = "some words unread" if unread else "all words read"
            print(f"    {what}: {sum(one['right'] for one in these)} right of {len(these)} answers")


if __name__ == "__main__":
    main()
