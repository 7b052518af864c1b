"""TARGET's tasks behind retrieval: statements verified and questions answered from found tables.

    python -m pneuma_bench.experiments.target_tasks FOLDER NAME --task facts|answers --keep KEPT \
        [--retriever ours] [--k 10] [--model NAME] [--questions 100]

FOLDER/NAME.tables.jsonl and .queries.jsonl are a set, whose `answer` is the label of a statement
(true or false) or the right answer of a question. The first k tables of a retriever are shown to
the model behind the endpoint in PNEUMA_BENCH_ENDPOINT, by the prompts of the paper's appendix B
with a form of the answer behind them; `--k 0` is its "No Context". Retrievers: ours, words
and vectors (the plain ones), summaries and mentions, which ask the same model.

Facts (TabFact): precision, recall and F1 of each label and their mean weighted by labels, which is
what the paper seems to print, and accuracy. Answers (FeTaQA): corpus SacreBLEU, where `sacrebleu`
is installed. Replies that are missing or cannot be read are counted apart and are in no figure.
"""

import argparse
import importlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from sklearn.metrics import precision_recall_fscore_support

from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.models.base import Conversation, LanguageModel
from pneuma_assets.core.models.language.forms import Answer
from pneuma_bench.contestants import (
    Contestant,
    OurSearch,
    WholeTableVectors,
    WholeTableWords,
    markdown,
)
from pneuma_bench.contestants_by_model import ParsedMentions, SummaryVectors
from pneuma_bench.experiments.support.models import add_models
from pneuma_bench.experiments.support.sets import UNNAMED
from pneuma_bench.files import KeptFile
from pneuma_bench.lab import Lab
from pneuma_bench.models import answers_of, open_model
from pneuma_bench.reading import question_records, read_files
from pneuma_bench.sets import RetrievalSet

LABELS = ("True", "False", "Not Enough Information")
_TOKENS, _SHOWN = 4_000, 8_000
"""Tokens of an answer, and characters of a table that is shown."""

_ANSWERS = """\
Use the provided table(s) to answer the question. Yield a concise answer to the question. If none \
of the tables provide relevant information, use your knowledge base to generate an answer - but \
only if you are confident in the answer's factuality. If the neither the tables nor your knowledge \
can be used to answer the question reliably, say that not enough information is provided.

Tables: {tables}
Question: {question}

Answer with one JSON object and nothing else: {{"answer": "..."}}"""

_FACTS = """\
Given the following evidence which may take the form of sentences or a data table, determine \
whether the evidence supports or refutes the following statement.

If none of the tables provide relevant information, refer to your knowledge base - but only if you \
are confident your answer's factuality. If the neither the evidence nor your knowledge can be used \
to verify the statement reliably, state that there is not enough information.

Assign the statement one of three labels: True, False, Not Enough Information. Do not include \
anything else in your answer.

Tables: {tables}
Statement: {question}

The label stands in one JSON object: {{"label": "True"}}"""

_NO_CONTEXT = (
    "Some or all tables are not available. Don't acknowledge the lack of information in your "
    "response. Please use your knowledge base and answer to the best of your ability, without "
    "producing false information."
)


class Verdict(BaseModel):
    """Whether a statement is so."""

    label: Literal["True", "False", "Not Enough Information"]


class FreeText(BaseModel):
    """The answer to a question."""

    answer: str


TASKS: Mapping[str, tuple[str, str, type[Verdict] | type[FreeText]]] = {
    "facts": (
        "You are an expert in evaluating statements on factuality given the provided tables.",
        _FACTS, Verdict,
    ),
    "answers": (
        "You are a data analyst who reads tables to answer questions.", _ANSWERS, FreeText,
    ),
}  # fmt: skip
"""By name the system prompt, the instruction and the form of an answer."""

RETRIEVERS: Mapping[str, Callable[[Lab, LanguageModel, KeptFile], Contestant]] = {
    "ours": lambda lab, *_: OurSearch(lab, Deployment(), {}),
    "words": lambda *_: WholeTableWords(),
    "vectors": lambda lab, *_: WholeTableVectors(lab.encoder()),
    "summaries": lambda lab, model, kept: SummaryVectors(lab.encoder(), model, kept),
    "mentions": lambda lab, model, kept: ParsedMentions(lab.encoder(), model, kept),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("name", help="of the set, such as tabfact_val")
    parser.add_argument("--task", choices=TASKS, required=True)
    parser.add_argument("--keep", type=Path, required=True, help="keeps indexes and replies")
    parser.add_argument("--retriever", choices=RETRIEVERS, default="ours")
    parser.add_argument("--k", type=int, default=10)
    add_models(parser)
    parser.add_argument("--questions", type=int, help="the first ones; all, if not given")
    given = parser.parse_args(arguments)
    files = [given.folder / f"{given.name}.{kind}.jsonl" for kind in ("tables", "queries")]
    gold = [one.get("answer") for _, one in question_records(files[1])][: given.questions]
    dataset = read_files(*files, hide_names=given.name in UNNAMED).first(len(gold))
    model = open_model(given.model)
    with Lab(dataset, given.keep) as lab, KeptFile(given.keep / "replies.db") as kept:
        shown: list[list[str]] = [[] for _ in gold]
        if given.k:
            retriever = RETRIEVERS[given.retriever](lab, model, kept)
            retriever.prepare(dataset)
            shown = retriever.answer(dataset.questions, given.k)
            told = sum(bool({*one} & {*r}) for one, r in zip(shown, dataset.relevant, strict=True))
            print(f"right table among {given.k}: {told} of {len(gold)}", end="")
            print(f"; {getattr(retriever, 'unanswered', 0)} prompts of it had no readable reply")
        prompts = [*prompts_of(given.task, dataset, shown)]
        said = answers_of(model, prompts, TASKS[given.task][2], _TOKENS, kept)
    model.close()
    report(given.task, said, gold)


def prompts_of(
    task: str, dataset: RetrievalSet, shown: Sequence[Sequence[str]]
) -> Iterator[Conversation]:
    """Yield what is asked of each question, with the tables that are shown for it."""
    system, instruction, _ = TASKS[task]
    known = {table.table_id: (table, rows) for table, rows in dataset.tables}
    for question, ids in zip(dataset.questions, shown, strict=True):
        texts = ["\n".join(markdown(dataset, *known[one]))[:_SHOWN] for one in ids]
        tables = "\n\n".join(texts) or _NO_CONTEXT
        asked = instruction.format(tables=tables, question=question)
        yield [{"role": "system", "content": system}, {"role": "user", "content": asked}]


def report(task: str, said: Sequence[Answer[Any]], gold: Sequence[object]) -> None:
    """Print figures over the replies that can be read, and how many cannot."""
    heard = [(one.value, right) for one, right in zip(said, gold, strict=True) if one.value]
    problems = [one for one in said if one.value is None]
    unreadable = sum(bool(one.said) for one in problems)
    print(
        f"{len(heard)} of {len(said)} replies counted; not counted: {unreadable} unreadable,",
        end=" ",
    )
    print(f"{len(problems) - unreadable} missing", *[one.problem for one in problems[:1]])
    if task == "facts":
        print(
            *facts_figures([v.label for v, _ in heard], [label_of(r) for _, r in heard]), sep="\n"
        )
    else:
        print(bleu([v.answer for v, _ in heard], [r for _, r in heard]))


def label_of(answer: object) -> str:
    """Return the label that a set gives; empty where it gives none."""
    text = str(answer).strip().casefold()
    return next((one for one in LABELS if one.casefold() == text), "")


def facts_figures(said: Sequence[str], gold: Sequence[str]) -> list[str]:
    """Return the figures of labels, a line each; without gold labels how often each is said."""
    counted = ", ".join(f"{count} {label}" for label, count in Counter(said).items())
    if not gold:
        return ["no figures: there is no reply"]
    if not all(gold):
        lacking = sum(not one for one in gold)
        return [f"no figures: {lacking} of {len(gold)} statements have no label; said: {counted}"]
    each = precision_recall_fscore_support(gold, said, labels=LABELS, zero_division=0)
    mean = precision_recall_fscore_support(
        gold, said, labels=LABELS, average="weighted", zero_division=0
    )
    rows = [*zip(LABELS, *each, strict=True), ("weighted", *mean[:3], len(gold))]
    lines = [f"{name}: P {p:.3f} R {r:.3f} F1 {f:.3f} of {n}" for name, p, r, f, n in rows]
    right = sum(a == b for a, b in zip(said, gold, strict=True))
    return [*lines, f"accuracy {right / len(gold):.3f}; said: {counted}"]


def bleu(said: Sequence[str], gold: Sequence[object]) -> str:
    """Return the corpus SacreBLEU of answers, or what it lacks."""
    if not gold or not all(isinstance(one, str) for one in gold):
        return "no figures: questions have no answer to compare with"
    try:
        sacrebleu = importlib.import_module("sacrebleu")
    except ImportError:
        return "no figures: install sacrebleu, by which the paper counts"
    return f"SacreBLEU {sacrebleu.corpus_bleu(list(said), [list(gold)]).score:.3f}"


if __name__ == "__main__":
    main()
