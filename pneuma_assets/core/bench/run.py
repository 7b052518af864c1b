"""One measurement: a set indexed as the product does it, asked, and counted."""

import tempfile
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from pneuma_assets.core.bench.retrieval import evaluate, index_set
from pneuma_assets.core.bench.sets import RetrievalSet
from pneuma_assets.core.config.deployment import Deployment
from pneuma_assets.core.index.registry import open_index
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.text.analysis import analyzer_named


def run(
    deployment: Deployment, dataset: RetrievalSet, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the figures of a set, indexed in a folder of its own and asked with these options.

    Args:
        deployment: Its encoder, sampling, analyzer and defaults of questions are used.
        dataset: Tables and questions.
        options: Of `QueryEngine.ask_many`; None leaves one as the deployment has it.
    """
    encoder = open_encoder(deployment.encoder)
    given = {name: value for name, value in options.items() if value is not None}
    with tempfile.TemporaryDirectory(prefix="pneuma-bench-") as folder:
        index = open_index(
            deployment.index, Path(folder), encoder.name, encoder.dimension, building=True
        )
        with closing(index):
            began = time.perf_counter()
            index_set(index, encoder, dataset, deployment.sampling)
            seconds = time.perf_counter() - began
            analyzer = analyzer_named(deployment.index.analyzer)
            engine = QueryEngine(index, encoder, None, deployment.query, analyzer=analyzer)
            figures = evaluate(engine, dataset, **given)
            info = index.info()
    return {
        **figures,
        "questions": len(dataset.questions),
        "tables": info.tables,
        "blocks": info.blocks,
        "index_bytes": info.size_bytes,
        "seconds_to_index": seconds,
    }
