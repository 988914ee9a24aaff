"""Scores of texts without a matrix in between: fitted features and their weights, compiled into one kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from linnaeus import kernels
from linnaeus.decision.scores import shared_chances
from linnaeus.errors import DataError, InputTypeError
from linnaeus.features.base import Fitted, as_stream
from linnaeus.features.fused import Fused, fuse
from linnaeus.frozen import dataclass
from linnaeus.store.blocks import Guard, Guarded, raw
from linnaeus.text import as_texts
from linnaeus.types import Array, Bytes, Doubles, Floats, Ints, Longs, Source

if TYPE_CHECKING:
    import pyarrow as pa


Curve: TypeAlias = tuple[float, float]


Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Quick:
    """A compiled linear model: texts in, class scores S = X W + b out, with the bits of features, product and sum.

    Many threads may use it at once, and processes after a fork.
    """

    features: Fitted
    fused: Fused
    W: Floats
    b: Doubles
    guard: Guard | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return compile_scorer, (self.features, {"W": self._whole(), "b": self.b})  # a kernel is made again

    def _whole(self) -> Floats:
        """The weights, all of them checked."""
        if self.guard is not None:
            self.guard.check()
        return self.W

    @cached_property
    def _kernel(self) -> kernels.Scorer:
        guard = () if self.guard is None else (self.guard.kernel,)
        return kernels.Scorer(self.fused.groups, self.W, self.b, self.fused.wanted, *guard)

    def _ask(self, work: Callable[..., Answer], *arguments: object) -> Answer:
        """Use the weights: where they lie in a file, it must be whole, and so must the blocks that are used."""
        if self.guard is None:
            return work(*arguments)
        self.guard.ready()
        try:
            return work(*arguments)
        except RuntimeError as error:
            raise self.guard.damaged() from error

    @cached_property
    def _stems(self) -> bool:
        return any(analysis.stem is not None for analysis in self.fused.analyses)

    def choose(self, text: str, curve: Curve) -> tuple[int, float]:
        """The best class of one text and its share of the chances 1 / (1 + e^-(s/T + b)), for the curve (T, b).

        A single score s stands for two classes, 0 and s.
        """
        try:
            found = None if self._stems else self._ask(self._kernel.choose, text, curve)
        except (TypeError, UnicodeEncodeError, OverflowError):
            found = None
        if found is not None:
            return found
        best, chance = _most_likely(self.scores([_one(text)]), curve)
        return int(best[0]), float(chance[0])

    def choices(self, texts: pa.Array | None, curve: Curve) -> tuple[Ints, Doubles]:
        """The same of each text (n,), (n,)."""
        sources = self._sources(texts)
        best, chance = np.empty(len(sources[0][1]) - 1, np.int32), np.empty(len(sources[0][1]) - 1)
        try:
            self._ask(self._kernel.choices, sources, best, chance, curve, kernels.thread_count())
        except OverflowError:
            return _most_likely(self._block(texts), curve)
        return best, chance

    def score(self, text: str) -> Doubles:
        """The class scores of one text (k)."""
        try:
            found = None if self._stems else self._ask(self._kernel.score, text)
        except (TypeError, UnicodeEncodeError, OverflowError):
            found = None  # what is wrong with the text, if anything, is said below
        return self.scores([_one(text)])[0] if found is None else found

    def scores(self, source: Source) -> Doubles:
        """The class scores of each text (n, k)."""
        blocks = [self._block(batch.text) for batch in as_stream(source).batches()]
        if len(blocks) == 1:
            return blocks[0]
        return np.concatenate(blocks) if blocks else np.zeros((0, len(self.b)))

    def _sources(self, texts: pa.Array | None) -> list[tuple[Bytes, Longs]]:
        """The texts in each form that a part reads."""
        if texts is None:
            raise DataError("These features are made of text, but the rows have none; name the column with text=...")
        given = as_texts(texts)
        prepared = [analysis.prepare(given) for analysis in self.fused.analyses]
        return [(form.data, form.offsets) for form in prepared]

    def _block(self, texts: pa.Array | None) -> Doubles:
        sources = self._sources(texts)
        out = np.empty((len(sources[0][1]) - 1, len(self.b)))
        try:
            self._ask(self._kernel.scores, sources, out, kernels.thread_count())
        except OverflowError:  # a term occurs more often than the tables of values reach
            out[:] = self.features.rows(texts).dot(self._whole()) + self.b
        return out


def compile_scorer(features: Fitted, params: Mapping[str, Array]) -> Quick | None:
    """The features and the parameters W (d, k) and b (k) in one kernel, or None where these features need rows.

    >>> from linnaeus.features import Words
    >>> features = Words().fit(["bad film", "good film"])
    >>> quick = compile_scorer(features, {"W": np.array([[-1.0], [0.0], [1.0]]), "b": np.zeros(1)})
    >>> quick.score("Good, good film!").tolist(), quick.scores(["bad", ""]).tolist()
    ([2.0], [[-1.0], [0.0]])
    """
    fused = fuse(features)
    if fused is None:
        return None
    W = np.ascontiguousarray(raw(params, "W"), np.float32)
    guard = params.guards.get("W") if isinstance(params, Guarded) else None
    b = np.asarray(params["b"], np.float64) if "b" in params else np.zeros(W.shape[1])
    return Quick(features, fused, W, b, guard)


def _most_likely(S: Doubles, curve: Curve) -> tuple[Ints, Doubles]:
    S = np.hstack([np.zeros_like(S), S]) if S.shape[1] == 1 else S
    best, chances = S.argmax(axis=1), shared_chances(S, curve)
    chance: Doubles = chances[np.arange(len(S)), best] / chances.sum(axis=1)
    return best.astype(np.int32), chance


def _one(text: object) -> str:
    if not isinstance(text, str):
        raise InputTypeError(f"{type(text).__name__} was given where one text is wanted; give a string.")
    return text
