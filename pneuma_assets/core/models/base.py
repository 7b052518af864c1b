"""The contracts every language model and every encoder keep."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pneuma_assets.core.tables import Vector


@dataclass(frozen=True, slots=True)
class Generation:
    """The model's answer to the prompt at position `index` of the call.

    Attributes:
        index: Which prompt.
        text: The answer; empty where there is none.
        problem: Why there is no answer, in one line: an endpoint refuses this prompt, or it does
            not fit in memory. None where there is one.
        whole: False where the limit on tokens cut the answer off.
        silent: Whether there is no answer since nothing was said, which may be otherwise later.
    """

    index: int
    text: str
    problem: str | None = None
    whole: bool = True
    silent: bool = False


Message = Mapping[str, str]
"""What is said in a conversation: `role` (`system`, `user` or `assistant`) and `content`."""

Conversation = Sequence[Message]
"""What was said so far, which a model answers."""


def conversation(prompt: "str | Conversation") -> Conversation:
    """Return the conversation that a prompt is; one that is a text begins with it."""
    return ({"role": "user", "content": prompt},) if isinstance(prompt, str) else prompt


def too_long(read: int, room: int) -> str:
    """Return why a prompt of so many tokens has no answer: what is cut is read, but not whole."""
    return (
        f"the prompt has {read:,} tokens, and the model's window has room for {max(0, room):,} "
        "beside its answer"
    )


class LanguageModel(Protocol):
    """A language model that answers prompts greedily.

    A prompt is a text or a conversation; the back end applies the model's own chat template.

    One call at a time, its answers taken to the end: whoever shares a model between threads lets
    these take turns. A back end that several threads may ask at once says so by an attribute
    `concurrent`, which is True. An endpoint is one; models of this process hold tokenizers and
    batch sizes that are of one call, and would gain nothing on the same cores. One that knows how
    many tokens of prompt and answer it can hold says so by `context`; else that is None.
    """

    @property
    def name(self) -> str:
        """Identifies model and weights; part of the narration cache's key."""
        ...

    @property
    def context(self) -> int | None:
        """Tokens that a prompt and its answer may have together; None: not known."""
        ...

    def generate(
        self,
        prompts: Sequence[str | Conversation],
        max_new_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Iterator[Generation]:
        """Yield one greedy answer a prompt, as they finish, in any order.

        With a `schema`, answers are JSON of it where the back end can bind them; whoever asks
        describes it in the prompt, too, and checks what comes (`language.forms.ask`).

        A prompt that an endpoint refuses (a content filter) or that does not fit in memory has
        the problem instead of an answer; the others go on. A caller that stores each answer as
        it comes loses at most one batch when killed.

        Raises:
            ModelError: The model is missing or fails, or the endpoint refuses any prompt;
                `OutOfMemoryError` where not even the shortest fits.
        """
        ...

    def close(self) -> None:
        """Free the memory that the model holds; the object is not used afterwards."""
        ...


class Encoder(Protocol):
    """Turns texts into unit-length vectors, and knows how many tokens it can read.

    One to which texts leave this machine says so by an attribute `is_elsewhere`, which is True.
    """

    @property
    def name(self) -> str:
        """Identifies the model; an index refuses vectors of another one."""
        ...

    @property
    def dimension(self) -> int:
        """Length of one vector."""
        ...

    @property
    def window(self) -> int:
        """Most tokens of text read at once, special tokens not counted; more would be cut off."""
        ...

    def token_spans(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Return where each token of each text starts and ends, in characters."""
        ...

    def encode_documents(self, texts: Sequence[str]) -> Vector:
        """Embed texts of an index, shape (len(texts), dimension), float32, unit length."""
        ...

    def encode_queries(self, texts: Sequence[str]) -> Vector:
        """Embed questions, shape (len(texts), dimension), float32, unit length."""
        ...


def is_elsewhere(encoder: Encoder) -> bool:
    """Tell whether texts leave this machine for it: it is shown no hidden name, and may be away."""
    return bool(getattr(encoder, "is_elsewhere", False))


def with_size(name: str, where: str | Path) -> str:
    """Return the name with the size of the file or folder, or alone where it is neither."""
    path = Path(where)
    files = [path] if path.is_file() else path.rglob("*") if path.is_dir() else []
    size = sum(file.stat().st_size for file in files if file.is_file())
    return f"{name} ({size / 1e6:,.0f} MB)" if size else name
