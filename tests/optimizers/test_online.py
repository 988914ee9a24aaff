"""Per-example optimizers: the fused kernels against the general path, which a subclass of a loss takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linnaeus.arrays import CSR
from linnaeus.erm import Objective, Stop, Watch, train
from linnaeus.errors import UsageError
from linnaeus.losses import LOSSES, Hinge, Log, Perceptron
from linnaeus.optimizers import FTRL, SGD, AdaGrad, Average, InverseSqrt, LinearDecay, PassiveAggressive, fused_steps
from linnaeus.optimizers.fused_steps import Fused
from linnaeus.optimizers.stochastic_steps import Descent
from linnaeus.outputs import Binary, Multiclass, MultiLabel, OneVsOne, OneVsRest
from linnaeus.protocols import OnlineLoss, capability
from linnaeus.regularizers import L1, L2, ElasticNet, NoPenalty
from linnaeus.types import LabelSets, Start

N, D = 30, 8
COSTS = [[0, 1, 4], [2, 0, 1], [3, 1, 0]]
SPACES = {
    "binary": (Binary(), 2),
    "binary, costs": (Binary([[0, 3], [1, 0]]), 2),
    "multiclass": (Multiclass(), 3),
    "multiclass, costs": (Multiclass(COSTS), 3),
    "onevsrest": (OneVsRest(), 3),
    "onevsrest, costs": (OneVsRest(COSTS), 3),
    "multilabel": (MultiLabel(), 3),
}
PENALTIES = {"none": NoPenalty(), "l2": L2(0.5), "l1": L1(0.5), "elastic": ElasticNet(0.8, 0.4)}
RULES = {
    "sgd": SGD(0.2, InverseSqrt()),
    "adagrad": AdaGrad(0.2, LinearDecay()),
    "ftrl": FTRL(0.3),
    "average sgd": Average(SGD(0.2)),
    "average adagrad": Average(AdaGrad(0.2)),
    "average ftrl": Average(FTRL(0.3)),
}
FUSED = [name for name in LOSSES if capability(LOSSES[name](), OnlineLoss)]


def objective(space="multiclass", loss=None, penalty=None, bias="free", seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) * (rng.random((N, D)) < 0.5)
    keep = X != 0
    rows = CSR(np.concatenate([[0], np.cumsum(keep.sum(1))]), np.nonzero(keep)[1].astype(np.int32), X[keep], D)
    space, k = SPACES[space] if isinstance(space, str) else (space, 3)
    y = rng.integers(0, k, N)
    if isinstance(space, MultiLabel):
        picks = rng.random((N, k)) < 0.4
        y = LabelSets(np.concatenate([[0], np.cumsum(picks.sum(1))]), np.nonzero(picks)[1].astype(np.int32))
    return Objective(rows, y, space, loss or Log(), penalty or NoPenalty(), rng.random(N) + 0.5, k, bias)


def general(loss):
    """The same loss as a user's own class, which no kernel knows."""
    return type("Own", (type(loss),), {})()


def kind(optimizer, problem):
    inner = optimizer.inner if isinstance(optimizer, Average) else optimizer
    return type(inner.descent(problem, Start(problem.initial()), averaged=isinstance(optimizer, Average)))


def fit(problem, optimizer, epochs=3, start=None):
    return train(problem, optimizer, Watch(Stop(epochs=epochs)), start)


def assert_same(ours, theirs, tol=1e-9):
    for name in ours.params:
        np.testing.assert_allclose(ours.params[name], theirs.params[name], rtol=tol, atol=tol)
    for one, other in zip(ours.trace, theirs.trace, strict=True):
        assert one.mistakes == other.mistakes
        assert one.value == pytest.approx(other.value, rel=1e-9)
        assert one.rate == other.rate


@pytest.mark.parametrize("loss", FUSED)
@pytest.mark.parametrize("space", SPACES)
def test_every_loss_and_space_is_the_general_path(space, loss):
    ours = objective(space, LOSSES[loss](), L2(0.3))
    theirs = objective(space, general(LOSSES[loss]()), L2(0.3))
    assert kind(SGD(), ours) is Fused
    assert kind(SGD(), theirs) is Descent
    assert_same(fit(ours, SGD(0.1)), fit(theirs, SGD(0.1)))


@pytest.mark.parametrize("bias", ["free", "none", "regularized"])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_and_penalty_is_the_general_path(rule, penalty, bias):
    ours = objective(penalty=PENALTIES[penalty], bias=bias)
    theirs = objective(penalty=PENALTIES[penalty], bias=bias, loss=general(Log()))
    assert_same(fit(ours, RULES[rule]), fit(theirs, RULES[rule]))


@pytest.mark.parametrize("rule", RULES)
def test_a_resumed_run_has_the_same_bits(rule):
    """One that ends after two epochs and goes on from its arrays, as from a checkpoint."""
    problem = objective(penalty=L2(0.2))
    kept = {}
    watch = Watch(Stop(epochs=2), listeners=[lambda so_far, step: kept.update(at=step.state())])
    train(problem, RULES[rule], watch, Start(problem.initial(), epochs=4))
    resumed = Start(problem.initial(), epoch=2, state=kept["at"], epochs=4)
    ours = train(problem, RULES[rule], Watch(Stop(epochs=4)), resumed)
    whole = train(problem, RULES[rule], Watch(Stop(epochs=4)), Start(problem.initial(), epochs=4))
    for name in whole.params:
        assert ours.params[name].tobytes() == whole.params[name].tobytes()


def test_slices_of_an_epoch_change_nothing(monkeypatch):
    problem = objective(penalty=L2(0.2))
    whole = fit(problem, AdaGrad(0.2))
    monkeypatch.setattr(fused_steps, "SLICE", 50)
    assert fit(problem, AdaGrad(0.2)).params["W"].tobytes() == whole.params["W"].tobytes()


@pytest.mark.parametrize("rule", [AdaGrad(0.2), Average(AdaGrad(0.2))])
def test_large_tables_are_float32(rule, monkeypatch):
    problem = objective()
    wide = fit(problem, rule)
    monkeypatch.setattr(fused_steps, "LARGE", 0)
    narrow = fit(problem, rule)
    np.testing.assert_allclose(narrow.params["W"], wide.params["W"], rtol=1e-4, atol=1e-5)
    assert (narrow.params["W"] == narrow.params["W"].astype(np.float32)).all()


@pytest.mark.parametrize("space", ["binary", "multiclass", "onevsrest", "multilabel"])
@pytest.mark.parametrize("slack", ["none", "linear", "squared"])
def test_passive_aggressive_separates_what_can_be_separated(space, slack):
    problem = objective(space, Hinge())
    few = np.arange(5)  # fewer rows than columns
    problem = replace(problem, X=problem.X.take(few), y=problem.y[few], weights=np.ones(5))
    optimizer = PassiveAggressive(slack=slack)
    assert optimizer.refuse(problem) is None
    assert fit(problem, optimizer, 100).trace.last.mistakes == 0
    assert np.isfinite(fit(problem, Average(optimizer), 5).params["W"]).all()


def test_passive_aggressive_says_what_it_is_not_for():
    piece = PassiveAggressive()
    assert "hinge" in piece.refuse(objective(loss=Log()))
    assert "NoPenalty" in piece.refuse(objective(loss=Hinge(), penalty=L2()))
    assert "costs" in piece.refuse(objective("multiclass, costs", loss=Hinge()))
    assert "binary" in piece.refuse(objective(OneVsOne(), loss=Hinge()))
    for wrong in ({"aggressiveness": 0.0}, {"slack": "some"}):
        with pytest.raises(UsageError):
            PassiveAggressive(**wrong)


def test_ftrl_makes_exact_zeros_and_goes_on_from_given_weights():
    problem = objective(penalty=L1(3.0))
    found = fit(problem, FTRL(0.3))
    assert 0 < (found.params["W"] == 0).mean() < 1
    rng = np.random.default_rng(1)
    given = {"W": rng.normal(size=(D, 3)), "b": rng.normal(size=3)}
    still = Objective(problem.X, problem.y, problem.space, Log(), L1(3.0), np.zeros(N), 3, "free")
    kept = fit(still, FTRL(0.3), 1, Start(given))
    np.testing.assert_allclose(kept.params["W"], given["W"], rtol=1e-12)


def test_ftrl_has_no_schedule():
    with pytest.raises(UsageError, match="schedule"):
        FTRL(schedule=InverseSqrt())
    with pytest.raises(UsageError, match="beta"):
        FTRL(beta=0.0)


def test_an_averaged_perceptron_is_the_mean_of_perceptrons():
    problem = objective(loss=Perceptron())
    total, steps = 0.0, 0

    class Spy(Perceptron):
        pass

    walker = SGD(1.0).descent(objective(loss=Spy()), Start(problem.initial()), averaged=False)
    from linnaeus.optimizers.shuffle import shuffled

    for i in shuffled(N, 0, 1):
        walker.step(np.array([i]), 1.0)
        total, steps = total + walker.params["W"], steps + 1
    found = fit(problem, Average(SGD(1.0)), 1)
    np.testing.assert_allclose(found.params["W"], total / steps, rtol=1e-12, atol=1e-12)


def test_settings_that_a_kernel_does_not_take_go_the_general_way():
    problem = objective()
    start = Start(problem.initial())
    assert isinstance(AdaGrad(eps=0.0).descent(problem, start, averaged=False), Descent)
    assert isinstance(AdaGrad().descent(problem, start, averaged=False), Fused)
