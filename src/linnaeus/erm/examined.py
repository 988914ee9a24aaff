"""The objective of a diagnosis, from any matrix and labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import CSR, as_rows
from linnaeus.arrays.finite import refuse_overflow
from linnaeus.erm.objective import Objective
from linnaeus.errors import DataError, UsageError, did_you_mean, expect
from linnaeus.losses import Perceptron
from linnaeus.outputs import OUTPUTS, Binary, Multiclass, MultiLabel, Real
from linnaeus.regularizers import NoPenalty
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from linnaeus.arrays.labels import Labels


def examined(X: Any, y: Any, space: Any, k: int | None, bias: Any) -> Objective:
    """The perceptron's objective on these data: its loss is zero if every example is classified correctly."""
    if bias not in ("free", "none"):
        raise UsageError(f"bias takes 'free' or 'none', not {bias!r}.")
    rows = as_rows(X, who="separability")
    rows = rows if isinstance(rows, CSR) else rows.to_csr()
    refuse_overflow("X", rows.data[: rows.nnz], "features")
    truth, classes = _truth(y, k)
    if len(truth) != len(rows):
        raise DataError(f"X has {len(rows)} rows, but y has {len(truth)}; give one label for each row.")
    output = _space(space, isinstance(truth, LabelSets), classes)
    output.width(classes)
    return Objective(rows, truth, output, Perceptron(), NoPenalty(), np.ones(len(rows)), classes, bias)


def _truth(y: Any, k: int | None) -> tuple[Any, int]:
    """Class indices or label sets, and the number of classes."""
    from linnaeus.arrays.labels import encode, refuse_one_class

    if k is not None:
        expect("k", k, int)
    if isinstance(y, LabelSets):
        return _indices(y, y.labels, int(y.labels.max(initial=0)) + 1 if k is None else k)
    labels = encode(y)
    if k is None:
        if not labels.sets:
            refuse_one_class(labels.classes)
        return labels.y, len(labels.classes)
    return _numbered(labels, k)


def _numbered(labels: Labels, k: int) -> tuple[Any, int]:
    """The labels themselves as indices; those of an indicator matrix are its columns."""
    if labels.classes.dtype.kind not in "biu":
        raise UsageError(f"k={k} needs class indices from 0 to {k - 1}; leave k out for other labels.")
    if labels.sets:
        labels_of = LabelSets(labels.y.offsets, labels.classes[labels.y.labels].astype(np.int32))
        return _indices(labels_of, labels.classes, k)
    return _indices(labels.classes[labels.y].astype(np.int32), labels.classes, k)


def _indices(truth: Any, used: Any, k: int) -> tuple[Any, int]:
    """Refuse class indices outside 0 to k - 1."""
    if len(used) and not 0 <= int(used.min()) <= int(used.max()) < k:
        raise UsageError(f"k={k} classes have the indices 0 to {k - 1}, but y goes from {used.min()} to {used.max()}.")
    return truth, k


def _space(space: Any, sets: bool, k: int) -> Any:
    """The output space with this name, if it fits the labels."""
    if isinstance(space, str):
        if space == "auto":
            return MultiLabel() if sets else Binary() if k == 2 else Multiclass()
        if space not in OUTPUTS:
            raise UsageError(f"There is no output {space!r}; {did_you_mean(space, [*OUTPUTS, 'auto'])}")
        space = OUTPUTS[space]()
    if isinstance(space, type) or not hasattr(space, "decode"):
        raise UsageError(f"space takes an output space or its name ({', '.join(OUTPUTS)}), not {space!r}.")
    if isinstance(space, Real) or isinstance(space, MultiLabel) != sets:
        wanted = "multilabel" if sets else "one of binary, multiclass, onevsrest and onevsone"
        raise UsageError(f"The output {type(space).__name__} does not fit these labels; use {wanted}, or 'auto'.")
    return space
