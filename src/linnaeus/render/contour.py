"""Where a function on a grid crosses a level: marching squares (Lorensen and Cline 1987, in two dimensions)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linnaeus.render.picture import Pair

Corner = tuple[float, float, float]
"""x, y and the value there."""


def contour(xs: Sequence[float], ys: Sequence[float], values: Sequence[Sequence[float]]) -> list[tuple[Pair, Pair]]:
    """Short lines along which the linear interpolation of values[row][column], at (xs[column], ys[row]), is zero.

    >>> contour([0.0, 1.0], [0.0, 1.0], [[-1.0, 1.0], [-1.0, 1.0]])
    [((0.5, 0.0), (0.5, 1.0))]
    """
    found: list[tuple[Pair, Pair]] = []
    for j in range(len(ys) - 1):
        for i in range(len(xs) - 1):
            around = ((j, i), (j, i + 1), (j + 1, i + 1), (j + 1, i))
            corners = [(float(xs[c]), float(ys[r]), float(values[r][c])) for r, c in around]
            found += _inside(corners)
    return found


def _inside(corners: list[Corner]) -> list[tuple[Pair, Pair]]:
    signs = [corner[2] > 0 for corner in corners]
    if all(signs) or not any(signs):
        return []
    sides = [(corners[i], corners[(i + 1) % 4]) for i in range(4)]
    crossed = [_zero(a, b) for a, b in sides if (a[2] > 0) != (b[2] > 0)]
    if len(crossed) == 2:
        return [(crossed[0], crossed[1])]
    # A saddle: the middle belongs to the diagonal that has its sign, and the lines cut off the other two corners.
    middle = sum(corner[2] for corner in corners) > 0
    if middle == signs[0]:
        return [(crossed[0], crossed[1]), (crossed[2], crossed[3])]
    return [(crossed[3], crossed[0]), (crossed[1], crossed[2])]


def _zero(a: Corner, b: Corner) -> Pair:
    share = a[2] / (a[2] - b[2])
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1])
