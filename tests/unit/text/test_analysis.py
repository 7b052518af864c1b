# ruff: noqa: RUF001 (letters of other scripts are meant here)
import re
import threading
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pneuma_assets.core.errors import ConfigError
from pneuma_assets.core.text.analysis import (
    ANALYZERS,
    ENGLISH,
    MAX_QUESTION_TERMS,
    MAX_TERMS,
    analyzer_named,
)
from pneuma_assets.core.text.tokens import _ANY_WORD, words_of

CASES = [
    ("plain words are lowered and stemmed", "The Rivers were flowing", ["river", "were", "flow"]),
    ("stop words go", "of the and a to was", []),
    ("no words at all", " .,;!?\t\n", []),
    ("empty", "", []),
    ("snake case", "petal_length", ["petal", "length"]),
    ("camel case keeps the whole, too", "PetalLength", ["petal", "length", "petallength"]),
    ("initials before a word", "HTTPServer", ["http", "server", "httpserver"]),
    ("letters and digits", "covid19", ["covid", "19"]),
    ("letters around a digit", "i18n", ["i", "18", "n", "i18n"]),
    ("capitals alone stay whole", "NASA", ["nasa"]),
    ("a decimal falls apart", "9.13", ["9", "13"]),
    ("possessives go", "Karl's bird\u2019s", ["karl", "bird"]),
    ("short words keep their s", "us gas", ["us", "gas"]),
    ("an s of its own stays", "class s", ["class", "s"]),
    ("accents fold", "Beyonc\u00e9 S\u00e3o", ["beyonc", "sao"]),
    ("decomposed accents fold, too", "Beyonce\u0301", ["beyonc"]),
    ("full-width forms fold", "\uff26\uff55\uff4c\uff4c", ["full"]),
    ("sharp s folds", "Stra\u00dfe", ["strass"]),
    (
        "other scripts are words",
        "\u043e\u0437\u0435\u0440\u043e",
        ["\u043e\u0437\u0435\u0440\u043e"],
    ),
    ("NUL separates", "lake\x00river", ["lake", "river"]),
    ("lone surrogates separate", "lake\ud800river", ["lake", "river"]),
    ("repeats are kept", "lake lake", ["lake", "lake"]),
]


@pytest.mark.parametrize(("text", "terms"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_terms(text, terms):
    assert ENGLISH.terms(text) == terms


@pytest.mark.parametrize("question", ["iphone", "iPhone", "IPHONE", "i phone"])
def test_spellings_of_a_name_meet(question):
    assert set(ENGLISH.terms(question)) & set(ENGLISH.terms("iPhone"))


def test_words_and_texts_without_end_are_cut():
    terms = ENGLISH.terms("x" * 1000)
    assert {len(term) for term in terms} <= {64, 1000 % 64}
    assert len(terms) == 16
    assert len(ENGLISH.terms("lake " * 100_000)) == MAX_TERMS
    assert len(ENGLISH.question_terms("lake " * 100_000)) == MAX_QUESTION_TERMS
    text = "".join(chr(0x4E00 + place) for place in range(1000))
    assert len(ENGLISH.question_terms(text)) == 999


@given(st.text())
def test_terms_hold_no_space_and_analysing_twice_is_the_same(text):
    terms = ENGLISH.terms(text)
    assert all(term and not any(c.isspace() for c in term) for term in terms)
    assert ENGLISH.terms(text) == terms


@given(st.text(), st.text())
def test_texts_are_analysed_line_by_line(first, second):
    assert ENGLISH.terms(f"{first}\n{second}") == ENGLISH.terms(first) + ENGLISH.terms(second)


def test_threads_agree():
    words = [f"running{n} nations{n}" for n in range(500)]
    expected = [ENGLISH.terms(word) for word in words]
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append([ENGLISH.terms(word) for word in words]))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 4


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("How often do people travel?", ["often", "peopl", "travel"]),
        ("which of these can it be", ["which", "can"]),
        ("what is the who's index", ["index"]),
    ],
    ids=["function words go", "of nothing else they stay", "possessives, too"],
)
def test_question_terms(question, terms):
    assert ENGLISH.question_terms(question) == terms


def test_only_questions_in_english_lose_words():
    assert ENGLISH.terms("how, when") == ["how", "when"]
    assert analyzer_named("plain").question_terms("how is the lake") == ["how", "is", "the", "lake"]
    assert analyzer_named("german").terms("der See") == ["der", "see"]


# Words that must meet, whatever accents, capitals and endings they are written with.
SAME = [
    ("german", ["Häuser", "haus", "HÄUSER", "haeuser", "Ha\u0308user", "Hauses"], "haus"),
    ("german", ["Größe", "GRÖSSE", "größen", "Groesse"], "gross"),
    ("french", ["été", "ÉTÉ", "e\u0301te\u0301", "ete"], "ete"),
    ("french", ["sécurité", "Sécurités", "SÉCURITÉ"], "secur"),
    ("spanish", ["población", "POBLACIÓN", "poblaciones"], "poblacion"),
    ("portuguese", ["população", "POPULAÇÃO", "populações"], "popul"),
    ("polish", ["Łódź", "łodzi", "lodz"], "lodz"),
    ("turkish", ["ışık", "IŞIK"], "isik"),
    ("turkish", ["İstanbul", "istanbul", "İSTANBUL"], "istanbul"),
    ("turkish", ["gözler", "göz"], "goz"),
    ("russian", ["новый", "новая", "НОВЫЕ"], "нов"),
    ("greek", ["Αθήνας", "ΑΘΗΝΑΣ", "αθηνα"], "αθην"),
    ("hindi", ["किताबें", "किताब"], "किताब"),
    ("arabic", ["كِتَاب", "الكتاب", "كتاب"], "كتاب"),
    ("plain", ["Málaga", "MALAGA", "malaga"], "malaga"),
]


@pytest.mark.parametrize(("name", "words", "term"), SAME, ids=[f"{n} {t}" for n, _, t in SAME])
def test_words_of_a_language_meet(name, words, term):
    assert {word: analyzer_named(name).terms(word) for word in words} == {w: [term] for w in words}


@pytest.mark.parametrize(
    ("name", "text", "terms"),
    [
        ("plain", "The Rivers were flowing", ["the", "rivers", "were", "flowing"]),
        ("plain", "petal_length PetalLength", ["petal", "length"] * 2 + ["petallength"]),
        ("plain", "किताबें", ["किताबें"]),
        ("german", "straßenName", ["strass", "nam", "strassennam"]),
        ("german", "HTTPServer covid19", ["http", "serv", "httpserv", "covid", "19"]),
        ("french", "ÉcoleNationale", ["ecol", "national", "ecolenational"]),
        ("russian", "НовыйДом2", ["нов", "дом", "2", "новыидом2"]),
        ("german", "\u0301 \u093e", []),
    ],
)
def test_words_fall_apart_in_every_language(name, text, terms):
    assert analyzer_named(name).terms(text) == terms


# Scripts that a question must be found in whatever language the analyzer is for.
UNSPACED = [
    ("湖泊", ["湖", "泊", "湖泊"], ["湖泊"]),
    ("人", ["人"], ["人"]),
    ("2020年", ["2020", "年"], ["2020", "年"]),
    ("３月", ["3", "月"], ["3", "月"]),
    ("佐々木・ガス", [*"佐々木", "佐々", "々木", *"ガス", "ガス"], ["佐々", "々木", "ガス"]),
    ("ｶﾞｽ", [*"ガス", "ガス"], ["ガス"]),
    ("か\u3099", ["が"], ["が"]),
    ("サーバー", [*"サーバー", "サー", "ーバ", "バー"], ["サー", "ーバ", "バー"]),
    ("인구가", [*"인구가", "인구", "구가"], ["인구", "구가"]),
    ("\u110b\u1175\u11ab구", [*"인구", "인구"], ["인구"]),
    ("ทั่วโลก", ["ทั่", *"วโลก", "ทั่ว", "วโ", "โล", "ลก"], ["ทั่ว", "วโ", "โล", "ลก"]),
    ("葛\U000e0100城", [*"葛城", "葛城"], ["葛城"]),
]
EVERY = ["english", "plain", "german"]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(("text", "indexed", "asked"), UNSPACED, ids=[c[0] for c in UNSPACED])
def test_scripts_without_spaces_are_indexed_by_characters_and_asked_by_pairs(
    name, text, indexed, asked
):
    assert analyzer_named(name).terms(text) == indexed
    assert analyzer_named(name).question_terms(text) == asked


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    "word", ["विद्यालय", "जनसंख्या", "জনসংখ্যা", "தமிழ்நாடு", "ജനസംഖ്യ", "ජනගහනය", "ދިވެހި"]
)
def test_a_word_keeps_its_vowel_signs(name, word):
    assert analyzer_named(name).terms(f"{word} 1") == [unicodedata.normalize("NFC", word), "1"]


@pytest.mark.parametrize("name", [*EVERY, "arabic"])
@pytest.mark.parametrize(
    ("spellings", "term"),
    [
        (["שָׁלוֹם", "שלום"], "שלום"),
        (["كِتَاب", "كتاب", "كـتـاب"], "كتاب"),
        (["क्\u200dष", "क्\u200cष", "क्ष"], "क्ष"),
        (["२०२०", "٢٠٢٠", "２０２０", "2020"], "2020"),
        (["1,234,567", "1234567", "１，２３４，５６７", "१२,३४,५६७"], "1234567"),
    ],
)
def test_spellings_of_a_script_meet(name, spellings, term):
    questions = {one: analyzer_named(name).question_terms(one) for one in spellings}
    assert questions == {one: [term] for one in spellings}


def test_a_space_without_width_parts_persian_words():
    assert ENGLISH.terms("می\u200cخواهم") == ["می", "خواهم"]


INITIALS = [
    ("AT&T", ["t", "att"]),
    ("at&t's R&D", ["t", "att", "r", "d", "rd"]),
    ("S&P 500", ["s", "p", "sp", "500"]),
    ("Barnes&Noble Q & A", ["barn", "nobl", "q"]),
    ("a=1&b=2&amp;", ["1", "b", "2", "amp"]),
    ("C++, C# or C", ["c", "c++", "c", "c#", "c"]),
    ("C+ #1 abc# x+++", ["c", "1", "abc", "x"]),
    ("U.S. O'Brien e-mail .NET", ["u", "s", "o", "brien", "e", "mail", "net"]),
]


@pytest.mark.parametrize(("text", "terms"), INITIALS, ids=[c[0] for c in INITIALS])
def test_initials_are_words_of_their_own(text, terms):
    assert ENGLISH.terms(text) == ENGLISH.question_terms(text) == terms


@pytest.mark.parametrize("written", ["AT&T", "at&t", "ATT", "AT & T", "at t"])
def test_a_name_with_an_ampersand_is_found_however_it_is_written(written):
    assert set(ENGLISH.question_terms(written)) & set(ENGLISH.terms("AT&T"))


NUMBERS = [
    ("1,234,567", ["1", "234", "567", "1234567"], ["1234567"]),
    ("'12,34,567'", ["12", "34", "567", "1234567"], ["1234567"]),
    ("1.234.567,89", ["1", "234", "567", "1234567", "89"], ["1234567", "89"]),
    ("1'234'567", ["1", "234", "567", "1234567"], ["1234567"]),
    ("1\u202f234\u00a0567", ["1", "234", "567", "1234567"], ["1234567"]),
    ("$1,234.56/kg", ["1", "234", "1234", "56", "kg"], ["1234", "56", "kg"]),
]


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(("text", "indexed", "asked"), NUMBERS, ids=[c[0] for c in NUMBERS])
def test_thousands_may_be_parted(name, text, indexed, asked):
    assert analyzer_named(name).terms(text) == indexed
    assert analyzer_named(name).question_terms(text) == asked


@pytest.mark.parametrize(
    "text",
    ["3.14", "1.234", "0,123", "1 234 567", "1,2,3", "2001,2002", "1,2345", "12,1,234", "1,234,5"],
)
def test_other_numbers_fall_apart(text):
    parts = re.findall(r"\d+", text)
    assert ENGLISH.terms(text) == ENGLISH.question_terms(text) == parts


@given(st.text(alphabet="abAB019_.,'&+#- /", max_size=30))
def test_texts_of_letters_alone_are_read_alike_by_either_pattern(text):
    plain = re.sub("[&+#,.']", " ", text)
    assert words_of(plain) == _ANY_WORD.findall(plain)
    assert words_of(f"{plain}é") == _ANY_WORD.findall(f"{plain}é")


def test_analyzers_are_made_once_and_known_by_name_or_refused():
    assert analyzer_named("english") is ENGLISH
    assert ENGLISH.name == "english-2"
    assert analyzer_named("german") is analyzer_named("german")
    names = [analyzer_named(name).name for name in ANALYZERS]
    assert len(set(names)) == len(ANALYZERS) > 20
    assert {"porter", "dutch_porter"}.isdisjoint(ANALYZERS)
    with pytest.raises(ConfigError, match=r"no analyzer 'klingon'; use one of: plain, .*english"):
        analyzer_named("klingon")


@given(st.sampled_from(ANALYZERS), st.text())
def test_no_analyzer_makes_terms_that_a_space_could_not_join(name, text):
    terms = analyzer_named(name).terms(text)
    assert all(term and not any(c.isspace() for c in term) for term in terms)
    assert analyzer_named(name).terms(text) == terms
