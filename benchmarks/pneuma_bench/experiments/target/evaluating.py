"""Runs in the environment of the package `target_benchmark` 0.1.3, and prints what it computes.

Its argument is a file of JSON: `name`, `folder` (with `corpus` and `queries`), `k`, and `client`,
`command` and `options` of the retriever. The last line it prints is JSON: the package's results. It
reads nothing from a network.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"

from target_benchmark.dataset_loaders.LoadersDataModels import HFDatasetConfigDataModel
from target_benchmark.evaluators import TARGET
from target_benchmark.generators import AbsGenerator
from target_benchmark.retrievers import AbsCustomEmbeddingRetriever
from target_benchmark.tasks import TableRetrievalTask

SPLIT = "validation"
BATCH = 100
"""As many questions as `run` asks at once: what is encoded together is rounded together."""


class Unasked(AbsGenerator):
    """Answers nothing: retrieval alone is measured."""

    def generate(self, table_str: str, query: str) -> dict[str, str]:  # noqa: ARG002
        """Refuse."""
        raise RuntimeError(f"retrieval asks no generator; it was asked: {query}")


def task_of(name: str, folder: Path) -> TableRetrievalTask:
    """Return the package's retrieval task over local files."""
    config = HFDatasetConfigDataModel(
        dataset_name=name,
        hf_corpus_dataset_path=str(folder / "corpus"),
        hf_queries_dataset_path=str(folder / "queries"),
        split=SPLIT,
        query_type="Other",
    )
    return TableRetrievalTask({name: config}, task_generator=Unasked())


def retriever_of(job: dict[str, Any]) -> AbsCustomEmbeddingRetriever:
    """Return this project's retriever, loaded from its file."""
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
        task = task_of(name, folder)
        found = TARGET(task, persist_log=False).run(
            retriever, split=SPLIT, batch_size=BATCH, top_k=k
        )
        results[k] = found[task.get_task_name()][name]
    retriever.close()
    print()
    print(json.dumps(results, default=str))


if __name__ == "__main__":
    main()
