"""This project's own search as a contestant: any setting of it, asked as the product asks."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from pneuma_assets.core.closing import Closing
from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.search.query import QueryEngine
from pneuma_bench.ablations.contestants import Prepared
from pneuma_bench.keys import INDEXING, code_key, tables_key
from pneuma_bench.lab import Lab
from pneuma_bench.retrieval import table_documents
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import Setting

ANSWERING = (
    *INDEXING,
    *(f"pneuma_assets.core.{one}" for one in ("access", "config", "copies", "search")),
    *("pneuma_bench.lab", "pneuma_bench.settings"),
    *("pneuma_bench.ablations.contestants", "pneuma_bench.ablations.ours"),
)
"""What decides which answers are given."""


class Labs(Closing):
    """A `Lab` a set, all with the same loaded encoders.

    Args:
        folder: Keeps embeddings, narrations and indexes.
        environ: Holds the secrets that the deployment names.
        encoders: Opens an encoder.
        models: Opens the language model of a section, as `open_language_model`.
    """

    def __init__(
        self,
        folder: Path,
        environ: Mapping[str, str],
        encoders: Callable[[EncoderConfig], Encoder] = open_encoder,
        models: Callable[..., LanguageModel] = open_language_model,
    ) -> None:
        self._folder, self._environ, self._models = folder, environ, models
        self._open = encoders
        self._encoders: dict[str, Encoder] = {}
        self._labs: dict[str, Lab] = {}
        self._stack = ExitStack()

    def of(self, dataset: RetrievalSet) -> Lab:
        """Return the set's lab, whose embeddings are kept."""
        key = tables_key(dataset)
        if key not in self._labs:
            self._labs[key] = self._stack.enter_context(self._new(dataset, self._folder))
        return self._labs[key]

    def fresh(self, dataset: RetrievalSet) -> Lab:
        """Return a lab that remembers nothing, to be closed by the caller: for measures of time."""
        return self._new(dataset, None)

    def encoder(self, config: EncoderConfig) -> Encoder:
        """Return an encoder, loaded once for all sets."""
        key = config.model_dump_json()
        if key not in self._encoders:
            self._encoders[key] = self._open(config)
        return self._encoders[key]

    def close(self) -> None:
        """Close every lab."""
        self._stack.close()

    def _new(self, dataset: RetrievalSet, folder: Path | None) -> Lab:
        return Lab(dataset, folder, self._environ, self.encoder, self._models)


class OurSearch(Closing):
    """A setting of this project's search; keeps `Contestant`.

    Args:
        name: What people call it.
        setting: The configuration.
        labs: Where it is indexed.
        fresh: Whether every text is embedded anew, so that the seconds are those of a first time.
    """

    def __init__(self, name: str, setting: Setting, labs: Labs, *, fresh: bool = False) -> None:
        self.name, self._setting, self._labs, self._fresh = name, setting, labs, fresh
        self._stack = ExitStack()
        self._plain: QueryEngine | None = None
        self._quick: QueryEngine | None = None
        self._options: dict[str, object] = {}

    @property
    def key(self) -> str:
        """Equal for settings that give the same answers, by the same code."""
        return f"ours {code_key(ANSWERING)} {self._setting.key} {self._fresh}"

    def prepare(self, dataset: RetrievalSet, folder: Path) -> Prepared:  # noqa: ARG002 (its lab has a folder)
        """Build the setting's index, or use one that is kept."""
        setting = self._setting
        fresh = self._stack.enter_context(self._labs.fresh(dataset)) if self._fresh else None
        lab = fresh or self._labs.of(dataset)
        lab.encoder(setting)
        index, built = lab.index(setting)
        self._stack.callback(index.close)
        self._options = setting.ask_options(index.kinds())
        self._options.pop("k", None)
        self._plain = lab.engine(setting, index, remembering=False)
        # The second engine would open the judge again; a judged question is not timed.
        judged = setting.deployment.judge.enabled or bool(setting.given.get("judge"))
        self._quick = self._plain if judged else lab.engine(setting, index, remembering=True)
        info = index.info()
        about = "" if self._fresh else "embeddings may have been kept"
        documents = count_documents(dataset, setting)
        return Prepared(built.seconds, info.size_bytes, documents, info.blocks, about)

    def answer(self, questions: Sequence[str], k: int) -> list[list[str]]:
        """Ask; of several questions, those that were embedded before are not embedded again."""
        engine = self._plain if len(questions) == 1 else self._quick
        if engine is None:
            raise BenchmarkError(f"{self.name} was asked before it had indexed a set")
        found = engine.ask_many(questions, k=k, **self._options)  # type: ignore[arg-type]
        return [[result.table_id for result in one] for one in found]

    def close(self) -> None:
        """Close the index."""
        self._stack.close()


def count_documents(dataset: RetrievalSet, setting: Setting) -> int:
    """Return how many texts stand for the tables before they are packed (figure 12).

    All columns of a table are one text here, described or not, so no description is needed.
    """
    sampling, kinds = setting.deployment.sampling, setting.given.get("kinds")
    return sum(
        1
        for table, rows in dataset.tables
        for one in table_documents(
            table,
            rows,
            sampling,
            contexts=dataset.contexts.get(table.table_id, ()),
            names=dataset.names.get(table.table_id, ()),
        )
        if kinds is None or one.kind in kinds
    )
