"""Pictures of networks plot what the networks compute: planes, hidden units, losses, filters and attention."""

import numpy as np
import pytest

import linnaeus
from linnaeus.features import Words
from linnaeus.gallery import PICTURES, attention, filters, networks
from linnaeus.gallery.drawing import lattice
from linnaeus.gallery.networks import NAMES, REACH, SHOWN, STARTS, STEPS, TOY, trained
from linnaeus.learners.networks import by_hand
from linnaeus.render.picture import Bars, Lines, Points, Regions


def layers(name, kind, panel=0):
    return [layer for layer in PICTURES[name]().panels[panel].layers if isinstance(layer, kind)]


def test_the_plane_is_shaded_by_what_the_network_says_and_the_last_one_is_right():
    _, grid = lattice(TOY.limits)
    for panel, steps in enumerate(SHOWN):
        regions = layers("hidden-layer", Regions, panel)[0]
        P = by_hand.forward(trained()[steps], grid).P
        np.testing.assert_array_equal(np.ravel(regions.classes), P.argmax(axis=1))
        np.testing.assert_allclose(np.ravel(regions.sure), 2 * P.max(axis=1) - 1, atol=1e-9)
    right = [(by_hand.predict(trained()[steps], TOY.X) == TOY.y).sum() for steps in SHOWN]
    assert right[0] < 4
    assert right[-1] == 4


def test_corners_in_the_hidden_space_are_on_their_side_of_the_line():
    network = trained()[-1]
    line, points = layers("hidden-space", Lines)[1], layers("hidden-space", Points)
    for path in line.paths:
        np.testing.assert_allclose(networks.scored(network, np.array(path)), 0, atol=0.05)
    for kind, layer in enumerate(points):
        margins = networks.scored(network, np.array(layer.at))
        assert ((margins > 0) == bool(kind)).all()
        np.testing.assert_allclose(layer.at, by_hand.forward(network, TOY.X[TOY.y == kind]).H)
    assert np.abs(points[1].at[0] - np.array(points[1].at[1])).max() < 0.05  # they share a name
    first, second = network.W / np.linalg.norm(network.W, axis=1, keepdims=True)
    assert abs(first @ second) > 0.999  # both units have one direction
    assert [list(layer.names) for layer in points] == [list(names) for names in NAMES]
    bent = np.concatenate(layers("hidden-space", Lines)[0].paths)
    assert np.abs(bent).max() <= 1 < REACH


def test_hidden_units_and_scores_are_those_of_the_network():
    _, grid = lattice(TOY.limits)
    run = by_hand.forward(trained()[-1], grid)
    for unit in (0, 1):
        regions = layers("hidden-units", Regions, 1 + unit)[0]
        signed = np.where(np.ravel(regions.classes) == 1, 1, -1) * np.ravel(regions.sure)
        np.testing.assert_allclose(signed, run.H[:, unit], atol=1e-12)
    shown = np.array([end for line in layers("network-scores", Lines, 2)[0].paths for end in line])
    S = by_hand.forward(trained()[-1], shown).S
    np.testing.assert_allclose(S[:, 0], S[:, 1], atol=0.05)
    for k in (0, 1):
        for line, level in zip(layers("network-scores", Lines, k), (-2, 0, 2), strict=True):
            ends = np.array([end for path in line.paths for end in path])
            np.testing.assert_allclose(by_hand.forward(trained()[-1], ends).S[:, k], level, atol=0.05)


def test_losses_fall_to_zero_or_into_a_local_minimum():
    drawn = [np.array(line.paths[0]) for line in layers("network-loss", Lines)[1:]]
    for path, seed in zip(drawn, STARTS.values(), strict=True):
        last = by_hand.cross_entropy(by_hand.forward(trained(seed)[-1], TOY.X), TOY.y)
        assert len(path) == STEPS + 1
        assert path[-1, 1] == pytest.approx(last)
    ends = [path[-1, 1] for path in drawn]
    assert ends[0] < 0.01
    assert ends[1] < 0.01
    stuck = by_hand.forward(trained(STARTS["third start"])[-1], TOY.X).P[np.arange(4), TOY.y]
    assert ends[2] == pytest.approx(np.log(2) / 2, abs=0.01)
    np.testing.assert_allclose(np.sort(stuck), [0.5, 0.5, 1, 1], atol=0.05)


def test_no_word_tells_praise_from_blame_and_filters_over_two_words_do():
    texts, y = filters.sentences()
    _, X = Words(values="binary").fit_rows(texts)
    assert linnaeus.LogisticRegression().fit(X, y).score(X, y) <= 0.6
    given, model = filters.trained()
    assert ((model.scores(given) > 0) == (y == 1)).all()


def test_each_filter_fires_on_one_kind_of_pair():
    given, model = filters.trained()
    A, kinds = model.fired(given), set()
    for panel, values, weight in zip(PICTURES["filters"]().panels, A.T, model.u, strict=True):
        bars = panel.layers[0]
        fired = dict(zip(given.names, values, strict=True))
        np.testing.assert_allclose(bars.values, sorted(values)[: -len(bars.values) - 1 : -1], atol=1e-3)
        assert all(fired[name] == value for name, value in zip(bars.names, bars.values, strict=True))
        (kind,) = {(name.split()[0], name.split()[1] in filters.GOOD) for name in bars.names[:3]}
        assert bars.values[2] > 3 * bars.values[3]
        assert (weight > 0) == ((kind[0] == "really") == kind[1])
        kinds.add(kind)
    assert kinds == {(adverb, good) for adverb in ("not", "really") for good in (True, False)}


def test_steps_of_the_filters_follow_the_gradient():
    texts, y = filters.sentences()
    given = filters.windows(texts)
    rng = np.random.default_rng(0)
    size = len(given.words)
    model = filters.Filters(rng.normal(size=(size, 4)), rng.normal(size=(3, 8)), rng.normal(size=3), np.ones(3), 0.1)

    def loss(model):
        s = model.scores(given)
        penalty = sum((part**2).sum() for part in (model.E, model.F, model.u))
        return np.logaddexp(0, np.where(y == 1, -s, s)).mean() + filters.DECAY / 2 * penalty

    check(model, model.stepped(given, y), loss, filters.RATE)


def test_steps_of_attention_follow_the_gradient():
    _, given, y = attention.read()
    rng = np.random.default_rng(0)
    E = rng.normal(size=(int(given.words.max()) + 1, 3))
    model = attention.Attention(E, rng.normal(size=3), rng.normal(size=3))

    def loss(model):
        s = model.scores(given)
        penalty = sum((part**2).sum() for part in (model.E, model.q, model.u))
        return np.logaddexp(0, np.where(y == 1, -s, s)).mean() + attention.DECAY / 2 * penalty

    check(model, model.stepped(given, y), loss, attention.RATE)


def check(model, after, loss, rate):
    """The change of every tenth number is the central difference of the loss, times -rate."""
    parts = vars(model)
    for name, values in parts.items():
        for at in list(np.ndindex(np.shape(values)))[::10]:
            moved = []
            for sign in (1, -1):
                other = np.array(values)
                other[at] += sign * 1e-6
                moved.append(loss(type(model)(**{**parts, name: other})))
            slope = (moved[0] - moved[1]) / 2e-6
            change = np.array(getattr(after, name))[at] - np.array(values)[at]
            assert change == pytest.approx(-rate * slope, abs=1e-7), (name, at)


def test_attention_adds_up_to_one_and_lies_on_opinions():
    tokens, given, y = attention.read()
    A, panels = attention.trained().weights(given), PICTURES["attention"]().panels
    np.testing.assert_allclose(A.sum(axis=1), 1)
    assert (A[~given.there] == 0).all()
    assert ((attention.trained().scores(given) > 0) == (y == 1)).mean() > 0.95
    for i, panel in zip(attention.SHOWN, panels, strict=True):
        (bars,) = panel.layers
        assert isinstance(bars, Bars)
        assert list(bars.names) == tokens[i]
        assert list(bars.values) == A[i, : len(tokens[i])].tolist()
        best = bars.names[int(np.argmax(bars.values))]
        assert best in {"friendly", "fresh", "terrible", "too"}
        assert min(bars.values) < 0.03
