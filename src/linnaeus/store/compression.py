"""Smaller models: which features one can do without, and weights in fewer bytes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from linnaeus.errors import UsageError, damaged
from linnaeus.types import Array, Arrays, Doubles, Floats, Ints

Coded: TypeAlias = tuple[Array, Floats | None]


FINE = 0.01
"""The error of one scale for each column, relative to the weights, up to which it is good enough."""

NARROW = 4
"""With fewer columns a scale for each row would cost about as much as int8 saves."""

SAVING = 0.8
"""Leaving out zeros has to bring the bytes down to this share: putting them back takes time at every load."""

GROWTH = 32
"""Weights take at most so many times the bytes they are stored in: a small file cannot ask for a large memory."""

_COUNTS = (np.uint8, np.uint16, np.uint32)


def quantize(W: Floats, kind: str = "float32") -> Arrays:
    """Weights (d, w) as tensors of a file; `kind` is "float32" (exact, used where it lies), "float16" or "int8".

    int8 has one scale for each column where that loses less than 1%, else one for each row (and always for each column
    where there are fewer than four): weights of rare words are far smaller than those of others.

    >>> packed = quantize(np.array([[1, -0.5], [0.3, 0.2], [0, -1]], np.float32), "int8")
    >>> packed["codes"].tolist(), dequantize(packed)[1]
    ([[127, -64], [38, 25], [0, -127]], array([0.2992126 , 0.19685039], dtype=float32))
    """
    if kind not in KINDS:
        raise UsageError(f"There is no kind of weights {kind!r}; the kinds are {', '.join(KINDS)}.")
    if W.ndim != 2 or W.dtype != np.float32 or not np.isfinite(W).all():
        raise UsageError("Weights are stored as a finite float32 matrix (features, scores).")
    codes, scales = KINDS[kind](W)
    return {"codes": codes} if scales is None else _packed(np.ascontiguousarray(codes), scales)


def dequantize(tensors: Mapping[str, Array]) -> Floats:
    """The weights (d, w) of tensors that `quantize` made; whole float32 weights where they lie, others anew."""
    codes = tensors.get("codes")
    if codes is None or codes.dtype.name not in KINDS or codes.ndim != (1 if "columns" in tensors else 2):
        raise damaged("its weights are of an unknown kind")
    if "columns" in tensors:
        codes = _spread(codes, tensors)
    if "scales" not in tensors:
        if codes.dtype != np.float32:
            raise damaged("its weights lack their scales")
        return codes
    scales = tensors["scales"]
    if scales.dtype != np.float32 or scales.shape not in {(1, 1), (codes.shape[0], 1), (1, codes.shape[1])}:
        raise damaged("the scales of its weights do not fit")
    W: Floats = codes.astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        W *= scales
    if W.size and not (np.isfinite(W.min()) and np.isfinite(W.max())):
        raise damaged("its weights are not finite")
    return W


def _halves(W: Floats) -> Coded:
    """One scale, a power of two, so that only codes are rounded, and neither large nor small weights are lost."""
    _, exponent = np.frexp(np.abs(W).max(initial=0))
    scale = np.ldexp(np.ones((1, 1), np.float32), max(int(exponent) - 15, -149))
    return (W / scale.astype(np.float64)).astype(np.float16), scale


def _eighths(W: Floats) -> Coded:
    codes, scales = _rounded(W, 0)
    fine = W.shape[1] < NARROW or _error(W, codes, scales) <= FINE
    return (codes, scales) if fine else _rounded(W, 1)


def _rounded(W: Floats, axis: int) -> tuple[NDArray[np.int8], Floats]:
    scales = (np.abs(W).max(axis, keepdims=True, initial=0) / np.float32(127)).astype(np.float32)
    scales[scales == 0] = 1
    np.minimum(scales, np.finfo(np.float32).max / 128, out=scales)  # 127 times a scale that was rounded up is finite
    codes = np.empty(W.shape, np.int8)
    for part in _blocks(len(W)):
        quotients = W[part] / (scales if axis == 0 else scales[part]).astype(np.float64)
        codes[part] = np.clip(np.rint(quotients), -127, 127)
    return codes, scales


def _error(W: Floats, codes: NDArray[np.int8], scales: Floats) -> float:
    """Root mean square of what rounding by columns changes, relative to that of the weights."""
    lost = total = 0.0
    for part in _blocks(len(W)):
        lost += float(np.square(W[part] - codes[part] * scales.astype(np.float64)).sum())
        total += float(np.square(W[part], dtype=np.float64).sum())
    return math.sqrt(lost / total) if total else 0.0


def _blocks(d: int) -> Iterator[slice]:
    """Rows some at a time: float64 copies of a large matrix would take twice its memory."""
    return (slice(start, start + (1 << 16)) for start in range(0, d, 1 << 16))


KINDS: dict[str, Callable[[Floats], Coded]] = {"float32": lambda W: (W, None), "float16": _halves, "int8": _eighths}
"""How weights are coded, by the type of the codes."""


def _packed(codes: Array, scales: Floats) -> Arrays:
    """Whole, or row by row without zeros: how many are left in each row, their columns, and their codes."""
    whole = {"codes": codes, "scales": scales}
    there, w = codes != 0, codes.shape[1]
    counts = np.count_nonzero(there, axis=1).astype(_smallest(w))
    columns = np.nonzero(there)[1].astype(_smallest(w))
    width = np.array([w], np.int64)
    sparse = {"codes": codes[there], "columns": columns, "counts": counts, "width": width, "scales": scales}
    size = _size(sparse)
    return whole if size > SAVING * _size(whole) or 4 * codes.size > GROWTH * size else sparse


def _size(tensors: Mapping[str, Array]) -> int:
    return sum(array.nbytes for array in tensors.values())


def _smallest(count: int) -> type[np.unsignedinteger]:
    return next(kind for kind in _COUNTS if count <= np.iinfo(kind).max)


def _spread(codes: Array, tensors: Mapping[str, Array]) -> Array:
    """The whole matrix of codes, after a look whether everything fits."""
    columns, counts, width = (tensors.get(name, np.zeros(())) for name in ("columns", "counts", "width"))
    if any(a.ndim != 1 or a.dtype.type not in _COUNTS for a in (columns, counts)) or width.dtype != np.int64:
        raise damaged("its sparse weights lack counts or columns")
    w = int(width[0]) if width.shape == (1,) else -1
    if w < 0 or 4 * len(counts) * w > GROWTH * _size(tensors):
        raise damaged("its sparse weights would take far more memory than their file")
    if not counts.sum(dtype=np.int64) == len(codes) == len(columns) or (columns >= w).any():
        raise damaged("its sparse weights do not fit their counts and columns")
    places = np.repeat(np.arange(len(counts), dtype=np.int64) * w, counts) + columns
    if (np.diff(places) <= 0).any():
        raise damaged("its sparse weights are not in order")
    whole = np.zeros((len(counts), w), codes.dtype)
    whole.reshape(-1)[places] = codes
    return whole


def importance(W: Floats, squares: Doubles) -> Doubles:
    """How much the scores of a row change without a feature, root mean square over the rows.

        sqrt(mean_i || x_ij w_j ||^2)  =  ||w_j|| sqrt(squares_j),    squares_j = mean_i x_ij^2

    `W` holds the weights (d, w), `squares` the mean square of each feature (d,).

    >>> importance(np.array([[3, 4], [1, 0]], np.float32), np.array([0.25, 1])).tolist()
    [2.5, 1.0]
    """
    if squares.shape != W.shape[:1]:
        raise UsageError(f"There are weights of {W.shape[0]:,} features, and mean squares of {len(squares):,}.")
    norms: Doubles = np.sqrt(np.einsum("ij,ij->i", W, W, dtype=np.float64))
    return norms * np.sqrt(squares)


def prune(W: Floats, squares: Doubles, count: int) -> Ints:
    """The columns of the `count` most important features, in order; those that change nothing are never kept.

    Of equally important ones the first stay. `fitted.shrink(columns)` and `W[columns]` are the smaller model.

    >>> prune(np.array([[1], [0], [-3], [1]], np.float32), np.ones(4), 2).tolist()
    [0, 2]
    """
    weights = importance(W, squares)
    order = np.argsort(-weights, kind="stable")[: max(count, 0)]
    return np.sort(order[weights[order] > 0]).astype(np.int32)
