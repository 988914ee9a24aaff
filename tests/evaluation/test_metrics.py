"""Every metric equals scikit-learn's, on rows with weights, ties, absent classes and nothing to divide by."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics as sk
from tests.evaluation.makers import indicator, label_sets, numbers, sets, single, softmax

from linnaeus.errors import DataError, UsageError
from linnaeus.evaluation import KINDS, METRICS, Outcome, evaluate, metric_name, metric_names, observe, score
from linnaeus.types import LabelSets

AVERAGES = ("macro", "micro", "weighted")


def found(outcome):
    return evaluate(outcome, rounds=0).metrics


def calibration_error(P, truth, weights, bins=15):
    """The definition, bin by bin."""
    confidence, right = P.max(axis=1), P.argmax(axis=1) == truth
    total = 0.0
    for b in range(bins):
        inside = (confidence > b / bins) & (confidence <= (b + 1) / bins)
        if inside.any():
            w = weights[inside]
            total += w.sum() * abs(np.average(right[inside], weights=w) - np.average(confidence[inside], weights=w))
    return total / weights.sum()


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize(("k", "absent"), [(2, False), (3, False), (7, True)])
@pytest.mark.parametrize("seed", range(3))
def test_single_labels(seed, k, absent, weights):
    outcome = single(seed, k=k, absent=absent, weights=weights)
    y, p, P, w = outcome.truth, outcome.predicted, outcome.probabilities, outcome.weights
    got = found(outcome)
    assert got["accuracy"] == pytest.approx(sk.accuracy_score(y, p, sample_weight=w))
    assert got["balanced_accuracy"] == pytest.approx(sk.balanced_accuracy_score(y, p, sample_weight=w))
    for average in AVERAGES:
        wanted = sk.precision_recall_fscore_support(y, p, average=average, sample_weight=w, zero_division=0)
        assert [got[f"{average}_{name}"] for name in ("precision", "recall", "f1")] == pytest.approx(wanted[:3])
    assert got["log_loss"] == pytest.approx(sk.log_loss(y, P, sample_weight=w, labels=range(k)))
    brier = sk.brier_score_loss(y, P if k > 2 else P[:, 1], sample_weight=w, labels=range(k))
    assert got["brier"] == pytest.approx(brier)
    assert got["ece"] == pytest.approx(calibration_error(P, y, np.ones(len(y)) if w is None else w))
    there = np.unique(y)
    areas = [sk.average_precision_score(y == c, P[:, c], sample_weight=w) for c in there]
    assert got["average_precision"] == pytest.approx(np.mean(areas))


@pytest.mark.parametrize("seed", range(3))
def test_classes_one_by_one(seed):
    outcome = single(seed, k=7)
    rows = evaluate(outcome, rounds=0).per_class
    y, p, P, w = outcome.truth, outcome.predicted, outcome.probabilities, outcome.weights
    wanted = sk.precision_recall_fscore_support(y, p, labels=range(7), sample_weight=w, zero_division=0)
    got = np.array([(row.precision, row.recall, row.f1, row.support) for row in rows])
    np.testing.assert_allclose(got, np.array(wanted).T)
    assert [row.label for row in rows] == list(outcome.classes)
    for c, row in enumerate(rows):
        if c == 6:
            assert row.average_precision is None
        else:
            assert row.average_precision == pytest.approx(sk.average_precision_score(y == c, P[:, c], sample_weight=w))


def test_the_confusion_matrix():
    outcome = single(1)
    confusion = evaluate(outcome, rounds=0).confusion
    wanted = sk.confusion_matrix(outcome.truth, outcome.predicted, sample_weight=outcome.weights, labels=range(5))
    np.testing.assert_allclose(confusion.dense(), wanted)
    np.fill_diagonal(wanted, 0)
    truth, predicted, weight = confusion.most(1)[0]
    assert weight == wanted.max() == wanted[int(truth[1]), int(predicted[1])]


def test_top_accuracy_is_that_of_scikit_learn_without_ties():
    rng = np.random.default_rng(0)
    y, S, w = rng.integers(0, 8, 400), rng.normal(size=(400, 8)), rng.random(400)
    got = found(Outcome(y, S.argmax(axis=1), range(8), scores=S, weights=w))
    for at in (3, 5):
        wanted = sk.top_k_accuracy_score(y, S, k=at, sample_weight=w)
        assert got[f"top_{at}_accuracy"] == pytest.approx(wanted)
        assert got[f"precision_at_{at}"] == pytest.approx(wanted / at)
    assert got["precision_at_1"] == pytest.approx(got["accuracy"])
    assert "log_loss" not in got


def test_among_equal_scores_the_first_class_leads():
    outcome = Outcome([0, 1, 2, 3], [0, 0, 0, 0], "abcd", scores=np.zeros((4, 4)))
    assert found(outcome)["precision_at_1"] == 0.25
    assert found(outcome)["top_3_accuracy"] == 0.75


def test_one_column_of_scores_is_of_the_second_class():
    rng = np.random.default_rng(1)
    y, s = rng.integers(0, 2, 100), rng.normal(size=(100, 1))
    got = found(Outcome(y, (s[:, 0] > 0).astype(int), ["no", "yes"], scores=s))
    areas = sk.average_precision_score(y == 0, -s[:, 0]), sk.average_precision_score(y, s[:, 0])
    assert got["average_precision"] == pytest.approx(np.mean(areas))
    assert got["precision_at_1"] == got["accuracy"]


def test_unknown_labels_are_one_class_that_is_always_wrong():
    outcome = single(2, unknown=40)
    y, p, w = outcome.truth, outcome.predicted, outcome.weights
    result = evaluate(outcome, rounds=0)
    assert result.unknown == 40
    assert result.metrics["accuracy"] == pytest.approx(sk.accuracy_score(y, p, sample_weight=w))
    for average in AVERAGES:
        wanted = sk.f1_score(y, p, average=average, sample_weight=w, zero_division=0)
        assert result.metrics[f"{average}_f1"] == pytest.approx(wanted)
    assert result.metrics["balanced_accuracy"] == pytest.approx(
        np.mean([np.average(p[y == c] == c, weights=w[y == c]) for c in np.unique(y)])
    )
    rows = np.flatnonzero(y == -1)
    loss = found(Outcome(y[rows], p[rows], outcome.classes, outcome.probabilities[rows]))
    assert loss["log_loss"] == pytest.approx(-np.log(np.finfo(float).eps))
    assert loss["ece"] == pytest.approx(np.mean(outcome.probabilities[rows].max(axis=1)))
    assert loss["average_precision"] == loss["top_3_accuracy"] == 0.0


def test_withheld_answers():
    outcome = single(3, abstain=60)
    y, p, w = outcome.truth, outcome.predicted, outcome.weights
    result = evaluate(outcome, rounds=0)
    answered = p >= 0
    assert result.abstained == 60
    assert result.metrics["coverage"] == pytest.approx(w[answered].sum() / w.sum())
    wanted = sk.accuracy_score(y[answered], p[answered], sample_weight=w[answered])
    assert result.metrics["answered_accuracy"] == pytest.approx(wanted)
    assert result.metrics["accuracy"] == pytest.approx(wanted * result.metrics["coverage"])
    seen = np.unique(y)
    for average in AVERAGES:
        wanted = sk.f1_score(y, p, labels=seen, average=average, sample_weight=w, zero_division=0)
        assert result.metrics[f"{average}_f1"] == pytest.approx(wanted)
    assert "coverage" not in found(single(3))


def test_costs():
    outcome = single(4, k=3, absent=False, abstain=20, unknown=5)
    costs = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [0.5, 3.0, 0.0]])
    y, p, w = outcome.truth, outcome.predicted, outcome.weights
    got = found(Outcome(y, p, outcome.classes, weights=w, costs=costs))["cost"]
    paid = [costs[a].max() if b < 0 else costs[a, b] for a, b in zip(p, y, strict=True)]
    assert got == pytest.approx(np.average(paid, weights=w * (p >= 0)))


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_label_sets(seed, weights):
    outcome = sets(seed, weights=weights)
    k, P, w = 6, outcome.probabilities, outcome.weights
    Y, Z = indicator(outcome.truth, k), indicator(outcome.predicted, k)
    got = found(outcome)
    seen = (Y.any(axis=0)) | (Z.any(axis=0))
    assert not seen[-1]
    for average in AVERAGES:
        wanted = sk.precision_recall_fscore_support(
            Y[:, seen], Z[:, seen], average=average, sample_weight=w, zero_division=0
        )
        assert [got[f"{average}_{name}"] for name in ("precision", "recall", "f1")] == pytest.approx(wanted[:3])
    wanted = sk.precision_recall_fscore_support(Y, Z, average="samples", sample_weight=w, zero_division=0)
    assert [got[f"sample_{name}"] for name in ("precision", "recall", "f1")] == pytest.approx(wanted[:3])
    assert got["subset_accuracy"] == pytest.approx(sk.accuracy_score(Y, Z, sample_weight=w))
    assert got["hamming_loss"] == pytest.approx(sk.hamming_loss(Y, Z, sample_weight=w))
    areas = sk.average_precision_score(Y[:, :-1], P[:, :-1], average="macro", sample_weight=w)
    assert got["average_precision"] == pytest.approx(areas)
    losses = [sk.log_loss(Y[:, j], P[:, j], sample_weight=w, labels=[0, 1]) for j in range(k)]
    assert got["log_loss"] == pytest.approx(np.mean(losses))
    order = np.argsort(-P, axis=1, kind="stable")
    for at in (1, 3, 5):
        hits = np.take_along_axis(Y, order[:, :at], axis=1).mean(axis=1)
        assert got[f"precision_at_{at}"] == pytest.approx(np.average(hits, weights=w))


def test_unknown_labels_in_sets():
    truth = LabelSets(np.array([0, 2, 3]), np.array([-1, 0, 1], np.int32))
    predicted = label_sets(np.array([[1, 0], [0, 1]]))
    result = evaluate(Outcome(truth, predicted, ["a", "b"], np.array([[0.9, 0.1], [0.2, 0.8]])), rounds=0)
    assert result.unknown == 1
    assert result.metrics["subset_accuracy"] == 0.5
    assert result.metrics["micro_recall"] == pytest.approx(2 / 3)
    assert result.metrics["macro_recall"] == pytest.approx(2 / 3)
    assert result.metrics["micro_precision"] == 1.0
    assert result.metrics["log_loss"] > 8


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("t", [1, 3])
def test_numbers(t, weights):
    outcome = numbers(0, t=t, weights=weights)
    y, p, w = outcome.truth, outcome.predicted, outcome.weights
    assert found(outcome) == pytest.approx(
        {
            "rmse": sk.root_mean_squared_error(y, p, sample_weight=w),
            "mae": sk.mean_absolute_error(y, p, sample_weight=w),
            "r2": sk.r2_score(y, p, sample_weight=w),
            "median_absolute_error": sk.median_absolute_error(y, p, sample_weight=w),
        }
    )


@pytest.mark.parametrize(("predicted", "wanted"), [([0.0, 0.0, 0.0], 1.0), ([0.0, 0.1, 0.0], 0.0)])
def test_a_constant_target(predicted, wanted):
    for value in (0.5, 0.1):  # the mean of 0.1 three times is not 0.1 to the last bit
        shifted = [value + p for p in predicted]
        assert found(Outcome([value] * 3, shifted))["r2"] == wanted
    assert sk.r2_score([0.5] * 3, [0.5 + p for p in predicted]) == wanted


def test_nothing_to_divide_by_is_zero():
    got = found(Outcome([0, 0], [1, 1], "ab"))
    assert got["macro_f1"] == got["micro_f1"] == got["macro_precision"] == got["macro_recall"] == 0.0
    empty = label_sets(np.zeros((2, 3), int))
    assert set(found(Outcome(empty, empty, "abc")).values()) == {0.0, 1.0}


def test_perfect_predictions():
    y = np.arange(20) % 4
    got = found(Outcome(y, y, "abcd", np.eye(4)[y]))
    for name in ("log_loss", "brier", "ece"):
        assert got[name] == pytest.approx(0.0, abs=1e-12)
    assert all(got[name] == 1.0 for name in ("accuracy", "macro_f1", "average_precision", "balanced_accuracy"))


@pytest.mark.parametrize("make", [single, sets, numbers])
def test_a_weight_of_two_is_the_row_twice(make):
    facts = observe(make(5, weights=False))
    counts = np.random.default_rng(0).integers(0, 4, len(facts))
    repeated = facts.take(np.repeat(np.arange(len(facts)), counts))
    assert found(replace(facts, weights=counts.astype(float))) == pytest.approx(found(repeated))


@pytest.mark.parametrize(
    "outcome",
    [Outcome([0], [0], "a", [[1.0]]), Outcome([-1], [-1], "ab", [[0.5, 0.5]]), Outcome([2.0], [3.0]), sets(0, n=1)],
)
def test_one_row(outcome):
    result = evaluate(outcome, rounds=3)
    odd = {name for name, value in result.metrics.items() if not np.isfinite(value)}
    assert odd == ({"answered_accuracy"} if result.abstained else set())
    assert str(result)


def test_names_of_the_command_line_and_of_json():
    assert metric_name("macro-f1") == metric_name("Macro_F1") == "macro_f1"
    with pytest.raises(UsageError, match=r"no metric 'fscore'; take one of f1, .*accuracy.*macro-f1"):
        metric_name("fscore")
    with pytest.raises(UsageError, match=r"f1 cannot be computed .* take one of accuracy.*macro-f1"):
        metric_name("f1", metric_names("single"))
    with pytest.raises(UsageError, match="rmse, mae, r2"):
        score(numbers(0), "accuracy")
    assert score(single(0), "macro-f1") == found(single(0))["macro_f1"]


@pytest.mark.parametrize("task", ["single", "sets", "numbers"])
def test_every_metric_is_said_of_an_outcome_that_has_everything(task):
    outcome = {
        "single": Outcome(
            *([0, 1, 2, 3, 4], [0, 1, 2, 3, -1], "abcde", softmax(np.eye(5))),
            costs=1 - np.eye(5),
            sets=label_sets(np.eye(5, dtype=int)),
        ),
        "sets": sets(0),
        "numbers": numbers(0),
    }[task]
    assert list(found(outcome)) == metric_names(task)
    assert set(KINDS[task].shown) <= set(metric_names(task))
    assert all(METRICS[name].about(task) for name in metric_names(task))


@pytest.mark.parametrize("seed", range(3))
def test_sets_with_a_coverage(seed):
    outcome = single(seed, k=5, unknown=7)
    rng = np.random.default_rng(seed)
    inside = rng.random((len(outcome.truth), 5)) < 0.3
    got = found(replace(outcome, sets=label_sets(inside)))
    held = [y >= 0 and row[y] for y, row in zip(outcome.truth, inside, strict=True)]
    sizes, w = inside.sum(axis=1), outcome.weights
    assert got["set_coverage"] == pytest.approx(np.average(held, weights=w))
    assert got["mean_set_size"] == pytest.approx(np.average(sizes, weights=w))
    assert got["empty_sets"] == pytest.approx(np.average(sizes == 0, weights=w))
    assert "set_coverage" not in found(outcome)
    with pytest.raises(DataError, match="sets has labels outside 0 to 4"):
        found(replace(outcome, sets=LabelSets(np.arange(len(inside) + 1), np.full(len(inside), 9, np.int32))))
