"""Models of matrices: the file of an estimator answers as the estimator does, in Python and on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

import linnaeus
from linnaeus import LinearClassifier, LinearRegressor, LogisticRegression, MatrixClassifier, TextClassifier
from linnaeus.cli.main import main
from linnaeus.errors import DataError, ModelFileError, UsageError
from linnaeus.learners import LEARNERS
from linnaeus.learners.problems import is_family

RNG = np.random.default_rng(0)
Y = np.arange(60) % 3
X = np.abs(2.0 * np.eye(3, 5)[Y] + RNG.normal(size=(60, 5)))
COSTS = [[0, 1, 5], [1, 0, 1], [9, 1, 0]]
SETTINGS = [
    {"loss": "log"},
    {"loss": "hinge", "bias": False},
    {"loss": "logistic", "output": "onevsrest"},
    {"loss": "modified_huber", "costs": COSTS, "decision": "expected_cost"},
]


def _kept(face, path: Path):
    face.save(path)
    return linnaeus.load(path)


@pytest.mark.parametrize("settings", SETTINGS, ids=lambda settings: settings["loss"])
def test_a_linear_estimator_and_its_model_say_the_same(settings: dict, tmp_path: Path) -> None:
    face = LinearClassifier(**settings).fit(X, Y)
    model = _kept(face, tmp_path / "m.lin")
    for rows in (X, sparse.csr_matrix(X), X.astype(np.float32).tolist()):
        assert model.predict(rows).tolist() == face.predict(rows).tolist()
        assert np.array_equal(model.scores(rows), face.decision_function(rows))
        if hasattr(face, "predict_proba"):
            assert np.array_equal(model.probabilities(rows), face.predict_proba(rows))
    assert model.evaluate((X, Y), rounds=0).value() == pytest.approx(face.score(X, Y))


@pytest.mark.parametrize("name", [name for name in LEARNERS if is_family(LEARNERS[name]())])
def test_every_learner_of_matrices_is_saved_and_explains(name: str, tmp_path: Path) -> None:
    face = MatrixClassifier(learner=name, seed=3).fit(X, Y)
    model = _kept(face, tmp_path / "m.lin")
    again = MatrixClassifier.load(tmp_path / "m.lin")
    assert again.get_params() == face.get_params()
    assert again.decision_function(X).tobytes() == face.decision_function(X).tobytes()
    assert model.predict(X).tolist() == face.predict(X).tolist()
    why = model.explain(X[:1])
    reason = why.reason()
    assert why.predicted == (str(face.predict(X[:1])[0]),)
    assert reason.bias + sum(part.contribution for part in reason.parts()) == pytest.approx(reason.score)
    assert face.explain(X[:1]).to_json() == why.to_json()


def test_label_sets_numbers_and_names(tmp_path: Path) -> None:
    import pandas as pd

    sets = [["even"] if i % 2 else [] for i in Y]
    face = LinearClassifier(loss="logistic", bias=False).fit(X, sets)
    model = _kept(face, tmp_path / "sets.lin")
    rows = np.vstack([X, np.zeros((1, 5))])  # a score of exactly zero is no label
    assert [tuple(row) for row in model.predict(rows)] == [tuple(row) for row in face.predict(rows)]
    frame = pd.DataFrame(X, columns=list("abcde"))
    numbers = _kept(LinearRegressor().fit(frame, Y), tmp_path / "numbers.lin")
    assert numbers.predict(frame).tolist() == LinearRegressor().fit(frame, Y).predict(frame).tolist()
    assert {part.name for part in numbers.explain(frame[:1]).reason().parts()} == set("abcde")
    with pytest.raises(DataError, match="Feature names must be in the same order"):
        numbers.predict(frame[list("edcba")])
    with pytest.raises(DataError, match="one number for each row"):
        numbers.evaluate((frame, ["a"] * 60))


def test_a_model_that_is_saved_again_is_the_same_estimator(tmp_path: Path) -> None:
    face = LinearClassifier(optimizer="adagrad", class_weight={0: 2.0}).partial_fit(X, Y)
    _kept(face, tmp_path / "one.lin").save(tmp_path / "two.lin")
    assert (tmp_path / "one.lin").read_bytes() == (tmp_path / "two.lin").read_bytes()
    again = LinearClassifier.load(tmp_path / "two.lin")
    assert again.class_weight == {0: 2.0}
    assert again.partial_fit(X, Y).coef_.tobytes() == face.partial_fit(X, Y).coef_.tobytes()


def test_what_has_no_meaning_is_refused(tmp_path: Path) -> None:
    model = _kept(LogisticRegression().fit(X, Y), tmp_path / "m.lin")
    with pytest.raises(DataError, match="X has 3 features, but the model is expecting 5"):
        model.predict(X[:, :3])
    with pytest.raises(DataError, match="holds texts"):
        model.predict(["a text"])
    with pytest.raises(UsageError, match="partial_fit"):
        model.updated([("a text", "0")])
    with pytest.raises(ModelFileError, match="holds a model for LogisticRegression"):
        TextClassifier.load(tmp_path / "m.lin")


@pytest.mark.parametrize("face", [LogisticRegression(), MatrixClassifier(learner="forest")], ids=["linear", "forest"])
def test_the_command_line_reads_them(face, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = str(tmp_path / "m.lin"), str(tmp_path / "rows.libsvm")
    signs = np.where(Y == 1, 1, -1)
    rows = X.astype(np.float32)
    face.fit(rows, signs).save(model)
    dump_svmlight_file(rows, signs.astype(float), data, zero_based=True)
    Path(data).write_text(Path(data).read_text(encoding="utf-8").replace("\n1 ", "\n+1 "), encoding="utf-8")
    assert main(["predict", model, data, "--quiet"]) == 0
    said = [json.loads(line)["label"] for line in capsys.readouterr().out.splitlines()]
    assert said == list(map(str, face.predict(rows)))
    assert main(["test", model, data, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["metrics"]["accuracy"] == pytest.approx(face.score(rows, signs))
    assert main(["explain", model, data, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["predicted"] == [said[0]]
    assert main(["inspect", model]) == 0
    assert type(face).__name__ in capsys.readouterr().out
