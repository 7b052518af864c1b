"""What may stand in a statement that a model wrote: by sqlglot's classes, and everything else not.

A list of what is allowed, so that syntax which nobody has thought of is refused: a kind of SQL that
sqlglot learns tomorrow is refused until somebody puts it here. Functions give a value from the
values they are given: none reads a file, a setting or the catalogue, waits, writes, or is as large
as a number in the statement says.
"""

import re
from collections.abc import Sequence
from typing import Any

from sqlglot import TokenType, exp

from pneuma_assets.core.answers.statements import Guard, refuse

DIALECTS = frozenset({"duckdb", "postgres"})
"""The dialects, as sqlglot calls them, whose functions were looked through."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _classes(names: str) -> frozenset[type[exp.Expr]]:
    return frozenset(getattr(exp, name) for name in _words(names))


QUERIES = _classes("Select Union Intersect Except Subquery Values")

SYNTAX = QUERIES | _classes(
    "From Join Where Group Having Order Ordered Limit Offset Fetch LimitOptions Distinct Qualify "
    "With CTE Table TableAlias Column Identifier Alias Star Literal Boolean Null Var Paren Tuple "
    "DataType DataTypeParam Interval IntervalSpan Bracket Slice Dot "
    "EQ NEQ GT GTE LT LTE NullSafeEQ NullSafeNEQ Is In Between Like ILike SimilarTo Escape Glob "
    "Not Any All Neg Add Sub Mul Div IntDiv Mod DPipe BitwiseAnd BitwiseOr BitwiseXor "
    "AtTimeZone Overlaps Window WindowSpec Filter WithinGroup IgnoreNulls RespectNulls "
    "GroupingSets Rollup JSONPath JSONPathRoot JSONPathKey JSONPathSubscript"
)

FUNCTIONS = _classes(
    # Conditions and casts
    "And Or Xor Case If Coalesce Nullif Greatest Least Exists Cast TryCast EqualNull Booland Boolor"
    # Aggregates
    " Count CountIf Sum Avg Min Max Median Mode Stddev StddevPop StddevSamp Variance VariancePop"
    " Corr CovarPop CovarSamp Skewness Kurtosis RegrSlope RegrIntercept RegrR2 RegrCount RegrAvgx"
    " RegrAvgy RegrSxx RegrSxy RegrSyy PercentileCont PercentileDisc Quantile ApproxQuantile"
    " ApproxDistinct ArgMax ArgMin AnyValue First Last LogicalAnd LogicalOr BitwiseAndAgg"
    " BitwiseOrAgg BitwiseXorAgg GroupConcat ArrayAgg Grouping"
    # Windows
    " RowNumber Rank DenseRank PercentRank CumeDist Ntile Lag Lead FirstValue LastValue NthValue"
    # Text
    " Lower Upper Initcap Length ByteLength BitLength Trim Substring SubstringIndex Left Right"
    " StrPosition Concat ConcatWs Replace Translate Reverse Pad SplitPart Split Ascii Chr Unicode"
    " StartsWith EndsWith Contains Overlay Levenshtein JarowinklerSimilarity Soundex Hex MD5"
    " RegexpLike RegexpILike RegexpExtract RegexpReplace RegexpFullMatch RegexpCount ToChar"
    " TimeToStr"
    # Numbers
    " Abs Round Floor Ceil Trunc Sign Sqrt Cbrt Exp Ln Log Pow Sin Cos Tan Cot Asin Acos Atan Atan2"
    " Sinh Cosh Tanh Degrees Radians Pi WidthBucket IsNan IsInf ToNumber"
    # Dates
    " CurrentDate CurrentTime CurrentTimestamp CurrentDatetime Localtime Localtimestamp Extract"
    " DateTrunc TimestampTrunc TimeTrunc DateDiff DatetimeDiff TimestampDiff TimeDiff DateAdd"
    " DateSub DatetimeAdd DatetimeSub TimestampAdd TimestampSub AddMonths MonthsBetween Year"
    " Quarter Month Week WeekOfYear Day DayOfMonth DayOfWeek DayOfWeekIso DayOfYear Hour Minute"
    " Second Dayname Monthname LastDay Date Timestamp DateFromParts TimeFromParts"
    " TimestampFromParts StrToDate StrToTime StrToUnix TimeToUnix UnixToTime TimeStrToDate"
    " TimeStrToTime TsOrDsToDate TsOrDsToTimestamp DateBin MakeInterval JustifyDays JustifyHours"
    " JustifyInterval YearOfWeek YearOfWeekIso UnixDate DateFromUnixDate"
    # Lists and JSON
    " JSONExtract JSONExtractScalar JSONBExtract JSONBExtractScalar Array ArraySize ArrayContains"
    " ArrayContainsAll ArrayOverlaps ArrayToString ArrayMax ArrayMin ArraySum ArrayDistinct"
    " ArraySort ArrayPosition ArrayFirst ArrayLast StringToArray"
    # Rows (`made_rows`)
    " Explode Unnest GenerateSeries ExplodingGenerateSeries"
)

NAMED_FUNCTIONS = {
    "duckdb": _words(
        "now date_part datepart datesub date_sub age make_date make_timestamp make_time product "
        "list_contains list_has list_sum list_avg list_min list_max list_count list_sort "
        "list_distinct list_unique array_length even sinh cosh tanh nfc_normalize strip_accents "
        "damerau_levenshtein jaccard jaro_similarity hamming mismatches favg fsum geomean "
        "geometric_mean entropy mad max_by min_by sem gcd lcm isfinite century decade millennium "
        "isodow isoyear yearweek weekday era epoch_us epoch_ns to_days to_months to_years "
        "to_weeks to_hours to_minutes to_seconds instr suffix prefix ucase lcase "
        "quarter bool_and bool_or row try_strptime"
    ),
    "postgres": _words(
        "age make_date make_time make_timestamp make_timestamptz isfinite div gcd lcm scale "
        "min_scale trim_scale btrim char_length character_length octet_length strpos to_number "
        "to_timestamp every date_add date_subtract cosd sind tand array_ndims "
        "cardinality num_nonnulls num_nulls row regexp_instr regexp_substr "
        "starts_with normalize"
    ),
}
"""Functions for which sqlglot has no class of its own, by their names in lower case."""

TYPES = frozenset(
    exp.DType[name]
    for name in _words(
        "BIGINT BOOLEAN CHAR DATE DECIMAL DOUBLE FLOAT INT INT128 INTERVAL MEDIUMINT NCHAR "
        "NVARCHAR SMALLINT TEXT TIME TIMESTAMP TIMESTAMPNTZ TIMESTAMPLTZ TIMESTAMPTZ TIMETZ "
        "TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS TINYINT UBIGINT UINT USMALLINT UTINYINT UUID "
        "VARCHAR ARRAY LIST JSON JSONB"
    )
)
"""Types that a cast may name: no `regclass`, which asks the catalogue, and nobody's own types."""

_CLAUSES = {"alias", "joins", "order", "limit", "offset", "with_"}
ARGUMENTS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        {"expressions", "distinct", "from_", "joins", "where", "group", "having", "qualify"}
        | {"windows", "order", "limit", "offset", "with_"}
    ),
    exp.Union: frozenset({"this", "expression", "distinct", *_CLAUSES}),
    exp.Intersect: frozenset({"this", "expression", "distinct", *_CLAUSES}),
    exp.Except: frozenset({"this", "expression", "distinct", *_CLAUSES}),
    exp.Subquery: frozenset({"this", *_CLAUSES}),
    exp.Table: frozenset({"this", "db", "alias", "joins"}),
    exp.Join: frozenset({"this", "on", "using", "side", "kind", "method"}),
    exp.CTE: frozenset({"this", "alias", "materialized"}),
    exp.With: frozenset({"expressions"}),
    exp.Star: frozenset(),
    exp.Unnest: frozenset({"expressions", "alias"}),
    exp.Explode: frozenset({"this"}),
    exp.Cast: frozenset({"this", "to"}),
    exp.TryCast: frozenset({"this", "to", "requires_string", "safe"}),
}
"""What may be set of a part of a statement; whatever else is set is a clause that is refused."""

_JOIN_KINDS = frozenset({"", "INNER", "OUTER", "CROSS"})
JOIN_KINDS = {"duckdb": _JOIN_KINDS | {"SEMI", "ANTI"}, "postgres": _JOIN_KINDS}
JOIN_METHODS = {"duckdb": frozenset({"", "ASOF"}), "postgres": frozenset({""})}
"""A row joined ASOF has at most one partner, so none is repeated."""


MOST_CHARACTERS = 20_000
MOST_PARTS = 3_000
"""Nodes of its tree."""
MOST_DEPTH = 200
"""Nodes of its tree above each other; what looks through it calls itself for each."""
MOST_BRACKETS = 100
"""Over a column with thousands of them, sqlglot's parser takes half a minute."""
MOST_TABLES = 50
"""Tables that it names, each as often as it names it: yearly tables of half a century."""
MOST_QUERIES = 60
"""SELECTs in it."""
MOST_RESULTS = 10_000
"""Columns that its SELECTs give together, each `*` written out."""
MOST_PADDED = 1_000
"""Characters to which a text may be padded."""
MOST_PATTERN = 300
"""Characters of a regular expression."""
MOST_DIGITS = 60
"""Of a number."""
MOST_REPLACED = 4
"""REPLACE within each other: each may make a text longer."""

_UNWANTED = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Signs of control, and those that let people see another statement than the one that is run."""
_NUMBER = re.compile(r"[0-9]*\.?[0-9]*(?:[eE][+-]?[0-9]{1,2})?")
_REPEATED = re.compile(r"\{\s*([0-9]*)\s*,?\s*([0-9]*)\s*\}")
_REPETITIONS = 200
"""The product of what `{n,m}` say in a regular expression."""
_PATTERNED = (
    *(exp.RegexpLike, exp.RegexpILike, exp.RegexpExtract, exp.RegexpReplace),
    *(exp.RegexpFullMatch, exp.RegexpCount, exp.SimilarTo),
)


def check_text(sql: str) -> None:
    """Refuse a text that is too long to be looked at, or has signs that no statement needs."""
    if len(sql) > MOST_CHARACTERS:
        refuse(
            Guard.LENGTH, f"it has more than {MOST_CHARACTERS:,} characters; write a shorter one"
        )
    if unwanted := _UNWANTED.search(sql):
        code = f"U+{ord(unwanted[0]):04X}"
        refuse(Guard.LENGTH, f"it has the character {code}, which no statement needs; leave it out")


def check_words(words: Sequence[Any]) -> None:
    """Refuse the words of a statement over which the parser would take too long."""
    if sum(word.token_type == TokenType.L_BRACKET for word in words) > MOST_BRACKETS:
        refuse(Guard.SIZE, f"it has more than {MOST_BRACKETS} brackets '['; write a simpler one")


def check_sizes(nodes: Sequence[exp.Expr]) -> None:
    """Refuse a statement of too many parts, or one whose numbers or patterns ask for too much.

    Args:
        nodes: Of its tree, each behind the one it stands in.
    """
    for kind, most, what in (
        (exp.Expr, MOST_PARTS, "parts"),
        (exp.Table, MOST_TABLES, "tables"),
        (exp.Select, MOST_QUERIES, "SELECTs"),
    ):
        if sum(isinstance(node, kind) for node in nodes) > most:
            refuse(Guard.SIZE, f"it has more than {most:,} {what}; write a simpler one")
    depth: dict[int, int] = {}
    for node in nodes:  # each behind the one it stands in
        depth[id(node)] = depth.get(id(node.parent), 0) + 1
        if depth[id(node)] > MOST_DEPTH:
            refuse(Guard.SIZE, f"its parts stand more than {MOST_DEPTH} deep; write a simpler one")
        if isinstance(node, exp.Literal) and not node.is_string:
            _check_number(node.this)
        elif isinstance(node, exp.Pad):
            _check_padding(node)
        elif isinstance(node, _PATTERNED):
            _check_pattern(node)
        elif isinstance(node, exp.Replace):
            _check_replaced(node)


def _check_number(text: str) -> None:
    if len(text) > MOST_DIGITS or not _NUMBER.fullmatch(text):
        refuse(Guard.SIZE, f"the number {text[:20]!r} is too long or too large")


def _check_padding(node: exp.Pad) -> None:
    length = node.expression
    if not (isinstance(length, exp.Literal) and length.is_int and int(length.this) <= MOST_PADDED):
        refuse(Guard.SIZE, f"a text is padded to a number of at most {MOST_PADDED:,} characters")


def _check_pattern(node: exp.Expr) -> None:
    pattern = node.expression
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        refuse(Guard.SIZE, "a regular expression is a text in quotes, and not made from others")
    text = pattern.this
    repeated = 1
    for low, high in _REPEATED.findall(text):
        numbers = [int(one) for one in (low, high) if one and len(one) < 7]
        repeated *= max(numbers, default=_REPETITIONS + 1)
    if len(text) > MOST_PATTERN or repeated > _REPETITIONS or re.search(r"\\[1-9]", text):
        refuse(Guard.SIZE, "a regular expression is too long, repeats too often, or refers back")


def _check_replaced(node: exp.Expr) -> None:
    depth, above = 1, node.find_ancestor(exp.Replace)
    while above is not None:
        depth, above = depth + 1, above.find_ancestor(exp.Replace)
    if depth > MOST_REPLACED:
        refuse(Guard.SIZE, f"more than {MOST_REPLACED} REPLACE stand within each other")
