"""The pictures of the lectures, made by the library's own models on toy data: `linnaeus gallery` draws them.

    toys       data in two dimensions
    scenes     decision boundaries: which models on which data (drawn by boundary)
    curves     losses, sigmoids, polynomials;  paths  gradient descent;  digits  weights as templates

To add a picture: a function that gives a `render.picture.Picture`, its row in `PICTURES`, a test of what it plots.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from linnaeus.gallery.boundary import draw
from linnaeus.gallery.curves import losses, overfitting, scaling
from linnaeus.gallery.digits import digits
from linnaeus.gallery.paths import descent
from linnaeus.gallery.scenes import SCENES

if TYPE_CHECKING:
    from collections.abc import Callable

    from linnaeus.render.picture import Picture

PICTURES: dict[str, Callable[[], Picture]] = {
    **{name: partial(draw, scene) for name, scene in SCENES.items()},
    "losses": losses,
    "gradient-descent": descent,
    "sigmoid-scaling": scaling,
    "overfitting": overfitting,
    "digit-templates": digits,
}
"""Every picture by name."""

__all__ = ["PICTURES", "SCENES"]
