"""Metrics of tags: accuracy of tokens, whole sentences, known and unknown words; entities as seqeval counts them.

    P = entities that are right / entities predicted,  R = entities that are right / true entities
    F1 = 2 P R / (P + R)

An entity is right if its begin, end and type are. `data/tag_encodings.py` describes how inconsistent tags are read.
Counts are kept for each sentence, since the bootstrap draws sentences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from linnaeus.data.tag_encodings import Spans, is_encoded, spans
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.types import Json, Longs


@dataclass(frozen=True, slots=True)
class EntityScore:
    """Precision, recall and F1 of entities of one type or of all types, with the counts behind them.

    >>> score = EntityScore("PER", support=4, predicted=5, correct=3)
    >>> score.precision, score.recall
    (0.6, 0.75)
    """

    label: str
    support: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        """The share of predicted entities that are right; 0 where none was predicted."""
        return self.correct / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of entities that were found; 0 where there is none."""
        return self.correct / self.support if self.support else 0.0

    @property
    def f1(self) -> float:
        """2 P R / (P + R) = 2 correct / (support + predicted)."""
        both = self.support + self.predicted
        return 2 * self.correct / both if both else 0.0

    def to_json(self) -> dict[str, Json]:
        """Plain data."""
        counts = {"support": self.support, "predicted": self.predicted, "correct": self.correct}
        return {"precision": self.precision, "recall": self.recall, "f1": self.f1, **counts}


@dataclass(frozen=True, slots=True, eq=False)
class TagScores:
    """Scores of predicted tags.

    `known` and `unknown` are the accuracies on words that occur in the training data and on others, None if that is not
    known or there are none. `entities` and `types` are scores of entities, None if tags mark none. `counts` has a row
    for each sentence: tokens, right tokens, true entities, predicted entities, right entities.

    >>> import numpy as np
    >>> from linnaeus.evaluation import score_tags
    >>> score_tags(np.array([0, 2]), ["N", "V"], ["N", "N"]).accuracy
    0.5
    """

    tokens: int
    accuracy: float
    sentences: float
    known: float | None
    unknown: float | None
    entities: EntityScore | None
    types: tuple[EntityScore, ...]
    counts: Longs

    @property
    def headline(self) -> tuple[str, float]:
        """The main metric: F1 of entities if there are any, else accuracy."""
        return ("f1", self.entities.f1) if self.entities is not None else ("accuracy", self.accuracy)

    def interval(self, level: float = 0.95, rounds: int = 1000, seed: int = 0) -> tuple[float, float]:
        """The score interval of the headline, with the variance of sentences drawn again (Efron, 1979)."""
        from linnaeus.evaluation.intervals import interval

        rng = np.random.default_rng(seed)
        n = len(self.counts)
        drawn = np.array([self._headline(self.counts[rng.integers(0, n, n)].sum(0)) for _ in range(rounds)])
        return interval(self.headline[1], drawn, level, "share", n)

    def _headline(self, sums: Longs) -> float:
        tokens, right, there, predicted, correct = sums.tolist()
        if self.entities is not None:
            return 2 * correct / (there + predicted) if there + predicted else 0.0
        return right / tokens if tokens else 0.0

    def to_json(self) -> dict[str, Json]:
        """Plain data for a machine or a model file."""
        made: dict[str, Json] = {"tokens": self.tokens, "accuracy": self.accuracy, "sentences": self.sentences}
        made |= {"known": self.known, "unknown": self.unknown}
        if self.entities is not None:
            made["entities"] = self.entities.to_json()
            made["types"] = {score.label: score.to_json() for score in self.types}
        return made


def score_tags(offsets: Longs, truth: Any, predicted: Any, known: NDArray[np.bool_] | None = None) -> TagScores:
    """Score predicted tags (m,) of sentences; Arrow arrays or lists of strings, `known` says which words are known.

    A token whose true tag is null is not counted among the tokens.

    >>> found = score_tags(np.array([0, 3]), ["B-PER", "I-PER", "O"], ["B-PER", "O", "O"])
    >>> found.accuracy, found.entities.f1
    (0.6666666666666666, 0.0)
    """
    gold, guess = _array(truth), _array(predicted)
    m = int(offsets[-1] - offsets[0])
    if len(gold) != m or len(guess) != m:
        raise DataError(f"there are {len(gold)} true and {len(guess)} predicted tags for {m} tokens; give one each.")
    codes, names = _together(gold, guess)
    counted = ~np.asarray(gold.is_null().to_numpy(zero_copy_only=False), bool)
    right = (codes[0] == codes[1]) & counted
    bounds = offsets - offsets[0]
    entities, types, counts = _entities(gold, guess, bounds) if is_encoded(names) else (None, (), None)
    rows = [_sums(counted, bounds), _sums(right, bounds)]
    found = np.column_stack([*rows, np.zeros((len(bounds) - 1, 3), np.int64) if counts is None else counts])
    whole = float((rows[0] == rows[1]).mean()) if len(bounds) > 1 else 0.0
    old, new = (None, None) if known is None else (_share(right, counted & of) for of in (known, ~known))
    return TagScores(int(counted.sum()), _share(right, counted) or 0.0, whole, old, new, entities, types, found)


def _share(right: NDArray[np.bool_], among: NDArray[np.bool_]) -> float | None:
    return float(right[among].mean()) if among.any() else None


def _entities(gold: pa.Array, guess: pa.Array, bounds: Longs) -> tuple[EntityScore, tuple[EntityScore, ...], Longs]:
    there, said = spans(gold, bounds), spans(guess, bounds)
    types = sorted({*there.types, *said.types})
    number = {kind: i for i, kind in enumerate(types)}
    own = [_kinds(found, number) for found in (there, said)]
    # A token begins at most one entity of each side: they are the same where both begin there, alike.
    _, a, b = np.intersect1d(there.starts, said.starts, assume_unique=True, return_indices=True)
    same = (there.ends[a] == said.ends[b]) & (own[0][a] == own[1][b])
    k = len(types)
    per = [np.bincount(kinds, minlength=k) for kinds in (own[0], own[1], own[0][a][same])]
    scores = tuple(EntityScore(kind, *(int(count[i]) for count in per)) for i, kind in enumerate(types))
    total = EntityScore("all", *(int(count.sum()) for count in per))
    starts = (there.starts, said.starts, there.starts[a][same])
    return total, scores, np.column_stack([_counts(begin, bounds) for begin in starts])


def _kinds(found: Spans, number: dict[str, int]) -> Longs:
    return np.array([number[kind] for kind in found.types], np.int64)[found.kinds] if len(found) else found.starts


def _counts(starts: Longs, bounds: Longs) -> Longs:
    """How many of these tokens lie in each sentence."""
    return np.diff(np.searchsorted(starts, bounds))


def _sums(flags: NDArray[np.bool_], bounds: Longs) -> Longs:
    return np.diff(np.concatenate([[0], np.cumsum(flags)])[bounds])


def _array(tags: Any) -> pa.Array:
    return tags if isinstance(tags, pa.Array) else pa.array(list(tags), pa.string())


def _together(gold: pa.Array, guess: pa.Array) -> tuple[list[Longs], list[str]]:
    """Both as numbers of the same names; null is -1."""
    both = pa.concat_arrays([gold.cast(pa.large_string()), guess.cast(pa.large_string())]).dictionary_encode()
    codes = both.indices.fill_null(-1).to_numpy()
    return [codes[: len(gold)], codes[len(gold) :]], both.dictionary.to_pylist()


def is_known(sentences: Sentences, words: pa.Array) -> NDArray[np.bool_]:
    """Which tokens are among these words.

    >>> from linnaeus.data.sentences import Sentences
    >>> is_known(Sentences.from_lists([["a", "b"]]), pa.array(["b"])).tolist()
    [False, True]
    """
    import pyarrow.compute as pc

    found: NDArray[np.bool_] = pc.is_in(sentences.tokens, value_set=words.cast(sentences.tokens.type)).to_numpy(
        zero_copy_only=False
    )
    return found
