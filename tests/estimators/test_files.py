"""Faces in files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from linnaeus import store
from linnaeus.errors import ModelFileError, UsageError
from linnaeus.estimators import FACES
from linnaeus.estimators.linear import LinearClassifier
from linnaeus.estimators.named import LogisticRegression
from linnaeus.estimators.regressor import LinearRegressor
from linnaeus.losses import MarginLoss, SoftMargin
from linnaeus.optimizers import AdaGrad, Average
from linnaeus.regularizers import ElasticNet
from linnaeus.types import State

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
X = 2.0 * np.eye(3, 5)[Y] + RNG.normal(size=(60, 5))
NAMES = np.array(["α", "b", "ccc"])[Y]


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_what_is_loaded_is_what_was_saved(face: type, tmp_path: Path) -> None:
    model = face().fit(X, Y if face is LinearRegressor else NAMES)
    model.save(tmp_path / "m.lin")
    again = face.load(tmp_path / "m.lin")
    assert again.coef_.tobytes() == model.coef_.tobytes()
    assert np.array_equal(again.predict(X), model.predict(X))
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert again.n_iter_ == model.n_iter_


def test_recipes_come_back(tmp_path: Path) -> None:
    model = LinearClassifier(
        loss=SoftMargin(),
        regularizer=ElasticNet(0.5, 0.25),
        optimizer=Average(AdaGrad(rate=0.5)),
        costs=[[0, 1, 2], [1, 0, 1], [1, 1, 0]],
        class_weight={"b": 2.0},
        epochs=2,
    ).fit(X, NAMES)
    model.save(tmp_path / "m.lin")
    again = LinearClassifier.load(tmp_path / "m.lin")
    assert (again.regularizer, again.optimizer) == (ElasticNet(0.5, 0.25), Average(AdaGrad(rate=0.5)))
    assert again.class_weight == {"b": 2.0}
    assert again.fit(X, NAMES).coef_.tobytes() == model.coef_.tobytes()


def test_label_sets_and_names_of_columns_are_kept(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcde"))
    model = LinearClassifier().fit(frame, [[name, "all"] for name in NAMES])
    model.save(tmp_path / "m.lin")
    again = LinearClassifier.load(tmp_path / "m.lin")
    assert again.predict(frame) == model.predict(frame)
    assert again.feature_names_in_.tolist() == list("abcde")


LABELS = [np.array([b"a", b"bc"]), np.array(["2020-01-02", "2021-03-04"], "M8[D]"), np.array([1, 2], "m8[ns]")]


@pytest.mark.parametrize("labels", [*LABELS, np.array([True, False])], ids=lambda labels: str(labels.dtype))
def test_labels_of_every_type_come_back(labels: np.ndarray, tmp_path: Path) -> None:
    model = LinearClassifier().fit(X, labels[Y % 2])
    model.save(tmp_path / "m.lin")
    again = LinearClassifier.load(tmp_path / "m.lin").classes_
    assert again.dtype == model.classes_.dtype
    assert np.array_equal(again, model.classes_)


def test_a_checkpoint_by_its_path_is_part_of_a_recipe(tmp_path: Path) -> None:
    LinearClassifier(checkpoint=tmp_path / "c").fit(X, Y).save(tmp_path / "m.lin")
    assert LinearClassifier.load(tmp_path / "m.lin").checkpoint == str(tmp_path / "c")


def test_a_saved_stream_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    one = LinearClassifier(optimizer="adagrad").partial_fit(X, Y).partial_fit(X, Y)
    other = LinearClassifier(optimizer="adagrad").partial_fit(X, Y)
    other.save(tmp_path / "m.lin")
    other = LinearClassifier.load(tmp_path / "m.lin").partial_fit(X, Y)
    assert one.coef_.tobytes() == other.coef_.tobytes()


class Mine(MarginLoss):
    def value(self, m: np.ndarray) -> np.ndarray:
        return np.logaddexp(0.0, -m)

    def slope(self, m: np.ndarray) -> np.ndarray:
        return -1.0 / (1.0 + np.exp(m))


def test_what_cannot_be_saved_or_loaded_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.lin"
    with pytest.raises(UsageError, match="Only fitted models are saved"):
        LinearClassifier().save(path)
    with pytest.raises(UsageError, match="holds no code, so Mine of your own cannot be in it"):
        LinearClassifier(loss=Mine(), optimizer="sgd").fit(X, Y).save(path)
    LogisticRegression().fit(X, Y).save(path)
    with pytest.raises(ModelFileError, match="holds a LogisticRegression; load it with that class"):
        LinearClassifier.load(path)
    store.save(path, State({"kind": "other"}, {}))
    with pytest.raises(ModelFileError, match="a kind of model that this version does not know"):
        LinearClassifier.load(path)


FACTS = ["facts/updates", "facts/epochs", "facts/estimator", "facts/estimator/params"]


@pytest.mark.parametrize("route", ["recipe", "form", "space", "features", *FACTS])
def test_damage_is_noticed(route: str, tmp_path: Path) -> None:
    path = tmp_path / "m.lin"
    LinearClassifier(regularizer=ElasticNet()).fit(X, Y).save(path)
    state = store.load(path)
    inside = state.manifest
    *way, last = route.split("/")
    for name in way:
        inside = inside[name]
    inside[last] = {"piece": ["loss", "nothing"], "fields": {}}
    store.save(path, state, force=True)
    with pytest.raises(ModelFileError):
        LinearClassifier.load(path)
