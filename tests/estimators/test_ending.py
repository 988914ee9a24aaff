"""How trainings end, and what is said of it: limits, Ctrl-C, held-out rows, steps that made things worse."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
import pytest

from linnaeus import LinearClassifier
from linnaeus.errors import UsageError
from linnaeus.learners.linear.convergence import NotConverged
from linnaeus.optimizers import SGD, Adam, Average
from linnaeus.regularizers import L2

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = np.array(list("abc"))[np.argmax(X[:, :3], axis=1)]
SIDE = np.where(X[:, 0] > 0, "p", "n")
NOISE, NAMES = RNG.normal(size=(2000, 50)), RNG.integers(0, 8, 2000).astype(str)


@pytest.mark.parametrize("optimizer", ["sgd", "momentum", SGD(batch=10, rate=5.0), Average(SGD(rate=50.0))])
def test_steps_that_end_worse_than_zero_weights_say_so(optimizer: Any) -> None:
    with pytest.warns(NotConverged, match="ended worse than it began.*all weights zero; take a smaller rate than"):
        LinearClassifier(optimizer=optimizer, epochs=3).fit(NOISE, NAMES)


@pytest.mark.parametrize("optimizer", ["sgd", "adagrad", Average(SGD(rate=1.0))])
def test_steps_that_help_say_nothing(optimizer: Any) -> None:
    LinearClassifier(optimizer=optimizer).fit(X, Y)


@pytest.mark.parametrize("loss", ["log", "exponential", "softmargin", "logistic"])
def test_no_minimum_is_noticed_with_steps_too(loss: str) -> None:
    with pytest.warns(NotConverged, match="no minimum"):
        model = LinearClassifier(loss=loss, regularizer="none", optimizer="adagrad", epochs=200).fit(X, SIDE)
    assert model.trace_.reason == "no minimum"
    assert model.score(X, SIDE) == 1.0
    LinearClassifier(loss=loss, regularizer=L2(1e-3), optimizer="adagrad").fit(X, SIDE)


def test_what_is_not_known_is_not_said() -> None:
    with pytest.warns(NotConverged, match=r"stopped \(time limit\)") as told:
        LinearClassifier(
            loss="hinge", output="onevsrest", regularizer=L2(1e-6), tol=1e-12, epochs=10**6, seconds=0.02
        ).fit(NOISE, NAMES)
    assert "nan" not in str(told[0].message)


@pytest.mark.parametrize("seed", range(6))
def test_every_class_keeps_a_row_to_learn_from(seed: int) -> None:
    model = LinearClassifier(held_out=0.5, seed=seed).fit(X[:6], ["a"] * 5 + ["b"])
    assert model.classes_.tolist() == ["a", "b"]
    assert model.trace_.best is not None


def test_the_weights_are_those_of_the_best_epoch_on_held_out_rows() -> None:
    model = LinearClassifier(held_out=0.3, optimizer="lbfgs", tol=1e-9, patience=1000, regularizer=L2(1e-4)).fit(X, Y)
    best = model.trace_.best
    assert best.held_out == max(record.held_out for record in model.trace_)
    assert best.epoch < model.trace_.last.epoch
    again = LinearClassifier(
        held_out=0.3, optimizer="lbfgs", tol=None, epochs=best.epoch, patience=None, regularizer=L2(1e-4)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotConverged)
        np.testing.assert_allclose(again.fit(X, Y).coef_, model.coef_, rtol=1e-5)


def test_the_time_limit_holds_inside_an_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock goes on by one second at each look."""
    seconds = iter(range(10**9))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(seconds)))
    for optimizer in (Adam(), SGD(batch=5)):
        model = LinearClassifier(optimizer=optimizer, seconds=6).fit(X, Y)
        assert model.trace_.reason == "time limit"
        assert len(model.trace_) == 1
        assert model.trace_.last.value is None
        assert model.coef_.any()


@pytest.mark.parametrize("held_out", [0.0, 0.2])
@pytest.mark.parametrize("after", [1, 2])
def test_ctrl_c_comes_out_of_a_training_whatever_it_has_learned(after: int, held_out: float) -> None:
    def press(record: Any) -> None:
        if record.epoch == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LinearClassifier(optimizer="adagrad", held_out=held_out, progress=press).fit(X, Y)


@pytest.mark.parametrize(
    "pieces",
    [
        {"loss": "hinge", "optimizer": "lsqr"},
        {"regularizer": "l1", "optimizer": "lbfgs"},
        {"loss": "hinge", "regularizer": "group", "optimizer": "adagrad"},
        {"loss": "logistic", "output": "multiclass", "optimizer": "coordinate"},
        {"loss": "exponential", "optimizer": "dual"},
        {"loss": "log", "optimizer": "passive_aggressive"},
    ],
)
def test_what_a_refusal_names_works(pieces: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="; use ") as told:
        LinearClassifier(**pieces).fit(X, Y)
    for way in str(told.value).rpartition("use ")[2].rstrip(".").split(" or "):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NotConverged)
            LinearClassifier(**{**pieces, "optimizer": way}).fit(X, Y)
