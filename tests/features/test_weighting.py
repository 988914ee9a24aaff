"""What counts are worth: against scikit-learn where it has the formula, against the formula elsewhere."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

from linnaeus.data import read
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError, UsageError
from linnaeus.features import (
    BM25,
    VALUES,
    Function,
    Given,
    Hashed,
    NaiveBayes,
    Selected,
    TfIdf,
    Weighted,
    Words,
    as_stream,
    count_rows,
    restore,
)
from linnaeus.features.statistics import Seen
from linnaeus.features.weighting import learn_weights, resolve, weigh_rows

RNG = np.random.default_rng(0)
WORDS = [f"w{i}" for i in range(30)]
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(0, 25), p=np.arange(30, 0, -1) / 465)) for _ in range(80)]
LABELS = [["ham", "spam"][i % 2] for i in range(80)]


def split(text):
    return Counter(text.split())


BAG = Function(split, name="bag")


def dense(X):
    return X.to_scipy().toarray().astype(np.float64)


def counts():
    return dense(BAG.fit_rows(TEXTS)[1])


@pytest.mark.parametrize("length", [None, "l1", "l2"])
@pytest.mark.parametrize(("tf", "sublinear", "binary"), [("count", 0, 0), ("log", 1, 0), ("binary", 0, 1)])
def test_tfidf_is_scikit_learns(tf, sublinear, binary, length):
    theirs = TfidfVectorizer(analyzer=str.split, norm=length, sublinear_tf=bool(sublinear), binary=bool(binary))
    wanted = theirs.fit_transform(TEXTS).toarray()
    fitted, X = Weighted(BAG, TfIdf(tf=tf), length).fit_rows(TEXTS)
    assert fitted.names() == theirs.get_feature_names_out().tolist()
    assert np.allclose(dense(X), wanted, rtol=3e-7, atol=0)


def test_counts_are_scikit_learns():
    assert np.array_equal(counts(), CountVectorizer(analyzer=str.split).fit_transform(TEXTS).toarray())


@pytest.mark.parametrize(
    ("values", "formula"),
    [
        ("binary", lambda c: (c > 0) * 1.0),
        ("count", lambda c: c),
        ("log", lambda c: np.where(c > 0, 1 + np.log(np.maximum(c, 1)), 0)),
        ("sqrt", np.sqrt),
    ],
)
def test_functions_of_the_count(values, formula):
    assert np.allclose(dense(Weighted(BAG, values, None).fit_rows(TEXTS)[1]), formula(counts()), rtol=1e-7)


def test_bm25_saturates_and_discounts():
    c, k1, b = counts(), 1.5, 0.6
    n, df, lengths = len(c), (c > 0).sum(axis=0), c.sum(axis=1, keepdims=True)
    idf = np.log(1 + (n - df + 0.5) / (df + 0.5))
    wanted = idf * c * (k1 + 1) / (c + k1 * (1 - b + b * lengths / lengths.mean()))
    assert np.allclose(dense(Weighted(BAG, BM25(k1, b), None).fit_rows(TEXTS)[1]), wanted, rtol=1e-6)


def test_bm25_without_saturation_or_discount_is_idf_on_presence():
    c = counts()
    df = (c > 0).sum(axis=0)
    wanted = (c > 0) * np.log(1 + (len(c) - df + 0.5) / (df + 0.5))
    assert np.allclose(dense(Weighted(BAG, BM25(k1=0), None).fit_rows(TEXTS)[1]), wanted, rtol=1e-6)


def labeled(labels) -> Batch:
    return Batch(pa.array(TEXTS), pa.array(labels))


def ratio(here, smoothing=1.0):
    f = counts() > 0
    p, q = smoothing + f[here].sum(axis=0), smoothing + f[~here].sum(axis=0)
    return np.log(p / p.sum()) - np.log(q / q.sum())


def test_naive_bayes_ratios_of_two_classes_ask_about_the_second():
    X = Weighted(BAG, NaiveBayes(0.5), None).fit_rows(labeled(LABELS))[1]
    wanted = (counts() > 0) * ratio(np.array(LABELS) == "spam", 0.5)
    assert np.allclose(dense(X), wanted, rtol=1e-6)


def test_naive_bayes_ratios_of_many_classes_are_the_strongest_ones():
    labels = np.array([["a", "b", "c"][i % 3] for i in range(80)])
    all_three = np.stack([ratio(labels == label) for label in "abc"])
    best = all_three[np.abs(all_three).argmax(axis=0), np.arange(all_three.shape[1])]
    X = Weighted(BAG, "nb", None).fit_rows(labeled(labels))[1]
    assert np.allclose(dense(X), (counts() > 0) * best, rtol=1e-6)


def test_naive_bayes_ratios_of_many_labels():
    many = [[["x", "y"], ["x", "x"], ["y"], []][i % 4] for i in range(80)]
    both = np.stack([ratio(np.array([label in row for row in many])) for label in "xy"])
    best = both[np.abs(both).argmax(axis=0), np.arange(both.shape[1])]
    X = Weighted(BAG, "nb", None).fit_rows(labeled(many))[1]
    assert np.allclose(dense(X), (counts() > 0) * best, rtol=1e-6)


def test_naive_bayes_needs_labels():
    with pytest.raises(DataError, match="NaiveBayes needs labels"):
        Weighted(BAG, "nb").fit(TEXTS)
    with pytest.raises(DataError, match="row 4 has none"):
        Weighted(BAG, "nb").fit(labeled([*LABELS[:3], None, *LABELS[4:]]))
    with pytest.raises(DataError, match="numbers"):
        Weighted(BAG, "nb").fit(labeled(list(range(80))))


@pytest.mark.parametrize("values", VALUES)
def test_signs_are_carried_over(values):
    signed = Function(lambda t: {w: -n for w, n in split(t).items()}, name="signed")
    plus = Weighted(BAG, values, None).fit_rows(labeled(LABELS))[1]
    minus = Weighted(signed, values, None).fit_rows(labeled(LABELS))[1]
    assert np.array_equal(dense(plus), -dense(minus))


def test_large_and_broken_counts_are_valued_by_the_formula():
    odd = Function(lambda t: {"a": 1e6, "b": 2.25, "c": 3}, name="odd")
    row = Weighted(odd, "sqrt", None).fit_rows(["x"])[1].data.tolist()
    assert row == [1000, 1.5, np.float32(np.sqrt(3))]
    row = Weighted(odd, "log", None).fit_rows(["x"])[1].data.tolist()
    assert np.allclose(row, 1 + np.log([1e6, 2.25, 3]))


def test_rows_without_features_stay_empty():
    fitted = Weighted(BAG, "tfidf", "l2").fit(TEXTS)
    assert fitted.rows(["", "unheard of"]).nnz == 0


@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("length", ["l1", "l2"])
def test_rows_have_length_one(values, length):
    X = dense(Weighted(BAG, values, length).fit_rows(labeled(LABELS))[1])
    lengths = np.abs(X).sum(axis=1) if length == "l1" else np.sqrt((X**2).sum(axis=1))
    assert np.allclose(lengths[lengths > 0], 1, atol=1e-6)


def test_plain_counts_are_not_wrapped():
    counted = BAG.fit(TEXTS)
    assert learn_weights(Seen(counted, as_stream(TEXTS)), "count", None) is counted
    assert weigh_rows(counted, counted.rows(TEXTS)).nnz == counted.rows(TEXTS).nnz


def test_document_frequencies_at_hand_save_a_walk():
    counted = BAG.fit(TEXTS)
    df = (counts() > 0).sum(axis=0)

    class Silent:
        def batches(self):
            raise AssertionError("walked")

    quick = learn_weights(Seen(counted, Silent(), given=(df, len(TEXTS))), "tfidf", "l2")
    slow = Weighted(BAG, "tfidf", "l2").fit(TEXTS)
    assert quick.rows(TEXTS).data.tobytes() == slow.rows(TEXTS).data.tobytes()
    assert weigh_rows(quick, counted.rows(TEXTS)).data.tobytes() == slow.rows(TEXTS).data.tobytes()


def test_names_and_pieces_are_both_accepted():
    assert resolve("bm25") == resolve(BM25()) == BM25(1.2, 0.75)
    assert Weighted(BAG, "tfidf").fit(TEXTS).state().manifest["values"] == {"kind": "tfidf", "tf": "count"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: Weighted(BAG, "tf-idf"),
        lambda: Weighted(BAG, "tfidf", "l3"),
        lambda: TfIdf(tf="cube"),
        lambda: BM25(b=2),
        lambda: BM25(k1=-1),
        lambda: NaiveBayes(smoothing=0),
    ],
)
def test_values_that_cannot_be_meant(make):
    with pytest.raises(UsageError):
        make()


def test_only_extractors_are_weighted():
    with pytest.raises(InputTypeError, match="extractor"):
        Weighted("words")


def test_a_table_of_ones_own_works_until_it_is_saved():
    class Cube(type(resolve("count"))):
        def formula(self):
            return lambda counts: counts**3

    fitted, X = Weighted(BAG, Cube(), None).fit_rows(["a a b"])
    assert X.data.tolist() == [8, 1]
    with pytest.raises(UsageError, match="cannot be saved"):
        fitted.state()


def test_restored_weights_are_the_same(tmp_path):
    fitted = Weighted(BAG, BM25(0.9, 0.4), "l2").fit(TEXTS)
    back = restore(fitted.state(), functions={"bag": split})
    assert back.rows(TEXTS).data.tobytes() == fitted.rows(TEXTS).data.tobytes()


@pytest.mark.parametrize("values", ["tfidf", "bm25"])
def test_rows_at_hand_spare_the_weights_a_walk(values):
    walks = []

    class Counted:
        def batches(self):
            walks.append("walk")
            return as_stream(TEXTS).batches()

    Weighted(BAG, values).fit_rows(Counted())
    assert walks == ["walk"]


def test_a_function_is_fitted_as_its_rows_are():
    assert BAG.fit(TEXTS) == BAG.fit_rows(TEXTS)[0]


@pytest.mark.parametrize("values", ["tfidf", "bm25", "nb"])
def test_weights_of_too_many_hashed_columns_are_refused_at_once(values):
    with pytest.raises(UsageError, match=r"1,073,741,824 columns.*bits=26.*'log'"):
        Words(terms=Hashed(30), values=values)
    wide = Words(terms=Hashed(27))
    for block in (Weighted(wide, values), Selected(wide, by="df", k=2), Selected(wide, k=2)):
        with pytest.raises(UsageError, match="bits=26"):
            block.fit(read([("a b", "x"), ("b c", "y")]))


def test_values_that_learn_nothing_have_any_number_of_columns():
    X = Words(terms=Hashed(30, signed=False), values="log", length="l2").fit_rows(["a a b"])[1]
    assert X.width == 1 << 30
    assert X.nnz == 2


def ratios_one_by_one(X, sets, smoothing):
    """The formula, label by label; of equals the later one counts."""
    there = (X != 0).astype(np.float64)
    names = sorted({label for labels in sets for label in labels})
    best = np.zeros(X.shape[1])
    for label in names:
        mine = np.array([label in labels for labels in sets])
        share = [
            np.log(part / part.sum()) for part in (smoothing + there[mine].sum(0), smoothing + there[~mine].sum(0))
        ]
        best = np.where(np.abs(share[0] - share[1]) >= np.abs(best) - 1e-12, share[0] - share[1], best)
    return best


@pytest.mark.parametrize("smoothing", [1.0, 0.3])
@pytest.mark.parametrize("k", [2, 3, 12])
def test_the_largest_log_count_ratio_of_a_label_and_the_rest(k, smoothing):
    rng = np.random.default_rng(k)
    sets = [sorted({f"l{rng.integers(k)}", f"l{rng.integers(k)}"}) for _ in TEXTS]
    for labels in (sets, [one[:1] for one in sets]):
        corpus = read([(text, one) for text, one in zip(TEXTS, labels, strict=True)])
        fitted, _ = Words(values=NaiveBayes(smoothing)).fit_rows(corpus)
        X = dense(Words(values="count").fit_rows(TEXTS)[1])
        np.testing.assert_allclose(fitted.weights, ratios_one_by_one(X, labels, smoothing), atol=1e-6)


@pytest.mark.parametrize("values", ["contrast", "nb", "tfidf", "bm25"])
def test_weights_without_some_rows_are_those_of_the_others(values):
    labels = [f"l{i % 5 if i else 9}" for i in range(80)]  # one label is only in a row that is taken out
    block, out = Words(terms=Given(WORDS), values=values, length="l2"), np.arange(0, 80, 3)
    rest = np.setdiff1d(np.arange(80), out)
    counted = count_rows(block, read(list(zip(TEXTS, labels, strict=True))))
    fitted = counted.without(read([(TEXTS[i], labels[i]) for i in out]), out)
    known, X = block.fit_rows(read([(TEXTS[i], labels[i]) for i in rest]))
    np.testing.assert_array_equal(fitted.weights, known.weights)
    np.testing.assert_array_equal(counted.rows(fitted, rest).data, X.data)
    whole, rows = counted.learn()
    assert whole.weights.tolist() == block.fit(read(list(zip(TEXTS, labels, strict=True)))).weights.tolist()
    assert rows.data.tolist() == counted.rows(whole).data.tolist(), "the counts are still there"
