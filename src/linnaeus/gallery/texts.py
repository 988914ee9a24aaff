"""Pictures about text: weights of words, tf-idf against counts, Zipf's law, learning curves, reliability."""

from __future__ import annotations

import numpy as np

from linnaeus.datasets import intents
from linnaeus.decision import Temperature
from linnaeus.estimators.matrix import MatrixClassifier
from linnaeus.estimators.named import LogisticRegression
from linnaeus.evaluation import learning_curve
from linnaeus.features import Words
from linnaeus.gallery.drawing import picture
from linnaeus.gallery.toys import echoes, reviews
from linnaeus.learners.bayes import Multinomial
from linnaeus.render.picture import Bars, Layer, Lines, Panel, Picture, Points, path
from linnaeus.types import Array, Doubles, Longs

SHOWN = 9
"""How many words of each side have a bar."""

SENTENCE = "Set the alarm and turn the kitchen lights off"
SIZES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0)
BINS = 10
REPEATS = 3


def word_weights() -> dict[str, float]:
    """Each word of the reviews with its weight in logistic regression: positive for "good"."""
    texts, labels = reviews()
    fitted, X = Words(values="binary").fit_rows(texts)
    weights = LogisticRegression(strength=0.3).fit(X, labels).coef_.ravel()
    return dict(zip(fitted.names(), weights.tolist(), strict=True))


@picture()
def words() -> list[Panel]:
    """What a classifier of reviews has learned.

    Logistic regression on 28 short restaurant reviews: each word has a weight, and the score of a review is the sum of
    the weights of its words. Words on the right count for a good review, words on the left for a bad one.
    """
    weights = sorted(word_weights().items(), key=lambda pair: -pair[1])
    shown = weights[:SHOWN] + weights[-SHOWN:]
    reach = 1.15 * max(abs(weight) for _, weight in shown)
    bars = Bars([weight for _, weight in shown], [word for word, _ in shown], "weight: for bad, for good")
    return [Panel([bars], "largest weights on either side", (-reach, reach), x="weight")]


def valued(values: str) -> dict[str, float]:
    """The features of the sentence by word: counts, or tf-idf learned on the requests of `datasets.intents`."""
    fitted = Words(values=values).fit(intents())
    row, names = fitted.rows([SENTENCE]), fitted.names()
    return {names[i]: float(value) for i, value in zip(row.indices.tolist(), row.data.tolist(), strict=True)}


def tfidf() -> Picture:
    """One sentence twice."""
    panels = []
    for title, values in (("counts", valued("count")), ("tf-idf", valued("tfidf"))):
        order = sorted((-value, word) for word, value in values.items())
        reach = 1.1 * max(values.values())
        bars = Bars([-value for value, _ in order], [word for _, word in order])
        panels.append(Panel([bars], title, (-0.5 * reach, reach), x="value of the feature"))
    said = (
        f"The features of one request, \u201c{SENTENCE}\u201d. By counts \u201cthe\u201d is the largest, though it "
        "occurs in many texts and says little. Tf-idf multiplies each count by the inverse document frequency of the "
        "word: \u201cthe\u201d becomes the smallest, and the rare word \u201ckitchen\u201d the largest."
    )
    return Picture("Counts against tf-idf", said, panels)


def ranked() -> Doubles:
    """How often each word stands in the 600 requests of `datasets.intents`, the most frequent first."""
    _, X = Words(values="count").fit_rows(intents())
    return np.sort(X.tdot(np.ones(len(X))))[::-1]


def zipf() -> Picture:
    """Frequencies by rank."""
    counts = ranked()
    ranks = np.arange(1.0, len(counts) + 1)
    law = counts[0] / ranks
    lines = [
        Lines([path(ranks, counts)], 1, "words of 600 requests"),
        Lines([path(ranks, law)], 0, "Zipf: count of the first / rank", 1.2, "5 4"),
    ]
    once = float((counts == 1).mean())
    said = (
        "A few words occur in many texts, and most words are rare: on logarithmic axes the counts of words fall "
        f"along a line, as Zipf's law says. Of the {len(counts):,} words {once:.0%} occur only once, and a classifier "
        "can hardly learn anything about them."
    )
    limits = ((1.0, float(len(counts))), (0.7, float(counts[0]) * 1.3))
    return Picture("Zipf's law", said, [Panel(lines, "", *limits, "rank of the word", "count", log=True)])


def curves_of_learning() -> dict[str, list[tuple[float, float]]]:
    """Accuracy on the held-out requests by the number of training texts, for two methods: the mean of three draws."""
    train, test = intents("train"), intents("test")
    fitted, X = Words(values="binary").fit_rows(train)
    Z, y, t = fitted.rows(test), np.asarray(train.labels), np.asarray(test.labels)

    def accuracies(rows: Longs) -> dict[str, float]:
        counted = MatrixClassifier(learner=Multinomial(smoothing=0.3)).fit(X.take(rows), y[rows])
        weighed = LogisticRegression(strength=0.3).fit(X.take(rows), y[rows])
        answers = {"naive Bayes": counted.predict(Z), "logistic regression": weighed.predict(Z)}
        return {name: float((found == t).mean()) for name, found in answers.items()}

    curve = learning_curve(accuracies, len(train), sizes=list(SIZES), strata=y, repeats=REPEATS)
    return {name: curve.line(name) for name in curve.names}


@picture()
def learning() -> list[Panel]:
    """Learning curves.

    Requests to a voice assistant, ten intents: accuracy on 120 held-out requests by the number of training texts. Both
    methods learn quickly at first and more slowly later, and on these short texts they do equally well. Where a curve
    still rises, more labeled texts help.
    """
    drawn: list[Layer] = []
    for kind, (name, curve) in enumerate(curves_of_learning().items()):
        drawn += [Lines([curve], 1 + kind, name), Points(curve, kind)]
    return [Panel(drawn, "", (0.0, 500.0), (0.0, 1.0), "training texts", "accuracy on held-out texts")]


def sureness() -> dict[str, tuple[Doubles, Array]]:
    """Probabilities of the second class, and what was true, on new texts: as naive Bayes says them, and calibrated."""
    (held, y), (new, truth) = echoes(1000, 2), echoes(6000, 3)
    model = MatrixClassifier(learner=Multinomial()).fit(*echoes(400, 1))
    S, Z = (model.decision_function(rows)[:, None] for rows in (held, new))
    calibrated = Temperature().fit(S, y, np.ones(len(y))).probabilities(Z)[:, 1]
    return {
        "naive Bayes": (model.predict_proba(new)[:, 1], truth),
        "calibrated on held-out texts": (calibrated, truth),
    }


def binned(p: Doubles, truth: Array) -> list[tuple[float, float]]:
    """For each tenth of the probabilities with 30 texts: the mean probability, and the share of the second class."""
    at = np.minimum((p * BINS).astype(int), BINS - 1)
    full = [at == b for b in range(BINS) if (at == b).sum() >= 30]
    return [(float(p[mine].mean()), float(truth[mine].mean())) for mine in full]


@picture()
def reliability() -> list[Panel]:
    """Reliability diagrams.

    Texts in which five words with the same meaning always occur together: naive Bayes takes them for five reasons, and
    its probabilities are too close to 0 and 1. After calibration, which divides the scores by a temperature learned on
    held-out texts, the probabilities hold: of the texts with a probability of about 0.7, about 70 % are of that class.
    """
    panels = []
    perfect = Lines([[(0, 0), (1, 1)]], 0, "perfect calibration", 1.0, "5 4")
    for title, (p, truth) in sureness().items():
        line = binned(p, truth)
        layers: list[Layer] = [perfect, Lines([line], 2, "", 1.4), Points(line, 1, "texts with about this prediction")]
        panels.append(Panel(layers, title, (0, 1), (0, 1), "predicted probability", "share of class 2"))
    return panels
