"""What may stand in a statement that a model wrote: by sqlglot's classes, and everything else not.

A list of what is allowed, so that syntax which nobody has thought of is refused: a kind of SQL that
sqlglot learns tomorrow is refused until somebody puts it here. Functions give a value from the
values they are given: none reads a file, a setting or the catalogue, waits, writes, or is as large
as a number in the statement says.
"""

from sqlglot import exp

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
    " ArraySort ArrayPosition ArrayFirst ArrayLast"
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
        "quarter bool_and bool_or row"
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
    exp.Cast: frozenset({"this", "to"}),
    exp.TryCast: frozenset({"this", "to", "requires_string"}),
}
"""What may be set of a part of a statement; whatever else is set is a clause that is refused."""

_JOIN_KINDS = frozenset({"", "INNER", "OUTER", "CROSS"})
JOIN_KINDS = {"duckdb": _JOIN_KINDS | {"SEMI", "ANTI"}, "postgres": _JOIN_KINDS}
JOIN_METHODS = frozenset({"", "NATURAL"})
