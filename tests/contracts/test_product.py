"""Loss x regularizer x optimizer x output: every cell trains to the optimum, or refuses in a sentence.

The optimum comes from an independent conic solver. A pairwise cover runs in `make test`, the full product in
`make test-slow`.
"""

import itertools

import numpy as np
import pytest
from tests.contracts.cells import cover
from tests.contracts.optimum import optimum
from tests.contracts.problems import STRENGTH, problem, separable
from tests.contracts.settings import LEARNERS, REFUSALS, setting, warm

from linnaeus.arrays import linear
from linnaeus.erm import Objective, Stop, Watch, train
from linnaeus.erm.train import Enough
from linnaeus.errors import UsageError
from linnaeus.losses import LOSSES, PointLoss
from linnaeus.optimizers import OPTIMIZERS
from linnaeus.outputs import OUTPUTS
from linnaeus.regularizers import REGULARIZERS, NoPenalty
from linnaeus.types import Start

CELLS = [
    cell
    for cell in itertools.product(LOSSES, REGULARIZERS, OPTIMIZERS, OUTPUTS)
    if cell[3] != "real" or issubclass(LOSSES[cell[0]], PointLoss)
]


def _objective(loss, regularizer, output, data):
    X, y, space, k = data
    penalty = NoPenalty() if regularizer == "none" else REGULARIZERS[regularizer](STRENGTH)
    return Objective(X, y, space, LOSSES[loss](), penalty, np.ones(X.shape[0]), k)


def _run(cell):
    loss, regularizer, name, output = cell
    piece, epochs = setting(name, loss, regularizer)
    objective = _objective(loss, regularizer, output, problem(output))
    watch = Watch(Stop(epochs=epochs, tol=1e-6, gradient=1e-7), listeners=[_near(cell, objective)])
    refuses = REFUSALS.get(name)
    if refuses is not None and refuses(loss, regularizer, output):
        with pytest.raises(UsageError, match=r"use \w+.*\.$") as told:
            train(objective, piece, watch)
        for way in str(told.value).rpartition("use ")[2].rstrip(".").split(" or "):
            assert OPTIMIZERS[way]().refuse(objective) is None
        return
    start = None
    if (before := warm(name, loss, regularizer)) is not None:
        start = Start(train(objective, before[0], Watch(Stop(epochs=before[1]))).params, epochs=epochs)
    fit = train(objective, piece, watch, start)
    value = objective.value(fit.params)
    assert np.isfinite(value)
    if name == "passive_aggressive":
        assert value < objective.value(objective.initial())  # it has no objective of its own
    elif loss == "perceptron":
        _check_perceptron(cell)
    elif LOSSES[loss].convex:
        least = optimum(loss, regularizer, output)
        assert value - least <= 1e-3 * least, (value, least, fit.trace.reason)
    else:
        assert value < objective.value(objective.initial())


def _near(cell, objective):
    """Ends a training that has come near enough: what counts is that it gets there."""
    loss, regularizer, _, output = cell
    known = LOSSES[loss].convex and loss != "perceptron"
    least = optimum(loss, regularizer, output) if known else -np.inf

    def listen(so_far, step):
        if known and step.epoch % 20 == 0 and objective.value(step.params()) <= (1 + 9e-4) * least:
            raise Enough("near enough")
        if not known and step.epoch == 200:
            raise Enough("long enough")

    return listen


def _check_perceptron(cell):
    """The least perceptron loss is that of zero weights; what counts is that separable data are learned."""
    loss, regularizer, name, output = cell
    if regularizer != "none":
        return
    objective = _objective(loss, regularizer, output, separable(output))

    def wrong(params):
        S = linear.scores(objective.X, params)
        return (objective.space.best(S, objective.y).parts != objective.space.gold(S, objective.y).parts).any()

    def listen(so_far, step):  # a mean follows after the iterates have stopped
        if step.epoch % 10 == 0 and not wrong(step.params()):
            raise Enough("all right")

    fit = train(objective, LEARNERS[name], Watch(Stop(epochs=500), listeners=[listen]))
    assert not wrong(fit.params)


@pytest.mark.parametrize("cell", sorted(cover(CELLS)), ids="-".join)
def test_pairwise_cover(cell):
    _run(cell)


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "name", "output"), sorted({(cell[0], cell[2], cell[3]) for cell in CELLS}))
def test_full_product(loss, name, output):
    for regularizer in REGULARIZERS:
        _run((loss, regularizer, name, output))
