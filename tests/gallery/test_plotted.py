"""What is plotted is what the models say."""

import numpy as np
import pytest
from tests.kernels.all_trees import is_projective, is_tree

from linnaeus.estimators.named import LeastSquares, LogisticRegression
from linnaeus.gallery import PICTURES
from linnaeus.gallery.boundaries import Scene, panel
from linnaeus.gallery.curves import GROUPS, STEP
from linnaeus.gallery.digits import means, templates
from linnaeus.gallery.drawing import CELLS, lattice
from linnaeus.gallery.fits import STRENGTHS, fitted, noisy, powers
from linnaeus.gallery.parsing import WORDS, scores
from linnaeus.gallery.paths import BEST, RUNS, bowl, walked
from linnaeus.gallery.toys import outliers
from linnaeus.losses import LOSSES
from linnaeus.outputs import ProjectiveTree, SpanningTree
from linnaeus.render.picture import Lines, Regions, contour

SCENES = {name: one for name, one in PICTURES.items() if isinstance(one, Scene) and name != "truth-tables"}
SIDES = [pytest.param(side, id=f"{name} {side.title}") for name, scene in SCENES.items() for side in scene.sides]


@pytest.mark.parametrize("side", SIDES)
def test_boundaries_run_where_the_score_is_at_their_level(side):
    toy = side.toy()
    model = side.model()
    model.fit(toy.X, toy.y)
    _at, grid = lattice(toy.limits)
    scores = np.asarray(model.decision_function(grid))
    lines = [layer for layer in panel(side).layers if isinstance(layer, Lines)]
    assert len(lines) == len(side.levels)
    for level, line in zip(side.levels, lines, strict=True):
        ends = np.array(line.paths).reshape(-1, 2)
        assert len(ends) > 50
        off = np.abs(np.asarray(model.decision_function(ends)) - level)
        assert off.max() < 0.002 * np.abs(scores).max() + 1e-6


@pytest.mark.parametrize("side", SIDES)
def test_regions_are_the_answers(side):
    toy = side.toy()
    model = side.model()
    model.fit(toy.X, toy.y)
    regions = next(layer for layer in panel(side).layers if isinstance(layer, Regions))
    at, _ = lattice(toy.limits)
    assert np.array(regions.classes).shape == (CELLS, CELLS)
    for row, column in [(0, 0), (10, 60), (50, 50), (70, 20), (99, 99), (40, 45), (99, 0)]:
        assert regions.classes[row][column] == model.predict(np.array([[at[column], at[row]]]))[0]


@pytest.mark.parametrize("side", SIDES)
def test_shades_are_the_probabilities_where_there_are_some(side):
    toy = side.toy()
    model = side.model()
    model.fit(toy.X, toy.y)
    regions = next(layer for layer in panel(side).layers if isinstance(layer, Regions))
    assert (regions.sure is not None) == hasattr(model, "predict_proba") == bool(regions.label)
    if regions.sure is not None:
        P = model.predict_proba(lattice(toy.limits)[1])[:, 1].reshape(CELLS, CELLS)
        np.testing.assert_allclose(regions.sure, np.abs(2 * P - 1), atol=1e-12)


def test_one_neighbor_answers_its_training_rows_and_fifteen_do_not():
    one, fifteen = SCENES["neighbors"].sides
    toy = one.toy()
    assert (one.model().fit(toy.X, toy.y).predict(toy.X) == toy.y).all()
    assert (fifteen.model().fit(toy.X, toy.y).predict(toy.X) != toy.y).any()


def test_bumps_separate_the_rings_and_a_line_does_not():
    line, bumps = SCENES["rbf-svm"].sides
    toy = line.toy()
    assert (line.model().fit(toy.X, toy.y).predict(toy.X) == toy.y).mean() < 0.8
    assert (bumps.model().fit(toy.X, toy.y).predict(toy.X) == toy.y).all()


def test_least_squares_fails_on_outliers_and_logistic_regression_does_not():
    X, y, *_ = outliers()
    assert (LeastSquares().fit(X, y).predict(X) != y).any()
    assert (LogisticRegression().fit(X, y).predict(X) == y).all()


def test_the_strip_of_the_support_vector_machine_is_empty():
    side = SCENES["linear-svm"].sides[0]
    toy = side.toy()
    margins = (2 * toy.y - 1) * side.model().fit(toy.X, toy.y).decision_function(toy.X)
    assert 0.95 < margins.min() < 1.05


FORMULAS = {
    "perceptron": lambda m: np.maximum(0, -m),
    "hinge": lambda m: np.maximum(0, 1 - m),
    "squared_hinge": lambda m: np.maximum(0, 1 - m) ** 2,
    "modified_huber": lambda m: np.where(m < -1, -4 * m, np.maximum(0, 1 - m) ** 2),
    "log": lambda m: np.log1p(np.exp(-m)),
    "logistic": lambda m: np.log1p(np.exp(-m)),
    "exponential": lambda m: np.exp(-m),
    "squared": lambda m: (1 - m) ** 2,
    "absolute": lambda m: np.abs(1 - m),
    "softmargin": lambda m: np.log1p(np.exp(1 - m)),
    "probability": lambda m: 1 / (1 + np.exp(m)),
    "huber": lambda m: np.where(np.abs(1 - m) <= 1, (1 - m) ** 2, 2 * np.abs(1 - m) - 1),
}


def test_loss_curves_are_the_losses():
    drawn = {layer.label: np.array(layer.paths[0]) for one in PICTURES["losses"]().panels for layer in one.layers}
    assert drawn.pop(STEP).tolist() == [[-3, 1], [0, 1], [0, 0], [3, 0]]
    assert set(drawn) == set(LOSSES) == {name for names in GROUPS.values() for name in names}
    assert set(FORMULAS) == set(LOSSES)
    for name, formula in FORMULAS.items():
        np.testing.assert_allclose(drawn[name][:, 1], formula(drawn[name][:, 0]), rtol=1e-9, atol=1e-12)


def test_descents_go_down_but_for_too_large_a_rate():
    ends = {name: bowl(walked(optimizer)) for name, optimizer in RUNS.items()}
    start = float(bowl(np.zeros((1, 2)))[0])
    assert all(values[0] == start for values in ends.values())
    assert all(ends[name][-1] < 0.02 * start for name in ("plain", "momentum", "AdaGrad"))
    swings = walked(RUNS["too large a rate"])[:, 1] - BEST[1]
    assert (np.abs(np.diff(np.abs(swings))) > 0).all()
    assert abs(swings[-1]) > abs(swings[0])
    assert (swings[1:] * swings[:-1] < 0).all()


def test_a_stronger_penalty_fits_the_points_less():
    x, y = noisy()
    missed = [np.square(fitted(strength).predict(powers(x)) - y).mean() for strength in STRENGTHS]
    assert missed[0] < missed[1] / 2 < missed[2] / 2
    grid = np.linspace(-0.95, 0.95, 101)
    truth = [np.square(fitted(strength).predict(powers(grid)) - np.sin(np.pi * grid)).mean() for strength in STRENGTHS]
    assert truth[1] < truth[0]
    assert truth[1] < truth[2]


def test_sigmoids_cross_one_half_at_minus_b_over_a():
    for layer in PICTURES["sigmoid-scaling"]().panels[0].layers:
        a, b = (float(part.split("=")[1]) for part in layer.label.split(","))
        path = np.array(layer.paths[0])
        np.testing.assert_allclose(path[:, 1], 1 / (1 + np.exp(-(a * path[:, 0] + b))), rtol=1e-9)


def test_templates_answer_their_digits():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    assert ((X / 16.0 @ templates().reshape(10, 64).T).argmax(axis=1) == y).mean() > 0.9


def test_templates_and_mean_images_are_drawn_as_they_are():
    panels, ink, W = PICTURES["digit-templates"]().panels, means(), templates()
    for digit, (above, below) in enumerate(zip(panels[:5] + panels[10:15], panels[5:10] + panels[15:], strict=True)):
        for values, image in ((above.layers[0].values, ink[digit]), (below.layers[0].values, W[digit])):
            middles = np.array(values)[1::3, 1::3]  # the middle one of three fine pixels
            np.testing.assert_allclose(middles, image / np.abs(image).max(), atol=1e-9)


def test_contours_of_a_circle_and_of_a_saddle():
    at = np.linspace(-2, 2, 41)
    across, up = np.meshgrid(at, at)
    ends = np.array(contour(at, at, across**2 + up**2 - 1)).reshape(-1, 2)
    np.testing.assert_allclose(np.hypot(*ends.T), 1, atol=0.01)
    assert len(contour([0.0, 1.0], [0.0, 1.0], [[3.0, -1.0], [-1.0, 3.0]])) == 2
    assert contour([0.0, 1.0], [0.0, 1.0], [[3.0, 1.0], [1.0, 3.0]]) == []


def test_best_trees_are_the_best_and_only_one_crosses():
    S = scores()
    left, right = (panel.layers[0] for panel in PICTURES["best-trees"]().panels)
    worth = [sum(S[m, h] for m, h in enumerate(tree.heads)) for tree in (left, right)]
    for kind, tree, sum_of_scores in (("projective", right, worth[1]), ("spanning", left, worth[0])):
        assert is_tree(tree.heads)
        assert sum_of_scores == value(kind, S)
        assert [float(label) for label in tree.relations] == [S[m, h] for m, h in enumerate(tree.heads)]
    assert worth[0] > worth[1]
    assert is_projective(right.heads)
    assert not is_projective(left.heads)
    assert left.marked == right.marked == {WORDS.index("barked")}


def value(kind, S):
    """The best score by arcs that are taken away: no better tree remains if any of its arcs is forbidden."""
    space = {"projective": ProjectiveTree(), "spanning": SpanningTree()}[kind]
    best = space.decode(S.reshape(-1, 1))
    total = S[np.arange(len(S)), best].sum()
    for m, head in enumerate(best):
        without = S.copy()
        without[m, head] = -np.inf
        assert without[np.arange(len(S)), space.decode(without.reshape(-1, 1))].sum() < total  # it is the only one
    return total
