"""What is evaluated: true labels and predictions of some rows, checked and reduced to a few numbers for each row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from linnaeus.errors import DataError, UsageError
from linnaeus.evaluation.facts import KEEP, Facts, offsets_of, owners, singles
from linnaeus.evaluation.formulas import TOP, leaders, rank_of
from linnaeus.frozen import dataclass
from linnaeus.protocols import has_method
from linnaeus.types import Array, Arrays, Doubles, Ints, Label, LabelSets, Matrix

if TYPE_CHECKING:
    from numpy.typing import NDArray


Task: TypeAlias = Literal["single", "sets", "numbers", "tags", "trees", "candidates", "many"]
"""What is predicted of a row: a label, a label set, numbers, a tag or a head for each token, one of the candidates, the
best of very many labels."""

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

    truth: Matrix
    predicted: Matrix
    classes: Sequence[Label] = ()
    probabilities: Matrix = None
    scores: Matrix = None
    weights: Matrix = None
    costs: Matrix = None
    sets: LabelSets | None = None

    @property
    def task(self) -> Task:
        """What is predicted: one label for each row, any number of labels, or numbers."""
        if isinstance(self.truth, LabelSets):
            return "sets"
        return "single" if len(self.classes) else "numbers"


def lookup(labels: Iterable[Label], classes: Sequence[Label]) -> Ints:
    """The index of each label among the classes, -1 for an unknown label.

    >>> lookup(["spam", "eggs"], ["ham", "spam"]).tolist()
    [1, -1]
    """
    places = {plain(label): i for i, label in enumerate(classes)}
    return np.array([places.get(plain(label), UNKNOWN) for label in labels], dtype=np.int32)


def lookup_sets(rows: Iterable[Iterable[Label]], classes: Sequence[Label]) -> LabelSets:
    """The labels of each row as indices among the classes; all unknown labels become one label, -1.

    >>> lookup_sets([["b", "a"], [], ["x"]], ["a", "b"]).labels.tolist()
    [0, 1, -1]
    """
    places = {plain(label): i for i, label in enumerate(classes)}
    found = [sorted({places.get(plain(label), UNKNOWN) for label in row}) for row in rows]
    return LabelSets(
        offsets_of([len(row) for row in found]), np.array([i for row in found for i in row], dtype=np.int32)
    )


def plain(label: Label) -> Label:
    """A scalar of NumPy or Arrow as Python's own: these are equal and hash alike."""
    return label.as_py() if has_method(label, "as_py") else label.item() if isinstance(label, np.generic) else label


def refuse_no_rows(n: int) -> None:
    """Refuse an outcome without rows."""
    if not n:
        raise DataError("There are no rows to evaluate; give at least one row with its true label.")


EPS = float(np.finfo(np.float64).eps)
"""Probabilities are held this far from 0 and 1 in the log loss, as scikit-learn does: no row costs more than 36.05."""


def observe(outcome: Outcome | Facts) -> Facts:
    """The facts of an outcome, which metrics are computed from; facts are returned unchanged.

    >>> import numpy as np
    >>> from linnaeus.evaluation import Outcome
    >>> outcome = Outcome(truth=np.array([0, 1, 1]), predicted=np.array([0, 1, 0]), classes=("no", "yes"))
    >>> observe(outcome).classes
    ('no', 'yes')
    """
    if isinstance(outcome, Facts):
        return outcome
    if not isinstance(outcome, Outcome):
        raise UsageError(f"An Outcome is evaluated, not {type(outcome).__name__}; give Outcome(truth, predicted, ...).")
    return {"single": _single, "sets": _sets, "numbers": _numbers}[outcome.task](outcome)


def _single(outcome: Outcome) -> Facts:
    k = len(outcome.classes)
    truth, predicted = (_indices(getattr(outcome, name), k, name) for name in ("truth", "predicted"))
    n = _agreed(truth, predicted)
    P, ranked = _probabilities(outcome, n, k), _ranked(outcome, n, k)
    values: Arrays = {}
    if ranked is not None:
        rank = np.where(truth >= 0, rank_of(ranked, np.maximum(truth, 0)), k)
        values |= {f"found_at_{at}": (rank < at).astype(np.uint8) for at in TOP if at <= k}
    if P is not None:
        values |= _chances(P, truth)
    if outcome.costs is not None:
        values |= _costs(outcome.costs, truth, predicted, k)
    if outcome.sets is not None:
        values |= _possible(outcome.sets, truth, k)
    return _facts(outcome, singles(np.where(truth >= 0, truth, k)), singles(predicted), values, ranked)


def _facts(outcome: Outcome, truth: LabelSets, predicted: LabelSets, values: Arrays, ranked: Doubles | None) -> Facts:
    kept = ranked if ranked is not None and ranked.size <= KEEP else None
    names = tuple(map(str, outcome.classes))
    return Facts(outcome.task, names, weights_of(outcome.weights, len(truth)), truth, predicted, values, kept)


def _chances(P: Doubles, truth: NDArray[np.intp]) -> Arrays:
    """The values that need probabilities; a label that the model does not know has probability 0."""
    rows, there, k = np.arange(len(P)), truth >= 0, P.shape[1]
    of_truth = np.where(there, P[rows, np.maximum(truth, 0)], 0.0)
    brier = (P**2).sum(axis=1) - 2.0 * of_truth + 1.0
    best = P.argmax(axis=1)
    return {
        "log_loss": -np.log(np.clip(of_truth, EPS, 1.0 - EPS)),
        "brier": np.maximum(brier, 0.0) / (2.0 if k == 2 else 1.0),
        "confidence": P[rows, best],
        "top_right": (best == truth).astype(np.uint8),
    }


def _costs(costs: Matrix, truth: NDArray[np.intp], predicted: NDArray[np.intp], k: int) -> Arrays:
    """The cost of each prediction; an unknown true label costs as much as the worst error for this prediction."""
    table = np.asarray(costs, dtype=np.float64)
    if table.shape != (k, k) or not np.isfinite(table).all():
        raise UsageError(f"costs is {table.shape}, but there are {k} classes; give a {k} by {k} matrix of numbers.")
    padded = np.hstack([table, table.max(axis=1, keepdims=True)])
    answered = predicted >= 0
    paid = np.where(answered, padded[np.maximum(predicted, 0), np.where(truth >= 0, truth, k)], 0.0)
    return {"cost": paid, "answered": answered.astype(np.uint8)}


def _possible(sets: LabelSets, truth: NDArray[np.intp], k: int) -> Arrays:
    """Whether the truth of each row is in its set, and how large the set is."""
    agree("sets", len(sets), len(truth))
    tidy = _tidy(sets, k, "sets")
    held = np.bincount(owners(tidy)[tidy.labels == truth[owners(tidy)]], minlength=len(truth))
    sizes = np.diff(tidy.offsets)
    return {"set_holds": held.astype(np.uint8), "set_size": sizes, "set_empty": (sizes == 0).astype(np.uint8)}


def _sets(outcome: Outcome) -> Facts:
    k = len(outcome.classes)
    if not k:
        raise UsageError("Label sets need the names of the labels; give them as classes.")
    if not isinstance(outcome.predicted, LabelSets):
        raise UsageError("The truth has label sets, but the predictions do not; give both as LabelSets.")
    n = _agreed(outcome.truth, outcome.predicted)
    if outcome.costs is not None:
        raise UsageError("costs only apply to single labels; leave them out for label sets.")
    truth, predicted = _tidy(outcome.truth, k, "truth"), _tidy(outcome.predicted, k, "predicted")
    P, ranked = _probabilities(outcome, n, k), _ranked(outcome, n, k)
    values: Arrays = {}
    if ranked is not None:
        depths = [at for at in TOP if at <= k]
        first, keys = leaders(ranked, depths[-1]), owners(truth) * (k + 1) + truth.labels
        found = np.isin(np.arange(n)[:, None] * (k + 1) + first, keys)
        values |= {f"found_at_{at}": found[:, :at].sum(axis=1).astype(np.uint8) for at in depths}
    if P is not None:
        values["log_loss"] = _label_loss(P, truth)
    return _facts(outcome, truth, predicted, values, ranked)


def _label_loss(P: Doubles, truth: LabelSets) -> Doubles:
    """The mean over labels of -log p where the label is true, -log(1 - p) where not; EPS for unknown true labels."""
    k = P.shape[1]
    Q = np.clip(P, EPS, 1.0 - EPS)
    total = -np.log1p(-Q).sum(axis=1)
    rows, labels = owners(truth), truth.labels
    known = labels < k
    p = np.where(known, Q[rows, np.minimum(labels, k - 1)], EPS)
    change = -np.log(p) + np.where(known, np.log1p(-p), 0.0)
    return (total + np.bincount(rows, change, len(P))) / k


def _numbers(outcome: Outcome) -> Facts:
    truth, predicted = (_reals(getattr(outcome, name), name) for name in ("truth", "predicted"))
    n = _agreed(truth, predicted)
    if truth.shape != predicted.shape:
        raise DataError(f"The truth has {truth.shape[1]} numbers for each row, the predictions {predicted.shape[1]}.")
    none = singles(np.full(n, UNKNOWN))
    return _facts(outcome, none, none, {"target": truth, "error": predicted - truth}, None)


def _reals(given: Matrix, name: str) -> Doubles:
    array = np.asarray(given, dtype=np.float64)
    if array.ndim not in (1, 2):
        raise DataError(f"{name} takes one number, or one row of numbers, for each row, not shape {array.shape}.")
    if not np.isfinite(array).all():
        raise DataError(f"{name} has values that are not finite; leave these rows out.")
    return array.reshape(len(array), -1)


def _indices(given: Matrix, k: int, name: str) -> NDArray[np.intp]:
    array = np.asarray(given)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iub"):
        raise DataError(f"{name} takes one class index for each row; lookup(labels, classes) gives them.")
    found = array.astype(np.intp)
    if found.size and (found.min() < -1 or found.max() >= k):
        raise DataError(f"{name} has class indices outside -1 to {k - 1}; there are {k} classes.")
    return found


def _tidy(sets: LabelSets, k: int, name: str) -> LabelSets:
    """Labels of each row sorted, each once; unknown ones are k in the truth, and refused in a prediction."""
    low = -1 if name == "truth" else 0
    if sets.labels.size and (sets.labels.min() < low or sets.labels.max() >= k):
        raise DataError(f"{name} has labels outside {low} to {k - 1}; there are {k} labels.")
    labels = np.where(sets.labels >= 0, sets.labels, k)
    keys = np.unique(owners(sets) * (k + 1) + labels)
    counts = np.bincount(keys // (k + 1), minlength=len(sets))
    return LabelSets(offsets_of(counts), (keys % (k + 1)).astype(np.int32))


def _probabilities(outcome: Outcome, n: int, k: int) -> Doubles | None:
    if outcome.probabilities is None:
        return None
    P = _block(outcome.probabilities, (n, k), "probabilities")
    if P.min() < -1e-5 or P.max() > 1.0 + 1e-5:  # small errors from rounding to float32 are accepted
        raise DataError("probabilities must lie between 0 and 1; give other numbers as scores.")
    return P


def _ranked(outcome: Outcome, n: int, k: int) -> Doubles | None:
    if outcome.probabilities is not None:
        return np.asarray(outcome.probabilities, dtype=np.float64)
    if outcome.scores is None:
        return None
    scores = np.asarray(outcome.scores, dtype=np.float64)
    if k == 2 and outcome.task == "single" and scores.size == n:
        scores = scores.reshape(n, 1) * np.array([-1.0, 1.0])
    return _block(scores, (n, k), "scores")


def _block(given: Matrix, shape: tuple[int, int], name: str) -> Doubles:
    array = np.asarray(given, dtype=np.float64)
    if array.shape != shape:
        raise DataError(f"{name} has shape {array.shape}, but there are {shape[0]} rows and {shape[1]} classes.")
    if not np.isfinite(array).all():
        raise DataError(f"{name} has values that are not finite; give a finite number for each class.")
    return array


def weights_of(given: Matrix, n: int) -> Doubles:
    """The weight of each row, checked; 1 without any.

    >>> weights_of(None, 2).tolist()
    [1.0, 1.0]
    """
    if given is None:
        return np.ones(n)
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (n,):
        raise DataError(f"weights has shape {weights.shape}, but there are {n} rows; give one weight for each row.")
    if not np.isfinite(weights).all() or weights.min() < 0:
        raise DataError("weights must be finite and not negative; 0 leaves a row out.")
    return weights


def _agreed(truth: Array | LabelSets, predicted: Array | LabelSets) -> int:
    """The number of rows, at least one, which truth and predictions both have."""
    agree("predicted", len(predicted), len(truth))
    refuse_no_rows(len(truth))
    return len(truth)


def agree(name: str, found: int, n: int) -> None:
    """Refuse what has another number of rows than the truth."""
    if found != n:
        raise DataError(f"The truth has {n} rows, but {name} has {found}; give one for each row.")
