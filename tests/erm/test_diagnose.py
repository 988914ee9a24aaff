"""Separability with its proof, the mistake bound, and losses without a minimum."""

import numpy as np
import pytest
from pandas import DataFrame
from scipy.sparse import coo_matrix, csr_matrix
from tests.contracts.problems import problem, separable

from linnaeus.arrays import CSR, as_rows
from linnaeus.erm import Objective, Stop, Watch, separability, train
from linnaeus.errors import LinnaeusError
from linnaeus.losses import LOSSES, Perceptron
from linnaeus.optimizers import LBFGS, SGD
from linnaeus.outputs import OUTPUTS, Binary, Multiclass, MultiLabel, OneVsRest
from linnaeus.regularizers import L2, NoPenalty


def _csr(rows):
    X = csr_matrix(np.asarray(rows, dtype=np.float32))
    return CSR(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, X.shape[1])


CORNERS = _csr([[0, 0], [0, 1], [1, 0], [1, 1]])


@pytest.mark.parametrize("output", [name for name in OUTPUTS if name != "real"])
def test_separable_data_come_with_weights_that_separate(output):
    X, y, space, k = separable(output)
    found = separability(X, y, space, k)
    assert found.verdict == "separable"
    S = X.dot(found.params["W"]) + found.params["b"]
    np.testing.assert_array_equal(space.best(S, y).parts, space.gold(S, y).parts)
    assert found.margin > 0
    assert "at most" in found.sentence()


@pytest.mark.parametrize("output", [name for name in OUTPUTS if name != "real"])
def test_other_data_come_with_a_contradiction(output):
    """Convex weights over the constraints whose sum is zero: whatever the weights, one constraint fails."""
    X, y, space, k = problem(output)
    found = separability(X, y, space, k)
    assert found.verdict == "not separable"
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1)
    from linnaeus.erm.diagnose import constraints

    needs = constraints(Objective(X, y, space, Perceptron(), NoPenalty(), np.ones(len(y)), k))
    assert np.abs(needs.matrix().T @ found.weights).max() < 1e-7
    rng = np.random.default_rng(0)
    for _ in range(100):
        params = {"W": rng.normal(size=(X.shape[1], space.width(k))), "b": rng.normal(size=space.width(k))}
        assert needs.margins(params).min() <= 1e-7


def test_exclusive_or_is_not_separable_but_its_conjunction_is():
    assert separability(CORNERS, np.array([0, 1, 1, 0]), Binary(), 2).verdict == "not separable"
    more = _csr([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]])
    assert separability(more, np.array([0, 1, 1, 0]), Binary(), 2).verdict == "separable"


def test_no_time_is_undecided():
    X, y, space, k = problem("multiclass")
    assert separability(X, y, space, k, seconds=0.0).verdict in ("undecided", "not separable")


def test_mistakes_stay_below_the_bound():
    """Worked example 7: ten one-hot classes make nine mistakes, more than 2 R^2 / margin^2 with unit vectors each."""
    eye = _csr(np.eye(10))
    y = np.arange(10)
    objective = Objective(eye, y, Multiclass(), Perceptron(), NoPenalty(), np.ones(10), 10, "none")
    fit = train(objective, SGD(rate=1.0), Watch(Stop(epochs=50, mistakes=0.0)))
    mistakes = sum(record.mistakes for record in fit.trace)
    found = separability(eye, y, Multiclass(), 10, bias="none")
    assert found.verdict == "separable"
    assert mistakes <= found.bound
    ideal = 2 * 1.0 / (1 / np.sqrt(10)) ** 2  # u_y = e_y / sqrt(10): joint length one, margin 1/sqrt(10)
    assert 9 <= mistakes <= ideal
    each_of_length_one = 2 * 1.0 / 1.0**2
    assert mistakes > each_of_length_one


@pytest.mark.parametrize("output", ["binary", "multiclass", "onevsrest", "multilabel", "onevsone"])
def test_mistake_bounds_hold_on_random_separable_data(output):
    X, y, space, k = separable(output)
    objective = Objective(X, y, space, Perceptron(), NoPenalty(), np.ones(len(y)), k)
    fit = train(objective, SGD(rate=1.0), Watch(Stop(epochs=5000, mistakes=0.0)))
    assert fit.trace.reason == "no mistakes"
    assert sum(record.mistakes for record in fit.trace) <= separability(X, y, space, k).bound


@pytest.mark.parametrize("loss", ["log", "logistic", "exponential", "softmargin"])
def test_a_loss_without_a_minimum_is_noticed(loss):
    """Worked example 18: it ends, and says why."""
    X, y, space, k = separable("binary")
    objective = Objective(X, y, space, LOSSES[loss](), NoPenalty(), np.ones(len(y)), k)
    fit = train(objective, LBFGS(), Watch(Stop(epochs=10_000)))
    assert fit.trace.reason == "no minimum"
    assert not fit.trace.converged
    kept = Objective(X, y, space, LOSSES[loss](), L2(0.1), np.ones(len(y)), k)
    assert train(kept, LBFGS(), Watch(Stop(epochs=10_000))).trace.reason != "no minimum"


def test_three_classes_on_a_line():
    """Worked example 22: the middle class has no line of its own, yet all three are learned together."""
    line, y = _csr([[-1.0], [0.0], [1.0]]), np.array([0, 2, 1])
    assert separability(line, y, OneVsRest(), 3).verdict == "not separable"
    assert separability(line, y, Multiclass(), 3).verdict == "separable"


LINE = np.array([[-1.0, 0.5], [0.0, 0.1], [1.0, -0.2], [1.5, 0.3]])


MATRICES = [np.asarray, np.ndarray.tolist, csr_matrix, coo_matrix, as_rows, _csr, DataFrame]
LABELS = [["a", "b", "c", "c"], [0, 1, 2, 2], np.array(["x", "y", "z", "z"], dtype=object)]


@pytest.mark.parametrize(
    ("form", "y"), [*((form, LABELS[0]) for form in MATRICES), *((np.asarray, y) for y in LABELS[1:])]
)
def test_every_matrix_and_every_kind_of_label(form, y):
    found = separability(form(LINE), y)
    assert found.verdict == "separable"
    assert found.params["W"].shape == (2, 3)
    assert separability(form(LINE), y, "onevsrest").verdict == "separable"
    assert separability(form(LINE), y, OneVsRest(), bias="none").radius > 1


def test_label_sets_in_every_form():
    lists = [["u"], ["u", "v"], ["v"], []]
    table = np.array([[1, 0], [1, 1], [0, 1], [0, 0]])
    for y in (lists, table, csr_matrix(table)):
        assert separability(LINE, y).params["W"].shape == (2, 2)
        assert separability(LINE, y, "multilabel").verdict in ("separable", "not separable")
    assert separability(LINE, table, MultiLabel(), 2).params["W"].shape == (2, 2)


def test_more_classes_than_there_are_examples_of():
    assert separability(LINE, [0, 1, 4, 4], "multiclass", 5).params["W"].shape == (2, 5)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"y": ["a"] * 4}, "only one class, 'a'"),
        ({"y": [0, 1]}, "X has 4 rows, but y has 2"),
        ({"y": [0, 1, 2, 2], "k": 2}, "k=2 classes have the indices 0 to 1, but y goes from 0 to 2"),
        ({"y": ["a", "b", "c", "c"], "k": 3}, "k=3 needs class indices from 0 to 2; leave k out"),
        ({"y": [0, 1, 1, 1], "k": "2"}, "k takes a whole number"),
        ({"space": "many"}, "There is no output 'many'; take one of binary"),
        ({"space": Multiclass}, "output takes a plain name"),
        ({"space": "real"}, "The output Real does not fit these labels"),
        ({"space": "multilabel"}, "The output MultiLabel does not fit these labels"),
        ({"y": [["a"], ["b"], [], ["a"]], "space": Binary()}, "The output Binary does not fit these labels"),
        ({"y": [0, 1, 2, 2], "space": "binary"}, "needs 2 classes, not 3"),
        ({"bias": "some"}, "bias takes 'free' or 'none'"),
        ({"seconds": -1}, "seconds must be at least 0, not -1"),
        ({"seconds": "x"}, "seconds takes a number"),
        ({"X": [[np.nan], [1], [2], [3]]}, r"X\[0, 0\] is NaN"),
        ({"y": None}, "requires y to be passed"),
    ],
)
def test_what_cannot_be_meant_gets_a_sentence(given, sentence):
    with pytest.raises(LinnaeusError, match=sentence):
        separability(**{"X": LINE, "y": ["a", "b", "b", "b"], **given})
