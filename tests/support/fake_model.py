"""A language model without a model: deterministic, instant, for tests (also yours)."""

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pneuma_assets.core.errors import OutOfMemoryError
from pneuma_assets.core.models.base import Conversation, Generation, conversation
from pneuma_assets.core.models.batching import BatchSizer, run_batches

_TOKEN = re.compile(r"\s*\S+")
_COLUMN = re.compile(r"Describe briefly what the (.+) column represents", re.DOTALL)


class FakeLanguageModel:
    """Keeps `models.base.LanguageModel` by simple rules, and counts what it is asked.

    Args:
        name: As any model's.
        max_batch: Upper bound of the batch-size search.
        fits: Most prompts that fit "in memory"; larger batches raise `MemoryError` after
            `answers_before_failure` answers, as a real model would part-way.
        answers_before_failure: Answers that a batch which does not fit still gives.
        longest: Most words of a prompt that fits even alone.
        answers: What it answers to a prompt, in place of a sentence about it.

    Attributes:
        calls: How often `generate` was called with at least one prompt.
        prompts: Every prompt, in the order given.
        sizer: The batch size, with its history.
        batches: How many prompts each batch held, failed ones included.
    """

    def __init__(
        self,
        name: str = "fake",
        *,
        max_batch: int = 32,
        fits: int | None = None,
        answers_before_failure: int = 0,
        longest: int | None = None,
        answers: Callable[[str], str] | None = None,
    ) -> None:
        self.name = name
        self.context: int | None = None
        self.calls = 0
        self.prompts: list[str] = []
        self.sizer = BatchSizer(max_batch)
        self.batches: list[int] = []
        self._fits = fits
        self._answers_before_failure = answers_before_failure
        self._longest = longest
        self._answer = answers or sentence_about

    def generate(
        self,
        prompts: Sequence[str | Conversation],
        max_new_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[Generation]:
        """Yield a sentence about the column that the prompt asks for, or about the prompt."""
        prompts = ["\n\n".join(turn["content"] for turn in conversation(one)) for one in prompts]
        self._note(prompts)

        def run(batch: list[int]) -> Iterator[tuple[int, list[str]]]:
            for index in self._fitting(batch, prompts):
                yield index, _TOKEN.findall(self._answer(prompts[index]))

        sizes = [len(prompt.split()) + max_new_tokens for prompt in prompts]
        unfit: list[Generation] = []
        batches = run_batches(
            sizes,
            run,
            self.sizer,
            unfit=lambda index, error: unfit.append(Generation(index, "", str(error))),
            wait=_nothing,
        )
        for index, words in batches:
            text = "".join(words[:max_new_tokens]).strip()
            yield Generation(index, text, whole=len(words) <= max_new_tokens)
        if self._fits == 0 and unfit:
            raise OutOfMemoryError("Nothing fits in memory")
        yield from unfit

    def close(self) -> None:
        """Do nothing; there is nothing to free."""

    def _note(self, prompts: Sequence[str]) -> None:
        self.calls += bool(prompts)
        self.prompts.extend(prompts)

    def _fitting(self, batch: list[int], prompts: Sequence[str]) -> Iterator[int]:
        self.batches.append(len(batch))
        fits = self._fits is None or len(batch) <= self._fits
        if self._longest is not None:
            fits = fits and max(len(prompts[at].split()) for at in batch) <= self._longest
        for done, index in enumerate(batch):
            if not fits and done >= self._answers_before_failure:
                raise MemoryError
            yield index


def _nothing(*_: object) -> None:
    """Free nothing, wait for nothing, tell nobody: there is no memory that could be short."""


def sentence_about(prompt: str) -> str:
    """Return the same sentence for the same prompt, another one for another."""
    found = _COLUMN.search(prompt)
    digest = hashlib.blake2b(prompt.encode("utf-8", "replace"), digest_size=4).hexdigest()
    subject = found.group(1) if found else (prompt.strip().splitlines() or [""])[0]
    return f"Holds the {subject} of each row ({digest})."


def grading(grade: Callable[[dict[str, Any]], int]) -> Callable[[str], str]:
    """Return what answers a judge's prompt, by what stands there of each table."""

    def answer(prompt: str) -> str:
        said = [
            {"n": one["n"], "reason": "so", "grade": grade(one)} for one in shown_tables(prompt)
        ]
        return json.dumps({"candidates": said})

    return answer


def shown_tables(prompt: str) -> list[dict[str, Any]]:
    """Return what a judge's prompt shows of each table."""
    return [json.loads(line) for line in prompt.splitlines() if line.startswith('{"n": ')]
