"""What is evaluated: the true labels of some rows and the predictions for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from linnaeus.errors import DataError
from linnaeus.frozen import dataclass
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.types import Ints

Task: TypeAlias = Literal["single", "sets", "numbers", "tags", "candidates"]
"""What is predicted of a row: a label, a label set, numbers, a tag for each token, one of the candidates."""

UNKNOWN = -1
"""The index of a true label that the model does not know, and of a missing prediction."""


@dataclass(frozen=True)
class Outcome:
    """True labels and predictions of n rows, with optional probabilities, scores, weights and costs.

    Single label: `truth` and `predicted` are indices (n,) into `classes`. A truth of -1 is a label that the model does
    not know, an error. A prediction of -1 means that the model abstained. Label sets: both are `LabelSets`;
    a true label of -1 is one the model does not know. Numbers: both are (n,) or (n, t), and there are no classes.

    `probabilities` (n, k) and `scores` (n, k) are optional, and so are `weights` (n,), one weight for each row. For two
    classes scores may be (n, 1), of the second class. `costs` (k, k) says what predicting y' costs when y is true: rows
    are predictions, columns truths. Rankings follow the probabilities, or the scores where there are none. `sets` are
    the classes that each row may have, as `LabelSets`, where a model of single labels gives such sets.

    >>> Outcome([0, 1], [0, 0], ["ham", "spam"]).task
    'single'
    """

    truth: Any
    predicted: Any
    classes: Sequence[Any] = ()
    probabilities: Any = None
    scores: Any = None
    weights: Any = None
    costs: Any = None
    sets: LabelSets | None = None

    @property
    def task(self) -> Task:
        """What is predicted: one label for each row, any number of labels, or numbers."""
        if isinstance(self.truth, LabelSets):
            return "sets"
        return "single" if len(self.classes) else "numbers"


def lookup(labels: Iterable[Any], classes: Sequence[Any]) -> Ints:
    """The index of each label among the classes, -1 for an unknown label.

    >>> lookup(["spam", "eggs"], ["ham", "spam"]).tolist()
    [1, -1]
    """
    places = {plain(label): i for i, label in enumerate(classes)}
    return np.array([places.get(plain(label), UNKNOWN) for label in labels], dtype=np.int32)


def lookup_sets(rows: Iterable[Iterable[Any]], classes: Sequence[Any]) -> LabelSets:
    """The labels of each row as indices among the classes; all unknown labels become one label, -1.

    >>> lookup_sets([["b", "a"], [], ["x"]], ["a", "b"]).labels.tolist()
    [0, 1, -1]
    """
    places = {plain(label): i for i, label in enumerate(classes)}
    found = [sorted({places.get(plain(label), UNKNOWN) for label in row}) for row in rows]
    offsets = np.zeros(len(found) + 1, np.int64)
    np.cumsum([len(row) for row in found], out=offsets[1:])
    return LabelSets(offsets, np.array([i for row in found for i in row], dtype=np.int32))


def plain(label: Any) -> Any:
    """A scalar of NumPy or Arrow as Python's own: these are equal and hash alike."""
    return label.as_py() if hasattr(label, "as_py") else label.item() if isinstance(label, np.generic) else label


def refuse_no_rows(n: int) -> None:
    """Refuse an outcome without rows."""
    if not n:
        raise DataError("There are no rows to evaluate; give at least one row with its true label.")
