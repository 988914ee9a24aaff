"""Out-of-scope scores: how unlike the training rows a row is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.decision.scores import Kind, as_scores, stored_kind
from linnaeus.errors import UsageError, damaged
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, tensor
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.types import Doubles

KEPT = 2000
"""The number of quantiles of the training rows that are kept."""
LOUDEST = 1e300


def voice(kind: Kind, S: Any, known: Any = None, blank: float = 0.0) -> Doubles:
    """The strength of each row (n,): its largest class score minus the mean of its scores.

    For label sets it is the largest score. For two classes it is the distance of the score to `blank`, the score of
    a text without features (the intercept): a score near 0 means that both classes are possible, a score near `blank`
    that the text has no evidence. `known` (n,) is the share of a row that
    the vocabulary contains, by length or by count. The strength is multiplied by it: when unknown words are dropped and
    the rest is normalized to length 1, a row of few known words would otherwise be as strong as a fully known one.

    >>> voice("classes", np.array([[3.0, 0.0, 0.0]]), [0.5]).tolist()
    [1.0]
    """
    S = as_scores(S)
    share = np.ones(len(S)) if known is None else np.asarray(known, dtype=np.float64)
    if share.shape != (len(S),) or not ((share >= 0) & (share <= 1)).all():
        raise UsageError("known takes one share between 0 and 1 for each row.")
    if kind == "binary":
        loud: Doubles = np.minimum(np.abs(S[:, 0] - blank), LOUDEST) * share
        return loud
    top: Doubles = np.clip(S.max(axis=1), -LOUDEST, LOUDEST)
    if kind == "labels":
        return np.minimum(top, top * share)  # a negative score already means no, and unknown words must not raise it
    mean: Doubles = np.clip((S / S.shape[1]).sum(axis=1), -LOUDEST, LOUDEST)
    return (top - mean) * share


def learn_scope(kind: Kind, S: Any, known: Any = None, blank: float = 0.0) -> FittedScope:
    """Learn the strengths of training rows from scores of models that were not trained on them; see `voice`.

    >>> scope = learn_scope("binary", np.linspace(1, 9, 9).reshape(-1, 1))
    >>> scope.scores(np.array([[5.0], [-0.5]])).round(2).tolist()
    [0.5, 0.91]
    """
    voices = np.sort(voice(kind, S, known, blank))
    places = np.unique(np.linspace(0, len(voices) - 1, KEPT).astype(np.int64))
    values, first = np.unique(voices[places], return_index=True)
    louder = np.asarray(1.0 - (places[first] + 1.0) / (len(voices) + 1.0), np.float64)
    return FittedScope(kind, len(voices), louder, values, blank, known is not None)


@dataclass(frozen=True, eq=False)
class FittedScope:
    """Rising strengths of training rows, and the share of the n rows that are stronger than each.

    With `by_known` they were learned with the known shares of the rows, and `scores` needs these too.
    """

    kind: Kind
    rows: int
    louder: Doubles
    voices: Doubles
    blank: float = 0.0
    by_known: bool = False

    def scores(self, S: Any, known: Any = None) -> Doubles:
        """The share of training rows with a larger strength (n,): near 1 is unlike the training data.

        Beyond the range of the training rows it continues towards 0 and 1, so that different strengths never tie.
        """
        said = voice(self.kind, S, known, self.blank)
        inside = np.interp(said, self.voices, self.louder)
        edge = 1.0 / (self.rows + 1.0)
        spread = max(float(self.voices[-1] / 2 - self.voices[0] / 2), 1e-300)
        with np.errstate(over="ignore"):
            under, over = (self.voices[0] - said) / spread, (said - self.voices[-1]) / spread
        inside = np.where(under > 0, 1.0 - edge * np.exp(-np.maximum(under, 0.0)), inside)
        return np.where(over > 0, edge * np.exp(-np.maximum(over, 0.0)), inside)

    def state(self) -> State:
        """Two vectors, and plain settings."""
        manifest = {"kind": "scope", "scores": self.kind, "rows": self.rows, "blank": self.blank}
        if self.by_known:
            manifest["by_known"] = True
        return State(manifest, {"louder": self.louder, "voices": self.voices})

    @classmethod
    def from_state(cls, state: State) -> FittedScope:
        """What `state` gave."""
        kind, rows = stored_kind(state.manifest), field(state.manifest, "rows", int)
        blank = field({"blank": 0.0, **state.manifest}, "blank", float)
        by_known = field({"by_known": False, **state.manifest}, "by_known", bool)
        louder, voices = (tensor(state.tensors, name, np.float64) for name in ("louder", "voices"))
        if rows < 1 or len(voices) == 0 or len(louder) != len(voices) or not np.isfinite([*voices, blank]).all():
            raise damaged("its out-of-scope quantiles do not fit")
        if (np.diff(voices) <= 0).any() or (np.diff(louder) >= 0).any() or not ((louder >= 0) & (louder <= 1)).all():
            raise damaged("its out-of-scope quantiles are not in order")
        return cls(kind, rows, louder, voices, blank, by_known)
