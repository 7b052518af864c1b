"""From a question to ranked tables (Pneuma, section 5.1)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from pneuma_assets.core.config.query import QueryConfig
from pneuma_assets.core.errors import QueryError
from pneuma_assets.core.index.base import (
    NO_FILTER,
    IndexFilter,
    IndexQuery,
    SearchIndex,
    SideHits,
)
from pneuma_assets.core.models.base import Encoder, LanguageModel
from pneuma_assets.core.search.candidates import Candidates, Ranked, by_table, rank
from pneuma_assets.core.search.judge import judge_blocks
from pneuma_assets.core.search.known_names import Elsewhere, KnownNames
from pneuma_assets.core.search.options import (
    check_filter,
    check_judge,
    checked_options,
    checked_question,
    listed,
)
from pneuma_assets.core.search.passages import best_passage
from pneuma_assets.core.search.proposals import Proposal, propose
from pneuma_assets.core.search.results import TableResult
from pneuma_assets.core.text.analysis import ENGLISH, Analyzer

YES = 0.5
"""The judge accepts a block to which it gives at least this probability."""


class QueryEngine:
    """Answers questions from an index; safe to share between threads if its parts are.

    Args:
        index: Holds the blocks.
        encoder: The one that embedded them.
        judge: Refuses candidates that do not answer; None if there is none to ask.
        defaults: k, n and alpha of questions that do not say.
        judge_by_default: Whether the judge is asked where a question does not say.
        analyzer: The index's, to find the passage that a question's words point at.
        elsewhere: What a filter may name although it is not indexed.
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
    ) -> None:
        self._index = index
        self._encoder = encoder
        self._judge = judge
        self._defaults = defaults or QueryConfig()
        self._judge_by_default = judge_by_default
        self._analyzer = analyzer
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
        """Answer several questions with one encoding and two calls to the index.

        Each side gives its `n * k` best texts. Where those are of fewer than `k` tables, the
        index is asked for more, until it has no more tables or blocks, or for 10,000: the answer
        is then the one with that larger `n`. A block that one side found gets its true score
        from the other, each side is min-max scaled over the candidates, and `alpha` weighs the
        words against the meaning. A text that several tables share counts less, and orders them
        by what else they say. Texts that the judge refuses go to the end, order kept; of
        candidates beyond `n * k` a side it is asked only about the best `n` of each table. The
        best text of a table is the table's place.

        Args:
            questions: In plain language.
            k: Most tables of an answer.
            n: How many times k blocks each side proposes.
            alpha: Weight of the words, 0 to 1.
            judge: Whether to ask the judge; None leaves it to the engine.
            where: Which sources, tables and kinds of documents to look in.

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
        self._names.check(where)
        answers = self._answers(asked, options, model, where)
        if not any(answers) and not self._index.list_tables():
            raise QueryError("nothing is indexed yet; run: pneuma-assets index")
        return answers

    def _answers(
        self,
        asked: Sequence[str],
        options: QueryConfig,
        model: LanguageModel | None,
        where: IndexFilter,
    ) -> list[list[TableResult]]:
        vectors = self._encoder.encode_queries(asked)
        queries = [IndexQuery(*pair) for pair in zip(asked, vectors, strict=True)]
        proposals = propose(self._index, queries, options.k, options.n, where)
        candidates = self._candidates(queries, [one.side for one in proposals])
        return [
            self._answer(model, question, rank(found, options.alpha), options, proposal)
            for question, found, proposal in zip(asked, candidates, proposals, strict=True)
        ]

    def _answer(
        self,
        judge: LanguageModel | None,
        question: str,
        ranked: Sequence[Ranked],
        options: QueryConfig,
        proposal: Proposal,
    ) -> list[TableResult]:
        if judge is not None and proposal.limit > options.k * options.n:
            ranked = _thinned(ranked, options)
        return _to_tables(question, _judged(judge, question, ranked), options.k, self._analyzer)

    def _judge_for(self, wanted: bool | None) -> LanguageModel | None:
        check_judge(wanted)
        if wanted and self._judge is None:
            raise QueryError("There is no judge to ask: set judge.enabled, or ask without it")
        asked = self._judge_by_default if wanted is None else wanted
        return self._judge if asked else None

    def _candidates(
        self, queries: Sequence[IndexQuery], sides: Sequence[SideHits]
    ) -> list[Candidates]:
        """Collect the blocks of both sides, and from the other side what one of them lacks."""
        found = [Candidates.of(side) for side in sides]
        one_sided = [candidates.one_sided() for candidates in found]
        if any(one_sided):
            scores = self._index.scores(queries, one_sided)
            for candidates, missing in zip(found, scores, strict=True):
                candidates.complete(missing)
        return found


def _thinned(ranked: Sequence[Ranked], options: QueryConfig) -> list[Ranked]:
    """Return the best `n` blocks of each table, as many as a question without more would have."""
    seen: Counter[str] = Counter()
    kept = []
    for one in ranked:
        tables = {block.table_id for block in one.blocks}
        seen.update(tables)
        if any(seen[table_id] <= options.n for table_id in tables):
            kept.append(one)
    return kept[: 2 * options.k * options.n]


def _judged(
    judge: LanguageModel | None, question: str, ranked: Sequence[Ranked]
) -> Sequence[Ranked]:
    """Move the blocks that the judge refuses to the end; both parts keep their order.

    A veto needs a verdict: an undecided block keeps its place among those not refused.
    """
    if judge is None or not ranked:
        return ranked
    verdicts = judge_blocks(judge, question, [one.block for one in ranked])
    judged = [
        replace(one, parts=replace(one.parts, judge=verdict))
        for one, verdict in zip(ranked, verdicts, strict=True)
    ]
    return sorted(judged, key=lambda one: one.parts.judge is not None and one.parts.judge < YES)


def _to_tables(
    question: str, ranked: Sequence[Ranked], k: int, analyzer: Analyzer
) -> list[TableResult]:
    return [
        TableResult(
            block.table_id,
            one.score,
            one.parts,
            block.kind,
            best_passage(block.text, question, analyzer),
            block.text,
            block.block_id,
        )
        for block, one in islice(by_table(ranked), k)
    ]
