"""What an index knows of its tables: the words and cells that a question about one is made of.

A question is kept where one table alone has all that it needs. So as to be sure of that, others are
looked at generously: words of any origin, and cells of different rows, are enough.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pneuma_assets.core.describe.texts import spelt_out
from pneuma_assets.core.grouping import chunks
from pneuma_assets.core.index.base import SearchIndex
from pneuma_assets.core.store import Store
from pneuma_assets.core.tables import DocumentKind
from pneuma_assets.core.terms.fields import name_parts
from pneuma_assets.core.terms.split_names import in_words
from pneuma_assets.core.text.safe import one_line

AT_ONCE = 64
"""Tables that are held in memory at a time."""
READ = 20_000
"""Characters of what people wrote about a table."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Known:
    """What the index and the state know of a table; hidden columns are left out of all of it.

    `names` are those of its source, its schema or folders, and its own, `spelled` the words that
    these stand for. `texts` is what people wrote about it, `described` what is said of its columns,
    by name, and `sampled` what was written of its sampled rows.
    """

    table_id: str
    names: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[str | None]] = ()
    cells: Sequence[str] = ()
    texts: Sequence[str] = ()
    spelled: str = ""
    described: Mapping[str, str] = field(default_factory=dict)
    sampled: Sequence[str] = ()

    @cached_property
    def name_words(self) -> frozenset[str]:
        """Words of its names, and those they stand for."""
        return words_in(" ".join([*(in_words([name]) for name in self.names), self.spelled]))

    @cached_property
    def words(self) -> frozenset[str]:
        """Words of its names, of its columns, and of what people wrote about it."""
        called = (f"{in_plain_words(one)} {in_words([one])}" for one in self.columns)
        said = words_in(" ".join([*called, *self.texts]))
        return said | self.name_words | parts_of(self.columns)

    def has(self, needs: Collection[str]) -> bool:
        """Tell whether all of these, folded, are words of it or whole cells."""
        left = {*needs} - self.words
        if left:
            left -= {folded(cell) for row in self.rows for cell in row if cell}
        return not (left and left - {*map(folded, self.cells)})


def known_tables(store: Store, index: SearchIndex, table_ids: Sequence[str]) -> Iterator[Known]:
    """Yield what is known of tables, of those that are indexed as they were last read."""
    for some in chunks(list(table_ids), AT_ONCE):
        evidence = index.evidence(some)
        texts = store.documents.of_kind(DocumentKind.CONTEXT, some)
        for table in store.tables.profiles(some):
            said = evidence.get(table.table_id)
            if said is None or len(said.columns) != len(table.columns):
                continue
            seen = [at for at, column in enumerate(table.columns) if not column.hidden]
            yield Known(
                table.table_id,
                said.names,
                [table.columns[at].name for at in seen],
                [[row[at] for at in seen] for row in said.rows],
                said.cells,
                _beginning(texts.get(table.table_id, ())),
                said.spelled_names,
            )


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


def _beginning(texts: Sequence[str]) -> list[str]:
    kept, room = [], READ
    for text in texts:
        kept.append(text[:room])
        room -= len(text)
        if room <= 0:
            break
    return kept
