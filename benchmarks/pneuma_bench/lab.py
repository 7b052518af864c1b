"""Where sets are indexed apart from everything else, and asked; what is slow is kept."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from pneuma_assets.core.close_once import Closing
from pneuma_assets.core.config.models import EncoderConfig
from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.describe.kinds import makers
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.embedded.engine import EmbeddedIndex
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.models.reranker import Reranker
from pneuma_assets.core.progress import working
from pneuma_assets.core.search.judge import Judge
from pneuma_assets.core.search.names import Elsewhere
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.tables import Vector, content_hash
from pneuma_assets.core.text.analysis import analyzer_named
from pneuma_bench.files import KeptFile, kept_json, write_lines
from pneuma_bench.keys import code_key, tables_key
from pneuma_bench.relations import Relations, relate
from pneuma_bench.retrieval import Narrations, describe, facts_of, index_set, written_of
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import DEFAULT, Setting

_AT_ONCE = 512


class RememberingEncoder:
    """An encoder that embeds a text once; keeps `models.base.Encoder`.

    `embedded` counts the texts that the encoder itself was given.
    """

    def __init__(self, encoder: Encoder, kept: KeptFile) -> None:
        self._encoder, self._kept = encoder, kept
        self.name, self.dimension, self.window = encoder.name, encoder.dimension, encoder.window
        self.token_spans = encoder.token_spans
        self.embedded = 0

    def encode_documents(self, texts: Sequence[str]) -> Vector:
        """Embed texts of an index."""
        return self._encode("document", texts, self._encoder.encode_documents)

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Embed questions."""
        return self._encode("query", texts, self._encoder.encode_queries)

    def _encode(
        self, side: str, texts: Sequence[str], encode: Callable[[Sequence[str]], Vector]
    ) -> Vector:
        keys = {text: content_hash(self.name, side, text) for text in texts}
        size = self.dimension * np.dtype(np.float32).itemsize
        kept = self._kept.known([*keys.values()])
        known = {key: value for key, value in kept.items() if len(value) == size}
        new = [text for text, key in keys.items() if key not in known]
        for some in chunks(new, _AT_ONCE):
            made = [vector.tobytes() for vector in encode(some)]
            added = dict(zip([keys[text] for text in some], made, strict=True))
            self._kept.add(added)
            known |= added
            self.embedded += len(some)
        joined = b"".join(known[keys[text]] for text in texts)
        return np.frombuffer(joined, np.float32).reshape(len(texts), self.dimension)


_BUILT = "built.json"


@dataclass(frozen=True, slots=True)
class Built:
    """What an index of a set took.

    Attributes:
        seconds: To represent, pack, embed and index every table.
        embedded: Texts that the encoder was given; others had been embedded before.
        code: Which version of the program made it.
    """

    seconds: float
    embedded: int
    code: str


class Lab(Closing):
    """Builds the index of a setting, once for all settings that share it, and opens it for asking.

    Args:
        dataset: What is indexed.
        folder: Keeps embeddings, indexes and narrations for later measurements; None keeps nothing.
        environ: Holds the secrets that the deployment names.
        encoders: Opens an encoder.
        models: Opens the language model of a section, as `open_language_model`.
    """

    def __init__(
        self,
        dataset: RetrievalSet,
        folder: Path | None,
        environ: Mapping[str, str] = os.environ,
        encoders: Callable[[EncoderConfig], Encoder] = open_encoder,
        models: Callable[..., LanguageModel] = open_language_model,
    ) -> None:
        self.dataset, self._environ = dataset, environ
        self._encoders, self._models = encoders, models
        self._stack, self._open = ExitStack(), ExitStack()
        self._stack.callback(self._open.close)
        self.folder = folder or Path(
            self._stack.enter_context(tempfile.TemporaryDirectory(prefix="pneuma-bench-"))
        )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BenchmarkError(
                f"{self.folder} cannot be made ({error.strerror}); name another folder"
            ) from error
        self._vectors = self._stack.enter_context(KeptFile(self.folder / "vectors.db"))
        self._tables, self._written = tables_key(dataset), written_of(dataset)
        self._plain: dict[str, Encoder] = {}
        self._opened: tuple[str, SearchIndex, Built, Relations] | None = None

    def forgetful(self) -> "Lab":
        """Return a lab of the set that finds nothing kept, with the encoders that are loaded."""
        return Lab(self.dataset, None, self._environ, self._encoder, self._models)

    def encoder(self, setting: Setting = DEFAULT) -> Encoder:
        """Return a setting's encoder, opened and loaded once: no measurement pays for that."""
        return self._encoder(setting.deployment.encoder)

    def _encoder(self, config: EncoderConfig) -> Encoder:
        key = config.model_dump_json()
        if key not in self._plain:
            with working("loading the encoder"):
                self._plain[key] = self._encoders(config)
                self._plain[key].encode_queries(["ready"])
        return self._plain[key]

    def engine(self, setting: Setting = DEFAULT, *, remembering: bool = True) -> QueryEngine:
        """Return what answers questions over a setting's index, as the product does.

        Args:
            setting: The configuration.
            remembering: Whether questions that were asked before need no encoder.
        """
        deployment, encoder = setting.deployment, self.encoder(setting)
        return QueryEngine(
            self.index(setting)[0],
            RememberingEncoder(encoder, self._vectors) if remembering else encoder,
            self._judge(setting),
            QueryOptions.of(deployment.query),
            analyzer=analyzer_named(deployment.index.analyzer),
            elsewhere=Elsewhere(kinds=lambda: [*makers()]),
            joins_of=self.index(setting)[2].joins_of,
        )

    def index(self, setting: Setting = DEFAULT) -> tuple[SearchIndex, Built, Relations]:
        """Return a setting's index, open until another is asked for, its cost, its relations."""
        code = code_key()
        key = content_hash(setting.index_key, self._tables, code)[:16]
        if self._opened is None or self._opened[0] != key:
            self._open.close()
            folder = self.folder / f"index-{key}"
            built = _read_built(folder / _BUILT)
            if built is None:
                self._remove_stale(code)
                shutil.rmtree(folder, ignore_errors=True)
            encoder = self.encoder(setting)
            analyzer = analyzer_named(setting.deployment.index.analyzer)
            index = EmbeddedIndex(folder, encoder.name, encoder.dimension, analyzer=analyzer)
            self._open.callback(index.close)
            built = built or self._build(setting, index, folder, code)
            relations = relate(self.dataset, index, self._written)
            index.set_facts(relations.facts)
            self._opened = key, index, built, relations
        return self._opened[1:]

    def close(self) -> None:
        """Close what was opened; nothing stays of what is not to be kept."""
        self._stack.close()

    def _build(self, setting: Setting, index: SearchIndex, folder: Path, code: str) -> Built:
        encoder = RememberingEncoder(self.encoder(setting), self._vectors)
        said, written = self._narrations(setting), self._written
        narrations = {i: {**said.get(i, {}), **own} for i, own in written.items()}
        described = narrations if setting.deployment.narration.model else written
        began = time.perf_counter()
        sampling = setting.deployment.sampling
        index_set(index, encoder, self.dataset, sampling, narrations, described)
        built = Built(time.perf_counter() - began, encoder.embedded, code)
        write_lines(folder / _BUILT, [asdict(built)])
        return built

    def _narrations(self, setting: Setting) -> Narrations:
        config = setting.deployment.narration
        if config.model is None:
            return facts_of(self.dataset) if getattr(config, "facts", True) else {}
        model = self._models(config.model, self.folder / "models", self._environ)
        with closing(model):
            return describe(self.dataset, model, config, self.folder)

    def _judge(self, setting: Setting) -> Judge | None:
        config = setting.deployment.judge.model
        if config is None or setting.given.get("judge") is False:
            return None
        judge: Judge
        if setting.deployment.judge.reranker:
            judge = Reranker(config, self._environ)
        else:
            judge = self._models(config, self.folder / "models", self._environ)
        self._stack.callback(judge.close)
        return judge

    def _remove_stale(self, code: str) -> None:
        """Remove indexes that another version of the program made; their embeddings are kept."""
        for marker in self.folder.glob(f"index-*/{_BUILT}"):
            built = _read_built(marker)
            if built is None or built.code != code:
                shutil.rmtree(marker.parent, ignore_errors=True)


def _read_built(path: Path) -> Built | None:
    """Return what stands in a marker; None where an index was not finished."""
    kept = kept_json(path)
    return None if kept is None else Built(**kept)
