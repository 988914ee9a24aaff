"""The pictures of the lectures, made by the library's own models on toy data: `linnaeus gallery` draws them.

    toys             data in two dimensions, and texts
    drawing          titles and captions, the plane of two features, lines of equal value
    boundaries       decision boundaries: which models on which data; soft margins
    multiclass       three classes;  voronoi  cells;  lifts  truth tables, features that help
    curves           losses, convexity, sigmoids, densities and posteriors
    fits             polynomials: underfitting, overfitting, bias and variance
    paths, minima    gradient descent, on bowls and where there are several valleys
    texts            weights of words, tf-idf, Zipf's law, learning curves, reliability
    digits           weights as templates

To add a picture: a function that gives its panels, with its title and caption as docstring (`drawing.picture`), its row
in `PICTURES`, a test of what it plots, and a link to it in the documentation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from linnaeus.gallery.boundaries import SCENES as SCENES
from linnaeus.gallery.boundaries import draw, slack
from linnaeus.gallery.curves import convexity, gaussians, losses, scaling
from linnaeus.gallery.digits import digits
from linnaeus.gallery.fits import overfitting, underfitting, variance
from linnaeus.gallery.lifts import TABLES, lift
from linnaeus.gallery.minima import minima
from linnaeus.gallery.multiclass import k_way, one_vs_one, one_vs_rest
from linnaeus.gallery.paths import descent
from linnaeus.gallery.texts import learning, reliability, tfidf, words, zipf
from linnaeus.gallery.voronoi import voronoi
from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.render.picture import Picture


PICTURES: dict[str, Callable[[], Picture]] = {
    **{name: partial(draw, scene) for name, scene in SCENES.items()},
    "slack": slack,
    "three-classes": k_way,
    "one-vs-rest": one_vs_rest,
    "one-vs-one": one_vs_one,
    "truth-tables": partial(draw, TABLES),
    "lift": lift,
    "voronoi": voronoi,
    "two-gaussians": gaussians,
    "losses": losses,
    "convexity": convexity,
    "gradient-descent": descent,
    "local-minima": minima,
    "sigmoid-scaling": scaling,
    "overfitting": overfitting,
    "underfitting": underfitting,
    "bias-variance": variance,
    "word-weights": words,
    "tf-idf": tfidf,
    "zipf": zipf,
    "learning-curves": learning,
    "reliability": reliability,
    "digit-templates": digits,
}
"""Every picture by name."""


__getattr__, __dir__ = room(__name__)
