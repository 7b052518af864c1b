"""What a table must have to answer a question, and what the tables of an index have.

A question is kept where one table alone has what it takes. So as to be sure of that, others are
looked at generously: two cells of different rows are enough, and words of different columns.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from pneuma_assets.core.evidence.fields import name_parts
from pneuma_assets.core.evidence.names import in_words
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.narration.facts import spelt_out
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import DocumentKind, Evidence, Table
from pneuma_assets.core.text.clean import one_line

AT_ONCE = 64
"""Tables that are held in memory at a time."""
READ = 20_000
"""Characters of what people wrote about a table."""

_WORD = re.compile(r"\w+")
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Traits:
    """Words and values, all folded: those that a question needs, or those that a table has.

    Attributes:
        names: Words of the table's names.
        columns: Whole names of columns.
        words: Words of the columns' names, and those they stand for.
        cells: Whole cells.
        texts: Words of what people wrote about the table.
    """

    names: frozenset[str] = _NOTHING
    columns: frozenset[str] = _NOTHING
    words: frozenset[str] = _NOTHING
    cells: frozenset[str] = _NOTHING
    texts: frozenset[str] = _NOTHING

    def among(self, there: "Traits") -> bool:
        """Tell whether a table with those has all of these."""
        return (
            self.columns <= there.columns
            and self.words <= there.words
            and self.cells <= there.cells
            and self.names <= there.names
            and self.texts <= there.texts
        )

    def to_dict(self) -> dict[str, list[str]]:
        """Return it for JSON; what is empty is left out."""
        return {name: sorted(said) for name, said in asdict(self).items() if said}

    @classmethod
    def of(cls, kept: Mapping[str, Iterable[str]]) -> "Traits":
        """Return what `to_dict` gave."""
        return cls(**{name: frozenset(said) for name, said in kept.items()})


@dataclass(frozen=True, slots=True)
class Known:
    """What the index and the state know of a table; hidden columns are left out of all of it.

    Attributes:
        table_id: The table.
        names: Of its source, its schema or folders, and its own.
        columns: Names, in order.
        rows: Rows of it, cells as text.
        cells: Other cells.
        texts: What people wrote about it.
        spelled: Words that its names stand for.
    """

    table_id: str
    names: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[str | None]] = ()
    cells: Sequence[str] = ()
    texts: Sequence[str] = ()
    spelled: str = ""

    def traits(self) -> Traits:
        """Return all that it has."""
        cells = (cell for row in self.rows for cell in row if cell)
        said = (in_words([name]) for name in self.names)
        called = " ".join(f"{in_plain_words(one)} {in_words([one])}" for one in self.columns)
        return Traits(
            words_in(" ".join([*said, self.spelled])),
            frozenset(map(folded, self.columns)),
            words_in(called) | parts_of(self.columns),
            frozenset(map(folded, cells)) | frozenset(map(folded, self.cells)),
            words_in(" ".join(self.texts)),
        )


def known_tables(store: Store, index: SearchIndex, table_ids: Sequence[str]) -> Iterator[Known]:
    """Yield what is known of tables, of those that are indexed as they were last read."""
    for some in chunks(list(table_ids), AT_ONCE):
        evidence = index.evidence(some)
        texts = store.documents.of_kind(DocumentKind.CONTEXT, some)
        for table in store.tables.profiles(some):
            said = evidence.get(table.table_id)
            if said is not None and len(said.columns) == len(table.columns):
                yield _known(table, said, texts.get(table.table_id, ()))


def folded(text: str) -> str:
    """Return a name or a cell as it is compared: in small letters, single blanks."""
    return " ".join(text.replace("_", " ").split()).casefold()


def in_plain_words(name: str) -> str:
    """Return what people would call a table or column; its name where that is no word."""
    return spelt_out(name)[0] or in_words([name]) or one_line(name)


def words_in(text: str) -> frozenset[str]:
    """Return the words of a text as they are compared."""
    return frozenset(_WORD.findall(text.casefold()))


def parts_of(names: Collection[str]) -> frozenset[str]:
    """Return the parts of names as they are compared."""
    return frozenset(part for name in names for part in name_parts(name))


def _known(table: Table, evidence: Evidence, texts: Sequence[str]) -> Known:
    seen = [at for at, column in enumerate(table.columns) if not column.hidden]
    rows = [[row[at] for at in seen] for row in evidence.rows]
    return Known(
        table.table_id,
        evidence.names,
        [table.columns[at].name for at in seen],
        rows,
        evidence.cells,
        _beginning(texts),
        evidence.spelled_names,
    )


def _beginning(texts: Sequence[str]) -> list[str]:
    kept, room = [], READ
    for text in texts:
        kept.append(text[:room])
        room -= len(text)
        if room <= 0:
            break
    return kept
