"""What a model is asked for an answer where many tables are alike, against one call a table.

    python -m pneuma_bench.experiments.answers.calls [--config FILE] --home HOME \
        --queries C.jsonl [--every 1]

C.jsonl is of `pneuma-bench independent`; the lake of
`pneuma_bench.experiments.answers.like_schemas` is made for this. Without --model, in the place of a
model stands one that knows the right statement: it says yes to a table that has all columns of the
query, and writes that. So calls and tokens are those of a model that makes no mistake, and cells
are lost by the choice of tables and columns alone. With --model, it is the one of the deployment's
section `answers`. Compared are:

    as it is     sets of tables as they rank, columns left out, like tables asked about once
    one by one   the same, each table for itself and with all of its columns
    each table   each of the first ten tables by itself, all of its columns, whatever the others
                 said, and nothing written a second time (Octopus, section 7.3: the peer's calls)
"""

import argparse
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from sqlglot import exp, parse_one

from pneuma_assets import open_workspace
from pneuma_assets.core.answers.answer import Ways
from pneuma_assets.core.answers.results import CellAnswer
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter
from pneuma_assets.core.models.base import Generation
from pneuma_assets.core.service.workspace import Workspace
from pneuma_bench.discovery.cells_found import (
    Ask,
    ask_all,
    asked_of_each_table,
    count_cells,
)
from pneuma_bench.discovery.records import DiscoveryQuestion, read_discovery

K = 10
_TABLE = re.compile(r'^CREATE TABLE ("(?:[^"]|"")+"|\w+) \(\n(.*?)^\);', re.DOTALL | re.MULTILINE)
_COLUMN = re.compile(r'^  ("(?:[^"]|"")+"|\w+) ', re.MULTILINE)
_QUESTION = re.compile(r"^Question: (.*)$", re.MULTILINE)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--queries", type=Path, required=True)
    parser.add_argument("--every", type=int, default=1, help="each so many-th question")
    parser.add_argument("--model", action="store_true", help="ask the deployment's model")
    options = parser.parse_args()
    asked = list(islice(read_discovery(options.queries), 0, None, options.every))
    with open_workspace(options.config, options.home) as workspace:
        if not options.model:
            workspace._session.opened["answers_model"] = Knowing(asked)
        print(f"{len(asked)} questions; {'':6}calls   tokens  seconds   cells P     R     F1")
        costs = {way: report(way, ask, asked) for way, ask in ways(workspace).items()}
    for way in ("one by one", "each table"):
        calls, tokens = (
            theirs / ours for theirs, ours in zip(costs[way], costs["as it is"], strict=True)
        )
        print(f"{way}: {calls:.1f} times the calls, {tokens:.1f} times the tokens")


def ways(workspace: Workspace) -> dict[str, Ask]:
    whole = Ways(pruned=False, clustered=False, tries=K)
    return {
        "as it is": lambda question: workspace.answer(question, k=K, model=True),
        "one by one": lambda question: answer(workspace, question, K, whole),
        "each table": asked_of_each_table(Whole(workspace, replace(whole, repaired=False)), K),
    }


def answer(
    workspace: Workspace, question: str, k: int, chosen: Ways, where: IndexFilter = NO_FILTER
) -> CellAnswer:
    return workspace._answering.answer(question, k, True, where, chosen)


class Whole:
    """A desk that answers in these ways."""

    def __init__(self, workspace: Workspace, chosen: Ways) -> None:
        self._workspace, self._ways = workspace, chosen
        self.ask_many = workspace.ask_many

    def answer(
        self,
        question: str,
        *,
        k: int | None = None,
        model: bool | None = None,  # noqa: ARG002 (it is always asked)
        where: IndexFilter = NO_FILTER,
    ) -> CellAnswer:
        """Answer, all columns shown."""
        return answer(self._workspace, question, k or K, self._ways, where)


def report(way: str, ask: Ask, asked: Sequence[DiscoveryQuestion]) -> tuple[float, float]:
    found = count_cells(ask_all(ask, asked))
    calls, tokens = found.usage["calls"], found.usage["read"] + found.usage["written"]
    cells = "  ".join(f"{found.cells.values[name]:.3f}" for name in ("precision", "recall", "F1"))
    print(f"{way:20}  {calls:6.2f}  {tokens:7.0f}  {found.seconds:6.2f}   {cells}  "
          f"{dict(found.outcomes)}", flush=True)  # fmt: skip
    return calls, tokens


class Knowing:
    """In the place of a language model: knows the right statement of each question."""

    name = "one that knows"

    def __init__(self, asked: Sequence[DiscoveryQuestion]) -> None:
        self._sql = {one.question: str(one.more["made"]["sql"]) for one in asked}

    def yes_probability(self, prompts: Sequence[str]) -> list[float | None]:
        """Return 1 for a prompt that shows a table with all columns of the query."""
        return [float(self._statement(prompt) is not None) for prompt in prompts]

    def generate(
        self,
        prompts: Sequence[str],
        max_new_tokens: int,  # noqa: ARG002 (it writes what it knows)
        stop: Sequence[str] = (),  # noqa: ARG002
    ) -> Iterator[Generation]:
        """Yield the right statement about the first table that has its columns."""
        for place, prompt in enumerate(prompts):
            yield Generation(place, self._statement(prompt) or "None.")

    def close(self) -> None:
        """Do nothing."""

    def _statement(self, prompt: str) -> str | None:
        (question,) = _QUESTION.findall(prompt)
        query = parse_one(self._sql[question], dialect="duckdb")
        wanted = {column.name.casefold() for column in query.find_all(exp.Column)}
        for table, columns in _TABLE.findall(prompt):
            shown = {name.strip('"').casefold() for name in _COLUMN.findall(columns)}
            if wanted <= shown:
                return str(query.from_(table, dialect="duckdb").sql("duckdb"))
        return None


if __name__ == "__main__":
    main()
