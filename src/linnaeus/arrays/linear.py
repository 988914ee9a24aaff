"""The linear model: scores S = X W + b, and the gradients of W and b."""

from __future__ import annotations

import numpy as np

from linnaeus import kernels
from linnaeus.errors import DataError
from linnaeus.protocols import Rows
from linnaeus.types import Doubles, Floats, Params


def initial(d: int, w: int, bias: bool) -> Params:
    """All zeros: W (d, w), and b (w,) if there is a bias.

    >>> {name: p.shape for name, p in initial(3, 2, bias=True).items()}
    {'W': (3, 2), 'b': (2,)}
    """
    params: Params = {"W": np.zeros((d, w))}
    return {**params, "b": np.zeros(w)} if bias else params


def scores(X: Rows, params: Params) -> Doubles:
    """X W + b  (n, w)."""
    S = X.dot(params["W"])
    return S + params["b"] if "b" in params else S


def gradient(X: Rows, D: Doubles, params: Params, out: Params | None = None) -> Params:
    """The gradient of every parameter, from the gradient of the scores; written to `out` if given."""
    G: Params = {"W": X.tdot(D, None if out is None else out["W"])}
    return {**G, "b": D.sum(axis=0, out=None if out is None else out["b"])} if "b" in params else G


def stored(params: Params) -> dict[str, Floats]:
    """The parameters of a fitted model as float32, exactly as they are saved."""
    with np.errstate(over="ignore"):
        found = {name: np.ascontiguousarray(value, np.float32) for name, value in params.items()}
    if any(kernels.first_unfinite(value.reshape(-1), kernels.thread_count()) >= 0 for value in found.values()):
        raise DataError(
            "Training diverged: weights are infinite; scale the features, or lower the learning rate of the optimizer."
        )
    return found
