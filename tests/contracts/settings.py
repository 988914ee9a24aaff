"""How each optimizer is set for the small problems, and which cells it refuses."""

from tests.contracts.problems import N

from linnaeus import optimizers as o
from linnaeus.losses import LOSSES, MarginLoss, PointLoss
from linnaeus.protocols import NewtonLoss, capability

RATES = {"absolute": 1.0, "squared": 0.1, "squared_hinge": 0.2, "modified_huber": 0.2, "huber": 0.3, "exponential": 0.1}
"""The steepest losses need short steps; 2 does for the others."""

EXACT = {
    "gradient_descent": o.GradientDescent,
    "lbfgs": o.LBFGS,
    "coordinate": o.CoordinateDescent,
    "proximal": o.ProximalGradient,
    "conjugate_gradient": o.ConjugateGradient,
    "newton_cg": o.NewtonCG,
    "newton": o.Newton,
    "normal_equations": o.NormalEquations,
    "lsqr": o.LSQR,
    "dual": o.DualAscent,
}
"""Solvers that know where the optimum is; they need no settings."""

DOWN = o.LinearDecay()


def stepwise(name, loss, regularizer):
    """A step-wise optimizer with its rate and the epochs it gets: full batches, rates that end at zero."""
    rate = RATES.get(loss, 2.0)
    if name == "sgd":
        return o.SGD(rate=rate, schedule=DOWN, batch=N), 3000
    if name == "momentum":
        return o.Momentum(rate=rate / 4, schedule=DOWN, batch=N), 1600
    if name == "adagrad":
        return o.AdaGrad(rate=1.0, schedule=DOWN, batch=N), 1200
    if name == "adam":
        return o.Adam(rate=0.2, schedule=DOWN, batch=N), 800
    if name == "ftrl":
        return o.FTRL(rate=0.5 if LOSSES[loss].smooth else 0.02, beta=0.01, batch=N), 4000
    if name == "passive_aggressive":
        return o.PassiveAggressive(), 50
    return o.Average(_inner(regularizer, rate / 400)), 600


def _inner(regularizer, rate):
    """What is averaged: a rate for each weight, except under a penalty on whole rows."""
    if regularizer == "group":
        return o.SGD(rate=rate, schedule=DOWN, batch=N)
    return o.AdaGrad(rate=0.01, schedule=DOWN, batch=N)


def warm(name, loss, regularizer):
    """The optimizer that runs before: a mean is as far off as its first iterates, and short steps take long."""
    if name == "ftrl" and not LOSSES[loss].smooth:
        return o.FTRL(rate=0.5, beta=0.01, batch=N), 1000
    return stepwise("sgd" if regularizer == "group" else "adagrad", loss, regularizer) if name == "average" else None


def setting(name, loss, regularizer):
    """The optimizer and how many epochs it may take."""
    return (EXACT[name](), 5000) if name in EXACT else stepwise(name, loss, regularizer)


def _kinked(loss, regularizer, output):
    return _bent(loss, output) or regularizer in ("l1", "elastic_net", "group")


def _bent(loss, output):
    """A corner in the loss, or one where two rivals are equal."""
    return not LOSSES[loss].smooth or (output == "multiclass" and issubclass(LOSSES[loss], MarginLoss))


def _no_second(loss, regularizer, output):
    return _kinked(loss, regularizer, output) or capability(LOSSES[loss](), NewtonLoss) is None


def _groups(loss, regularizer, output):
    return regularizer == "group"


def _not_square(loss, regularizer, output):
    return loss != "squared" or regularizer not in ("none", "l2")


def _not_apart(loss, regularizer, output):
    """Not one score at a time, not a sum over weights, or no convex second-order loss."""
    joint = output == "multiclass" and not issubclass(LOSSES[loss], PointLoss)
    return joint or regularizer == "group" or not (capability(LOSSES[loss](), NewtonLoss) and LOSSES[loss].convex)


def _no_dual(loss, regularizer, output):
    known = ("hinge", "log", "softmargin") if output == "multiclass" else ("hinge", "log", "logistic", "squared_hinge")
    return regularizer != "l2" or output == "real" or loss not in known


def _not_hinge(loss, regularizer, output):
    return loss != "hinge" or regularizer != "none" or output in ("onevsone", "huffman", "real")


REFUSALS = {
    "gradient_descent": _kinked,
    "lbfgs": _kinked,
    "conjugate_gradient": _kinked,
    "newton_cg": _no_second,
    "newton": _no_second,
    "proximal": lambda loss, regularizer, output: _bent(loss, output),
    "normal_equations": _not_square,
    "lsqr": _not_square,
    "coordinate": _not_apart,
    "dual": _no_dual,
    "passive_aggressive": _not_hinge,
    "adagrad": _groups,
    "adam": _groups,
    "ftrl": _groups,
}
"""Which cells an optimizer refuses; all others must train."""


LEARNERS = {
    "sgd": o.SGD(rate=1.0),
    "momentum": o.Momentum(rate=0.1),
    "adagrad": o.AdaGrad(rate=1.0),
    "adam": o.Adam(rate=0.05),
    "ftrl": o.FTRL(rate=1.0),
    "average": o.Average(o.SGD(rate=1.0)),
}
"""How each step-wise optimizer learns separable data, one example at a time."""
