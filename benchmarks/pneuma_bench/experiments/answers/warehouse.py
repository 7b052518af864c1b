"""How many questions of a warehouse get the right rows, and what each part of answering is worth.

    python -m pneuma_bench.experiments.answers.warehouse --config FILE --home HOME \
        --questions FILE --database postgresql://... [--every 3] [--ways all,no-judge,whole,...] \
        [--out FILE]

The deployment is of PostgreSQL with the seven schemas of the warehouse, and its section `answers`
names the model. A question counts as answered rightly if its first answer has the rows of one of
the question's right statements: as many rows, and for each column of that statement a column of
the same values in the same rows, numbers to two places; other columns beside them do not matter.
Questions that nothing answers should be refused. `--every 3` takes each third question. A way that
leaves a part out asks only those questions anew for which that part did something; with `--out`,
what an earlier call found stays. With `--small-letters` those questions alone that say a value of
their right statement are asked, all in small letters, as people type: what the correction of values
is for.
"""

import argparse
import json
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from statistics import mean, median
from typing import Any

import psycopg
import sqlglot
from sqlglot import exp

from pneuma_assets import Workspace, open_workspace
from pneuma_assets.core.answers.answer import Ways
from pneuma_assets.core.answers.prune import clusters, sets_to_ask
from pneuma_assets.core.answers.results import CellAnswer, Outcome
from pneuma_assets.core.index.base import NO_FILTER
from pneuma_assets.core.service.answer import SETS, _search

WAYS: Mapping[str, Ways] = {
    "all": Ways(),
    "no judge": Ways(judged=False),
    "all columns": Ways(pruned=False),
    "no clusters": Ways(clustered=False),
    "no correction": Ways(corrected=False),
    "no repair": Ways(repaired=False),
    "neither judge nor repair": Ways(judged=False, repaired=False),
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
    parser.add_argument("--small-letters", action="store_true")
    parser.add_argument("--out", type=Path, help="what became of each question, a line each")
    options = parser.parse_args()
    every = questions(options.questions)
    if options.small_letters:
        every = (replace(one, text=one.text.lower()) for one in every if says_value(one))
    asked = list(islice(every, 0, None, options.every))
    lines: list[dict[str, Any]] = []
    if options.out and options.out.exists():
        lines = [json.loads(line) for line in options.out.read_text().splitlines()]
    known = {(line["way"], line["question"]): line for line in lines}
    with (
        open_workspace(options.config, options.home) as workspace,
        psycopg.connect(options.database, autocommit=True) as connection,
    ):
        for way in options.ways.split(","):
            ways, told = WAYS[way], []
            for one in asked:
                found = known.get((way, one.text)) or same_as(way, known.get(("all", one.text)))
                if found is not None:
                    told.append(found)
                    continue
                began = time.perf_counter()
                answer = workspace._session.answering.answer(
                    one.text, options.k, True, NO_FILTER, ways
                )
                seconds = time.perf_counter() - began
                line = {"way": way, **judged(one, answer, connection, seconds)}
                if way == "all":
                    line["pruned"] = is_pruned(workspace, one.text)
                known[way, one.text] = line
                told.append(line)
                print(json.dumps(line)[:600], flush=True)
                if options.out:
                    lines.append(line)
                    options.out.write_text("".join(json.dumps(line) + "\n" for line in lines))
            report(way, told)


def questions(path: Path) -> Iterable[Question]:
    for line in path.read_text("utf-8").splitlines():
        one = json.loads(line)
        tables = tuple(table.replace(".", "/") for table in one["tables"])
        yield Question(
            one["question"], one["schema"], tables, tuple(one["gold"] or ()), bool(one["tables"])
        )


def says_value(one: Question) -> bool:
    """Tell whether a question says a text that its right statement looks up."""
    texts = (
        str(literal.this).strip("%")
        for sql in one.gold
        for literal in sqlglot.parse_one(sql, dialect="postgres").find_all(exp.Literal)
        if literal.is_string
    )
    return any(
        re.search(rf"\b{re.escape(text)}\b", one.text, re.IGNORECASE) for text in texts if text
    )


def same_as(way: str, whole: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the answer of all parts, where it is that without one; None where it may not be.

    A model that is asked the same says the same, and it is slow.
    """
    if whole is None or way == "all":
        return None
    problems = whole["problems"]
    matters = {
        "no judge": any("thinks it does not answer" in one for one in problems),
        "no repair": bool(whole["repaired"] or problems),
        "no correction": bool(whole["corrections"] or problems),
        "all columns": whole.get("pruned", False),
    }
    return None if matters.get(way, whole["calls"]) else whole


def is_pruned(workspace: Workspace, question: str) -> bool:
    """Tell whether a model is not shown every column of the tables that it may be asked about."""
    answering, ways = workspace._session.answering, Ways()
    most = SETS
    searched = workspace._session.engine.ask(lambda e: _search(e, question, most, NO_FILTER))
    sets = answering._sets(sets_to_ask(searched.groups, most), searched)
    asked = clusters(question, [(one, "postgres") for one in sets], pruned=True, clustered=True)
    return any(one.pruned for one in asked[: ways.tries])


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
    if len(gold) != len(mine):
        return False
    if not gold:
        return True
    theirs = [[cell(row[i]) for row in gold] for i in range(len(gold[0]))]
    ours = [[cell(row[i]) for row in mine] for i in range(len(mine[0]))]
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
