"""Passages of documents that answer the datasheet's questions: contexts (Pneuma, section 6.2.1).

The paper has a model play the table's creator, who sees columns alone, so its contexts are
invented. Here they are passages of the tables' documents, as they stand. The paper asks for
complete and relevant contexts, and checks neither: among its published ones are
"[insert name or team]" and "There are no other comments."
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pneuma_bench.generator.context_wording import alone, is_citation, leans
from pneuma_bench.generator.datasheet import DATASHEET, DatasheetQuestion
from pneuma_bench.generator.documents import REFERENCES, Pages, Passage, sentences_of

_YEAR = r"\b(?:1[5-9]|20)\d\d\b"
_MADE = (
    "assembl|carried out|collect|compil|conduct|contribut|creat|design|gather|generat|prepar|"
    "produc|provid|record"
)

_CUES = {
    1: r"\bpurpose|\baim(?:s|ed)?\b|\bin order to\b|\bto (?:assess|compare|determine|estimate|"
    r"evaluate|examine|explore|illustrate|investigate|learn|predict|study|test|understand)\b",
    2: rf"\b(?:{_MADE})\w*(?: and \w+)? (?:by|for)\b|\bcourtesy of\b",
    3: r"\bfund(?:ed|ing)\b|\bgrants?\b|\bsponsor|\bfinanced\b|\bsupported by\b",
    4: r"\bnote that\b|\bnotes?:",
    5: r"\b(?:each|every|one) (?:case|line|observation|record|row)\b"
    r"|\b(?:cases|observations|records|rows) (?:are|correspond|represent|refer)",
    6: r"\d[\d,]* (?:\w+ ){0,2}(?:cases|children|cities|companies|countries|households|individuals"
    r"|instances|men|observations|patients|people|persons|players|records|respondents|rows|states"
    r"|students|subjects|women)\b",
    7: r"\b(?:sub)?samples?\b|\bsubset|\bselected from\b|\ball (?:of )?the\b|\bcensus\b",
    8: r"\bvariables?\b.*\b(?:are|include|measure)|\bmeasurements? (?:of|on)\b",
    9: r"\b(?:dependent|outcome|response|target) (?:variable|is|was)\b|\bclassified as\b|\blabel",
    10: r"\bmissing\b|\bnot (?:available|recorded)\b|\bunavailable\b|\bincomplete\b|\bno data\b",
    11: r"\bpaired\b|\bmatched\b|\bnested\b|\brepeated measure|\blinked\b|\bpanel (?:data|of|study)"
    r"|\blongitudinal\b|\bsiblings?\b|\btwins?\b",
    12: r"\btraining (?:set|data|sample)|\btest (?:set|data)\b|\bvalidation (?:set|sample)",
    13: r"\berrors?\b|\bmistakes?\b|\bincorrect|\btypo|\binconsisten|\bduplicate|\bdiscrepanc"
    r"|\binaccura|\boutliers?\b|\bmisprint",
    14: r"https?://|\bwww\.|\bmerged with\b|\bcombined with\b",
    15: r"\bconfidential|\bprivacy\b|\banonymi[sz]ed|\bdisclos",
    16: r"\babuse|\bassault|\bdeaths?\b|\bexecut(?:ed|ion)|\bhomicide|\bkilled\b|\bmurder|\brape\b"
    r"|\bsuicide|\bterroris|\bviolen",
    17: r"\bby (?:age|ethnic\w*|gender|race|sex)\b|\bmales? and females?\b"
    r"|\b(?:wo)?men and (?:wo)?men|\b(?:boys|girls) and (?:boys|girls)\b|\bage groups?\b",
    18: r"\bnames? of (?:the |each )?(?:actor|author|patient|person|player|president)"
    r"|\bidentif(?:y|ied) (?:individual|person|people)",
    19: r"\bcancer\b|\bcrim(?:e|inal)|\bdisease|\bethnic|\bincomes?\b|\bpatients?\b|\bpolitical\b"
    r"|\brac(?:e|ial)\b|\breligio|\bsalar|\bsexual",
    20: r"\bsurvey|\bmeasured\b|\brecorded\b|\bobserved\b|\binterview|\bquestionnaire|\bself-report"
    r"|\bestimated from\b|\bderived from\b",
    21: r"\bexperiment|\btrial\b|\bsensor|\binstrument\b|\bdevice\b|\bscraped\b|\bassay\b"
    r"|\bmeasured (?:by|using|with)\b|\btelephone\b",
    22: r"\brandom(?:ly|i[sz]ed)?\b|\bstratified\b|\bsampled\b|\bevery \w+th\b",
    23: r"\bvolunteers?\b|\binterviewers?\b|\bresearchers?\b|\bstudents? (?:at|collected|of|were)"
    r"|\b(?:his|her|their) (?:colleagues|students)\b",
    24: rf"\b(?:between|during|for|from|in|over|since|through|to|until)\b[^.]{{0,25}}{_YEAR}",
    25: r"\bethic|\breview board\b",
    26: r"\b(?:obtained|taken|extracted|drawn|downloaded|derived|compiled) (?:directly )?from\b",
    27: r"\bnotified\b|\bwere informed\b|\bwere told\b",
    28: r"\bconsent|\bagreed to\b|\bby permission\b|\bwith permission\b",
    29: r"\brevoke|\bopt(?:ed)? out\b|\bright to withdraw\b",
    30: r"\bimpact (?:analysis|assessment)\b|\bdata protection\b",
    31: r"\badjusted\b|\baggregated\b|\bcleaned\b|\bconverted\b|\bdeflated\b|\bimputed\b"
    r"|\blog(?:arithm)?s? of\b|\bnormali[sz]ed\b|\brecoded\b|\bre?scaled\b|\brounded\b"
    r"|\bstandardi[sz]ed\b|\btransformed\b|\b(?:were|was) (?:deleted|dropped|removed)\b",
    32: r"\braw data\b|\boriginal(?:ly)? data\b|\boriginal data ?set\b|\bunprocessed\b",
    33: r"\bsoftware\b|\bscripts?\b|\bcode (?:at|for|is|to|used)\b",
    34: r"\b(?:is|are|was|were|been) (?:also |often |widely )?(?:analy[sz]ed|discussed|used)\b"
    r"|\bused (?:as|by|for|in|to)\b",
    35: rf"^\W*\w[^()]{{0,80}}\({_YEAR}[a-z]?\)",
    36: r"\b(?:can|could|may|might) be used\b|\bsuitable for\b|\buseful (?:for|in|to)\b"
    r"|\bto illustrate\b",
    37: r"\bbias|\bcaution|\bcareful|\bbeware\b|\bnot (?:directly )?comparable\b|\blimitation"
    r"|\bmisleading\b",
    38: r"\bshould not be\b|\bnot (?:appropriate|intended|recommended|suitable)\b|\bpurely for\b"
    r"|\bdo not use\b",
    39: r"\bdistributed\b|\bpublicly available\b|\bmade available\b|\breleased\b",
    40: r"\bavailable (?:as|at|from|in|on|online|through|via)\b|\bdownload|\bDOI\b",
    41: rf"\b(?:published|released|available since)\b[^.]{{0,40}}{_YEAR}",
    42: r"\blicen[cs]e|\bcopyright|\bterms of use\b|\bpublic domain\b|\bCC BY",
    43: r"\brestrict(?:ed|ion)|\bproprietary\b|\bused (?:by|with) permission\b",
    44: r"\bexport control|\bregulatory\b",
    45: r"\bmaintained (?:at|by)\b|\bhosted (?:at|by|on)\b",
    46: r"\S@\S|\bcontact\b",
    47: r"\berrat(?:a|um)\b|\bcorrect(?:ed|ion)\b",
    48: r"\bupdated?\b|\brevised\b",
    49: r"\b(?:data|records) (?:are|were) (?:deleted|kept|retained)\b",
    50: r"\b(?:earlier|first|newer|older|previous|second) (?:edition|version)|\breplaced by\b"
    r"|\bsuperseded\b",
    51: r"\bcontributions (?:are|can|may)\b|\bsubmit\b|\bpull request|\bcan be extended\b",
}
CITING = frozenset({35})
"""Questions that the name of a paper or a book answers."""

_COMPILED = {number: re.compile(cue, re.IGNORECASE) for number, cue in _CUES.items()}


def has_cue(question: DatasheetQuestion, text: str) -> bool:
    """Tell whether a text has a word of those by which this question is answered."""
    return _COMPILED[question.number].search(text) is not None


@dataclass(frozen=True, slots=True)
class Pair:
    """A table, and one of the 51 questions by its number."""

    table_id: str
    number: int


@dataclass(frozen=True, slots=True)
class Context:
    """What is answered to one question of one table.

    Attributes:
        pair: The question, and the table.
        text: The answer; empty where there is none.
        sentence: The one of it that answers, where it is known.
    """

    pair: Pair
    text: str
    sentence: str = ""


def extracted_context(pages: Pages, pair: Pair) -> Context:
    """Return the passage that is nearest to a question and has a cue of it, as it stands.

    Its text is empty where the table's documents say nothing.
    """
    places = pages.of_table(pair.table_id)
    for place in sorted(places, key=lambda one: (-pages.near[one, pair.number - 1], one)):
        passage = pages.passages[place]
        if sentence := _answering(passage, pair.number):
            return Context(pair, passage.text, sentence)
    return Context(pair, "")


def _answering(passage: Passage, number: int) -> str:
    """Return the first sentence that has a cue of the question and can be told alone.

    What names a paper or a book is told whole.
    """
    question = DATASHEET[number - 1]
    sentences = sentences_of(passage.text)
    if passage.heading.casefold() in REFERENCES or is_citation(sentences[0]):
        return passage.text if number in CITING and has_cue(question, passage.text) else ""
    for sentence in sentences:
        if has_cue(question, sentence) and not is_citation(sentence) and not leans(sentence):
            return alone(sentence)
    return ""


LONGEST_CONTEXT, FEWEST_WORDS, MOST_WORDS = 120, 4, 60
"""Words of a context; of a question."""
_SIGNS = 0.04
"""Of a text, the share of signs of code from which on it is no prose."""

_PLACEHOLDER = re.compile(
    r"\[(?:insert|your|name|team|date|link|organi[sz]ation|source|author|url)\b[^\]]*\]|\bXYZ\b"
    r"|\b(?:by|from) X\b|\bexample\.(?:com|org|net)\b|\bJ(?:ohn|ane) Doe\b|\blorem ipsum\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"[\[\]{}=<>\\|_#$^~]")
_WORD = re.compile(r"\w+")


def why_no_context(context: Context, near: float) -> str:
    """Return why a passage is no fit context; empty where it is.

    Args:
        context: The passage, and the sentence of it that answers.
        near: How near it is to its question, less what it is to questions on average. A passage
            says several things at once, so the nearest question need not be this one.
    """
    text, told = context.text, context.sentence
    checks = (
        ("placeholder", _PLACEHOLDER.search(text)),
        ("cut off", not is_closed(told)),
        ("no prose", len(_CODE.findall(told)) > _SIGNS * len(told)),
        ("too long", len(text.split()) > LONGEST_CONTEXT),
        ("off the question", near < 0),
    )
    return next((reason for reason, failed in checks if failed), "")


def why_no_question(question: str, names: Sequence[str]) -> str:
    """Return why a question is not fit; empty where it is.

    Args:
        question: Its words.
        names: That would give the table away.
    """
    words = len(question.split())
    said = _apart(question)
    checks = (
        ("too short", words < FEWEST_WORDS),
        ("too long", words > MOST_WORDS),
        ("placeholder", _PLACEHOLDER.search(question)),
        ("cut off", not is_closed(question.rstrip("?"))),
        ("names the table", any(_apart(one).strip() and _apart(one) in said for one in names)),
    )
    return next((reason for reason, failed in checks if failed), "")


def is_closed(text: str) -> bool:
    """Tell whether all that a text opens is closed, so that it can stand alone."""
    count = Counter(text)
    pairs = (("(", ")"), ("[", "]"), ("“", "”"))
    return (
        bool(text)
        and text[-1] not in ":,;…"
        and not text.endswith("...")
        and count['"'] % 2 == 0
        and all(count[one] == count[other] for one, other in pairs)
    )


def _apart(text: str) -> str:
    """Return the words of a text between blanks; a name may be of several, as `state.x77` is."""
    return f" {' '.join(_WORD.findall(text.casefold()))} "
