"""Runs in the environment of the package `target_benchmark` 0.1.3, and prints what it computes.

Its argument is a file of JSON: `name`, `folder` (with `corpus` and `queries`), `task`, `k`, and
either `client`, `command` and `options` (a retriever is asked), or `retrieved` and `answered`
(folders of results that are there already; nothing is asked). The last line it prints is JSON: the
package's results. It reads nothing from a network.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"

import sacrebleu
from datasets import Dataset
from target_benchmark.dataset_loaders import Text2SQLDatasetLoader
from target_benchmark.dataset_loaders.LoadersDataModels import (
    HFDatasetConfigDataModel,
    Text2SQLDatasetConfigDataModel,
)
from target_benchmark.evaluators import TARGET
from target_benchmark.generators import AbsGenerator
from target_benchmark.retrievers import AbsCustomEmbeddingRetriever
from target_benchmark.tasks import (
    FactVerificationTask,
    QuestionAnsweringTask,
    TableRetrievalTask,
    Text2SQLTask,
)
from target_benchmark.tasks.AbsTask import AbsTask

SPLIT = "validation"
BATCH = 100
"""As many questions as `run` asks at once: what is encoded together is rounded together."""


class Unasked(AbsGenerator):
    """Answers nothing: every answer is there already."""

    def generate(self, table_str: str, query: str) -> dict[str, str]:  # noqa: ARG002
        """Say what is missing."""
        raise RuntimeError(f"no answer is there to: {query}")


class Known(AbsCustomEmbeddingRetriever):
    """Retrieves nothing: every result is there already."""

    def embed_corpus(self, dataset_name: str, corpus: Any) -> None:
        """Pass all tables over."""

    def retrieve(self, query: str, *_: Any, **_more: Any) -> list[Any]:
        """Say what is missing."""
        raise RuntimeError(f"no tables are there for: {query}")


class Bleu:
    """What `evaluate.load("sacrebleu")` would fetch from a network: the same package's score."""

    def compute(self, predictions: list[str], references: list[str]) -> dict[str, float]:
        """Return the score, 0 to 100."""
        return {"score": sacrebleu.corpus_bleu(predictions, [references]).score}


class Databases(Text2SQLDatasetLoader):
    """Loads from a folder what the package loads from a hub."""

    def __init__(self, folder: Path, **options: Any) -> None:
        super().__init__(**options)
        self.folder = folder

    def _load_corpus(self) -> None:
        tables = records(self.folder / "corpus")
        keys = ("database_id", "table_id", "table", "context")
        self.corpus = {key: [table[key] for table in tables] for key in keys}
        self.path_to_database_dir = self.folder / "databases"

    def _load_queries(self) -> None:
        self.queries = Dataset.from_list(records(self.folder / "queries"))


def records(folder: Path) -> list[dict[str, Any]]:
    text = (folder / f"{SPLIT}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


def task_of(kind: str, name: str, folder: Path) -> tuple[AbsTask, Any]:
    """Return a task of the package over local files, and what loads its data if that is ours."""
    options = {
        "dataset_name": name,
        "hf_corpus_dataset_path": str(folder / "corpus"),
        "hf_queries_dataset_path": str(folder / "queries"),
        "split": SPLIT,
        "query_type": "Other",
    }
    if kind == "sql":
        config = Text2SQLDatasetConfigDataModel(**{**options, "query_type": "Text to SQL"})
        loader = Databases(folder, **config.model_dump())
        return Text2SQLTask({name: config}, task_generator=Unasked()), loader
    config = HFDatasetConfigDataModel(**options)
    if kind == "answers":
        task = QuestionAnsweringTask({name: config}, task_generator=Unasked(), metrics=[])
        task.evals = {"sacrebleu": Bleu()}
        return task, None
    made = {"retrieval": TableRetrievalTask, "facts": FactVerificationTask}[kind]
    return made({name: config}, task_generator=Unasked()), None


def retriever_of(job: dict[str, Any]) -> AbsCustomEmbeddingRetriever:
    if "client" not in job:
        return Known()
    spec = importlib.util.spec_from_file_location("pneuma_client", job["client"])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PneumaRetriever(
        job["command"], job["options"], ids_are_names=job.get("ids_are_names", False)
    )


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    name, folder = job["name"], Path(job["folder"])
    retriever = retriever_of(job)
    results = {}
    for k in job["k"]:
        task, loader = task_of(job["task"], name, folder)
        evaluator = TARGET(task, persist_log=False)
        if loader is not None:
            evaluator.dataloaders[name] = loader
        found = evaluator.run(
            retriever,
            split=SPLIT,
            batch_size=BATCH,
            top_k=k,
            retrieval_results_dir=job.get("retrieved"),
            downstream_results_dir=job.get("answered"),
            # Where it generates nothing, its task of SQL does not know the data set otherwise.
            dataset_name_for_dir=name,
        )
        results[k] = found[task.get_task_name()][name]
    if "client" in job:
        retriever.close()
    print()
    print(json.dumps(results, default=str))


if __name__ == "__main__":
    main()
