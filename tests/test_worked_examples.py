"""Small examples worked by hand, through the public API: what a person computes on paper must come out."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linprog

import linnaeus
from linnaeus.features import Columns, Function, Given, Words
from linnaeus.learners.neighbors import Neighbors
from linnaeus.text import Normalize

# Four sequences of symbols with a class each, and how often a class goes with a symbol.


def symbol_shares() -> tuple[list[str], dict[str, list[Fraction]]]:
    """P(class | symbol) for each class, from the rows of features."""
    data = linnaeus.read([("★⋄○", "-1"), ("★♡△", "-1"), ("★△♠", "+1"), ("⋄△○", "+1")])
    fitted, X = Words(tokenizer="characters", values="binary").fit_rows(data)
    labels = np.array(data.labels.to_pylist())
    together = {label: X.tdot((labels == label).astype(np.float64)) for label in data.classes}
    total = sum(together.values())
    return list(fitted.names()), {
        label: [Fraction(int(a), int(b)) for a, b in zip(counts, total, strict=True)]
        for label, counts in together.items()
    }


def test_conditional_frequencies_of_symbols():
    names, shares = symbol_shares()
    assert sorted(names) == sorted("★⋄○♡△♠")
    minus = dict(zip(names, shares["-1"], strict=True))
    assert minus["★"] == Fraction(2, 3)
    assert minus["⋄"] == Fraction(1, 2)
    assert minus["♡"] == 1
    assert minus["△"] == Fraction(1, 3)
    assert minus["○"] == Fraction(1, 2)
    assert minus["♠"] == 0
    assert dict(zip(names, shares["+1"], strict=True))["★"] == Fraction(1, 3)
    assert all(a + b == 1 for a, b in zip(shares["-1"], shares["+1"], strict=True))


def test_products_of_frequencies_decide_and_a_tie_is_visible():
    names, shares = symbol_shares()
    fitted = Words(tokenizer="characters", terms=Given(names), values="binary").fit(["★"])

    def products(text: str) -> dict[str, Fraction]:
        columns = fitted.rows([text]).indices.tolist()
        return {label: Fraction(np.prod([share[c] for c in columns])) for label, share in shares.items()}

    assert products("★⋄○") == {"-1": Fraction(1, 6), "+1": Fraction(1, 12)}
    assert products("★⋄♡") == {"-1": Fraction(1, 3), "+1": 0}
    assert products("★△○") == {"-1": Fraction(1, 9), "+1": Fraction(1, 9)}
    # The tie is broken by the order of classes, which is that of code points, on every run.
    scores = products("★△○")
    assert max(sorted(scores), key=scores.__getitem__) == "+1"


# A bag of words over a given vocabulary, with a feature for unknown words.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("General George Washington", [1, 1, 0, 1, 0]),
        ("George Washington Bridge", [1, 1, 1, 0, 0]),
        ("George Washington University", [1, 1, 0, 0, 1]),
        ("George George George of the Jungle", [1, 0, 0, 0, 1]),
    ],
)
def test_names_with_an_unknown_word(text, expected):
    vocabulary = Given(["George", "Washington", "Bridge", "General"])
    block = Words(terms=vocabulary, unknown=True, values="binary", normalize=Normalize(case=None))
    fitted = block.fit(["no text is needed"])
    assert fitted.names() == ["George", "Washington", "Bridge", "General", "<unknown>"]
    assert fitted.rows([text]).to_scipy().toarray().tolist() == [expected]


# XOR: no line separates it, a conjunction does.

POINTS = {"x1": [0, 0, 1, 1], "x2": [0, 1, 0, 1]}
TRUTH = np.array([-1, 1, 1, -1])


def separable(X: np.ndarray, y: np.ndarray) -> bool:
    """Whether some w and b have y (X w + b) >= 1 for every point: a linear program with nothing to minimize."""
    constraints = -y[:, None] * np.hstack([X, np.ones((len(X), 1))])
    found = linprog(np.zeros(X.shape[1] + 1), constraints, -np.ones(len(X)), bounds=(None, None))
    assert found.status in (0, 2)  # solved, or proved to have no solution
    return found.status == 0


def columns_of_numbers():
    """x1 and x2 as they are written, and the same with their conjunction."""
    rows = linnaeus.Batch(columns={name: pa.array(values) for name, values in POINTS.items()})
    x1, x2 = (Function(lambda row, name=name: row[name], name=name, of="row") for name in POINTS)
    return rows, x1 | x2, x1 | x2 | x1 * x2


def standardized_columns():
    rows = linnaeus.Batch(columns={name: pa.array(values) for name, values in POINTS.items()})
    x1, x2 = Columns(numeric=("x1",)), Columns(numeric=("x2",))
    return rows, x1 | x2, x1 | x2 | x1 * x2


def words_in_texts():
    """A point is a text that names the coordinates which are 1."""
    texts = [" ".join(name for name in POINTS if POINTS[name][i]) for i in range(4)]
    a, b = Words(terms=Given(["x1"])), Words(terms=Given(["x2"]))
    return texts, a | b, a | b | a * b


@pytest.mark.parametrize("make", [columns_of_numbers, standardized_columns, words_in_texts])
def test_a_conjunction_separates_xor(make):
    rows, plain, paired = make()
    assert not separable(plain.fit_rows(rows)[1].to_scipy().toarray(), TRUTH)
    assert separable(paired.fit_rows(rows)[1].to_scipy().toarray(), TRUTH)


@pytest.mark.parametrize("make", [columns_of_numbers, words_in_texts])
def test_weights_that_separate_xor(make):
    rows, _, paired = make()
    fitted, X = paired.fit_rows(rows)
    assert fitted.names() == ["x1", "x2", "x1 & x2"]
    assert X.to_scipy().toarray().tolist() == [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]]
    scores = X.dot(np.array([1.0, 1.0, -2.0])) - 0.5
    assert scores.tolist() == [-0.5, 0.5, 0.5, -0.5]
    assert np.array_equal(np.sign(scores), TRUTH)


@pytest.mark.parametrize(
    ("truth", "expected"), [([-1, -1, -1, 1], True), ([-1, 1, 1, 1], True), ([-1, 1, 1, -1], False)]
)
def test_and_or_and_xor_without_the_conjunction(truth, expected):
    rows, plain, _ = columns_of_numbers()
    assert separable(plain.fit_rows(rows)[1].to_scipy().toarray(), np.array(truth)) is expected


@pytest.mark.parametrize("make", [columns_of_numbers, standardized_columns, words_in_texts])
def test_one_nearest_neighbor_learns_xor(make):
    rows, plain, _ = make()
    X = plain.fit_rows(rows)[1].to_scipy()
    nearest = linnaeus.MatrixClassifier(learner=Neighbors(k=1, metric="euclidean")).fit(X, TRUTH)
    assert nearest.predict(X).tolist() == TRUTH.tolist()


def test_no_small_weights_separate_xor_either():
    """The same by trying: of all signs on a fine grid of weights none is right on all four points."""
    rows, plain, _ = columns_of_numbers()
    X = plain.fit_rows(rows)[1].to_scipy().toarray()
    grid = np.linspace(-2, 2, 21)
    w = np.stack(np.meshgrid(grid, grid, grid)).reshape(3, -1)
    right = TRUTH[:, None] * (X @ w[:2] + w[2]) > 0
    assert right.sum(axis=0).max() == 3
