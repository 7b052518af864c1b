"""From a question to ranked tables (Pneuma, section 5.1)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pneuma_assets.core.config.query import QueryOptions
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import NO_FILTER, IndexFilter, IndexQuery, SearchIndex
from pneuma_assets.core.missing_parts import OnMissing
from pneuma_assets.core.models.base import Encoder
from pneuma_assets.core.models.reranker import Reranker
from pneuma_assets.core.relations.rank_groups import CANDIDATES, GroupResult
from pneuma_assets.core.search.block_search import BlockSearch
from pneuma_assets.core.search.groups import GroupSearch, JoinsOf
from pneuma_assets.core.search.judge import MOST_JUDGED, Judge, by_grade, graded, reranked
from pneuma_assets.core.search.mentions import (
    MOST_NAMES,
    HeaderMatcher,
    KeptHeaders,
    held_values,
    word_mentions,
)
from pneuma_assets.core.search.names import Elsewhere, KnownNames
from pneuma_assets.core.search.paraphrases import KnownAnswers, Match, rejected_tables
from pneuma_assets.core.search.parts import Parts, Rests
from pneuma_assets.core.search.results import (
    AMONG,
    MOST_CANDIDATES,
    TAU,
    Found,
    TableResult,
    as_asked,
    check_filter,
    check_judge,
    check_tau,
    checked_options,
    checked_question,
    listed,
    relative_cutoff,
    with_verdicts,
)
from pneuma_assets.core.search.table_search import SILENT, TableSearch
from pneuma_assets.core.tables import Table, TableTerms
from pneuma_assets.core.terms.rare_words import sought_words
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer

_LEAST_COSINE = 0.4
"""Of a column that a question names in other words: where one is left out of a prompt, a statement
cannot use it, so more are taken than for ranking tables (docs/measurements.md)."""

_OF_FAMILY = 5
"""Members of a family that sets of tables are made of: each year's sales may be asked for."""


class QueryEngine:
    """Answers questions from an index; safe to share between threads if its parts are.

    Args:
        index: Holds the blocks.
        encoder: The one that embedded them.
        judge: Grades the best tables (`search.judge`); None if there is none to ask.
        defaults: k, n, alpha and the signals' weights of questions that do not say.
        analyzer: The index's, to find the passage that a question's words point at.
        elsewhere: What a filter may name although it is not indexed.
        joins_of: Tells which tables can be joined; without it each is a group by itself.
        kept_headers: Returns what is kept of the embeddings of columns' headers.
        answers: Returns what people said of answers.
        profiles: Tells what tables are, for the judge: of what rules of privacy hide it sees
            nothing.
    """

    def __init__(
        self,
        index: SearchIndex,
        encoder: Encoder,
        judge: Judge | None = None,
        defaults: QueryOptions | None = None,
        *,
        analyzer: Analyzer = ENGLISH,
        elsewhere: Elsewhere = Elsewhere(),  # noqa: B008 (frozen)
        joins_of: JoinsOf = lambda _: (),
        kept_headers: KeptHeaders = lambda _: {},
        answers: Callable[[], KnownAnswers] = KnownAnswers,
        profiles: Callable[[Sequence[str]], Mapping[str, Table]] = lambda _: {},
    ) -> None:
        self._index = index
        self._encoder = encoder
        self._judge = judge
        self._defaults = defaults or QueryOptions()
        self._block_search = BlockSearch(index, analyzer)
        self._table_search = TableSearch(index, analyzer)
        self._groups = GroupSearch(index, joins_of)
        self._analyzer = analyzer
        self._headers = HeaderMatcher(encoder, analyzer, kept_headers)
        self._names = KnownNames(index, elsewhere)
        self._known_answers = answers
        self._profiles = profiles
        self._rests = Rests()

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
        tau: float | None = None,
        where: IndexFilter = NO_FILTER,
        missing: OnMissing | None = None,
    ) -> list[list[TableResult]]:
        """Answer several questions with one encoding and few calls to the index.

        The index proposes tables by every signal, up to `n * k` by each: its blocks by words and
        by meaning, and the fields of the tables' evidence. All of them are scored by all signals
        (`signals.rank_tables`). A question that is a table's or column's name, or nearly, is
        answered by the tables of that name first. That takes one call to the index for the
        proposals, one for the scores, and one for what is shown. Given `alpha`, the paper's two
        sides answer alone: each side's best blocks, min-max scaled, `alpha` weighing words against
        meaning; the best block of a table is the table's place. Where the proposals make fewer
        than `k` results, the index is asked for more, until it has no more or for 10,000 blocks. A
        text that several tables share counts less. Of tables that answer almost equally well, the
        more trusted comes first (`rerank.with_trust`); copies are one result with their original
        (`fold.collapse_copies`). The first `MOST_JUDGED`, `n * k` at most, stand by the judge's
        grades; what it refuses goes to the end, order kept, and so does what somebody rejected for
        a question that asks the same. Given `tau`, an answer has as many tables as its question
        needs (`relative_cutoff`), up to `k`.

        Args:
            questions: In plain language.
            k: Most tables of an answer.
            n: How many times k candidates each signal proposes.
            alpha: Weight of the words against the meaning, 0 to 1; None asks all signals.
            judge: Whether to ask the judge; None leaves it to the engine.
            tau: How near to the best a table must score, 0 to 1; None: `k` tables, however far.
            where: Which sources, tables and kinds of documents to look in, and who asks.
            missing: Is told of the encoder, the judge or the state where it is away, and of a judge
                that says nothing of some tables; the questions are answered without. None: a model
                that is away is an error. With an `alpha` of 0 a missing encoder is one anyway.

        Raises:
            QueryError: A question or an option is out of range or of another type, there is no
                judge to ask, nothing is indexed, or the filter names a table, source or kind that
                does not exist, or a table that is not indexed.
            ModelError: The encoder or the judge is away or fails.
        """
        options = checked_options(self._defaults, k, n, alpha)
        parts = self._parts(judge, missing)
        check_tau(tau)
        check_filter(where)
        asked = [checked_question(question) for question in listed(questions)]
        where = as_asked(where)
        if tau is None:
            return [one.results for one in self._found(asked, options, parts, where)]
        return self._needed(asked, options, parts, where, tau)

    def search(
        self,
        question: str,
        *,
        k: int | None = None,
        judge: bool | None = None,
        where: IndexFilter = NO_FILTER,
        among: Sequence[str] | None = None,
        words_only: bool = False,
        missing: OnMissing | None = None,
    ) -> Found:
        """Return the tables of `ask`, and what people said of answers to such questions.

        Args:
            question: In plain language.
            k: Most tables.
            judge: Whether to ask the judge; None leaves it to the engine.
            where: Which sources, tables and kinds of documents to look in, and who asks.
            among: Tables that `where` lets through, to look at no others; those that are not
                indexed any more are ignored.
            words_only: Ask neither the encoder nor the judge, which is quickest; how sure such an
                answer is, nobody knows.
            missing: As `ask_many`.

        Raises:
            QueryError: As `ask_many`.
            ModelError: As `ask_many`.
        """
        options = checked_options(self._defaults, k, None, None)
        check_filter(where)
        parts = self._parts(judge, missing, words_only=words_only)
        asked = [checked_question(question)]
        return self._found(asked, options, parts, as_asked(where), among=among)[0]

    def find(
        self,
        question: str,
        *,
        tau: float = TAU,
        k: int | None = None,
        judge: bool | None = None,
        where: IndexFilter = NO_FILTER,
    ) -> list[TableResult]:
        """Return as many tables as the question needs, best first (Octopus, section 4.3).

        Args:
            question: In plain language.
            tau: How near to the best a table must score: 1 leaves the best alone, 0 all `k`.
            k: Most tables; None: as by default.
            judge: As `ask_many`; what it refuses is left out, unless it refuses all.
            where: As `ask_many`.

        Raises:
            QueryError: As `ask_many`.
        """
        return self.ask_many([question], k=k, judge=judge, tau=tau, where=where)[0]

    def find_groups(
        self,
        question: str,
        *,
        k: int | None = None,
        judge: bool | None = None,
        where: IndexFilter = NO_FILTER,
        missing: OnMissing | None = None,
    ) -> list[GroupResult]:
        """Return up to `k` sets of tables that may answer the question together, best first.

        A table by itself is such a set, too. Sets are made of the best tables of `ask` and of what
        links them, by the joins that are known (Octopus, section 4.3; `relations.rank_groups`).

        Args:
            question: In plain language.
            k: Most sets; None: as many as tables by default.
            judge: As in `ask_many`.
            where: Which sources, tables and kinds of documents to look in, and who asks: no set
                has a table that these may not see.
            missing: As `ask_many`; without the state, no joins are known.

        Raises:
            QueryError: As `ask_many`.
            ModelError: As `ask_many`.
            StateError: The joins cannot be read.
        """
        most = checked_options(self._defaults, k, None, None).k
        options = checked_options(self._defaults, CANDIDATES, None, None)
        parts = self._parts(judge, missing)
        check_filter(where)
        asked, where = checked_question(question), as_asked(where)
        (found,) = self._found([asked], options, parts, where, _OF_FAMILY)
        alone = GroupSearch(self._index, lambda _: ())
        return parts.with_state(
            lambda: self._groups.group(asked, found, most, where),
            lambda: alone.group(asked, found, most, where),
        )

    def _found(
        self,
        asked: Sequence[str],
        options: QueryOptions,
        parts: Parts,
        where: IndexFilter,
        of_family: int = 1,
        *,
        among: Sequence[str] | None = None,
    ) -> list[Found]:
        if not asked:
            return []
        self._names.check(where)
        named = where.tables
        if among is not None:
            where = replace(where, tables=tuple(among))
        answers = self._answers(asked, options, parts, where, of_family, named)
        if not any(one.results for one in answers) and not self._index.list_tables(where.readers):
            if where.readers is not None:  # whether there are others is not theirs to know
                raise QueryError(
                    "no table that you may see is indexed; ask who keeps this catalog for a grant"
                )
            told = "nothing is indexed yet"
            raise QueryError(f"{told}; run: pneuma-assets index").saying_elsewhere(told)
        return answers

    def evidence(self, table_ids: Sequence[str]) -> dict[str, TableTerms]:
        """Return what the index keeps of these tables' rows; unknown ids are left out.

        Who may see a table is not looked at: ask for tables that were found for who asks.
        """
        return self._index.evidence(table_ids)

    def matched_columns(
        self,
        question: str,
        tables: Mapping[str, Sequence[str]],
        missing: OnMissing | None = None,
    ) -> dict[str, dict[str, float]]:
        """Return which columns of tables a question names, and how well each matches, up to 1.

        Args:
            question: In plain language.
            tables: The columns of each.
            missing: As `ask_many`; without the encoder or the state no column is named.
        """
        matcher = self._headers.among(MOST_NAMES, _LEAST_COSINE)
        mentions = word_mentions(question)
        parts = self._parts(False, missing)
        return parts.with_both(lambda: matcher.matched_columns(mentions, tables), dict)

    def held_values(
        self, question: str, table_ids: Sequence[str], where: IndexFilter
    ) -> dict[str, tuple[str, ...]]:
        """Return which runs of a question's words are whole cells of tables, and of which.

        Args:
            question: In plain language.
            table_ids: The tables.
            where: Who asks; of others' tables nothing is told.
        """
        seen = IndexFilter(tables=tuple(table_ids), readers=as_asked(where).readers)
        return held_values(self._index, question, seen) if table_ids else {}

    def remembered(self, question: str, missing: OnMissing | None = None) -> list[Match]:
        """Return what people said of answers to questions that ask the same as this.

        Raises:
            QueryError: The question cannot be asked.
            ModelError: The encoder is away, and nobody is told (`missing`).
        """
        parts, asked = self._parts(False, missing), [checked_question(question)]
        return parts.remembered(asked, parts.vectors(asked, None))[0]

    @property
    def analyzer(self) -> Analyzer:
        """How texts and questions become terms."""
        return self._analyzer

    def _answers(
        self,
        asked: Sequence[str],
        options: QueryOptions,
        parts: Parts,
        where: IndexFilter,
        of_family: int,
        named: Sequence[str],
    ) -> list[Found]:
        vectors = parts.vectors(asked, options.alpha)
        remembered = parts.remembered(asked, vectors)
        rejected = max(len(rejected_tables(one)) for one in remembered)
        most = max(options.k, min(options.k + rejected, MOST_CANDIDATES // options.n))
        wanted = options.model_copy(update={"k": most})
        queries = [IndexQuery(*pair) for pair in zip(asked, vectors, strict=True)]
        few = 0 if parts.judge is None else min(MOST_JUDGED, wanted.n * most)
        found = self._search(queries, wanted, max(most, few), where, of_family, named)
        judged = parts.with_state(
            lambda: parts.judged(lambda model: self._judged(model, asked, found, few), found),
            lambda: found,
        )
        pairs = zip(judged, remembered, strict=True)
        return [with_verdicts(one, said, options.k) for one, said in pairs]

    def _judged(
        self, model: Judge, asked: Sequence[str], found: Sequence[Found], few: int
    ) -> tuple[list[Found], str]:
        """Return answers whose first `few` tables stand by their grades, and why some have none."""
        best = [one.results[:few] for one in found]
        of_tables = self._index.evidence, self._profiles
        if isinstance(model, Reranker):
            read, problem = reranked(model, asked, best, *of_tables)
        else:
            read, problem = graded(model, asked, best, *of_tables)
        pairs = zip(found, read, strict=True)
        judged = [replace(o, results=by_grade(some, o.results[few:])) for o, some in pairs]
        return judged, problem

    def _search(
        self,
        queries: Sequence[IndexQuery],
        options: QueryOptions,
        most: int,
        where: IndexFilter,
        of_family: int,
        named: Sequence[str],
    ) -> list[Found]:
        k, n, alpha = options.k, options.n, options.alpha
        if alpha is not None:
            if any(one.vector is None for one in queries):
                alpha = 1.0  # by words, which is told
            answers = self._block_search.answer(queries, k, n, alpha, most, where)
            return [Found(one) for one in answers]
        queries = [
            IndexQuery(
                *(one.text, one.vector, one.text, SILENT),
                sought_words(one.text or "", self._analyzer),
            )
            for one in queries
        ]
        return self._table_search.answer(queries, options, most, where, of_family, named)

    def _needed(
        self,
        asked: Sequence[str],
        options: QueryOptions,
        parts: Parts,
        where: IndexFilter,
        tau: float,
    ) -> list[list[TableResult]]:
        """Return of each answer the tables that its question needs."""
        most = options.k
        among = max(most, min(AMONG, MOST_CANDIDATES // options.n))
        found = self._found(asked, options.model_copy(update={"k": among}), parts, where)
        return [relative_cutoff(one.results, tau)[:most] for one in found]

    def _parts(
        self, judge: bool | None, missing: OnMissing | None, *, words_only: bool = False
    ) -> Parts:
        encoder = None if words_only else self._encoder
        model = None if words_only else self._judge_for(judge)
        return Parts(encoder, model, self._known_answers, self._rests, missing)

    def _judge_for(self, wanted: bool | None) -> Judge | None:
        check_judge(wanted)
        if wanted and self._judge is None:
            raise QueryError("No model judges: name one in judge.model, or ask without it")
        return None if wanted is False else self._judge
