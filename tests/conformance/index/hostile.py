"""Conformance: whatever a cell, a column or a question holds, it is only text."""

from pneuma_assets.core.index.base import IndexFilter
from tests.conformance.index.support import Conformance, identical
from tests.support.index_blocks import replace_blocks

HOSTILE = {
    "quotes": "it's \"quoted\" `so` 'much' \\' \\\"",
    "sql": "'); DROP TABLE blocks; --",
    "query syntax": '+lake -river "unclosed AND (OR NOT) lake~2 field:* /re[gex/ ^3 [1 TO *] {!x}',
    "json": '{"query": {"match_all": {}}, "script": "ctx._source"}',
    "nul": "lake\x00river",
    "controls": "\x01\x02\x1b[31m\r\n\t\u2028\ufeff",
    "emoji": "\U0001f600 family \U0001f468\u200d\U0001f469\u200d\U0001f467 lake",
    "right to left": "\u202eevil\u202c \u0628\u062d\u064a\u0631\u0629 \u05d0\u05d2\u05dd",
    "combining": "e\u0301" + "\u0301" * 500,
    "ideographs": "\u6e56\u6cca\u306e\u6df1\u3055",
    "expanding": "\ufdfa" * 1000,
    "long word": "x" * 100_000,
    "many words": " ".join(f"w{n}" for n in range(20_000)),
    "lone surrogates": "lake \ud800 \udfff river",
    "blank": " \t\n",
    "empty": "",
    "placeholder": "? :name @p $1 %s {values} {0}",
}


class HostileConformance(Conformance):
    def test_hostile_text_round_trips_and_is_found(self, index):
        tables = {
            f"s/{name} {text[:200]}": self.embedded(f"s/{name} {text[:200]}", text, "innocent lake")
            for name, text in HOSTILE.items()
        }
        replace_blocks(index, tables)
        assert index.list_tables() == dict.fromkeys(tables, 2)
        for table_id, blocks in tables.items():
            assert identical(list(index.blocks([table_id])), blocks), table_id
            hits = index.search([self.meaning(blocks[0].block.text)], limit=5)[0].semantic
            assert hits[0].block == blocks[0].block
        index.delete_tables(list(tables)[1:])
        assert index.list_tables().keys() == {next(iter(tables))}

    def test_hostile_questions_are_only_words(self, index):
        blocks = self.embedded("s/t", "lake", "river", "ocean", *HOSTILE.values())
        replace_blocks(index, {"s/t": blocks})
        ids = [item.block.block_id for item in blocks]
        for name, question in HOSTILE.items():
            hits = index.search([self.both(question)], limit=50)[0]
            assert len(hits.semantic) == len(blocks), name
            assert all(hit.score > 0 for hit in hits.lexical)
            assert "ocean" not in [hit.block.text for hit in hits.lexical]
            assert index.scores([self.both(question)], [ids])[0].keys() == set(ids)

    def test_words_inside_hostile_text_are_found(self, index):
        cases = [
            (HOSTILE["nul"], "river"),
            (HOSTILE["lone surrogates"], "river"),
            (HOSTILE["emoji"], "family lake"),
            (HOSTILE["ideographs"], "\u6e56"),
            (HOSTILE["right to left"], "\u05d0\u05d2\u05dd"),
            (HOSTILE["long word"], HOSTILE["long word"]),
            (HOSTILE["many words"], "w19999"),
            ("Beyonc\u00e9 \uff26\uff55\uff4c\uff4c", "beyonce full"),
        ]
        tables = {
            f"s/{n}": self.embedded(f"s/{n}", text, "something else")
            for n, (text, _) in enumerate(cases)
        }
        replace_blocks(index, tables)
        for table_id, (text, question) in zip(tables, cases, strict=True):
            (hits,) = index.search([self.words(question)], 9, IndexFilter(tables=(table_id,)))
            assert [hit.block.text for hit in hits.lexical] == [text], question[:20]
