"""Where sets are indexed apart from everything else, and asked; what is slow is kept."""

import json
import shutil
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from pneuma_assets.core.closing import Closing
from pneuma_assets.core.config.index import IndexConfig
from pneuma_assets.core.config.models import EncoderConfig, NarrationConfig
from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.describe.columns import fact_descriptions
from pneuma_assets.core.describe.kinds import makers
from pneuma_assets.core.describe.narrate import NarrationRequest, narrate_columns
from pneuma_assets.core.errors import BenchmarkError
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.index.registry import index_credentials, open_index, publish_index
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.models.encoder.encoder import open_encoder
from pneuma_assets.core.models.language.registry import open_language_model
from pneuma_assets.core.pipeline.describe import answer_key, prompt_context
from pneuma_assets.core.progress import working
from pneuma_assets.core.search.names import Elsewhere
from pneuma_assets.core.search.query import QueryEngine
from pneuma_assets.core.sources.base import Row
from pneuma_assets.core.sources.sampling import sample_positions
from pneuma_assets.core.tables import Table, Vector, content_hash
from pneuma_assets.core.terms.collect import ROWS_KEPT
from pneuma_assets.core.text.analysis import analyzer_named
from pneuma_bench.files import KeptFile, kept_json, write_lines
from pneuma_bench.keys import code_key, tables_key
from pneuma_bench.retrieval import index_set
from pneuma_bench.sets import RetrievalSet
from pneuma_bench.settings import Setting

_AT_ONCE = 512


class VectorFile(KeptFile):
    """Vectors by what they are of, in a file; what was added is there after a kill.

    Raises:
        BenchmarkError: The file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "CREATE TABLE IF NOT EXISTS vectors (key TEXT PRIMARY KEY, v BLOB)")

    def known(self, keys: Sequence[str]) -> dict[str, Vector]:
        """Return those vectors that are kept."""
        found: dict[str, Vector] = {}
        try:
            for some in chunks(keys, _AT_ONCE):
                marks = ",".join("?" * len(some))
                rows = self._file.execute(f"SELECT * FROM vectors WHERE key IN ({marks})", some)
                found |= {key: np.frombuffer(v, np.float32) for key, v in rows if not len(v) % 4}
        except sqlite3.Error as error:
            raise self._failed(error) from error
        return found

    def add(self, keys: Sequence[str], vectors: Vector) -> None:
        """Keep vectors."""
        rows = [(key, vector.tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        try:
            with self._file:
                self._file.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise self._failed(error) from error


class RememberingEncoder:
    """An encoder that embeds a text once; keeps `models.base.Encoder`.

    `embedded` counts the texts that the encoder itself was given.
    """

    def __init__(self, encoder: Encoder, kept: VectorFile) -> None:
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
        known = {key: vector for key, vector in kept.items() if vector.nbytes == size}
        new = [text for text, key in keys.items() if key not in known]
        for some in chunks(new, _AT_ONCE):
            vectors = encode(some)
            self._kept.add([keys[text] for text in some], vectors)
            known.update(zip([keys[text] for text in some], vectors, strict=True))
            self.embedded += len(some)
        if not texts:
            return np.empty((0, self.dimension), np.float32)
        return np.stack([known[keys[text]] for text in texts])


Narrations = Mapping[str, Mapping[int, str]]
"""What is said of columns, by table id and position."""


def describe(
    dataset: RetrievalSet, model: LanguageModel, config: NarrationConfig, folder: Path
) -> Narrations:
    """Return what the model says of every column, asked as indexing asks.

    Each is asked for once, and kept in `folder`.
    """
    key = answer_key(model, config.prompt)
    path = folder / f"narrations-{content_hash(key.model)}.jsonl"
    known = _read(path)
    subjects = {
        table.table_id: (content_hash(table.table_id) if key.of_table else "") + table.schema_hash
        for table, _ in dataset.tables
    }
    requests = {
        (subjects[table.table_id], request.position): request
        for table, rows in dataset.tables
        for request in _requests(table, rows, config)
        if request.position not in known[subjects[table.table_id]]
    }
    if requests:
        with path.open("a", encoding="utf-8") as stream:
            stream.write("\n")  # a line that a kill cut off is no part of the next
            for said in narrate_columns(model, [*requests.values()]):
                if said.problem is not None:
                    continue  # its name stands in, and it is asked for again the next time
                subject = subjects[said.table_id]
                known[subject][said.position] = said.text
                stream.write(json.dumps([subject, said.position, said.text]) + "\n")
                stream.flush()
    return {table_id: known[subject] for table_id, subject in subjects.items()}


def _requests(
    table: Table, rows: Sequence[Row], config: NarrationConfig
) -> Iterator[NarrationRequest]:
    ground = prompt_context(table, _seen(rows)) if config.prompt == "grounded" else None
    names = tuple(column.name for column in table.columns)
    for position in range(len(table.columns)):
        yield NarrationRequest(table.table_id, names, position, ground)


def facts_of(dataset: RetrievalSet) -> Narrations:
    """Return what names and values show of every column, as indexing has it without a model."""
    told: dict[str, dict[int, str]] = {}
    for table, rows in dataset.tables:
        seen = _seen(rows)
        facts = fact_descriptions(table, seen, all_rows=len(seen) == len(rows))
        told[table.table_id] = {position: one.text for position, one in facts.items()}
    return told


def _seen(rows: Sequence[Row]) -> Sequence[Row]:
    return [rows[position] for position in sample_positions(len(rows), ROWS_KEPT, 0)]


def _read(path: Path) -> dict[str, dict[int, str]]:
    """Return what was kept, by subject and position; a line cut off by a kill is passed over."""
    known: dict[str, dict[int, str]] = defaultdict(dict)
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                subject, position, text = json.loads(line)
            except ValueError:
                continue
            known[subject][position] = text
    return known


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
        environ: Mapping[str, str],
        encoders: Callable[[EncoderConfig], Encoder] = open_encoder,
        models: Callable[..., LanguageModel] = open_language_model,
    ) -> None:
        self.dataset = dataset
        self._environ = environ
        self._encoders, self._models = encoders, models
        self._stack = ExitStack()
        self._kept = folder is not None
        self.folder = folder or Path(
            self._stack.enter_context(tempfile.TemporaryDirectory(prefix="pneuma-bench-"))
        )
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BenchmarkError(
                f"{self.folder} cannot be made ({error.strerror}); name another folder"
            ) from error
        self._vectors = self._stack.enter_context(VectorFile(self.folder / "vectors.db"))
        self._tables = tables_key(dataset)
        self._plain: dict[str, Encoder] = {}

    def encoder(self, setting: Setting) -> Encoder:
        """Return a setting's encoder, opened and loaded once: no measurement pays for that."""
        config = setting.deployment.encoder
        key = config.model_dump_json()
        if key not in self._plain:
            with working("loading the encoder"):
                self._plain[key] = self._encoders(config)
                self._plain[key].encode_queries(["ready"])
        return self._plain[key]

    def engine(self, setting: Setting, index: SearchIndex, *, remembering: bool) -> QueryEngine:
        """Return what answers questions over an index, as the product does.

        Args:
            setting: The configuration.
            index: From `index`.
            remembering: Whether questions that were asked before need no encoder.
        """
        deployment, encoder = setting.deployment, self.encoder(setting)
        return QueryEngine(
            index,
            RememberingEncoder(encoder, self._vectors) if remembering else encoder,
            self._judge(setting),
            QueryOptions.of(deployment.query),
            analyzer=analyzer_named(deployment.index.analyzer),
            elsewhere=Elsewhere(kinds=lambda: [*makers()]),
        )

    def index(self, setting: Setting) -> tuple[SearchIndex, Built]:
        """Return the index of a setting, to be closed by the caller, and what it took to build."""
        code = code_key()
        key = content_hash(setting.index_key, self._tables, code)[:16]
        folder = self.folder / f"index-{key}"
        config = _apart(setting.deployment.index, key)
        built = _read_built(folder / _BUILT)
        if built is None:
            self._remove_stale(code)
            built = self._build(setting, config, folder, code)
        encoder = self.encoder(setting)
        signed_in = index_credentials(config, self._environ)
        return open_index(config, folder, encoder.name, encoder.dimension, signed_in), built

    def close(self) -> None:
        """Close what was opened; nothing stays of what is not to be kept."""
        self._stack.close()

    def _build(self, setting: Setting, config: IndexConfig, folder: Path, code: str) -> Built:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        encoder = RememberingEncoder(self.encoder(setting), self._vectors)
        signed_in = index_credentials(config, self._environ)
        narrations = self._narrations(setting)
        with closing(
            open_index(config, folder, encoder.name, encoder.dimension, signed_in, building=True)
        ) as index:
            began = time.perf_counter()
            index_set(index, encoder, self.dataset, setting.deployment.sampling, narrations)
            seconds = time.perf_counter() - began
            tables = len(index.list_tables())
            if not self._kept:
                self._stack.callback(self._empty, setting, config, folder)
        publish_index(config, folder, encoder.name, encoder.dimension, tables, signed_in)
        built = Built(seconds, encoder.embedded, code)
        write_lines(folder / _BUILT, [asdict(built)])
        return built

    def _empty(self, setting: Setting, config: IndexConfig, folder: Path) -> None:
        """Leave nothing of a set in an index that is elsewhere than in the folder."""
        if config == setting.deployment.index:
            return
        encoder = self.encoder(setting)
        signed_in = index_credentials(config, self._environ)
        with closing(
            open_index(config, folder, encoder.name, encoder.dimension, signed_in)
        ) as index:
            index.delete_tables([*index.list_tables()])

    def _narrations(self, setting: Setting) -> Narrations:
        config = setting.deployment.narration
        if config.model is None:
            return facts_of(self.dataset) if getattr(config, "facts", True) else {}
        model = self._models(config.model, self.folder / "models", self._environ)
        with closing(model):
            return describe(self.dataset, model, config, self.folder)

    def _judge(self, setting: Setting) -> LanguageModel | None:
        config = setting.deployment.judge.model
        if config is None or setting.given.get("judge") is False:
            return None
        judge = self._models(config, self.folder / "models", self._environ)
        self._stack.callback(judge.close)
        return judge

    def _remove_stale(self, code: str) -> None:
        """Remove indexes that another version of the program made; their embeddings are kept."""
        for marker in self.folder.glob(f"index-*/{_BUILT}"):
            built = _read_built(marker)
            if built is None or built.code != code:
                shutil.rmtree(marker.parent, ignore_errors=True)


def _apart(config: IndexConfig, key: str) -> IndexConfig:
    """Return the configuration of an index beside the deployment's, where engines share a place.

    One in files is apart by its folder; a server's has a name among its settings.
    """
    settings = config.settings
    name = getattr(settings, "name", None)
    if not isinstance(name, str):
        return config
    apart = settings.model_copy(update={"name": f"{name}-bench-{key}"})
    return config.model_copy(update={config.engine: apart})


def _read_built(path: Path) -> Built | None:
    """Return what stands in a marker; None where an index was not finished."""
    kept = kept_json(path)
    return None if kept is None else Built(**kept)
