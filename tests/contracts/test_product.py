"""Loss x regularizer x optimizer x output: every cell trains to the optimum, or refuses in a sentence.

The optimum comes from an independent conic solver. A pairwise cover runs in `make test`, the full product in
`make test-slow`.
"""

import itertools

import numpy as np
import pytest
from tests.contracts.optimum import optimum
from tests.contracts.problems import STRENGTH, N, problem, separable

from linnaeus import optimizers as o
from linnaeus.erm import Objective, Stop, Watch, train
from linnaeus.erm.stopping import Enough
from linnaeus.errors import UsageError
from linnaeus.losses import LOSSES, PointLoss
from linnaeus.optimizers import OPTIMIZERS
from linnaeus.outputs import OUTPUTS
from linnaeus.regularizers import REGULARIZERS, NoPenalty

SMOOTH_ONLY = "needs a gradient everywhere"
SETTINGS = {
    "sgd": (o.SGD(rate=4.0, schedule=o.InverseTime(8.0), batch=N), 3000),
    "momentum": (o.Momentum(rate=0.4, schedule=o.InverseTime(8.0), batch=N), 3000),
    "adagrad": (o.AdaGrad(rate=0.5, batch=N), 1500),
    "adam": (o.Adam(rate=0.3, schedule=o.InverseSqrt(), batch=N), 3000),
    "ftrl": (o.FTRL(rate=0.5, beta=0.01, batch=N), 4000),
    "passive_aggressive": (o.PassiveAggressive(), 300),
    "average": (o.Average(o.SGD(rate=2.0, schedule=o.InverseSqrt(), batch=N)), 6000),
    "lbfgs": (o.LBFGS(), 500),
}


def _kinks(loss, regularizer, output):
    return not LOSSES[loss].smooth or regularizer in ("l1", "elastic_net", "group")


def _groups(loss, regularizer, output):
    return regularizer == "group"


def _not_aggressive(loss, regularizer, output):
    return loss != "hinge" or regularizer != "none" or output in ("onevsone", "real")


REFUSALS = {
    "lbfgs": _kinks,
    "adagrad": _groups,
    "adam": _groups,
    "ftrl": _groups,
    "passive_aggressive": _not_aggressive,
}
"""Which cells an optimizer refuses; all others must train."""

CELLS = [
    cell
    for cell in itertools.product(LOSSES, REGULARIZERS, OPTIMIZERS, OUTPUTS)
    if cell[3] != "real" or issubclass(LOSSES[cell[0]], PointLoss)
]


def _cover(cells):
    """Cells such that every pair of values of two factors stands in one of them (greedy, in a fixed order)."""
    wanted = {(i, a[i], j, a[j]) for a in cells for i, j in itertools.combinations(range(4), 2)}
    rng = np.random.default_rng(0)
    cover = []
    for index in rng.permutation(len(cells)):
        cell = cells[index]
        found = {(i, cell[i], j, cell[j]) for i, j in itertools.combinations(range(4), 2)} & wanted
        if found:
            wanted -= found
            cover.append(cell)
    return sorted(cover)


def _objective(loss, regularizer, output, data):
    X, y, space, k = data
    penalty = NoPenalty() if regularizer == "none" else REGULARIZERS[regularizer](STRENGTH)
    return Objective(X, y, space, LOSSES[loss](), penalty, np.ones(X.shape[0]), k)


def _run(cell):
    loss, regularizer, name, output = cell
    piece, epochs = SETTINGS[name]
    objective = _objective(loss, regularizer, output, problem(output))
    watch = Watch(Stop(epochs=epochs, tol=1e-6, gradient=1e-7), listeners=[_near(cell, objective)])
    refuses = REFUSALS.get(name)
    if refuses is not None and refuses(loss, regularizer, output):
        with pytest.raises(UsageError, match=r"use \w+.*\.$"):
            train(objective, piece, watch)
        return
    fit = train(objective, piece, watch)
    value = objective.value(fit.params)
    assert np.isfinite(value)
    if loss == "perceptron" or name == "passive_aggressive":
        _check_perceptron(cell)
    elif LOSSES[loss].convex:
        least = optimum(loss, regularizer, output)
        # Around a kink the weights of FTRL jump by its rate, which falls only as 1/sqrt(t).
        tol = 1e-2 if name == "ftrl" and not LOSSES[loss].smooth else 1e-3
        assert value - least <= tol * least, (value, least, fit.trace.reason)
    else:
        assert value < objective.value(objective.initial())


def _near(cell, objective):
    """Ends a training that has come near enough: what counts is that it gets there."""
    loss, regularizer, _, output = cell
    known = LOSSES[loss].convex and loss != "perceptron"
    least = optimum(loss, regularizer, output) if known else -np.inf

    def listen(record, step):
        if known and record.epoch % 20 == 0 and objective.value(step.params()) <= (1 + 9e-4) * least:
            raise Enough("near enough")
        if not known and record.epoch == 200:
            raise Enough("long enough")

    return listen


def _check_perceptron(cell):
    """Those that only mistakes move find no least loss; what counts is that separable data are learned."""
    loss, regularizer, name, output = cell
    if regularizer != "none":
        return
    objective = _objective(loss, regularizer, output, separable(output))
    piece = SETTINGS[name][0]
    fit = train(objective, piece, Watch(Stop(epochs=2000, mistakes=0.0)))
    S = objective.scores(objective.X, fit.params)
    assert (objective.space.best(S, objective.y).parts == objective.space.gold(S, objective.y).parts).all()


@pytest.mark.parametrize("cell", _cover(CELLS), ids="-".join)
def test_pairwise_cover(cell):
    _run(cell)


@pytest.mark.slow
@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_full_product(cell):
    _run(cell)


def test_every_optimizer_has_settings():
    assert set(SETTINGS) == set(OPTIMIZERS)
