"""The linear model: scores S = X W + b, and the gradients that come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Params


def initial(d: int, w: int, bias: bool) -> Params:
    """All zeros: W (d, w), and b (w,) where there is a bias.

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
    """The gradient in every parameter, from that in the scores; in `out` where that is given."""
    G: Params = {"W": X.tdot(D, None if out is None else out["W"])}
    return {**G, "b": D.sum(axis=0, out=None if out is None else out["b"])} if "b" in params else G
