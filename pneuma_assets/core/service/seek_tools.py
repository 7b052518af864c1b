"""What a conversation may read and do, for one person, under the rights that they have now."""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from pneuma_assets.core.access_names import Asker
from pneuma_assets.core.answers.results import AnswerColumn, AnswerTable
from pneuma_assets.core.config.load import LoadedDeployment
from pneuma_assets.core.errors import (
    ConfigError,
    ModelError,
    PneumaError,
    SearchIndexError,
    SecretMissingError,
    SourceError,
    StateError,
    TableReadError,
)
from pneuma_assets.core.index.base import IndexFilter
from pneuma_assets.core.seek.conversation import Conversation, Kind, making
from pneuma_assets.core.seek.materialize import all_rows, materialize, run_queries
from pneuma_assets.core.seek.prompts import Shown
from pneuma_assets.core.seek.results import BOUNDS, Finding, Made, QueryResult
from pneuma_assets.core.seek.retrieve import (
    MOST_FOUND,
    MOST_OF_PAGE,
    Document,
    alias,
    fetch_page,
    search_knowledge,
    search_web,
)
from pneuma_assets.core.seek.showing import ROWS, shortened, shown_table
from pneuma_assets.core.seek.skeptic.before_making import check
from pneuma_assets.core.seek.sources import Room, members_of, readable
from pneuma_assets.core.seek.state import Source, State
from pneuma_assets.core.seek.untrusted import outside
from pneuma_assets.core.service.answer_sources import AnswerSources
from pneuma_assets.core.service.seek_files import OwnTable
from pneuma_assets.core.service.snippets import read_by_duckdb
from pneuma_assets.core.service.visible_tables import check_among, seen_tables
from pneuma_assets.core.service.visible_tables import readable as readable_statements
from pneuma_assets.core.store.knowledge import Statement
from pneuma_assets.core.tables import Table, TableRef, Vector, source_of
from pneuma_assets.core.text.holding import without

if TYPE_CHECKING:
    from pneuma_assets.core.search.query import QueryEngine
    from pneuma_assets.core.service.session import QuerySession
    from pneuma_assets.core.store import Store

T = TypeVar("T")

logger = logging.getLogger(__name__)

_OF_THE_SERVER = (
    *(ModelError, SearchIndexError, SecretMissingError),
    *(SourceError, StateError, TableReadError),
)
_FEW, _MORE, _MANY = 3, 5, 20
"""Values of a column that are shown: of a table that was found, of a source, of one looked at."""
_SURELY, _MAY = 3, 0.2
"""Tables of a search that are shown whole at least, and the share of the confidence of the best
from which on others are."""
_TEXT, _MEMBERS, _UNASKED = 400, 30, 5
"""Characters of what a table is about, members of a family, and statements shown unasked."""
_KEPT_BYTES = 256 << 20
_SHOWN_DOCUMENTS = 20


@dataclass
class MadeTables:
    """Tables that were made, kept in memory for the next query; for any number of threads."""

    _kept: "OrderedDict[Any, Sequence[Made]]" = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def find(self, key: Any) -> Sequence[Made] | None:
        """Return what is kept under a key."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: Any, made: Sequence[Made]) -> None:
        """Keep tables, and let go of those that were not used for longest."""
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > 1 and sum(map(_size, self._kept.values())) > _KEPT_BYTES:
                self._kept.popitem(last=False)


def _size(made: Sequence[Made]) -> int:
    return sum(one.rows.nbytes for one in made)


@dataclass
class PersonsTables:
    """The tables of a state as far as a person may read them (`Relations`).

    `own_file` returns a person's own file, packed; None where there is none of its name.
    """

    session: "QuerySession"
    store: "Store"
    asker: Asker
    conversation_id: str
    own_file: "Callable[[str], bytes | None]"
    _known: dict[str, AnswerTable] = field(default_factory=dict)
    _own: dict[str, OwnTable] = field(default_factory=dict)

    @property
    def sources(self) -> AnswerSources:
        """The deployment's sources."""
        return self.session.answering.sources

    @cached_property
    def seen(self) -> set[str]:
        """The tables that they may see."""
        return seen_tables(self.store, self.asker.readers)

    @cached_property
    def families(self) -> Mapping[str, tuple[str, ...]]:
        """Of each table that is in a family the members that they may see, itself included."""
        facts = self.store.access.of_tables()
        named = {i: one.family for i, one in facts.items() if one.family and i in self.seen}
        members: dict[str, list[str]] = {}
        for table_id in sorted(named):
            members.setdefault(named[table_id], []).append(table_id)
        return {i: tuple(members[name]) for i, name in named.items() if len(members[name]) > 1}

    def columns(self, source: Source) -> Sequence[AnswerColumn]:
        """Return the columns that they may read."""
        if source.file:
            return self._file(source.file).columns
        return self.sources.columns(self.table(source.table_ids[0]))

    def rows(self, source: Source, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
        """Yield the rows."""
        if source.file:
            yield from self._file(source.file).rows.select(list(columns)).to_batches()
            return
        table = self.table(source.table_ids[0])
        with self.guarded(table.table_id):
            for batch in self.sources.batches(table):
                yield batch.select([one for one in columns if one in batch.schema.names])

    def first_rows(self, source: Source) -> Sequence[Mapping[str, Any]]:
        """Return some rows of a person's own file."""
        found: Sequence[Mapping[str, Any]] = self._file(source.file).rows.slice(0, 5).to_pylist()
        return found

    def unread(self, source: Source) -> Sequence[str]:
        """Return of which lines rows are missing."""
        if source.file:
            return self._file(source.file).unread(source.file)
        return self.table(source.table_ids[0]).unread

    @contextmanager
    def guarded(self, what: str) -> Iterator[None]:
        """Tell why something cannot be used to who may see all; it may name files and hosts."""
        try:
            yield
        except _OF_THE_SERVER as error:
            if self.asker.readers is not None:
                logger.warning("%s", error)
                error.args = (f"{what} cannot be used now; tell who operates this server",)
            raise

    def asked(self, ask: "Callable[[QueryEngine], T]") -> T:
        """Return what the search index answers."""
        with self.guarded("the search index"):
            return self.session.engine.ask(ask)

    def table(self, table_id: str) -> AnswerTable:
        """Return a table; raises `ConfigError`, for a hidden one as for one that there is not."""
        check_among(table_id, self.seen)
        self.know([table_id])
        if table_id not in self._known:
            raise ConfigError(f"{table_id} cannot be read yet; index it first")
        return self._known[table_id]

    def know(self, table_ids: Iterable[str]) -> Mapping[str, AnswerTable]:
        """Read what is known of those of some tables that they may see; returns all known ones."""
        news = [one for one in table_ids if one in self.seen and one not in self._known]
        if news:
            evidence = self.asked(lambda engine: engine.evidence(news))
            self._known |= self.sources.tables(evidence)
        return self._known

    def packed_file(self, name: str) -> bytes:
        """Return a person's own file, packed; raises `ConfigError` where it is not there."""
        data = self.own_file(name)
        if data is None:
            raise ConfigError(f"there is no file {name!r} here; add it again")
        return data

    def _file(self, name: str) -> OwnTable:
        if name not in self._own:
            self._own[name] = OwnTable.unpacked(self.packed_file(name))
        return self._own[name]


@dataclass
class SeekTools:
    """`core.seek.conductor.Tools` over a deployment."""

    loaded: LoadedDeployment
    environ: Mapping[str, str]
    tables: PersonsTables
    kept: MadeTables

    def shown(self, conversation: Conversation) -> Shown:
        """Return what may be shown of what was found and of the state's sources."""
        found = alias(conversation.found)
        latest = sorted(found, key=lambda name: found[name]["at"], reverse=True)[:_SHOWN_DOCUMENTS]
        tables = {one: str(found[one]["id"]) for one in latest if found[one]["kind"] == "table"}
        sources = conversation.state.sources
        used = [i for one in sources for i in one.table_ids]
        known = self.tables.know([*tables.values(), *used])
        said = {one.knowledge_id: one for one in self._statements()}
        about = self._about([i for i in tables.values() if i in known])
        told = {}
        for name, one in found.items():
            if name in latest and (some := self._told(one, known, said, about)) is not None:
                told[name] = some
        unasked = self._unasked(conversation, said, {*tables.values(), *used})
        told = {name: one for name, one in told.items() if tables.get(name) not in used}
        now, whole = _of_turn(conversation, {name: found[name] for name in told if name in found})
        told = {
            name: one
            if name in whole or name not in tables
            else shortened(one, only_named=bool(sources) and name not in now)
            for name, one in told.items()
        }
        shown = {one.name: self._source(one) for one in sources}
        names = {i: one.name for one in sources for i in one.table_ids}
        joins = self._joins(names | {i: name for name, i in tables.items() if name in whole})
        return Shown({**told, **unasked}, shown, self._shows_values, joins, [*latest, *unasked])

    def _unasked(
        self, conversation: Conversation, said: Mapping[str, Statement], tables: Collection[str]
    ) -> dict[str, Any]:
        """Return what people said of tables that are there, nearest to the person's words first."""
        known = {one["id"] for one in conversation.found}
        of_these = [
            one
            for one in said.values()
            if one.knowledge_id not in known and not set(one.tables).isdisjoint(tables)
        ]
        words = " ".join(str(one.data["text"]) for one in conversation.of(Kind.PERSON))[-_TEXT:]
        analyzer = self.tables.asked(lambda engine: engine.analyzer) if of_these else None
        near = search_knowledge(words, of_these, analyzer) if analyzer else []
        ranked = [*(said[one.id] for one in near), *of_these]
        first = list(dict.fromkeys(one.knowledge_id for one in ranked))[:_UNASKED]
        return {f"k{i[:6]}": {"said before": outside(said[i].text, 500)} for i in first}

    @property
    def _shows_values(self) -> bool:
        model = self.loaded.deployment.seek.model
        return model is not None and model.shows_values

    def _about(self, table_ids: Sequence[str]) -> Mapping[str, str]:
        """Return what people, documents or a model say of tables as a whole."""
        store = self.tables.store
        said = {i: one.text for i, one in store.narrations.summaries(table_ids).items()}
        for i, some in store.documents.beginnings(table_ids).items():
            said |= {i: some[0].text} if some else {}
        profiles = {one.table_id: one for one in store.tables.profiles(table_ids)}
        said |= {i: one.comment for i, one in profiles.items() if one.comment}
        return {i: without(profiles[i].hidden_names, one) for i, one in said.items()}

    def _told(
        self,
        found: Mapping[str, Any],
        known: Mapping[str, AnswerTable],
        said: Mapping[str, Statement],
        about: Mapping[str, str],
    ) -> Mapping[str, Any] | None:
        """Return what a prompt says of a document; None where it is not there any more."""
        if found["kind"] == "web":
            title = outside(found.get("title", ""), 200)
            text = outside(found.get("text", ""), MOST_OF_PAGE)
            return {"web": outside(found["id"], 200), "title": title, "text": text}
        if found["kind"] == "knowledge":
            one = said.get(found["id"])
            return None if one is None else {"said before": outside(one.text, 500)}
        table = known.get(found["id"])
        if table is None:
            return None
        told: dict[str, Any] = {"table": outside(table.table_id, 200), "rows": table.rows}
        if members := found.get("tables"):
            told |= {"family": outside(found.get("title", ""), 200), "members": len(members)}
        if (sure := found.get("confidence")) is not None:
            told["confidence"] = round(sure, 2)
        if table.unread:
            told["not read"] = [outside(one, 500) for one in table.unread]
        if self._shows_values:
            texts = {"about": about.get(found["id"], ""), "passage": found.get("passage", "")}
            told |= {name: outside(text, _TEXT) for name, text in texts.items() if text}
        return {**told, **self._columns(table, table.columns, _FEW)}

    def _columns(
        self, table: AnswerTable, columns: Sequence[AnswerColumn], examples: int, rows: int = ROWS
    ) -> dict[str, Any]:
        """Return columns of a table as a prompt shows them, and some of its rows."""
        names = table.evidence.columns
        return shown_table(
            columns,
            values=self._shows_values,
            examples=examples,
            frequent=table.frequent,
            profiles=self.tables.store.statistics.column_profiles(table.table_id),
            rows=(dict(zip(names, row, strict=False)) for row in table.evidence.rows[:rows]),
        )

    def _source(self, source: Source) -> dict[str, Any]:
        """Return what a prompt says of a source; of one that cannot be read why not."""
        try:
            columns = readable(source, self.tables, BOUNDS, Room(0)).columns
            if source.file:
                return shown_table(
                    columns, values=self._shows_values, rows=self.tables.first_rows(source)
                )
            first = self.tables.table(source.table_ids[0])
            if len(source.table_ids) == 1:
                return self._columns(first, columns, _MORE)
            members = [*members_of(source)]
            labels = [outside(one, 60) for one in members[:_MEMBERS]]
            told = {"family of": len(members), "members": labels}
            return told | self._columns(first, columns, _MORE, rows=0)
        except PneumaError:  # Whoever needs it is told; a prompt goes on with the others.
            return {"columns": [], "note": "it cannot be read now"}

    def search(
        self, where: str, query: str, conversation: Conversation
    ) -> tuple[str, Sequence[Document]]:
        """Retrieve documents; returns what is to be known of how, and them."""
        if where == "tables":
            away = list[str]()
            readers = IndexFilter(readers=self.tables.asker.readers)
            found = self.tables.asked(
                lambda e: (
                    e.search(
                        query,
                        k=MOST_FOUND,
                        where=readers,
                        missing=lambda part, _: away.append(part),
                    ).results
                )
            )
            families, ids = self.tables.families, [one.table_id for one in found]
            profiles = self.tables.store.tables.profiles(ids)
            hidden = {one.table_id: one.hidden_names for one in profiles}
            told = f", without the {' and the '.join(away)}" if away else ""
            return told, [
                Document(
                    "table",
                    one.table_id,
                    one.family.name if one.family else "",
                    tables=families.get(one.table_id, ()),
                    confidence=one.confidence,
                    passage=without(hidden.get(one.table_id, ()), one.text),
                )
                for one in found
            ]
        analyzer = self.tables.asked(lambda engine: engine.analyzer)
        if where == "knowledge":
            statements = self._statements()
            try:
                return "", search_knowledge(query, statements, analyzer, self._vectors)
            except ModelError:
                return ", by words alone", search_knowledge(query, statements, analyzer)
        config = self.loaded.deployment.seek
        token = self.environ.get(config.web_key_env) if config.web_key_env else None
        said = [str(one.data["text"]) for one in conversation.of(Kind.PERSON)]
        with self.tables.guarded("the web"):
            asked, pages = search_web(query, config.web, token, said, analyzer)
        return f" for: {asked}", pages

    def fetch(self, page: Mapping[str, Any]) -> Document:
        """Return the text of a page of the web that was found."""
        with self.tables.guarded("the page"):
            return fetch_page(page)

    def _vectors(self, texts: Sequence[str]) -> Vector:
        """Return embeddings of a query and of statements, which are kept beside those of names."""
        encoder, headers = self.tables.session.engine.current().encoder, self.tables.store.headers
        query, *others = texts
        known = headers.of(encoder.name, others)
        if news := [one for one in dict.fromkeys(others) if one not in known]:
            made = dict(zip(news, encoder.encode_documents(news), strict=True))
            headers.keep(encoder.name, made)
            known |= made
        return np.stack([encoder.encode_queries([query])[0], *(known[one] for one in others)])

    def _statements(self) -> Sequence[Statement]:
        """Return what the person may read of what people shared."""
        store, asker = self.tables.store, self.tables.asker
        return readable_statements(store, store.knowledge.all(), asker.readers, asker.name)

    def look(self, table_id: str) -> Mapping[str, Any]:
        """Return the columns of a table, with more values of each."""
        table = self.tables.table(table_id)
        return self._columns(table, table.columns, _MANY, 2 * ROWS)

    @property
    def relations(self) -> PersonsTables:
        """The tables that exist, as far as the person may read them."""
        return self.tables

    def check(self, state: State, *, counts: bool = True) -> Sequence[Finding]:
        """Return what rules find before anything is made; those that count read rows."""
        return check(state, self.tables, counts=counts)

    def make(self, state: State, *, fresh: bool = False) -> Sequence[Made]:
        """Make the target tables, or return them where nothing they are made of is another."""
        versions = tuple((i, ref.version) for i, ref in self._refs(state).items())
        files = sorted({one.file for one in state.sources if one.file})
        brought = tuple((one, sha256(self.tables.packed_file(one)).digest()) for one in files)
        key = (self.tables.conversation_id, making(state), self.tables.asker.readers, versions,
               brought)  # fmt: skip
        made = None if fresh else self.kept.find(key)
        if made is None:
            made = tuple(materialize(state, self.tables))
            self.kept.keep(key, made)
        return made

    def run(self, state: State) -> Sequence[QueryResult]:
        """Run the queries over target tables, which are made where they are not there."""
        most = self.loaded.deployment.seek.rows
        return list(run_queries(state, self._rows(state), most_rows=most))

    def rows(self, state: State, what: str, name: str) -> pa.Table:
        """Return all rows of one of the `tables`, or of the `results` of queries, by its name."""
        made = self._rows(state)
        queries = {one.name: one.sql for one in state.queries}
        return made[name] if what == "tables" else all_rows(queries[name], made)

    def _rows(self, state: State) -> Mapping[str, pa.Table]:
        return {one.table: one.rows for one in self.make(state)}

    def _joins(self, names: Mapping[str, str]) -> Sequence[str]:
        """Return by which columns tables can be joined, which are called by these names.

        Joins between the first ones come first.
        """
        seen = names.keys() & self.tables.seen
        place = {table_id: at for at, table_id in enumerate(names)}
        found = self.tables.store.joins.of_tables(sorted(seen))
        known = [edge for edge in found if {edge.table, edge.other} <= seen]
        known.sort(key=lambda edge: max(place[edge.table], place[edge.other]))
        return [
            " AND ".join(
                f"{names[edge.table]}.{mine} = {names[edge.other]}.{theirs}"
                for mine, theirs in zip(edge.columns, edge.other_columns, strict=True)
            )
            for edge in known
        ]

    def places(self, state: State) -> Mapping[str, str]:
        """Return what a script selects from for each table and file of a state.

        Where files lie is told to who may see all; to others they lie as their ids say.
        """
        configs = {one.name: one for one in self.loaded.deployment.sources}
        found = {
            one.file: _selected(one.file, _FORMATS.get(ending, ending))
            for one in state.sources
            if one.file
            for ending in [one.file.rpartition(".")[2].lower()]
        }
        refs = self._refs(state)
        read = {one.table_id: one for one in self.tables.store.tables.profiles(refs)}
        for table_id, ref in refs.items():
            config = configs.get(source_of(table_id))
            place = ""
            if config is not None and self.tables.asker.readers is None:
                place = (
                    config.resolved(self.loaded.base)
                    .address_of(table_id, ref.location, ref.format)
                    .name
                )
            place = place or f"{table_id}.{ref.format}"
            found[table_id] = _selected(place, ref.format, read.get(table_id))
        return found

    def guarded(self) -> AbstractContextManager[None]:
        """Keep to who may see all why the model fails in a block."""
        return self.tables.guarded("it")

    def _refs(self, state: State) -> Mapping[str, TableRef]:
        """Return what there is of a state's tables, all of which who asks may see."""
        for one in state.table_ids:
            check_among(one, self.tables.seen)
        return self.tables.store.tables.refs(sorted(state.table_ids))


def _of_turn(
    conversation: Conversation, found: Mapping[str, Mapping[str, Any]]
) -> tuple[set[str], set[str]]:
    """Return what the searches of the turn found, and of that what may well answer."""
    since = conversation.turn[0].number if conversation.turn else 0
    of_search: dict[int, list[str]] = {}
    for name, one in sorted(found.items(), key=lambda pair: pair[1]["at"], reverse=True):
        if one["at"][0] > since:
            of_search.setdefault(one["at"][0], []).append(name)
    sure = {name: one.get("confidence") or 0.0 for name, one in found.items()}
    return {name for names in of_search.values() for name in names}, {
        name
        for names in of_search.values()
        for place, name in enumerate(names)
        if place < _SURELY or sure[name] >= _MAY * (sure[names[0]] or 1.0)
    }


_FORMATS = {"txt": "csv", "ndjson": "jsonl"}


def _selected(place: str, format_: str, table: Table | None = None) -> str:
    """Return what DuckDB selects from: a file, or a table of a database that is attached."""
    if (read := read_by_duckdb(place, format_, table)) is not None:
        return read
    parts = place.removesuffix(f".{format_}").split("/")[-2:]
    return ".".join('"{}"'.format(one.replace('"', '""')) for one in parts)


def revoked(conversation: Conversation, seen: Collection[str]) -> bool:
    """Tell whether a conversation speaks of tables that its author may not see now."""
    found = {str(one["id"]) for one in conversation.found if one["kind"] == "table"}
    return not (conversation.used | found) <= set(seen)
