"""Ranked labels of tasks with very many labels: every metric equals its definition, row by row and label by label."""

from __future__ import annotations

import json
from dataclasses import replace
from math import exp, log, log2

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from linnaeus.errors import DataError, InputTypeError, UsageError
from linnaeus.evaluation import (
    KINDS,
    METRICS,
    Accumulator,
    Evaluation,
    Gate,
    bootstrap,
    column,
    compare,
    evaluate,
    gate,
    mcnemar,
    metric_name,
    metric_names,
    missed,
    observe_ranked,
    slices,
)
from linnaeus.evaluation.facts import join
from linnaeus.evaluation.ranked import inverse_propensities
from linnaeus.types import LabelSets

LABELS, TRAINED = 30, 500


def sets_of(rows):
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return LabelSets(offsets, np.array([label for row in rows for label in row], np.int32))


def frequencies_of(rng, labels=LABELS):
    """A few frequent labels, many equal ones, and some that the training data do not have."""
    counts = np.concatenate([[200, 90, 90, 40], np.full(8, 10), rng.integers(0, 4, labels - 12)])
    return rng.permutation(counts).astype(np.int64)


def case(seed, n=120, depth=12, labels=LABELS):
    """Truth with empty rows and unknown labels, and rankings that are better than chance and not all complete."""
    rng = np.random.default_rng(seed)
    truth, best = [], np.full((n, depth), -1, np.int32)
    for i in range(n):
        known = rng.choice(labels, rng.integers(0, 8), replace=False)
        truth.append(sorted([*known.tolist(), *[-1] * int(rng.integers(0, 3) * (rng.random() < 0.2))]))
        scores = rng.random(labels)
        scores[known] += 0.4
        many = depth if rng.random() < 0.8 else rng.integers(0, depth)
        best[i, :many] = np.argsort(-scores)[:many]
    return best, truth, frequencies_of(rng, labels), rng.integers(1, 5, n) / 2.0


def inverse(count, rows=TRAINED):
    """1 / p as in the paper."""
    c = (log(rows) - 1) * (1.5 + 1) ** 0.55
    return 1 + c * exp(-0.55 * log(count + 1.5))


def groups_of(counts):
    """The group of each label: a label belongs to the group in which its first training row falls."""
    total, before, found = sum(counts), 0, {-1: "tail"}
    for label in sorted(range(len(counts)), key=lambda label: (-counts[label], label)):
        third = 3 * before // total if counts[label] else 2
        found[label] = ("head", "middle", "tail")[min(third, 2)]
        before += counts[label]
    return found


def plain(best, truth, counts=None, weights=None):
    """All metrics by their definitions."""
    n, depth = best.shape
    weights = [1.0] * n if weights is None else weights
    total = sum(weights)
    found = {}

    def mean(name, values):
        found[name] = sum(w * v for w, v in zip(weights, values, strict=True)) / total

    def right(row, at):
        return [place for place, label in enumerate(best[row][:at]) if label >= 0 and label in truth[row]]

    for at in (1, 3, 5):
        if at <= depth:
            mean(f"precision_at_{at}", [len(right(i, at)) / at for i in range(n)])
            mean(f"hit_at_{at}", [float(len(right(i, at)) > 0) for i in range(n)])
            gains = [sum(1 / log2(place + 2) for place in right(i, at)) for i in range(n)]
            most = [sum(1 / log2(place + 2) for place in range(min(at, len(truth[i])))) for i in range(n)]
            mean(f"ndcg_at_{at}", [g / m if m else 0.0 for g, m in zip(gains, most, strict=True)])
    for at in (1, 3, 5, 10):
        if at <= depth:
            mean(f"recall_at_{at}", [len(right(i, at)) / len(truth[i]) if truth[i] else 0.0 for i in range(n)])
    if counts is None:
        return found
    gain = {-1: inverse(0), **{label: inverse(count) for label, count in enumerate(counts.tolist())}}
    for at in (1, 3, 5):
        if at <= depth:
            hits = [sum(gain[best[i][place]] for place in right(i, at)) / at for i in range(n)]
            most = [sum(sorted((gain[label] for label in truth[i]), reverse=True)[:at]) / at for i in range(n)]
            found[f"ps_precision_at_{at}"] = np.dot(weights, hits) / np.dot(weights, most)
    group = groups_of(counts.tolist())
    for name in ("head", "middle", "tail") if depth >= 5 else ():
        there = [sum(group[label] == name for label in truth[i]) for i in range(n)]
        hits = [sum(group[best[i][place]] == name for place in right(i, 5)) for i in range(n)]
        found[f"{name}_recall_at_5"] = np.dot(weights, hits) / np.dot(weights, there)
    return found


ABSTAINED = {"coverage", "answered_accuracy"}
"""Metrics of models that may abstain: `tests/tasks/many` has these."""


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("trained", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 4, 5, 12])
@pytest.mark.parametrize("seed", range(2))
def test_every_metric_is_its_definition(seed, depth, trained, weighted):
    best, truth, counts, w = case(seed, depth=depth)
    counts, w = counts if trained else None, w if weighted else None
    found = evaluate(observe_ranked(best, sets_of(truth), counts, TRAINED if trained else 0, w), rounds=0)
    wanted = plain(best, truth, counts, w)
    assert found.metrics == pytest.approx(wanted, rel=1e-12)
    assert found.unknown == sum(-1 in row for row in truth) > 0
    assert (found.task, found.headline, found.classes) == ("many", "precision_at_1", 0)
    if trained and depth == 12:
        assert set(found.metrics) == set(metric_names("many")) - ABSTAINED


@pytest.mark.parametrize("seed", range(3))
def test_ndcg_is_that_of_scikit_learn(seed):
    best, truth, _, w = case(seed, depth=LABELS)
    best = np.array([[*row[row >= 0], *sorted(set(range(LABELS)) - set(row.tolist()))] for row in best])
    Y, S = np.zeros((len(truth), LABELS + 2)), np.zeros((len(truth), LABELS + 2))  # unknown labels come last
    for i, row in enumerate(truth):
        Y[i, [label for label in row if label >= 0]] = 1
        Y[i, LABELS : LABELS + row.count(-1)] = 1
        S[i, best[i]] = np.arange(LABELS, 0, -1)
    S[:, LABELS:] = [-1, -2]
    found = evaluate(observe_ranked(best, sets_of(truth), weights=w), rounds=0)
    for at in (1, 3, 5):
        assert found.value(f"nDCG@{at}") == pytest.approx(ndcg_score(Y, S, k=at, sample_weight=w))


def test_rows_without_true_labels_count_as_zero():
    best, truth = np.array([[3, 1, 2], [3, 1, 2]]), sets_of([[3], []])
    found = evaluate(observe_ranked(best, truth, np.full(4, 5), 20), rounds=0)
    for name in ("P@1", "R@1", "R@3", "nDCG@3", "hit@1"):
        assert found.value(name) == 0.5
    assert found.value("PSP@1") == 1.0  # there is nothing to gain on the second row
    empty = evaluate(observe_ranked(best, sets_of([[], []]), np.full(4, 5), 20))
    assert set(empty.metrics) == {f"{name}_at_{at}" for name in ("precision", "recall", "ndcg", "hit") for at in (1, 3)}
    assert set(empty.metrics.values()) == {0.0}


def test_unknown_labels_are_true_and_rare_and_never_found():
    best = np.array([[-1, -1, -1, -1, -1], [0, -1, 1, -1, -1]])
    facts = observe_ranked(best, sets_of([[-1, -1], [-1, 0, 1]]), np.array([3, 3]), 6)
    assert facts.values["true_labels"].tolist() == [2, 3]
    assert facts.values["tail_labels"].tolist() == [2, 1]
    assert facts.values["found_at_5"].tolist() == [0, 2]
    assert facts.values["ps_best_at_3"] == pytest.approx([2 * inverse(0, 6), inverse(0, 6) + 2 * inverse(3, 6)])
    found = evaluate(facts)
    assert (found.unknown, found.abstained) == (2, 0)
    assert "2 rows have labels that the model does not know; they count as errors" in str(found)
    assert found.value("R@5") == pytest.approx(1 / 3)
    nothing = evaluate(observe_ranked(np.full((2, 5), -1), sets_of([[-1], [-1]]), np.zeros(0, np.int64), 6), rounds=0)
    assert set(nothing.metrics.values()) == {0.0}


def test_a_known_label_counts_once_in_a_row():
    best = np.array([[5, 1, 2]])
    one, two = (observe_ranked(best, sets_of([row])) for row in ([5, 7], [7, 5, 5]))
    assert {name: value.tolist() for name, value in one.values.items()} == {
        name: value.tolist() for name, value in two.values.items()
    }


def test_a_perfect_ranking_has_one_everywhere():
    rng = np.random.default_rng(0)
    truth = [sorted(rng.choice(LABELS, 10, replace=False).tolist()) for _ in range(50)]
    counts = frequencies_of(rng)
    # The order among true labels only matters for rare ones.
    best = np.array([sorted(row, key=lambda label: counts[label]) for row in truth])
    found = evaluate(observe_ranked(best, sets_of(truth), counts, TRAINED))
    ones = [name for name in found.metrics if not name.endswith("recall_at_5") and "recall" not in name]
    assert {found.metrics[name] for name in ones} == {1.0}
    assert found.value("R@10") == 1.0
    assert all(found.intervals[name][0] < 1.0 == found.intervals[name][1] for name in ones)


def test_finding_rare_labels_is_worth_more():
    truth, counts = sets_of([[0, 1]] * 4), np.array([400, 1])
    rare, frequent = (
        evaluate(observe_ranked(np.full((4, 1), label), truth, counts, TRAINED), rounds=0) for label in (1, 0)
    )
    assert rare.value("P@1") == frequent.value("P@1") == 1.0
    assert rare.value("PSP@1") == 1.0
    assert frequent.value("PSP@1") == pytest.approx(inverse(400) / inverse(1))


def test_propensities_are_chances():
    counts = np.arange(40)
    assert inverse_propensities(counts, 1000) == pytest.approx([inverse(count, 1000) for count in counts])
    for rows in (1, 2):  # the logarithm of so few rows is below 1
        assert inverse_propensities(counts, rows).tolist() == [1.0] * 40


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ([10, 10, 10], ["head", "middle", "tail"]),
        ([1, 1, 1, 1, 1, 1, 1], ["head", "head", "head", "middle", "middle", "tail", "tail"]),
        ([0, 4, 9, 4, 0], ["tail", "middle", "head", "tail", "tail"]),
        ([100, 1, 1], ["head", "tail", "tail"]),
        ([0, 0, 0], ["tail", "tail", "tail"]),
    ],
)
def test_head_middle_and_tail(counts, wanted):
    n = len(counts)
    best = np.full((n, 5), -1)
    best[:, 2] = np.arange(n)
    facts = observe_ranked(best, sets_of([[i] for i in range(n)]), np.array(counts), 100)
    for name in ("head", "middle", "tail"):
        there = [int(group == name) for group in wanted]
        assert facts.values[f"{name}_labels"].tolist() == facts.values[f"{name}_found"].tolist() == there
        assert (f"{name}_recall_at_5" in evaluate(facts, rounds=0).metrics) == (name in wanted)
    if sum(counts):
        assert wanted == [groups_of(counts)[i] for i in range(n)]


def test_each_group_has_about_a_third_of_the_training_labels():
    for seed in range(20):
        counts = np.random.default_rng(seed).zipf(1.5, 300).clip(max=200)
        best, truth = np.full((300, 5), -1), sets_of([[i] for i in range(300)])
        values = observe_ranked(best, truth, counts, 300).values
        shares = [counts[values[f"{name}_labels"] == 1].sum() / counts.sum() for name in ("head", "middle", "tail")]
        assert shares == pytest.approx([1 / 3] * 3, abs=counts.max() / counts.sum())


@pytest.mark.parametrize("cuts", [[40], [1, 2, 119]])
def test_batches_do_not_matter(cuts):
    best, truth, counts, w = case(3)
    facts = observe_ranked(best, sets_of(truth), counts, TRAINED, w)
    seen, parts = Accumulator(), np.split(np.arange(len(truth)), cuts)
    for rows in parts:
        seen.add(observe_ranked(best[rows], sets_of(truth)[rows], counts, TRAINED, w[rows]))
    assert seen.evaluation() == evaluate(facts)
    for name, value in join([facts.take(rows) for rows in parts]).values.items():
        np.testing.assert_array_equal(value, facts.values[name])


def test_slices_are_evaluations_of_their_rows():
    best, truth, counts, w = case(4)
    facts = observe_ranked(best, sets_of(truth), counts, TRAINED, w)
    codes = np.arange(len(truth)) % 2
    found = slices(facts, column("side", codes.tolist()), ["P@1", "tail-recall-at-5", "PSP@3"])
    for part in found.parts:
        rows = np.flatnonzero(codes == int(part.value))
        wanted = plain(best[rows], [truth[i] for i in rows], counts, w[rows])
        assert part.metrics == pytest.approx({name: wanted[name] for name in part.metrics})
        assert all(low <= part.metrics[name] <= high for name, (low, high) in part.intervals.items())
    assert slices(facts, column("side", codes.tolist())).whole.metrics.keys() == set(KINDS["many"].headlines)


def test_a_slice_without_rare_labels_has_no_recall_of_them():
    best = np.array([[0, 1, 2, 3, 4]] * 2)
    facts = observe_ranked(best, sets_of([[0], [4]]), np.array([9, 1, 1, 1, 1]), 20)
    parts = {part.value: part for part in slices(facts, column("from", "ab"), ["head-recall-at-5", "P@1"]).parts}
    assert set(parts["a"].metrics) == {"head_recall_at_5", "precision_at_1"}
    assert set(parts["b"].metrics) == {"precision_at_1"}


def test_two_models_are_compared_on_the_same_rows():
    best, truth, counts, _ = case(5)
    worse = best[:, ::-1]
    first, second = (observe_ranked(each, sets_of(truth), counts, TRAINED) for each in (best, worse))
    found = compare(first, second)
    assert [d.metric for d in found.differences] == ["precision_at_1", "ndcg_at_5", "recall_at_5"]
    assert {d.winner for d in found.differences} == {"first"}
    right = [np.array([row[0] in truth[i] and row[0] >= 0 for i, row in enumerate(each)]) for each in (best, worse)]
    only = int((right[0] & ~right[1]).sum()), int((right[1] & ~right[0]).sum())
    assert (found.only_first, found.only_second, found.p_value) == (*only, mcnemar(*only))
    rare = compare(first, second, ["PSP@5", "tail-recall-at-5"])
    assert rare.differences[0].first == pytest.approx(plain(best, truth, counts)["ps_precision_at_5"])
    with pytest.raises(DataError, match="same truth"):
        compare(first, observe_ranked(best, sets_of([[0, 1]] * len(truth)), counts, TRAINED))
    with pytest.raises(UsageError, match="ps-precision-at-5 cannot be computed"):
        compare(first, observe_ranked(best, sets_of(truth)), ["PSP@5"])


def test_a_weight_of_two_is_the_row_twice():
    best, truth, counts, _ = case(6)
    facts = observe_ranked(best, sets_of(truth), counts, TRAINED)
    times = np.random.default_rng(0).integers(0, 4, len(facts))
    twice = evaluate(facts.take(np.repeat(np.arange(len(facts)), times)), rounds=0)
    assert evaluate(replace(facts, weights=times.astype(float)), rounds=0).metrics == pytest.approx(twice.metrics)


def test_intervals_pages_gates_and_json():
    best, truth, counts, w = case(7)
    facts = observe_ranked(best, sets_of(truth), counts, TRAINED, w)
    found = evaluate(facts)
    assert set(found.intervals) == set(found.metrics)
    for name, (low, high) in found.intervals.items():
        assert 0 <= low < found.metrics[name] < high <= 1
    assert bootstrap(facts, ["PSP@5"])["ps_precision_at_5"] == found.intervals["ps_precision_at_5"]
    assert Evaluation.from_json(json.loads(json.dumps(found.to_json()))) == found
    assert "120 rows" in str(found)
    assert "share of a row's true labels among the 10 best" in str(found)
    assert set(KINDS["many"].shown) - ABSTAINED <= set(found.metrics)
    assert not any("{" in METRICS[name].about("many") for name in found.metrics)
    assert METRICS["recall_at_3"].about("candidates") == "right candidate among the 3 best"
    assert gate("--min", "PSP@1=0.9", "many") == Gate("--min", "ps_precision_at_1", 0.9)
    assert missed(found, [gate("--min", "R@10=1"), gate("--min", "P@5=0.01")]) == [Gate("--min", "recall_at_10", 1.0)]


def test_very_large_label_numbers():
    last = 2**31 - 1
    best = np.array([[last, 0, 7], [0, last, 7]], np.int32)
    truth = LabelSets(np.array([0, 1, 3]), np.array([last, last - 1, last], np.int32))
    found = evaluate(observe_ranked(best, truth), rounds=0)
    assert (found.value("P@1"), found.value("R@3")) == (0.5, 0.75)


def test_the_names_of_papers():
    assert [metric_name(name) for name in ("P@3", "R@5")] == ["precision_at_3", "recall_at_5"]
    assert [metric_name(name) for name in ("nDCG@5", "hit@5")] == ["ndcg_at_5", "hit_at_5"]
    assert [metric_name(name) for name in ("PSP@1", "psp@3")] == ["ps_precision_at_1", "ps_precision_at_3"]
    assert [metric_name(name) for name in ("Recall@10", "PS-precision@3")] == ["recall_at_10", "ps_precision_at_3"]
    for name in ("P@2", "F@1", "@3"):
        with pytest.raises(UsageError, match=f"no metric '{name}'"):
            metric_name(name)


BEST, TRUTH = np.array([[0, 1, 2], [2, 1, -1]]), sets_of([[0], [2]])


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"best": BEST[:1]}, "2 rows, but best has 1"),
        ({"best": BEST[:0], "truth": sets_of([])}, "no rows to evaluate"),
        ({"best": BEST[:, 0]}, "best takes label numbers"),
        ({"best": BEST[:, :0]}, "best takes label numbers"),
        ({"best": BEST.astype(float)}, "best takes label numbers"),
        ({"best": BEST - 1}, "best has label numbers below -1"),
        ({"best": np.array([[0, 1, 0], [2, 1, -1]])}, "names a label twice"),
        ({"truth": sets_of([[-2], [0]])}, "truth has label numbers below -1"),
        ({"weights": np.ones(3)}, "weights has shape"),
        ({"weights": np.array([1.0, -1.0])}, "not negative"),
        ({"frequencies": np.ones(2, int)}, "frequencies of 2 labels, but label 2 occurs"),
        ({"frequencies": np.ones(3)}, "one whole number for each label"),
        ({"frequencies": np.ones((3, 1), int)}, "one whole number for each label"),
        ({"frequencies": np.array([1, -1, 1])}, "between 0 and the 9 rows"),
        ({"frequencies": np.array([1, 10, 1])}, "between 0 and the 9 rows"),
    ],
)
def test_what_is_refused(given, match):
    with pytest.raises(DataError, match=match):
        observe_ranked(**({"best": BEST, "truth": TRUTH, "rows": 9} | given))


def test_frequencies_need_the_number_of_rows():
    with pytest.raises(UsageError, match="give it as rows"):
        observe_ranked(BEST, TRUTH, np.ones(3, int))
    with pytest.raises(InputTypeError, match="rows takes a whole number"):
        observe_ranked(BEST, TRUTH, np.ones(3, int), 2.5)
