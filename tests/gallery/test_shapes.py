"""What the pictures of classes, margins, lifts, cells and valleys plot is what the models and the formulas say."""

import numpy as np
import pytest

from linnaeus.gallery import PICTURES
from linnaeus.gallery.boundaries import REACH, STRENGTHS, cell, fitted, nearest, sites, slack_lines
from linnaeus.gallery.curves import MEANS, WIDTHS
from linnaeus.gallery.drawing import CELLS, lattice
from linnaeus.gallery.lifts import INNER, OUTER, cuts, lifted, truth_tables
from linnaeus.gallery.minima import STARTS, curvature, height, saddle, slope, surface, walked
from linnaeus.gallery.multiclass import NONE, SEVERAL, apart, claims, duels, votes
from linnaeus.gallery.toys import overlapping, three
from linnaeus.render.picture import Lines, Points, Regions

_, GRID = lattice(three().limits)


def layers(name, kind, panel=0):
    return [layer for layer in PICTURES[name]().panels[panel].layers if isinstance(layer, kind)]


def test_three_classes_are_shaded_by_the_probability_of_the_largest():
    regions = layers("three-classes", Regions)[0]
    found, sure = np.array(regions.classes), np.array(regions.sure)
    assert set(found.ravel()) == {0, 1, 2}
    assert 0 <= sure.min() < 0.1 < 0.9 < sure.max() <= 1
    toy = three()
    at = np.clip(((toy.X + toy.reach) / (2 * toy.reach) * CELLS).astype(int), 0, CELLS - 1)
    assert (found[at[:, 1], at[:, 0]] == toy.y).mean() > 0.95


def test_one_vs_rest_is_unclear_where_none_or_several_say_yes():
    model = apart("onevsrest")
    yes = (model.decision_function(GRID) > 0).sum(axis=1).reshape(CELLS, CELLS)
    said = claims()
    assert ((said == NONE) == (yes == 0)).all()
    assert ((said == SEVERAL) == (yes > 1)).all()
    assert (said == NONE).any()
    assert (said == SEVERAL).any()
    clear = (said >= 0).ravel()
    assert (model.predict(GRID)[clear] == said.ravel()[clear]).all()
    first, second = (layers("one-vs-rest", Regions, panel)[0].classes for panel in (0, 1))
    assert np.array_equal(first, said)
    assert np.array_equal(np.ravel(second), model.predict(GRID))


def test_one_vs_one_is_a_draw_where_every_class_has_one_vote():
    won = votes(duels())
    assert (won.sum(axis=1) == 3).all()
    drawn = np.ravel(layers("one-vs-one", Regions)[0].classes)
    assert ((drawn == SEVERAL) == (won.max(axis=1) == 1)).all()
    assert (drawn == SEVERAL).sum() > 50
    clear = drawn >= 0
    assert (apart("onevsone").predict(GRID)[clear] == drawn[clear]).all()


@pytest.mark.parametrize("strength", STRENGTHS)
def test_slacks_are_hinge_losses_and_their_lines_end_on_the_rims(strength):
    toy, model = overlapping(), fitted(strength)
    sign = 2 * toy.y - 1
    hinge = np.maximum(0, 1 - sign * model.decision_function(toy.X))
    slacks, lines = slack_lines(model)
    assert slacks.sum() == pytest.approx(hinge.sum(), abs=0.05)
    rims = model.decision_function(lines[:, 1])
    np.testing.assert_allclose(np.abs(rims), 1, atol=1e-5)
    length = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)
    np.testing.assert_allclose(length * np.linalg.norm(model.coef_), slacks, rtol=1e-5)


def test_a_larger_strength_allows_more_slack_and_a_wider_strip():
    strict, loose = (fitted(strength) for strength in STRENGTHS)
    assert slack_lines(strict)[0].sum() < slack_lines(loose)[0].sum()
    assert np.linalg.norm(strict.coef_) > np.linalg.norm(loose.coef_)


def test_and_and_or_are_learned_and_exclusive_or_only_with_the_product():
    right = []
    for side in truth_tables.sides:
        toy = side.toy()
        right.append((side.model().fit(toy.X, toy.y).predict(toy.X) == toy.y).sum())
    assert right[0] == right[1] == right[3] == 4
    assert right[2] < 4


def test_the_line_of_the_lift_separates_and_cuts_the_first_feature_twice():
    model = lifted()
    low, high = cuts(model)
    assert ((low < INNER) & (high > INNER)).all()
    assert ((low > OUTER) | (high < OUTER)).all()
    border = np.array(layers("lift", Lines, 1)[1].paths[0])
    np.testing.assert_allclose(model.decision_function(border), 0, atol=1e-5)
    np.testing.assert_allclose(model.decision_function(np.c_[[low, high], [low**2, high**2]]), 0, atol=1e-5)


def test_corners_of_cells_are_as_near_to_another_point_and_insides_are_not():
    X, y = sites()
    numbers = nearest(np.arange(len(X)))
    for i in range(len(X)):
        corners = cell(i)
        far = np.linalg.norm(corners[:, None] - X, axis=2)
        inner = (np.abs(corners) < REACH - 1e-9).all(axis=1)
        np.testing.assert_allclose(far[:, i], far.min(axis=1), atol=1e-9)
        assert (np.sort(far[inner], axis=1)[:, 1] - far[inner, i] < 1e-9).all()
        assert (numbers.predict(X[i] + 0.99 * (corners - X[i])) == i).all()
    found = layers("voronoi", Regions, 1)[0].classes
    assert np.array_equal(np.ravel(found), nearest(y).predict(lattice((-REACH, REACH))[1]))


@pytest.mark.parametrize(("column", "widths"), list(enumerate(WIDTHS.values())))
def test_posteriors_are_bayes_rule_and_a_sigmoid_for_one_width(column, widths):
    first, second = (np.array(line.paths[0]) for line in layers("two-gaussians", Lines, column))
    posterior = np.array(layers("two-gaussians", Lines, 2 + column)[0].paths[0])
    for path, mean, width in zip((first, second), MEANS, widths, strict=True):
        bell = np.exp(-((path[:, 0] - mean) ** 2) / 2 / width**2) / width / np.sqrt(2 * np.pi)
        np.testing.assert_allclose(path[:, 1], bell, rtol=1e-12)
    np.testing.assert_allclose(posterior[:, 1], second[:, 1] / (first[:, 1] + second[:, 1]), atol=1e-6)
    inner = np.abs(posterior[:, 0]) < 3
    odds = np.log(posterior[inner, 1] / (1 - posterior[inner, 1]))
    bend = np.abs(np.diff(odds, 2)).max()
    assert bend < 1e-6 if widths[0] == widths[1] else bend > 1e-3


def test_chords_run_above_the_convex_loss_only():
    above = []
    for panel in PICTURES["convexity"]().panels:
        curve, chord = (np.array(layer.paths[0]) for layer in panel.layers if isinstance(layer, Lines))
        inside = (curve[:, 0] >= chord[0, 0]) & (curve[:, 0] <= chord[1, 0])
        straight = np.interp(curve[inside, 0], chord[:, 0], chord[:, 1])
        above.append(bool((straight >= curve[inside, 1] - 1e-12).all()))
        np.testing.assert_allclose(np.interp(chord[:, 0], *curve.T), chord[:, 1])
    assert above == [True, False, False]


def test_the_saddle_is_flat_and_goes_up_one_way_and_down_the_other():
    w = saddle()
    np.testing.assert_allclose(slope("probability", w), 0, atol=1e-9)
    low, high = np.linalg.eigvalsh(curvature("probability", w))
    assert low < 0 < high
    assert layers("local-minima", Points)[-1].at == [tuple(w)]


def test_descents_end_in_two_minima_of_the_one_loss_and_in_one_of_the_other():
    ends = {loss: [walked(loss, start)[-1] for start in STARTS.values()] for loss in ("probability", "logistic")}
    apart_by = np.linalg.norm(ends["probability"][0] - ends["probability"][1])
    assert apart_by > 3
    np.testing.assert_allclose(ends["probability"][1], ends["probability"][2], atol=0.05)
    assert max(np.linalg.norm(end - ends["logistic"][0]) for end in ends["logistic"]) < 0.01
    for loss, found in ends.items():
        for w in found:
            assert np.linalg.eigvalsh(curvature(loss, w)).min() > 0
    assert height("probability", ends["probability"][0]) < height("probability", ends["probability"][1]) - 0.2
    ways = [np.array(line.paths[0]) for line in layers("local-minima", Lines)[1:]]
    assert all((np.diff(surface("probability", way)) <= 1e-9).all() for way in ways)
    assert surface("logistic", ends["logistic"][0][None])[0] == pytest.approx(height("logistic", ends["logistic"][0]))
