"""What a language model takes from questions, beside what is looked up without one (section 4.1).

    python -m pneuma_bench.experiments.entities.parsed --config FILE --home HOME \
        --asked questions.jsonl --model MODEL [--questions 60]

Asks an index that is there, of PostgreSQL with the schemas of `pneuma_bench.experiments.warehouse`
say; questions have `tables` (as `schema.table`) and `gold` (statements), and every third one is
taken. A column of the first gold statement is covered if a column of that name, of a table that is
needed, matches a mention; a table is covered if it has a column that matches, or a value. Beside it
stands which share of all columns of the needed tables match: what a prompt would show.
"""

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sqlglot import exp, parse_one

from pneuma_assets import open_workspace
from pneuma_assets.core.config.models import LanguageModelConfig
from pneuma_assets.core.entities.headers import HeaderMatcher
from pneuma_assets.core.entities.looking_up import held_values, looked_up_columns
from pneuma_assets.core.entities.matching import (
    MOST_NAMES,
    Match,
    headers_of,
    matched_columns,
    score_tables,
)
from pneuma_assets.core.entities.mentions import Mentions, word_mentions
from pneuma_assets.core.entities.parsing import parse
from pneuma_assets.core.measure.metrics import hit_at, recall_at
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.text.analysis import ENGLISH
from pneuma_bench.experiments.entities.__main__ import columns_of
from pneuma_bench.experiments.entities.counting import ranking, scaled

FUSED = 0.1
LEAST = (0.7, 0.5, 0.4, 0.3)
"""Cosines of a match by meaning; the first is the paper's."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--asked", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--questions", type=int, default=60)
    parser.add_argument("--said", type=Path, help="keeps what the model says, or has it already")
    parser.add_argument("--show", action="store_true", help="show what each way mentions")
    options = parser.parse_args()
    lines = [json.loads(line) for line in options.asked.read_text("utf-8").splitlines()]
    asked = [one for one in lines if one["tables"]][::3][: options.questions]
    questions = [one["question"] for one in asked]
    with open_workspace(options.config, options.home) as workspace:
        index, engine = workspace.search_index, workspace.query_engine()
        tables = columns_of(index)
        headers = headers_of(tables)
        kept = dict(zip(headers, workspace.encoder.encode_documents(headers), strict=True))
        matcher = HeaderMatcher(workspace.encoder, ENGLISH, lambda _: kept)

        def looked_up(question: str) -> Mentions:
            columns = looked_up_columns(matcher, question, tables)
            return Mentions(tuple(columns), tuple(held_values(index, question)))

        ways: dict[str, Sequence[Mentions]] = {
            "nothing": [Mentions() for _ in questions],
            "looked up": [looked_up(question) for question in questions],
            "all runs of words": [
                Mentions(word_mentions(q), tuple(held_values(index, q))) for q in questions
            ],
        }
        if options.model:
            ways["model"] = by_model(options, questions, looked_up)
            both = zip(ways["model"], ways["looked up"], strict=True)
            ways["model and looked up"] = [
                Mentions(
                    tuple(dict.fromkeys((*one.columns, *other.columns))),
                    tuple(dict.fromkeys((*one.values, *other.values))),
                )
                for one, other in both
            ]
        answers = engine.ask_many(questions, k=100)
        named = {table.split("/", 1)[1]: table for table in tables}
        for least in LEAST:
            print(f"\ncosine of {least} or more")
            print("way                  columns covered  columns shown  tables covered   "
                  "R@1 alone  R@10   fused R@1  recall@10")  # fmt: skip
            for way, mentions in ways.items():
                rows = []
                for one, said, answer in zip(asked, mentions, answers, strict=True):
                    found = matcher.among(MOST_NAMES, least).matches(said.columns, tables)
                    held = index.holding(list(said.values)) if said.values else {}
                    needed = [named[table.replace(".", "/")] for table in one["tables"]]
                    default = scaled({result.table_id: result.score for result in answer})
                    rows.append(counted(found, held, tables, one["gold"][0], needed, default))
                means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
                print(f"{way:20} " + "  ".join(f"{value:13.3f}" for value in means), flush=True)
        if options.show:
            for place, question in enumerate(questions):
                print(
                    question, *(f"  {way}: {some[place]}" for way, some in ways.items()), sep="\n"
                )


def by_model(
    options: argparse.Namespace, questions: Sequence[str], looked_up: Callable[[str], Mentions]
) -> list[Mentions]:
    if options.said and options.said.exists():
        kept = json.loads(options.said.read_text("utf-8"))
        return [Mentions(tuple(columns), tuple(values)) for columns, values in kept]
    config = LanguageModelConfig(model=options.model)
    model = open_language_model(config, options.home / "models", {})
    began = time.perf_counter(), time.process_time()
    parsed = parse(model, questions, looked_up)
    took = time.perf_counter() - began[0], time.process_time() - began[1]
    model.close()
    clock, processor = (seconds / len(parsed) for seconds in took)
    print(f"{options.model}: {clock:.2f} s by the clock and {processor:.2f} s of processor a "
          "question; looked up instead:", flush=True)  # fmt: skip
    for question, one in zip(questions, parsed, strict=True):
        if not one.by_model:
            print(f"  {question}: {one.problem}")
    if options.said:
        said = [(one.mentions.columns, one.mentions.values) for one in parsed]
        options.said.write_text(json.dumps(said), "utf-8")
    return [one.mentions for one in parsed]


def counted(
    found: Sequence[Mapping[str, Match]],
    held: Mapping[str, Sequence[str]],
    tables: Mapping[str, Sequence[str]],
    gold: str,
    needed: Sequence[str],
    default: Mapping[str, float],
) -> list[float]:
    named = {one.name.casefold() for one in parse_one(gold, read="postgres").find_all(exp.Column)}
    of_needed = {table: tables[table] for table in needed}
    there = {name.casefold() for columns in of_needed.values() for name in columns}
    wanted = named & there
    matched = matched_columns(found, of_needed)
    got = {name.casefold() for columns in matched.values() for name in columns}
    scores = score_tables(found, tables, held)
    entities = {table: one.total for table, one in scores.items()}
    alone = ranking(entities)
    of_entities = scaled(entities)
    fused = {
        table: (1 - FUSED) * default.get(table, 0.0) + FUSED * of_entities.get(table, 0.0)
        for table in {*default, *of_entities}
    }
    right = set(needed)
    return [
        len(wanted & got) / len(wanted) if wanted else 1.0,
        sum(map(len, matched.values())) / sum(map(len, of_needed.values())),
        len(right & scores.keys()) / len(right),
        hit_at(1, alone, right),
        hit_at(10, alone, right),
        hit_at(1, ranking(fused), right),
        recall_at(10, ranking(fused), right),
    ]


if __name__ == "__main__":
    main()
