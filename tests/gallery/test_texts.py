"""Pictures about text and about fits plot what models, counts and formulas say."""

import numpy as np
import pytest

import linnaeus
from linnaeus.features import Words
from linnaeus.gallery import PICTURES
from linnaeus.gallery.fits import DEGREES, DRAWS, errors, noisy, powers, truth
from linnaeus.gallery.texts import SENTENCE, SHOWN, binned, curves_of_learning, ranked, sureness, word_weights
from linnaeus.gallery.toys import reviews
from linnaeus.render.picture import Bars, Lines


def test_bars_are_the_largest_weights_and_their_sums_are_the_scores():
    weights = word_weights()
    bars = PICTURES["word-weights"]().panels[0].layers[0]
    assert dict(zip(bars.names, bars.values, strict=True)).items() <= weights.items()
    shown = sorted(weights.values())
    assert sorted(bars.values) == shown[:SHOWN] + shown[-SHOWN:]
    texts, labels = reviews()
    _, X = Words(values="binary").fit_rows(texts)
    model = linnaeus.LogisticRegression(strength=0.3).fit(X, labels)
    scores = X.dot(np.array(list(weights.values()))) + model.intercept_
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-5)
    assert model.score(X, labels) == 1


def test_values_of_the_sentence_are_counts_times_inverse_document_frequencies():
    bars = [panel.layers[0] for panel in PICTURES["tf-idf"]().panels]
    counts, tfidf = (dict(zip(bar.names, bar.values, strict=True)) for bar in bars)
    words = SENTENCE.lower().split()
    assert counts == {word: words.count(word) for word in words}
    fitted, X = Words(values="binary").fit_rows(linnaeus.datasets.intents())
    df = dict(zip(fitted.names(), X.tdot(np.ones(len(X))), strict=True))
    for word, value in tfidf.items():
        assert value == pytest.approx(counts[word] * (np.log((1 + len(X)) / (1 + df[word])) + 1), rel=1e-5)
    assert max(counts, key=counts.get) == min(tfidf, key=tfidf.get) == "the"


def test_ranks_and_counts_of_words():
    counts = ranked()
    assert (np.diff(counts) <= 0).all()
    lines = PICTURES["zipf"]().panels[0].layers
    path, law = (np.array(line.paths[0]) for line in lines)
    np.testing.assert_array_equal(path[:, 1], counts)
    np.testing.assert_allclose(law[:, 1] * law[:, 0], counts[0])
    rank = np.log(path[:200, 0])
    slope = np.polyfit(rank, np.log(path[:200, 1]), 1)[0]
    assert -1.3 < slope < -0.7


def test_more_texts_make_better_models():
    for path in curves_of_learning().values():
        rows, scores = zip(*path, strict=True)
        assert list(rows) == sorted(rows)
        assert scores[0] < 0.5 < 0.8 < scores[-1]
    drawn = [layer.paths[0] for layer in PICTURES["learning-curves"]().panels[0].layers if isinstance(layer, Lines)]
    assert drawn == list(curves_of_learning().values())


def test_naive_bayes_is_too_sure_and_calibration_mends_it():
    off = []
    for (p, y), panel in zip(sureness().values(), PICTURES["reliability"]().panels, strict=True):
        path = panel.layers[1].paths[0]
        assert path == binned(p, y)
        off.append(np.mean([abs(said - true) for said, true in path]))
        first = p < 0.1
        assert not first.sum() >= 30 or path[0] == (pytest.approx(p[first].mean()), pytest.approx(y[first].mean()))
    assert off[0] > 0.08
    assert off[1] < 0.04
    naive = sureness()["naive Bayes"]
    assert naive[0][naive[0] > 0.9].mean() > naive[1][naive[0] > 0.9].mean() + 0.05


def test_errors_fall_on_training_points_and_fall_and_rise_on_new_ones():
    degrees, train, new = errors()
    assert (np.diff(train) < 1e-9).all()
    best = int(np.argmin(new))
    assert degrees[best] in (3, 4, 5)
    assert new[0] > 1.5 * new[best] < new[-1]
    lines = PICTURES["underfitting"]().panels[-1].layers
    assert [np.array(line.paths[0])[:, 1].tolist() for line in lines] == [train.tolist(), new.tolist()]


@pytest.mark.parametrize(("panel", "degree"), list(enumerate(DEGREES)))
def test_polynomials_are_least_squares(panel, degree):
    x, y = noisy()
    path = np.array(PICTURES["underfitting"]().panels[panel].layers[0].paths[0])
    ones = np.c_[powers(x, degree), np.ones(len(x))]
    w = np.linalg.lstsq(ones, y, rcond=None)[0]
    expected = np.c_[powers(path[:, 0], degree), np.ones(len(path))] @ w
    np.testing.assert_allclose(path[:, 1], expected, atol=0.05 if degree == 9 else 1e-4)


def test_lines_have_bias_and_high_degrees_variance():
    bias, spread = [], []
    for panel in PICTURES["bias-variance"]().panels:
        fits = np.array(panel.layers[0].paths)
        assert len(fits) == DRAWS
        inner = np.abs(fits[0, :, 0]) <= 0.95
        x, values = fits[0, inner, 0], fits[:, inner, 1]
        bias.append(np.square(values.mean(axis=0) - truth(x)).mean())
        spread.append(values.var(axis=0).mean())
    assert bias[0] > 10 * bias[1]
    assert spread[0] < spread[1] < spread[2]


def test_bars_have_as_many_names_as_values():
    for name in ("word-weights", "tf-idf"):
        for panel in PICTURES[name]().panels:
            assert all(len(layer.names) == len(layer.values) for layer in panel.layers if isinstance(layer, Bars))
