"""From a question to ranked tables (Pneuma, section 5.1)."""

from collections.abc import Sequence

from pneuma_assets.core.config.query import QueryConfig
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter, IndexQuery, SearchIndex
from pneuma_assets.core.joins.groups import CANDIDATES
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.search.by_blocks import BlockSearch
from pneuma_assets.core.search.by_signals import SILENT, SignalSearch
from pneuma_assets.core.search.groups import GroupResult, GroupSearch, JoinsOf
from pneuma_assets.core.search.known_names import Elsewhere, KnownNames
from pneuma_assets.core.search.options import (
    as_asked,
    check_filter,
    check_judge,
    checked_options,
    checked_question,
    listed,
)
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer


class QueryEngine:
    """Answers questions from an index; safe to share between threads if its parts are.

    Args:
        index: Holds the blocks.
        encoder: The one that embedded them.
        judge: Refuses candidates that do not answer; None if there is none to ask.
        defaults: k, n, alpha and the signals' weights of questions that do not say.
        judge_by_default: Whether the judge is asked where a question does not say.
        analyzer: The index's, to find the passage that a question's words point at.
        elsewhere: What a filter may name although it is not indexed.
        joins_of: Tells which tables can be joined; without it each is a group by itself.
    """

    def __init__(
        self,
        index: SearchIndex,
        encoder: Encoder,
        judge: LanguageModel | None = None,
        defaults: QueryConfig | None = None,
        *,
        judge_by_default: bool = True,
        analyzer: Analyzer = ENGLISH,
        elsewhere: Elsewhere = Elsewhere(),  # noqa: B008 (frozen)
        joins_of: JoinsOf = lambda _: (),
    ) -> None:
        self._index = index
        self._encoder = encoder
        self._judge = judge
        self._defaults = defaults or QueryConfig()
        self._judge_by_default = judge_by_default
        self._by_blocks = BlockSearch(index, analyzer)
        self._by_signals = SignalSearch(index, analyzer)
        self._groups = GroupSearch(index, analyzer, joins_of)
        self._names = KnownNames(index, elsewhere)

    def ask(
        self,
        question: str,
        *,
        k: int | None = None,
        n: int | None = None,
        alpha: float | None = None,
        judge: bool | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> list[TableResult]:
        """Return up to `k` tables that may answer the question, best first; see `ask_many`."""
        return self.ask_many([question], k=k, n=n, alpha=alpha, judge=judge, where=where)[0]

    def ask_many(
        self,
        questions: Sequence[str],
        *,
        k: int | None = None,
        n: int | None = None,
        alpha: float | None = None,
        judge: bool | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> list[list[TableResult]]:
        """Answer several questions with one encoding and few calls to the index.

        The index proposes tables by every signal, up to `n * k` by each: its blocks by words and
        by meaning, and the fields of the tables' evidence. All of them are scored by all signals
        (`signals.rank_tables`). A question that is a table's or column's name, or nearly, is
        answered by the tables of that name first. That takes one call to the index for the
        proposals, one for the scores, and one for what is shown. Given `alpha`, the paper's two
        sides answer alone: each side's best blocks, min-max scaled, `alpha` weighing words against
        meaning; the best block of a table is the table's place. Where the proposals are of fewer
        than `k` tables, the index is asked for more, until it has no more or for 10,000 blocks. A
        text that several tables share counts less. Of tables that answer almost equally well, the
        more trusted comes first (`trust.with_trust`); copies are one result with their original
        (`together`). What the judge refuses goes to the end, order kept.

        Args:
            questions: In plain language.
            k: Most tables of an answer.
            n: How many times k candidates each signal proposes.
            alpha: Weight of the words against the meaning, 0 to 1; None asks all signals.
            judge: Whether to ask the judge; None leaves it to the engine.
            where: Which sources, tables and kinds of documents to look in, and who asks.

        Raises:
            QueryError: A question or an option is out of range or of another type, there is no
                judge to ask, nothing is indexed, or the filter names a table, source or kind that
                does not exist, or a table that is not indexed.
        """
        options = checked_options(self._defaults, k, n, alpha)
        model = self._judge_for(judge)
        check_filter(where)
        asked = [checked_question(question) for question in listed(questions)]
        if not asked:
            return []
        where = as_asked(where)
        self._names.check(where)
        answers = self._answers(asked, options, model, where)
        if not any(answers) and not self._index.list_tables(where.readers):
            raise QueryError("nothing is indexed yet; run: pneuma-assets index")
        return answers

    def find_groups(
        self, question: str, *, k: int | None = None, where: IndexFilter = NO_FILTER
    ) -> list[GroupResult]:
        """Return up to `k` sets of tables that may answer the question together, best first.

        A table by itself is such a set, too. Sets are made of the best tables of `ask` and of what
        links them, by the joins that are known (Octopus, section 4.3; `joins.groups`).

        Args:
            question: In plain language.
            k: Most sets; None: as many as tables by default.
            where: Which sources, tables and kinds of documents to look in, and who asks: no set
                has a table that these may not see.

        Raises:
            QueryError: As `ask_many`.
        """
        most = checked_options(self._defaults, k, None, None).k
        results = self.ask(question, k=CANDIDATES, where=where)
        return self._groups.group(checked_question(question), results, most, as_asked(where))

    def _answers(
        self,
        asked: Sequence[str],
        options: QueryConfig,
        model: LanguageModel | None,
        where: IndexFilter,
    ) -> list[list[TableResult]]:
        vectors = self._encoder.encode_queries(asked)
        pairs = zip(asked, vectors, strict=True)
        k, n, alpha = options.k, options.n, options.alpha
        if alpha is not None:
            queries = [IndexQuery(text, vector) for text, vector in pairs]
            return self._by_blocks.answer(queries, k, n, alpha, model, where)
        queries = [IndexQuery(text, vector, text, SILENT) for text, vector in pairs]
        return self._by_signals.answer(queries, options, model, where)

    def _judge_for(self, wanted: bool | None) -> LanguageModel | None:
        check_judge(wanted)
        if wanted and self._judge is None:
            raise QueryError("There is no judge to ask: set judge.enabled, or ask without it")
        asked = self._judge_by_default if wanted is None else wanted
        return self._judge if asked else None
