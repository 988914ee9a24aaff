"""The prediction for a row, of any kind, and the classes that its explanation covers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.types import Doubles

Kind: TypeAlias = Literal["one", "many", "number"]


@dataclass(frozen=True, eq=False)
class Answer:
    """One class, several labels, or numbers: the predicted ones and the explained ones, by class number.

    `about` has the predicted ones first, then the best of the others.
    """

    kind: Kind
    predicted: tuple[int, ...]
    about: tuple[int, ...]
    standings: Doubles

    def margin(self, K: Doubles) -> Doubles:
        """The margin of the first predicted class in class scores (n, k); not positive if it is no longer predicted."""
        lead = self.predicted[0]
        if self.kind == "many":
            return K[:, lead]
        others: Doubles = np.delete(K, lead, axis=1)
        margins: Doubles = K[:, lead] - others.max(axis=1, initial=-np.inf)
        return margins

    def flipped(self, decided: NDArray[Any]) -> NDArray[np.bool_]:
        """The rows where another class is predicted, or the first label is no longer among the labels."""
        lead = self.predicted[0]
        gone: NDArray[np.bool_] = decided != lead if self.kind == "one" else ~decided[:, lead].astype(bool)
        return gone


def answer_of(decided: NDArray[Any], K: Doubles) -> Answer:
    """The prediction for one row from the decision (1,) or (1, k) and the class scores (1, k).

    >>> answer_of(np.array([1]), np.array([[0.1, 0.5, 0.3]])).about
    (1, 2)
    >>> answer_of(np.array([[True, False, True]]), np.array([[0.1, -0.5, 0.3]])).about
    (2, 0, 1)
    """
    decided, standings = np.asarray(decided), K[0]
    order = np.argsort(-standings, kind="stable").tolist()
    if decided.dtype.kind == "f":
        return Answer("number", (), tuple(range(len(standings))), standings)
    if decided.ndim == 2:
        predicted = tuple(i for i in order if decided[0, i])
        others = [i for i in order if i not in predicted]
        return Answer("many", predicted, (*predicted, *others[:1]), standings)
    first = tuple(int(i) for i in decided if i >= 0)
    others = [i for i in order if i not in first]
    return Answer("one", first, (*first, *others)[:2], standings)
