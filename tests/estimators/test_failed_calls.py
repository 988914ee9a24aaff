"""A call that fails leaves a model as it was."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linnaeus.errors import LinnaeusError
from linnaeus.estimators import FACES
from linnaeus.estimators.linear import LinearClassifier
from linnaeus.estimators.regressor import LinearRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))
Y = np.array(list("abc"))[np.argmax(X[:, :3], axis=1)]
FEW = Y != "c"
NUMBERS = X @ [1.0, 2.0, 3.0, 4.0]


def raises() -> None:
    raise LinnaeusError("enough")


FAILURES: dict[str, Callable[[Any, Any], Any]] = {
    "fit of one class": lambda m, y: m.fit(np.hstack([X, X]), y[:1].tolist() * 30),
    "fit of damaged targets": lambda m, y: m.fit(X[:, :2], [np.nan] * 30),
    "fit with wrong weights": lambda m, y: m.fit(X[:, :2], y, sample_weight=-np.ones(30)),
    "fit that is ended": lambda m, y: m.set_params(progress=lambda record: raises()).fit(X[:, :2], y),
    "fit of an unknown bias": lambda m, y: m.set_params(bias="some").fit(X[:, :2], y),
    "batch of an unknown bias": lambda m, y: m.set_params(bias="some").partial_fit(X, y),
    "batch of other width": lambda m, y: m.partial_fit(X[:, :2], y),
    "batch with wrong weights": lambda m, y: m.partial_fit(X, y, sample_weight=-np.ones(30)),
}


def learned(model: Any) -> bytes:
    return pickle.dumps({name: value for name, value in vars(model).items() if name.endswith("_")})


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_nothing_changes(face: type, failure: str) -> None:
    numbers = face is LinearRegressor
    model = face().fit(X, NUMBERS) if numbers else face().fit(X[FEW], Y[FEW])
    if failure == "fit of one class" and numbers:
        pytest.skip("a regressor has no classes")
    before = learned(model)
    with pytest.raises(LinnaeusError):
        FAILURES[failure](model, NUMBERS if numbers else Y)
    assert learned(model) == before


def test_a_batch_that_a_solver_refuses_changes_nothing() -> None:
    model = LinearClassifier().fit(X[FEW], Y[FEW]).set_params(optimizer="lbfgs")
    before = learned(model)
    with pytest.raises(LinnaeusError, match="needs all rows at once"):
        model.partial_fit(X, Y)  # three classes where there were two
    assert learned(model) == before


@pytest.mark.parametrize("face", [LinearClassifier, LinearRegressor])
def test_a_first_batch_that_fails_leaves_nothing(face: type) -> None:
    model = face(optimizer="lbfgs")
    with pytest.raises(LinnaeusError):
        model.partial_fit(X, NUMBERS if face is LinearRegressor else Y)
    assert learned(model) == learned(face())


def test_settings_are_set_together_or_not_at_all() -> None:
    model = LinearClassifier()
    with pytest.raises(ValueError, match="no parameter"):
        model.set_params(epochs=3, regularizer="l1", regularizer__size=2.0)
    assert (model.epochs, model.regularizer) == (None, "l2")


def test_a_new_fit_forgets_the_old_one() -> None:
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("pqrs"))
    model = LinearClassifier().fit(frame, Y).partial_fit(frame, Y)
    model.fit(X[:, :2], Y)
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(model, "memory_")
