"""Trainings that end before their time go on from a checkpoint, to the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from linnaeus import store
from linnaeus.arrays import Dense
from linnaeus.erm import Objective, Stop, Watch, train
from linnaeus.errors import ModelFileError, UsageError
from linnaeus.estimators.linear import LinearClassifier
from linnaeus.estimators.regressor import LinearRegressor
from linnaeus.losses import Log
from linnaeus.optimizers import SGD, AdaGrad, Adam, Average, DualAscent, HeldOut
from linnaeus.outputs import Multiclass
from linnaeus.regularizers import L2
from linnaeus.store.parts import PartsFile
from linnaeus.types import State

RNG = np.random.default_rng(0)
Y = np.arange(90) % 3
X = 1.0 * np.eye(3, 5)[Y] + RNG.normal(size=(90, 5))


class TiredError(Exception):
    """Enough for today."""


def tired(after: int) -> Any:
    def listen(record: Any) -> None:
        if record.epoch == after + 1:
            raise TiredError

    return listen


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save after every epoch, however long that takes."""
    monkeypatch.setattr("linnaeus.store.parts.SHARE", np.inf)


def resumed(path: Path, after: int, rows: Any = X, face: Any = LinearClassifier, **settings: Any) -> Any:
    """A training that is ended after so many epochs, and goes on."""
    with pytest.raises(TiredError):
        face(checkpoint=path, progress=tired(after), **settings).fit(rows, Y)
    assert store.load(path).manifest["parts"]["solver"]["epoch"] == after
    return face(checkpoint=path, **settings).fit(rows, Y)


def assert_same(one: Any, other: Any) -> None:
    assert one.coef_.tobytes() == other.coef_.tobytes()
    assert np.asarray(one.intercept_).tobytes() == np.asarray(other.intercept_).tobytes()
    assert one.trace_.reason == other.trace_.reason
    for name in ("epoch", "value", "gap", "gradient", "held_out", "rate", "mistakes"):
        assert one.trace_.column(name) == other.trace_.column(name)


def test_a_training_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "c.lin"
    settings = {"optimizer": Average(SGD()), "epochs": 10}
    assert_same(resumed(path, 3, **settings), LinearClassifier(**settings).fit(X, Y))
    assert not path.exists()


def test_a_checkpoint_belongs_to_its_training(tmp_path: Path) -> None:
    path = tmp_path / "c.lin"
    settings = {"optimizer": SGD(), "epochs": 10, "held_out": 0.2, "checkpoint": path}
    with pytest.raises(TiredError):
        LinearClassifier(**settings, progress=tired(3)).fit(X, Y)
    moved = X.copy()
    moved[:, 0] += 1e-9
    others = [(settings, X[1:], Y[1:]), (settings, moved, Y), (settings, X, (Y + 1) % 3)]
    others += [({**settings, **change}, X, Y) for change in ({"seed": 1}, {"held_out": 0.1}, {"optimizer": AdaGrad()})]
    for recipe, rows, y in others:
        with pytest.raises(UsageError, match="belongs to other data or another recipe"):
            LinearClassifier(**recipe).fit(rows, y)
    state = store.load(path)
    store.save(path, State(state.manifest, {k: v for k, v in state.tensors.items() if k != "solver/trace"}))
    with pytest.raises(ModelFileError, match="the checkpoint misses something"):
        LinearClassifier(**settings).fit(X, Y)


OPTIMIZERS = {
    "sgd": SGD(0.5),
    "adam in batches": Adam(0.1, batch=7),
    "averaged adagrad": Average(AdaGrad(0.5)),
    "sgd by held-out": SGD(2.0, schedule=HeldOut(1.2, 0.5)),
    "averaged by held-out": Average(SGD(2.0, schedule=HeldOut(1.2, 0.5))),
    "dual": DualAscent(1e-9),
    "proximal": "proximal",
}


@pytest.mark.filterwarnings("ignore::linnaeus.learners.linear.NotConverged")
@pytest.mark.parametrize("kind", ["sparse", "dense"])
@pytest.mark.parametrize("after", [1, 4, 8])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_held_out_scores_and_the_best_so_far_are_remembered(name: str, after: int, kind: str, tmp_path: Path) -> None:
    rows = sparse.csr_matrix(X) if kind == "sparse" else X
    recipe = {"optimizer": OPTIMIZERS[name], "held_out": 0.3, "patience": 9, "epochs": 12, "tol": 1e-12}
    whole = LinearClassifier(**recipe).fit(rows, Y)
    assert len(whole.trace_) > after + 1
    assert_same(resumed(tmp_path / "c.lin", after, rows, **recipe), whole)


@pytest.mark.filterwarnings("ignore:SGD ended worse")  # its rate is too large on purpose
def test_the_best_may_lie_before_the_checkpoint(tmp_path: Path) -> None:
    recipe = {"optimizer": SGD(2.0), "held_out": 0.3, "patience": 5, "epochs": 40}
    whole = LinearClassifier(**recipe).fit(X, Y)
    assert whole.trace_.reason == "no progress on held-out data"
    assert_same(resumed(tmp_path / "c.lin", len(whole.trace_) - 2, **recipe), whole)


@pytest.mark.parametrize("bias", ["free", "none", "regularized"])
@pytest.mark.parametrize("loss", ["hinge", "log", "squared_hinge"])
def test_dual_ascent_goes_on_to_the_same_bits(loss: str, bias: str, tmp_path: Path) -> None:
    recipe = {"loss": loss, "bias": bias, "optimizer": DualAscent(1e-9), "tol": 1e-9}
    assert_same(resumed(tmp_path / "c.lin", 2, **recipe), LinearClassifier(**recipe).fit(X, Y))


def test_coordinate_descent_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    recipe = {"loss": "logistic", "regularizer": "l1", "optimizer": "coordinate", "tol": 1e-8}
    assert_same(resumed(tmp_path / "c.lin", 2, **recipe), LinearClassifier(**recipe).fit(X, Y))


def test_numbers_go_on_too(tmp_path: Path) -> None:
    recipe = {"loss": "huber", "optimizer": SGD(0.05), "held_out": 0.2, "epochs": 12}
    assert_same(resumed(tmp_path / "c.lin", 3, face=LinearRegressor, **recipe), LinearRegressor(**recipe).fit(X, Y))


@pytest.mark.parametrize("held_out", [0.0, 0.3])
def test_a_training_that_was_at_its_end_does_no_epoch_more(held_out: float, tmp_path: Path, monkeypatch: Any) -> None:
    path, recipe = tmp_path / "c.lin", {"optimizer": AdaGrad(), "epochs": 5, "held_out": held_out}
    with monkeypatch.context() as patch:
        patch.setattr(PartsFile, "done", lambda self: None)  # killed just before
        whole = LinearClassifier(**recipe, checkpoint=path).fit(X, Y)
    assert_same(LinearClassifier(**recipe, checkpoint=path).fit(X, Y), whole)
    assert not path.exists()


def test_weights_that_run_away_have_the_worst_score() -> None:
    objective = Objective(Dense(X), Y, Multiclass(), Log(), L2(), np.ones(len(Y)), 3)
    scores = iter([0.5, float("nan"), 0.25])
    fit = train(objective, SGD(), Watch(Stop(epochs=3), lambda params: next(scores)))
    assert fit.trace.column("held_out") == [0.5, -np.inf, 0.25]
    assert fit.trace.epochs_since_best == 2


PROGRAM = """
import sys
import numpy as np
from linnaeus.estimators.linear import LinearClassifier
from linnaeus.optimizers import AdaGrad, HeldOut
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 50)); y = (X[:, 0] + rng.normal(size=2000) > 0).astype(int)
def fit(epochs, checkpoint, held_out):
    recipe = {"optimizer": AdaGrad(schedule=HeldOut()) if held_out else AdaGrad(), "held_out": held_out}
    return LinearClassifier(**recipe, patience=None, epochs=epochs, checkpoint=checkpoint).fit(X, y)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
@pytest.mark.parametrize("held_out", [0.0, 0.2])
def test_a_killed_training_resumes_to_the_same_bits(held_out: float, tmp_path: Path) -> None:
    path = tmp_path / "c.lin"
    command = f"{PROGRAM}\nfit(1_000_000, {str(path)!r}, {held_out})"
    running = subprocess.Popen([sys.executable, "-c", command])
    while not path.exists():
        time.sleep(0.01)
    time.sleep(0.3)
    running.send_signal(signal.SIGKILL)
    running.wait()
    reached = int(store.load(path).manifest["parts"]["solver"]["epoch"])
    here: dict[str, Any] = {}
    exec(PROGRAM, here)
    assert_same(here["fit"](reached + 3, path, held_out), here["fit"](reached + 3, None, held_out))
