"""Words by which a question says what is to be done with what it names; English."""

from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GIVEN_UP = _words(
    "ratio ratios proportion proportions percentage percent percentages fraction share difference "
    "differences compare compared comparison versus vs vary varies correlation median deviation "
    "variance why not no without never except excluding other neither nor non isnt arent "
    "dont doesnt didnt today now current currently yesterday ago trend should recommend would "
    "could might explain describe if unless whether consecutive growth starts begins begin"
)
"""Words that ask for what no template does, or deny: a question with one is given up."""

YES_OR_NO = _words("is are do does did can have has was")
"""Words with which a question begins that asks whether something is so."""

ASKING = _words(
    "what which who whose where when how many much list show give get return find tell display "
    "provide name names please is are was were do does did has have had there of the a an in on "
    "at to for with by from and or their its his her that whats me us i you all any it they them "
    "also along together corresponding respective respectively relevant results result "
    "information details data database dataset table record records entry entries row rows "
    "order ordered sorted sort so be been"
)
"""Words that tell nothing of what is asked for."""

RELATING = _words(
    "located based found associated published written offered offer offers received have having "
    "made posted presented belong belongs belonging existing exist exists listed recorded "
    "placed place bought buy sold sell "
    "won win played play born owned own owns measured taken took moved "
    "available called named known serve serves served serving hold held occurred occur "
    "contain contains include includes including used use uses using given got gotten run runs "
    "live lives lying lie lies stand stands situated flow flows through within among across "
    "between during each every per"
)
"""Verbs and prepositions by which tables are related; half of their meaning is that of a join."""

UNITS = _words(
    "meters metres meter kilometers kilometres km miles feet square inches kg kilograms pounds "
    "dollars usd euros cents percent minutes hours days seconds people inhabitants persons units "
    "points degrees"
)

MOST = _words(
    "highest largest biggest greatest longest tallest most maximum max top best latest newest "
    "heaviest fastest richest recent widest deepest last expensive"
)
LEAST = _words(
    "lowest smallest shortest least fewest minimum min earliest oldest first cheapest worst "
    "lightest slowest poorest youngest nearest closest"
)
LIMITING = _words("top first last")
"""Superlatives that may say how many rows are wanted: `top 5`."""
OF_TIME = _words("recent latest newest last first earliest oldest youngest")
"""Superlatives that compare when something was, whatever number it has."""
MEASURING = _words(
    "year years date time month day week hour minute second quarter decade age rank position place "
    "level score rating points point size length height weight width depth distance area "
    "population price cost amount total number count num qty quantity temperature speed"
)
"""Words of a column's name by which it measures something, though it may rise row by row."""
IMPLIED: Mapping[str, tuple[str, ...]] = {
    "longest": ("length", "distance", "duration"),
    "shortest": ("length", "distance", "duration", "height"),
    "tallest": ("height", "altitude", "elevation"),
    "highest": ("height", "altitude", "elevation"),
    "lowest": ("height", "altitude", "elevation"),
    "largest": ("area", "size", "population", "capacity"),
    "biggest": ("area", "size", "population", "capacity"),
    "smallest": ("area", "size", "population", "capacity"),
    "heaviest": ("weight", "mass"),
    "lightest": ("weight", "mass"),
    "fastest": ("speed",),
    "slowest": ("speed",),
    "deepest": ("depth",),
    "widest": ("width",),
    "best": ("rank", "rating", "score"),
    "worst": ("rating", "score"),
    "top": ("rating", "score", "points"),
    "expensive": ("price", "cost", "fare"),
    "cheapest": ("price", "cost", "fare"),
    "recent": ("date", "year", "time"),
    "latest": ("date", "year", "time"),
    "newest": ("date", "year", "time"),
    "last": ("date", "year", "time"),
    "first": ("date", "year", "time"),
    "earliest": ("date", "year", "time"),
    "oldest": ("age", "birth", "born", "dob", "founded", "built", "date", "year"),
    "youngest": ("age", "birth", "born", "dob", "founded"),
}
"""What a superlative compares where no column is named: words of columns' names."""
AGES = frozenset({"oldest", "youngest"})
"""They compare the other way round where the column is an age."""
LEAST_OF: Mapping[str, str] = {"expensive": "cheapest", "recent": "earliest"}
"""What `least` and an adjective mean."""
AGE = _words("age ages")
TIMES = _words(
    "year date time day month week hour minute second quarter decade century founded born built "
    "birthday dob timestamp"
)
"""Words of a column's name by which it says when; of ages and durations there are several."""
BEGINNINGS = _words(
    "birth birthdate birthyear of founding foundation established establishment construction "
    "constructed created creation made published publication released release placed posted at on"
)
"""Words by which a date is that from which something has its age."""
BIRTH = frozenset({"born", "birth", "birthday", "birthdate", "dob"})
"""Words of a date that is meant where it is named: nobody is of the year of his birth."""
RANKS = _words("rank ranks ranking position place standing placement seed priority")
"""Words of a column's name by which 1 is the best of it."""
GOOD = _words(
    "rating ratings score scores point points star stars gpa accuracy quality popularity sales "
    "revenue profit earnings income win wins votes"
)
"""Words of a column's name by which more of it is better."""
SPEEDS = _words("speed velocity mph kmh kph knots")
DURATIONS = _words("time times duration seconds minutes hours days laptime")
DISTANCES = _words("distance distances dist")

ORDERING = _words(
    "ordered sorted sort order ranked arranged by in from to the results result them of ascending "
    "asc descending desc alphabetical alphabetically starting list they have"
)
"""Words that say nothing but in which order."""
BY_LETTERS = frozenset({"alphabetical", "alphabetically"})
WHICH = frozenset({"which", "what", "whose"})
ORDERS = _words("give list show return provide include what tell display")
CALLED = frozenset({"named", "called", "titled"})
OWN = frozenset({"their", "its", "his", "her"})
FILLING = _words(
    "and the of their its his her both all also is are me a an relevant corresponding respective "
    "together with along"
)
"""Words that may stand between two things that are asked for."""

AVERAGE = _words("average avg mean")
SUM = _words("total sum combined overall")
EACH = _words("each every per")
DISTINCT = _words("distinct unique different various")

COUNTS = _words("number numbers count")
"""Words behind which stands what is counted."""

LITTLE = (
    ASKING | RELATING | UNITS | MOST | LEAST | AVERAGE | SUM | EACH | DISTINCT
    | _words("value values rate rates level levels amount amounts")
    | _words("number count more less fewer greater higher lower yes no true false high low long")
)  # fmt: skip
"""Words that are no value of a cell unless they stand in quotes."""

COMPARING: Mapping[tuple[str, ...], str] = {
    ("more", "than"): "more",
    ("greater", "than"): "more",
    ("higher", "than"): "more",
    ("larger", "than"): "more",
    ("bigger", "than"): "more",
    ("longer", "than"): "more",
    ("later", "than"): "more",
    ("older", "than"): "more",
    ("over",): "more",
    ("above",): "more",
    ("exceeding",): "more",
    ("after",): "more",
    ("more",): "more",
    ("less", "than"): "less",
    ("fewer", "than"): "less",
    ("lower", "than"): "less",
    ("smaller", "than"): "less",
    ("shorter", "than"): "less",
    ("earlier", "than"): "less",
    ("younger", "than"): "less",
    ("under",): "less",
    ("below",): "less",
    ("before",): "less",
    ("less",): "less",
    ("at", "least"): "least",
    ("since",): "least",
    ("at", "most"): "most",
    ("up", "to"): "most",
    ("until",): "most",
    ("exactly",): "equals",
    ("equals",): "equals",
    ("least",): "least",
    ("most",): "most",
}
"""How a number is compared with a column; `more`, `less`, `least`, `most` alone stand for signs."""

BEYOND: Mapping[str, str] = dict.fromkeys(
    _words("more above over greater higher larger bigger longer later older up"), "least"
) | dict.fromkeys(
    _words("less fewer below under lower smaller shorter earlier younger down"), "most"
)
"""What follows a number: `100 or more`, `5 and below`."""
