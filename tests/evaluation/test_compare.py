"""Two models, slices, learning curves."""

import json
from math import comb

import numpy as np
import pytest
from tests.evaluation.makers import numbers, sets, single

from linnaeus.errors import DataError, UsageError
from linnaeus.evaluation import (
    Curve,
    Outcome,
    by_length,
    column,
    compare,
    evaluate,
    learning_curve,
    mcnemar,
    slices,
)
from linnaeus.evaluation.pages import comparison_page, curve_page, slices_page
from linnaeus.render import ASCII


def noisy(seed, right, n=600, k=4):
    """Predictions that are right with this chance; the same truth for all seeds."""
    y = np.random.default_rng(99).integers(0, k, n)
    rng = np.random.default_rng(seed)
    return Outcome(y, np.where(rng.random(n) < right, y, (y + 1) % k), "abcd")


@pytest.mark.parametrize(("b", "c"), [(0, 0), (5, 5), (2, 10), (10, 2), (0, 9), (1, 2), (40, 63)])
def test_mcnemar_is_the_binomial_sum(b, c):
    m, low = b + c, min(b, c)
    terms = [comb(m, i) / 2**m for i in range(low + 1)]
    assert mcnemar(b, c) == pytest.approx(1.0 if b == c else 2 * sum(terms[:-1]) + terms[-1])


def test_mcnemar_of_large_counts_is_finite():
    assert 0 <= mcnemar(400_000, 410_000) < 1e-20
    assert mcnemar(0, 100_000) == 0.0


def test_a_better_model_wins():
    found = compare(noisy(1, 0.9), noisy(2, 0.7))
    accuracy = found.differences[0]
    assert (accuracy.metric, accuracy.winner, found.differences[1].metric) == ("accuracy", "first", "macro_f1")
    assert accuracy.low < accuracy.difference < accuracy.high
    assert found.only_first > found.only_second
    assert found.p_value < 1e-6
    assert found.sentence().startswith("The first is better than the second (accuracy 0.")
    other = compare(noisy(2, 0.7), noisy(1, 0.9))
    assert other.sentence("old", "new").startswith("New is better than old")
    assert other.p_value == found.p_value


def test_a_model_is_no_better_than_itself():
    found = compare(noisy(1, 0.9), noisy(1, 0.9))
    assert (found.differences[0].low, found.differences[0].high, found.p_value) == (0.0, 0.0, 1.0)
    assert found.sentence().startswith("There is no significant difference")


def test_pairs_tell_more_than_two_intervals():
    """Two models that agree on nearly all rows differ by much less than each may vary."""
    first = noisy(1, 0.7)
    predicted = first.predicted.copy()
    wrong = np.flatnonzero(predicted != first.truth)[:20]
    predicted[wrong] = first.truth[wrong]
    second = Outcome(first.truth, predicted, "abcd")
    found = compare(second, first, ["accuracy"]).differences[0]
    low, high = evaluate(first).intervals["accuracy"]
    assert found.winner == "first"
    assert found.high - found.low < (high - low) / 2


def test_under_lower_is_better_the_lower_wins():
    y = np.arange(100.0)
    noise = np.random.default_rng(0).normal(size=100)
    found = compare(Outcome(y, y + noise), Outcome(y, y + 3 * noise), ["mae"])
    assert found.differences[0].winner == "first"
    assert found.differences[0].difference < 0
    assert found.p_value is None
    assert "McNemar" not in found.sentence()


def test_label_sets_are_compared_by_whole_sets():
    outcome = sets(0, weights=False)
    found = compare(outcome, Outcome(outcome.truth, outcome.truth, outcome.classes))
    wrong = 200 * (1 - evaluate(outcome, rounds=0).metrics["subset_accuracy"])
    assert (found.only_first, found.only_second) == (0, round(wrong))


@pytest.mark.parametrize("other", [noisy(1, 0.9, n=10), single(0), numbers(0), sets(0)])
def test_other_rows_are_refused(other):
    with pytest.raises(DataError, match="same rows"):
        compare(noisy(1, 0.9), other)


def test_metrics_that_only_one_has_are_refused():
    y = noisy(1, 0.9).truth
    P = np.eye(4)[y]
    with pytest.raises(UsageError, match="log-loss"):
        compare(Outcome(y, y, "abcd", P), noisy(1, 0.9), ["log-loss"])


def test_the_page_and_json_of_a_comparison():
    found = compare(noisy(1, 0.9), noisy(2, 0.7))
    text = comparison_page(found, ASCII, ("new", "old")).plain()
    assert "only new is correct on" in text
    assert text.isascii()
    parsed = json.loads(json.dumps(found.to_json()))
    assert parsed["differences"][0]["winner"] == "first"


def test_slices_are_evaluations_of_their_rows():
    outcome = single(0, n=400)
    where = np.array(["web", "mail", "phone"])[np.random.default_rng(0).integers(0, 3, 400)]
    found = slices(outcome, column("source", where), ["accuracy", "log-loss"], rounds=50)
    assert sorted(part.value for part in found.parts) == ["mail", "phone", "web"]
    assert sum(part.rows for part in found.parts) == found.whole.rows == 400
    for part in found.parts:
        rows = where == part.value
        picked = (outcome.truth, outcome.predicted, outcome.probabilities, outcome.weights)
        y, p, P, w = (array[rows] for array in picked)
        wanted = evaluate(Outcome(y, p, outcome.classes, P, weights=w), rounds=0).metrics
        assert part.metrics == {name: wanted[name] for name in ("accuracy", "log_loss")}
        assert part.intervals["accuracy"][0] < part.metrics["accuracy"] < part.intervals["accuracy"][1]


def test_a_small_slice_that_is_all_right_has_a_wide_interval():
    y = np.arange(200) % 2
    where = ["few"] * 4 + ["many"] * 196
    found = slices(Outcome(y, np.where(np.arange(200) % 7, y, 1 - y), "ab"), column("c", where))
    few = found.parts[1]
    assert (few.value, few.small, found.parts[0].small) == ("few", True, False)
    assert few.intervals["accuracy"][0] < 0.6
    assert few.intervals["accuracy"][1] <= 1.0


def test_slices_that_differ_are_told():
    y = np.arange(400) % 2
    p = np.where(np.arange(400) < 100, 1 - y, y)
    found = slices(Outcome(y, p, "ab"), column("part", ["bad"] * 100 + ["good"] * 300))
    assert [(part.value, found.side(part, "accuracy")) for part in found.parts] == [
        ("good", "better"),
        ("bad", "worse"),
    ]
    assert "worse" in str(found)
    assert slices_page(found, ASCII).plain().isascii()
    parsed = json.loads(json.dumps(found.to_json()))
    assert parsed["slices"][1]["sides"]["accuracy"] == "worse"


def test_slices_where_only_some_rows_were_answered():
    outcome = Outcome([0, 1, 0, 1], [0, -1, 0, 1], "ab")
    found = slices(outcome, column("c", "xxyy"), ["accuracy", "coverage"], rounds=10)
    assert [part.metrics.get("coverage") for part in found.parts] == [0.5, None]
    assert str(found)


def test_values_beyond_the_limit_share_a_slice():
    found = column("id", [*range(100), 5, 5, None, float("nan")])
    assert len(found.names) == 40
    assert found.names[:2] == ("5", "(missing)")
    assert found.names[-1].startswith("(other)")
    assert np.bincount(found.codes).sum() == 104


def test_lengths_are_cut_at_quantiles():
    texts = ["x" * int(i) for i in np.random.default_rng(0).permutation(1000) + 1]
    found = by_length(texts, buckets=4)
    assert found.names == ("1-250", "251-500", "501-750", "751-1000")
    assert np.bincount(found.codes).tolist() == [250] * 4
    assert by_length([3] * 50 + [4]).names == ("3", "4")
    assert by_length([7, 7, 7]).names == ("7",)
    with pytest.raises(DataError):
        by_length([])


def test_slices_of_other_rows_are_refused():
    with pytest.raises(DataError, match="has 3 rows"):
        slices(single(0), column("c", "abc"))


def test_parts_of_a_learning_curve_grow():
    seen = []
    curve = learning_curve(lambda rows: seen.append(rows) or len(rows), 200, sizes=[0.1, 50, 1.0], seed=4)
    assert [len(rows) for rows in seen] == [20, 50, 200]
    assert set(seen[0]) < set(seen[1]) < set(seen[2]) == set(range(200))
    assert all((np.diff(rows) > 0).all() for rows in seen)
    again = []
    learning_curve(lambda rows: again.append(rows) or 0.0, 200, sizes=[0.1], seed=4)
    assert np.array_equal(again[0], seen[0])
    assert isinstance(curve, Curve)


def test_parts_have_the_labels_in_their_shares():
    y = np.array(["rare"] * 100 + ["common"] * 900)
    shares = []
    learning_curve(lambda rows: shares.append((y[rows] == "rare").mean()) or 0.0, 1000, [0.1, 0.5, 1.0], strata=y)
    assert shares == pytest.approx([0.1, 0.1, 0.1], abs=0.015)


def test_repeats_have_a_spread():
    scores = iter([0.5, 0.7, 0.8, 0.9])
    curve = learning_curve(lambda rows: {"macro_f1": next(scores), "n": len(rows)}, 10, sizes=[0.5, 1.0], repeats=2)
    assert curve.points[0].spans["macro_f1"] == (0.5, 0.7)
    np.testing.assert_allclose(curve.line("macro_f1"), [(5, 0.6), (10, 0.85)])
    assert curve.svg().count("<polyline") == 2
    assert curve.sentence() == "From 5 to 10 rows macro_f1 changed by +0.2500, to 0.85."
    text = curve_page(curve, ASCII).plain()
    assert "0.5000 - 0.7000" in text
    assert json.loads(json.dumps(curve.to_json()))["points"][1]["rows"] == 10


@pytest.mark.parametrize(
    "wrong", [{"sizes": []}, {"sizes": [1.5]}, {"sizes": [11]}, {"sizes": [0]}, {"repeats": 0}, {"strata": [1, 2]}]
)
def test_curves_that_cannot_be_meant_are_refused(wrong):
    with pytest.raises(UsageError):
        learning_curve(lambda rows: 0.0, 10, **wrong)
