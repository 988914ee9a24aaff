"""The worked examples that concern linear models, through the public API. The numbers are those of the lectures, with
their errata corrected.
"""

import itertools

import numpy as np
import pytest

import linnaeus
from linnaeus.arrays import as_rows, linear
from linnaeus.erm import Objective, Stop, Watch, train
from linnaeus.features import Words
from linnaeus.losses import LOSSES, Hinge, Log, Perceptron, Probability
from linnaeus.optimizers import SGD, AdaGrad, InverseTime, Newton
from linnaeus.outputs import Binary, Multiclass
from linnaeus.regularizers import NoPenalty
from linnaeus.text import Normalize
from linnaeus.types import Start


def _one_step(loss, space, x, y, params, rate=1.0):
    """The parameters after one gradient step on one example."""
    rows = as_rows(np.atleast_2d(np.asarray(x, dtype=np.float64)))
    k = 2 if isinstance(space, Binary) else params["W"].shape[1]
    objective = Objective(rows, np.array([y], np.int32), space, loss, NoPenalty(), np.ones(1), k, "none")
    fit = train(objective, SGD(rate=rate), Watch(Stop(epochs=1)), Start({"W": np.asarray(params["W"], np.float64)}))
    return fit.params["W"]


def test_3_scores_of_two_classes():
    person, location = [0.3, 1.2, -5.4, 3.8, -0.09], [-0.6, 2.4, 4.0, -2.1, 0.1]
    bridge = as_rows(np.array([[1.0, 1.0, 1.0, 0.0, 0.0]]))
    S = linear.scores(bridge, {"W": np.array([person, location]).T})
    np.testing.assert_allclose(S, [[-3.9, 5.8]])
    assert Multiclass().decode(S).tolist() == [1]


def test_4_blocks_score_like_classes():
    rng = np.random.default_rng(0)
    classes = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    block = classes.ravel()
    assert block.tolist() == [1, 1, 2, 2, 3, 3]
    for x in rng.normal(size=(20, 2)):
        joint = [block @ np.kron(np.eye(3)[c], x) for c in range(3)]
        np.testing.assert_allclose(linear.scores(as_rows(x[None]), {"W": classes.T})[0], joint)


def test_5_two_classes_need_half_the_parameters():
    rng = np.random.default_rng(1)
    W, b = rng.normal(size=(4, 2)), rng.normal(size=2)
    X = as_rows(rng.normal(size=(200, 4)))
    two = Multiclass().decode(linear.scores(X, {"W": W, "b": b}))
    one = Binary().decode(linear.scores(X, {"W": W[:, 1:] - W[:, :1], "b": b[1:] - b[:1]}))
    np.testing.assert_array_equal(two, one)
    y = rng.integers(0, 2, 200)
    assert linnaeus.LogisticRegression().fit(rng.normal(size=(200, 4)), y).coef_.shape == (1, 4)


CORNERS = np.array(list(itertools.product([0.0, 1.0], repeat=2)))


@pytest.mark.parametrize("name", ["Perceptron", "AveragedPerceptron"])
def test_6_and_or_are_learned_and_exclusive_or_is_not(name):
    face = getattr(linnaeus, name)
    both, either = CORNERS.all(axis=1), CORNERS.any(axis=1)
    assert linnaeus.Perceptron().fit(CORNERS, both).score(CORNERS, both) == 1
    assert linnaeus.Perceptron().fit(CORNERS, either).score(CORNERS, either) == 1
    one = both ^ either
    assert face(epochs=300).fit(CORNERS, one).score(CORNERS, one) < 1
    with_pair = np.column_stack([CORNERS, CORNERS.prod(axis=1)])
    model = linnaeus.Perceptron(epochs=300).fit(with_pair, one)
    assert model.score(with_pair, one) == 1
    assert model.trace_.reason == "no mistakes"


def test_8_and_9_ascent_on_the_probability_itself():
    texts = ["Old inn , built near Uppsala , Sweden", "Carl , doctor raised near Sweden"]
    fitted, X = Words(tokenizer="whitespace", normalize=Normalize(case=None)).fit_rows(texts)
    at = {name: column for column, name in enumerate(fitted.names())}
    first = X.to_scipy().toarray()[0]
    W = _one_step(Probability(), Binary(), first, 0, {"W": np.zeros((fitted.width, 1))})
    for word in ("Old", "inn", "built", "near", "Uppsala", "Sweden"):
        assert W[at[word], 0] == pytest.approx(-0.25)
    assert W[at[","], 0] == pytest.approx(-0.5)
    second = X.to_scipy().toarray()[1]
    assert second @ W[:, 0] == pytest.approx(-1)
    W = _one_step(Probability(), Binary(), second, 1, {"W": W})
    for word in ("Carl", "doctor", "raised"):
        assert W[at[word], 0] == pytest.approx(0.197, abs=5e-4)
    assert W[at[","], 0] == pytest.approx(-0.303, abs=5e-4)
    for word in ("near", "Sweden"):
        assert W[at[word], 0] == pytest.approx(-0.053, abs=5e-4)
    for word in ("Uppsala", "Old", "inn", "built"):
        assert W[at[word], 0] == pytest.approx(-0.25)


def test_10_rates_decay_with_time():
    np.testing.assert_allclose(InverseTime(offset=4.0).factors(1, 3, 3), [1 / 5, 1 / 6, 1 / 7])


HAS_DRUG_AND_PATIENTS = np.array([1.0, 1.0, 0.0])


def _classes(w):
    return np.reshape(w, (3, 3)).T


def test_11_joint_features_are_blocks():
    w = [2.1, 2.3, -5, -2.1, -3.8, 0, 1.1, -1.7, -1.3]
    health, sports = (np.kron(np.eye(3)[c], HAS_DRUG_AND_PATIENTS) for c in (0, 1))
    assert health.tolist() == [1, 1, 0, 0, 0, 0, 0, 0, 0]
    assert sports.tolist() == [0, 0, 0, 1, 1, 0, 0, 0, 0]
    S = linear.scores(as_rows(HAS_DRUG_AND_PATIENTS[None]), {"W": _classes(w)})
    np.testing.assert_allclose(S, [[4.4, -5.9, -0.6]])


BEFORE = [1.3, 0.9, -5, 3.2, -0.1, 0, 1.1, -1.7, -1.3]


def test_12_softmax():
    S = linear.scores(as_rows(HAS_DRUG_AND_PATIENTS[None]), {"W": _classes(BEFORE)})
    np.testing.assert_allclose(S, [[2.2, 3.1, -0.6]])
    p = Multiclass().soft(S, np.array([0])).parts[0]
    np.testing.assert_allclose(p, [0.284, 0.699, 0.017], atol=5e-4)


def test_13_one_step_of_softmax_regression():
    W = _one_step(Log(), Multiclass(), HAS_DRUG_AND_PATIENTS, 0, {"W": _classes(BEFORE)})
    move = (W - _classes(BEFORE)).T.ravel()
    np.testing.assert_allclose(move, [0.716, 0.716, 0, -0.699, -0.699, 0, -0.017, -0.017, 0], atol=5e-4)
    assert W[2].tolist() == [-5, 0, -1.3]  # a feature that is not there moves nothing
    p = Multiclass().soft(linear.scores(as_rows(HAS_DRUG_AND_PATIENTS[None]), {"W": W}), np.array([0])).parts[0]
    np.testing.assert_allclose(p, [0.863, 0.125, 0.012], atol=5e-4)
    printed = np.array([0.21, 0.77, 0.02])  # the lecture's probabilities, which its own scores do not give
    gradient = np.kron(np.eye(3)[0] - printed, HAS_DRUG_AND_PATIENTS)
    np.testing.assert_allclose(gradient, [0.79, 0.79, 0, -0.77, -0.77, 0, -0.02, -0.02, 0])
    w = np.array(BEFORE) + gradient
    np.testing.assert_allclose(w, [2.09, 1.69, -5, 2.43, -0.87, 0, 1.08, -1.72, -1.3])
    S = linear.scores(as_rows(HAS_DRUG_AND_PATIENTS[None]), {"W": _classes(w)})
    np.testing.assert_allclose(Multiclass().soft(S, np.array([0])).parts[0], [0.89, 0.10, 0.01], atol=6e-3)


def test_14_the_most_violated_label():
    S, gold = np.array([[2.4, 1.3, 0.5]]), np.array([0])
    space = Multiclass(costs=[[0, 1, 1], [3, 0, 1], [1, 1, 0]])
    worst = space.best(S + space.cost(S, gold).parts, gold)
    assert worst.value[0] == pytest.approx(4.3)
    assert worst.parts.tolist() == [[0, 1, 0]]
    slack, gradient = Hinge().value_and_grad(space, S, gold)
    assert slack[0] == pytest.approx(1.9)
    assert gradient.tolist() == [[-1, 1, 0]]
    value, still = Perceptron().value_and_grad(space, S, gold)
    assert value[0] == 0
    assert not still.any()


def test_15_losses_of_the_margin():
    m = np.array([-2.0, -0.5, 0.0, 0.5, 2.0])
    expected = {
        "perceptron": np.maximum(0, -m),
        "hinge": np.maximum(0, 1 - m),
        "exponential": np.exp(-m),
        "logistic": np.log1p(np.exp(-m)),
    }
    for name, values in expected.items():
        np.testing.assert_allclose(LOSSES[name]().value(m), values)
    at_zero = [LOSSES[name]().value(np.zeros(1))[0] for name in ("perceptron", "hinge", "exponential", "logistic")]
    np.testing.assert_allclose(at_zero, [0, 1, 1, np.log(2)])
    values, _ = LOSSES["squared"]().value_and_grad(Binary(), np.array([[0.0], [0.0]]), np.array([0, 1]))
    assert values.tolist() == [1, 1]
    S = np.array([[0.0]])  # the 0-1 loss counts a margin of zero as a mistake
    assert Binary().best(S, np.array([1])).parts.tolist() != Binary().gold(S, np.array([1])).parts.tolist()


def test_16_a_gaussian_prior_is_a_penalty():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 2, 80)
    variance = 0.5
    model = linnaeus.LogisticRegression(strength=1 / variance, bias="none", tol=1e-12).fit(X, y)
    w = model.coef_[0].astype(float)
    p = 1 / (1 + np.exp(-X @ w))
    log_posterior_slope = X.T @ (y - p) - w / variance
    assert np.abs(log_posterior_slope).max() < 1e-4


def test_17_least_squares_has_a_formula_and_far_points_on_the_right_side_move_it():
    rng = np.random.default_rng(5)
    y = np.repeat([-1.0, 1.0], 40)
    X = rng.normal(size=(80, 2)) + 1.2 * y[:, None]
    squares = linnaeus.LinearRegressor(loss="squared", regularizer="none", tol=1e-12)
    ones = np.column_stack([X, np.ones(80)])
    found = squares.fit(X, y)
    formula = np.linalg.solve(ones.T @ ones, ones.T @ y)
    np.testing.assert_allclose([*found.coef_.ravel(), *np.ravel(found.intercept_)], formula, rtol=1e-5)
    far = np.vstack([X, np.tile([40.0, -8.0], (5, 1))]), np.append(y, np.ones(5))  # all of them on the right side
    turned = {}
    for face in (linnaeus.LeastSquares(strength=1e-6), linnaeus.LogisticRegression(strength=1e-3)):
        normals = [face.fit(*data).coef_[0] for data in ((X, y), far)]
        cosine = normals[0] @ normals[1] / np.linalg.norm(normals[0]) / np.linalg.norm(normals[1])
        turned[type(face).__name__] = np.degrees(np.arccos(min(cosine, 1.0)))
    assert turned["LeastSquares"] > 15
    assert turned["LogisticRegression"] < 2


def test_18_a_loss_without_a_minimum_is_noticed_and_said():
    X, y = np.array([[-2.0], [-1.0], [1.0], [2.0]]), [0, 0, 1, 1]
    with pytest.warns(linnaeus.errors.LinnaeusWarning, match="no minimum"):
        linnaeus.LinearClassifier(loss="log", regularizer="none").fit(X, y)


def test_19_the_sigmoid():
    from linnaeus.arrays.numerics import sigmoid

    t = np.linspace(-5, 5, 101)
    assert sigmoid(np.zeros(1))[0] == 0.5
    np.testing.assert_allclose(1 - sigmoid(t), sigmoid(-t))
    slope = (sigmoid(t + 1e-6) - sigmoid(t - 1e-6)) / 2e-6
    np.testing.assert_allclose(slope, sigmoid(t) * sigmoid(-t), atol=1e-9)


def test_21_adagrad_and_newton():
    x = np.array([[1.0, 2.0, 0.0]])
    objective = Objective(as_rows(x), np.array([[1.0]]), linnaeus.outputs.Real(), LOSSES["squared"](), NoPenalty(),
                          np.ones(1), 1, "none")  # fmt: skip
    fit = train(objective, AdaGrad(rate=0.5, eps=1e-8), Watch(Stop(epochs=2)))
    w, squares = np.zeros(3), np.zeros(3)
    for _ in range(2):
        g = 2 * (x[0] @ w - 1.0) * x[0]
        squares += g * g
        w -= 0.5 * g / np.sqrt(1e-8 + squares)
    np.testing.assert_allclose(fit.params["W"][:, 0], w, rtol=1e-6)
    rng = np.random.default_rng(4)
    X, t = rng.normal(size=(30, 3)), rng.normal(size=(30, 1))
    quadratic = Objective(as_rows(X), t, linnaeus.outputs.Real(), LOSSES["squared"](), NoPenalty(), np.ones(30), 1,
                          "none")  # fmt: skip
    step = train(quadratic, Newton(), Watch(Stop(epochs=1)))
    np.testing.assert_allclose(step.params["W"], np.linalg.lstsq(X, t, rcond=None)[0], atol=1e-9)


def test_22_three_classes_on_a_line():
    X, y = np.array([[-1.0], [0.0], [1.0]]), [1, 3, 2]
    assert linnaeus.Perceptron(epochs=1000).fit(X, y).score(X, y) == 1
    apart = linnaeus.Perceptron(output="onevsrest", epochs=1000).fit(X, y)
    middle = apart.decision_function(X)[:, 2]
    assert not (middle[1] > 0 and middle[0] < 0 and middle[2] < 0)  # no line has it alone on its side


@pytest.mark.parametrize(("n", "least"), [(5, 3), (5, 5), (5, 1), (4, 2)])
def test_24_at_least_m_of_n(n, least):
    """Conjunctions (m = n), disjunctions (m = 1) and everything between are linear."""
    X = np.array(list(itertools.product([0.0, 1.0], repeat=n)))
    y = X.sum(axis=1) >= least
    model = linnaeus.Perceptron(epochs=2000).fit(X, y)
    assert model.score(X, y) == 1
    assert model.trace_.reason == "no mistakes"
