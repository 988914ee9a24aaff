"""Schedules and inner optimizers by their plain names, wherever an object may stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linnaeus.errors import LinnaeusError
from linnaeus.estimators.linear import LinearClassifier
from linnaeus.optimizers import (
    SCHEDULES,
    SGD,
    AdaGrad,
    Adam,
    Average,
    HeldOut,
    InverseTime,
    LinearDecay,
    Momentum,
    NormalEquations,
    PassiveAggressive,
)
from linnaeus.optimizers.shuffle import shuffled

X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 2.0], [2.0, 0.0]])
Y = ["a", "b", "a", "b"]


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_has_a_name(name: str) -> None:
    assert SGD(schedule=name) == SGD(schedule=SCHEDULES[name]())
    held_out = 0.5 if name == "held_out" else 0.0
    model = LinearClassifier(optimizer=AdaGrad(schedule=name), epochs=2, held_out=held_out, seed=1)
    assert model.fit(X, Y).n_iter_ == 2


def test_an_inner_optimizer_has_a_name() -> None:
    assert Average("sgd") == Average(SGD())
    assert Average("passive_aggressive").inner == PassiveAggressive()


@pytest.mark.parametrize("value", [None, InverseTime, 3, "faster"])
def test_a_wrong_schedule_is_told_the_right_ones(value: Any) -> None:
    with pytest.raises(LinnaeusError, match="inverse_sqrt"):
        SGD(schedule=value)


@pytest.mark.parametrize("value", [None, SGD, 3, "faster", "lbfgs"])
def test_a_wrong_inner_optimizer_is_told_the_right_ones(value: Any) -> None:
    with pytest.raises(LinnaeusError, match=r"sgd, momentum, adagrad|did you mean 'ftrl'"):
        Average(value)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Momentum(decay="x"), "decay takes a number"),
        (lambda: Momentum(decay=1.0), "decay must be at least 0 and below 1"),
        (lambda: Adam(first=None), "first takes a number"),
        (lambda: AdaGrad(eps=-1.0), "eps must be at least 0 and finite"),
        (lambda: HeldOut(grow="x"), "grow takes a number"),
    ],
)
def test_wrong_numbers_are_refused_at_once(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(LinnaeusError, match=sentence):
        make()


def test_a_solver_has_no_iterates() -> None:
    with pytest.raises(LinnaeusError, match="Average takes a stochastic optimizer, not NormalEquations"):
        Average(NormalEquations())


def test_names_are_settings_too() -> None:
    model = LinearClassifier(optimizer="average")
    model.set_params(optimizer__inner="adagrad", optimizer__inner__schedule="inverse")
    assert model.optimizer == Average(AdaGrad(schedule=InverseTime()))
    model.set_params(optimizer__inner__schedule="inverse", optimizer__inner__schedule__offset=3.0)
    assert model.get_params()["optimizer__inner__schedule__offset"] == 3.0
    model.set_params(optimizer="sgd", optimizer__schedule="linear")
    assert model.optimizer == SGD(schedule=LinearDecay())


def test_schedules_can_be_searched() -> None:
    from sklearn.model_selection import GridSearchCV

    grid = {"optimizer__schedule": ["constant", "inverse"]}
    search = GridSearchCV(LinearClassifier(optimizer="sgd", epochs=2), grid, cv=2).fit(X, Y)
    assert search.best_params_["optimizer__schedule"] in grid["optimizer__schedule"]


@pytest.mark.parametrize("seed", [np.int64(3), np.int32(3), np.uint8(3)])
def test_a_seed_may_be_of_numpy(seed: Any) -> None:
    assert shuffled(50, seed, 1).tolist() == shuffled(50, 3, 1).tolist()
    for optimizer in ("sgd", "dual", "adam", "coordinate"):
        one, other = (LinearClassifier(loss="logistic", optimizer=optimizer, seed=s, held_out=0.5) for s in (seed, 3))
        assert one.fit(X, Y).coef_.tobytes() == other.fit(X, Y).coef_.tobytes()
