"""A network with one hidden layer learns exclusive or: what each layer makes of the plane, and how the loss falls."""

from __future__ import annotations

from functools import cache

import numpy as np

from linnaeus.gallery.drawing import CELLS, boundaries, lattice, level_lines, picture, plane
from linnaeus.gallery.toys import corners
from linnaeus.learners.networks.by_hand import Network, cross_entropy, fit, forward, random_network
from linnaeus.render.picture import Layer, Lines, Pair, Panel, Points, Regions, path
from linnaeus.types import Doubles

TOY = corners([0, 1, 1, 0])
STEPS, RATE = 300, 1.0
SHOWN = (20, 50, STEPS)
"""After how many steps the network is drawn."""

STARTS = {"first start": 0, "second start": 3, "third start": 6}
"""Seeds of random weights; from the last one gradient descent ends in a local minimum."""

REACH = 1.45
"""Hidden units have values between -1 and 1; beside them is room for names."""

AXES = ("first hidden unit", "second hidden unit")
NAMES = (("(0,0)", "(1,1)"), ("(0,1), (1,0)", ""))
"""The corners of each class by name; the two of the second class come to lie together."""

Names = tuple[tuple[str, ...], ...]


@cache
def trained(seed: int = 0) -> list[Network]:
    """A network with two hidden units after 0, 1, ..., STEPS steps."""
    start = random_network(2, 2, 2, np.random.default_rng(seed))
    return fit(start, TOY.X, TOY.y, RATE, STEPS)


def scored(network: Network, H: Doubles) -> Doubles:
    """How much larger the second score is than the first, at rows of hidden units: a linear function."""
    margin: Doubles = H @ (network.V[1] - network.V[0]) + network.c[1] - network.c[0]
    return margin


def probable(margin: Doubles) -> Regions:
    """The class of each cell, shaded by its probability."""
    sure = np.abs(np.tanh(margin / 2)).reshape(CELLS, CELLS)  # |2 p - 1|
    return Regions(_signs(margin), "probability of class 2, from 0 to 1", sure.tolist())


def inputs(network: Network, title: str) -> Panel:
    """The plane of the inputs, with the answers of the network."""
    at, grid = lattice(TOY.limits)
    margin = scored(network, forward(network, grid).H)
    return plane(TOY, [probable(margin), Lines(level_lines(at, margin), 0, "equal scores")], title)


def space(network: Network, title: str, names: Names = ((), ())) -> Panel:
    """The plane of the two hidden units: the corners, the grid of the inputs, and the line of equal scores."""
    at, grid = lattice((-REACH, REACH))
    margin = scored(network, grid)
    layers: list[Layer] = [
        probable(margin),
        Lines(bent(network), 0, "grid of the inputs", 0.5),
        Lines(level_lines(at, margin), 0, "equal scores"),
    ]
    for kind in (0, 1):
        at_corners = forward(network, TOY.X[TOY.y == kind]).H.tolist()
        layers.append(Points(at_corners, kind, f"class {kind + 1}", names[kind]))
    return Panel(layers, title, (-REACH, REACH), (-REACH, REACH), *AXES)


def bent(network: Network) -> list[list[Pair]]:
    """The lines of a grid over the inputs, where the hidden layer puts them."""
    low, high = TOY.limits
    along, lines = np.linspace(low, high, 41), []
    for across in np.linspace(low, high, 9):
        for order in ([0, 1], [1, 0]):
            places = forward(network, np.column_stack([np.full(41, across), along])[:, order]).H
            lines.append(path(places[:, 0], places[:, 1]))
    return lines


@picture()
def hidden_layer() -> list[Panel]:
    """XOR learned by one hidden layer.

    Above the plane of the inputs, below the plane of the two hidden units, by the number of steps. The last layer can
    only draw a straight line through the hidden units. The hidden layer learns to fold the plane until this line
    separates the classes; seen from the inputs, the one line is two.
    """
    networks = {f"after {steps} steps": trained()[steps] for steps in SHOWN}
    above = [inputs(network, title) for title, network in networks.items()]
    return above + [space(network, "") for network in networks.values()]


@picture()
def units() -> list[Panel]:
    """A network by hand: hidden units.

    The four corners of XOR, and the two hidden units after training. Each unit is a soft step: a line on which it is 0,
    with values toward 1 on one side and toward -1 on the other.
    """
    at, grid = lattice(TOY.limits)
    H = forward(trained()[-1], grid).H
    panels = [plane(TOY, [], "the inputs")]
    for values, title in zip(H.T, AXES, strict=True):
        sure = np.abs(values).reshape(CELLS, CELLS).tolist()
        shades = Regions(_signs(values), "activation, from -1 to 1", sure)
        panels.append(plane(TOY, [shades, Lines(level_lines(at, values), 0, "activation 0", 1.2)], title))
    return panels


@picture()
def hidden_space() -> list[Panel]:
    """A network by hand: hidden space.

    The same corners at the values of the two hidden units. Both units have learned nearly the same direction, so that
    the whole plane is pressed onto a bent curve. Two opposite corners lie together at its bend, the others at its ends,
    and a straight line separates the classes.
    """
    return [space(trained()[-1], "", NAMES)]


@picture()
def outputs() -> list[Panel]:
    """A network by hand: scores and probabilities.

    The two scores over the plane of the inputs, and the probability that softmax makes of them. The boundary is where
    the scores are equal.
    """
    network = trained()[-1]
    at, grid = lattice(TOY.limits)
    S = forward(network, grid).S
    panels = [plane(TOY, boundaries(S[:, k], at, (-2.0, 0.0, 2.0)), f"score of class {k + 1}") for k in (0, 1)]
    margin = S[:, 1] - S[:, 0]
    equal = Lines(level_lines(at, margin), 3, "equal scores")
    return [*panels, plane(TOY, [probable(margin), equal], "probability")]


def falling(seed: int) -> list[float]:
    """The loss before each step, and after the last."""
    return [cross_entropy(forward(network, TOY.X), TOY.y) for network in trained(seed)]


@picture()
def losses() -> list[Panel]:
    """A network by hand: the loss.

    The loss by the number of steps of gradient descent, from three random starts. It is not convex: two starts reach
    zero errors, at different times, and the third ends in a local minimum, where two of the four corners stay
    undecided.
    """
    layers: list[Layer] = [Lines([[(0.0, np.log(2)), (STEPS, np.log(2))]], 0, "log 2: both classes equal", 1.0, "5 4")]
    for kind, (name, seed) in enumerate(STARTS.items()):
        layers.append(Lines([list(enumerate(falling(seed)))], 1 + kind, name))
    return [Panel(layers, "", (0.0, STEPS), (0.0, 0.9), "step", "mean cross-entropy")]


def _signs(values: Doubles) -> list[list[int]]:
    signs: list[list[int]] = (values > 0).astype(np.int64).reshape(CELLS, CELLS).tolist()
    return signs
