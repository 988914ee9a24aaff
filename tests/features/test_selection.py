"""The best columns: scores against scikit-learn's, ties, many labels, what a narrowed piece forgets."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from sklearn.feature_selection import chi2
from sklearn.metrics import mutual_info_score

from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError, UsageError
from linnaeus.features import SCORES, Affixes, Chi2, Function, MutualInformation, Selected, Shape, Weighted, as_stream
from linnaeus.features.base import Narrowed
from linnaeus.features.selection import best
from linnaeus.features.statistics import Seen

RNG = np.random.default_rng(0)
WORDS = [f"w{i:02}" for i in range(25)]
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(0, 12))) for _ in range(90)]
LABELS = [["a", "b", "c"][i % 3] for i in range(90)]
MANY = [[["x"], ["x", "y"], [], ["y", "y"], ["z"]][i % 5] for i in range(90)]
BAG = Function(lambda text: Counter(text.split()), name="bag")


def labeled(labels=LABELS) -> Batch:
    return Batch(pa.array(TEXTS), pa.array(labels))


def scores(score, labels=LABELS, block=BAG):
    rows = labeled(labels)
    return score.score(Seen(block.fit(rows), as_stream(rows)))


def counts(block=BAG):
    return block.fit_rows(labeled())[1].to_scipy().toarray()


@pytest.mark.parametrize("labels", [LABELS, ["yes" if i % 4 else "no" for i in range(90)]])
@pytest.mark.parametrize("block", [BAG, Weighted(BAG, "tfidf", "l2")])
def test_chi2_is_scikit_learns(labels, block):
    assert np.allclose(scores(Chi2(), labels, block), chi2(counts(block), labels)[0], rtol=1e-6)


def test_chi2_of_many_labels_is_the_largest_against_the_rest():
    one = [chi2(counts(), [label in row for row in MANY])[0] for label in "xyz"]
    assert np.allclose(scores(Chi2(), MANY), np.max(one, axis=0), rtol=1e-6)


def test_mutual_information_is_that_of_presence_and_class():
    wanted = [mutual_info_score(LABELS, column > 0) for column in counts().T]
    assert np.allclose(scores(MutualInformation()), wanted, atol=1e-12)


def test_mutual_information_of_many_labels_is_the_largest():
    there = counts() > 0
    wanted = [max(mutual_info_score([label in row for row in MANY], c) for label in "xyz") for c in there.T]
    assert np.allclose(scores(MutualInformation(), MANY), wanted, atol=1e-12)


def test_document_frequency_counts_rows():
    fitted = Selected(BAG, by="df", k=3).fit(["a a a", "b c", "b c d", "e b"])
    assert fitted.names() == ["a", "b", "c"]


def test_ties_go_to_the_lower_column():
    assert best(np.array([2.0, 1.0, 2.0, 2.0]), 2).tolist() == [0, 2]
    assert best(np.zeros(3), 10).tolist() == [0, 1, 2]


@pytest.mark.parametrize("by", SCORES)
def test_the_columns_kept_have_their_old_values_and_order(by):
    recipe = Selected(Affixes(), by=by, k=6)
    fitted, X = recipe.fit_rows(labeled())
    full = Affixes().fit(labeled())
    assert fitted.width == 6
    columns = [full.names().index(name) for name in fitted.names()]
    assert columns == sorted(columns)
    assert np.array_equal(X.to_scipy().toarray(), full.rows(TEXTS).to_scipy().toarray()[:, columns])


@pytest.mark.parametrize("by", ["chi2", "mi"])
def test_scores_have_the_same_bits_for_any_cut(by, monkeypatch):
    monkeypatch.setattr("linnaeus.features.batches.pieces.__defaults__", (16,))

    class Cut:
        def batches(self):
            for start in range(0, 90, 7):
                yield labeled().slice(start, min(7, 90 - start))

    block = Weighted(BAG, "tfidf", "l2").fit(labeled())
    score = SCORES[by]()
    assert score.score(Seen(block, Cut())).tobytes() == score.score(Seen(block, as_stream(labeled()))).tobytes()


def test_what_is_discarded_is_forgotten_where_that_changes_nothing():
    kept = Selected(Affixes() | Shape(), by="df", k=8).fit(labeled())
    stored = b"".join(array.tobytes() for name, array in kept.state().tensors.items() if "terms" in name)
    full = Affixes().fit(labeled())
    assert len(stored) < sum(len(name) for name in full.names())
    assert isinstance(Selected(Weighted(Affixes(), "tfidf", "l2"), "df", k=3).fit(TEXTS), Narrowed)
    assert not isinstance(Selected(Weighted(Affixes(), "tfidf", None), "df", k=3).fit(TEXTS), Narrowed)


def test_labels_are_needed_and_must_be_classes():
    for by in ("chi2", "mi"):
        with pytest.raises(DataError, match=rf"by='{by}'\) needs labels"):
            Selected(BAG, by=by, k=1).fit(TEXTS)
    with pytest.raises(DataError, match="numbers"):
        Selected(BAG, by="chi2", k=1).fit(labeled([0.5] * 90))


def test_chi2_wants_no_negative_values():
    minus = Function(lambda text: -len(text), name="minus")
    with pytest.raises(UsageError, match="at least 0"):
        Selected(minus, by="chi2", k=1).fit(labeled())


def test_recipes_that_cannot_be_meant():
    with pytest.raises(UsageError, match="df, chi2, mi"):
        Selected(BAG, by="anova")
    with pytest.raises(UsageError, match="at least 1"):
        Selected(BAG, k=0)
    with pytest.raises(InputTypeError, match="extractor"):
        Selected("bag")
