"""Thresholds: the best by brute force, shared ones for rare labels, rules of two classes."""

import numpy as np
import pytest
from tests.decision.worlds import sets_of

from linnaeus.decision import THRESHOLDS, AtPrecision, AtRecall, BestF1, Half
from linnaeus.decision.thresholds import NEVER, FittedThresholds, pooled
from linnaeus.errors import InputTypeError, ModelFileError, UsageError
from linnaeus.types import State


def rows(n=300, k=4, seed=0):
    rng = np.random.default_rng(seed)
    P = rng.random((n, k)).round(2)
    return P, rng.random((n, k)) < P**2


def facts(p, yes, threshold):
    taken = p >= threshold
    right = (taken & yes).sum()
    return 2 * right / (taken.sum() + yes.sum()), right / max(1, taken.sum()), right / yes.sum()


TRIED = np.r_[np.arange(0.0, 1.01, 0.01), NEVER]


def test_best_f1_is_the_best_of_all_thresholds():
    P, yes = rows()
    found = BestF1().fit(P, sets_of(yes)).values
    for p, member, threshold in zip(P.T, yes.T, found, strict=True):
        best = max(facts(p, member, t)[0] for t in TRIED)
        assert facts(p, member, threshold)[0] == pytest.approx(best)


def test_precision_and_recall_that_were_asked_for():
    P, yes = rows()
    precise, complete = (piece.fit(P, sets_of(yes)).values for piece in (AtPrecision(0.7), AtRecall(0.8)))
    for p, member, t, u in zip(P.T, yes.T, precise, complete, strict=True):
        curve = [facts(p, member, threshold) for threshold in TRIED]
        assert facts(p, member, t)[1] >= 0.7
        assert facts(p, member, t)[2] == max(recall for _, precision, recall in curve if precision >= 0.7)
        assert facts(p, member, u)[2] >= 0.8
        assert facts(p, member, u)[1] == max(precision for _, precision, recall in curve if recall >= 0.8)


def test_a_precision_that_is_out_of_reach_gives_no_label():
    P = np.array([[0.9], [0.1], [0.8], [0.2]])
    fitted = AtPrecision(0.9, fewest=1).fit(P, sets_of(np.array([[False], [True], [False], [True]])))
    assert fitted.values.tolist() == [NEVER]
    assert not fitted.labels(np.ones((1, 1))).any()


def test_rare_labels_share_the_threshold_of_all():
    P, yes = rows(k=5)
    yes[:, 3] = False
    yes[:4, 4] = True
    yes[4:, 4] = False
    found = BestF1(fewest=5).fit(P, sets_of(yes)).values
    assert found[3] == found[4]
    assert len(set(found.tolist())) > 1
    micro = [facts(P.ravel(), yes.ravel(), t)[0] for t in TRIED]
    assert facts(P.ravel(), yes.ravel(), found[3])[0] == pytest.approx(max(micro), abs=0.01)


def test_the_pooled_curve_counts_what_it_says():
    P, yes = rows()
    found = pooled(P, sets_of(yes), "labels", np.ones(len(P)))
    for t, taken, right in list(zip(found.thresholds, found.taken, found.right, strict=True))[::7]:
        assert (taken, right) == ((t <= P).sum(), ((t <= P) & yes).sum())


def test_thresholds_stand_between_the_rows():
    P = np.array([[0.9], [0.7], [0.3], [0.1]])
    fitted = BestF1(fewest=1).fit(P, sets_of(np.array([[True], [True], [False], [False]])))
    assert fitted.values == pytest.approx([0.5])


def test_neighbors_among_floats_are_told_apart():
    low = np.nextafter(0.5, 0)
    fitted = BestF1(fewest=1).fit(np.array([[0.5], [low]]), sets_of(np.array([[True], [False]])))
    assert fitted.labels(np.array([[0.5], [low]])).tolist() == [[True], [False]]


def test_two_classes_have_one_threshold():
    P, y = np.array([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]]), np.array([0, 1, 1])
    fitted = BestF1(fewest=1).fit(P, y)
    assert fitted.second(P).tolist() == [0, 1, 1]
    assert Half().fit(P, y).second(P).tolist() == [0, 0, 1]


def test_weights_are_repetitions():
    P, yes = rows(n=60)
    times = np.random.default_rng(1).integers(0, 3, 60)
    for piece in (BestF1(1), AtPrecision(0.6, 1), AtRecall(0.7, 1)):
        weighted = piece.fit(P, sets_of(yes), times.astype(float))
        repeated = piece.fit(np.repeat(P, times, axis=0), sets_of(np.repeat(yes, times, axis=0)))
        given = [fitted.labels(np.repeat(P, times, axis=0)) for fitted in (weighted, repeated)]
        np.testing.assert_array_equal(*given)


def test_at_least_so_many_labels():
    fitted = FittedThresholds("labels", np.array([0.5, 0.2, 0.9]))
    P = np.array([[0.1, 0.1, 0.1], [0.6, 0.3, 0.1], [0.6, 0.0, 0.0]])
    assert fitted.labels(P, 1).sum(axis=1).tolist() == [1, 2, 1]
    assert fitted.labels(P, 2).sum(axis=1).tolist() == [2, 2, 2]
    assert fitted.labels(P, 9).all()
    assert fitted.labels(P, 1)[0].tolist() == [False, True, False]


def test_no_label_at_all():
    for piece in THRESHOLDS.values():
        fitted = piece().fit(np.full((5, 3), 0.4), sets_of(np.zeros((5, 3), bool)))
        assert not fitted.labels(np.full((1, 3), 0.4)).any()


@pytest.mark.parametrize("name", THRESHOLDS)
def test_state_round_trip(name):
    P, yes = rows()
    fitted = THRESHOLDS[name]().fit(P, sets_of(yes))
    again = FittedThresholds.from_state(fitted.state())
    np.testing.assert_array_equal(again.values, fitted.values)


def test_bad_input_is_a_sentence():
    with pytest.raises(UsageError, match="precision must lie between 0 and 1"):
        AtPrecision(1.5)
    with pytest.raises(InputTypeError, match="recall takes a number"):
        AtRecall("much")
    with pytest.raises(UsageError, match="label sets and to two classes"):
        BestF1().fit(np.full((3, 3), 1 / 3), np.array([0, 1, 2]))


@pytest.mark.parametrize(
    ("kind", "values"),
    [("classes", [0.5]), ("binary", [0.5, 0.5]), ("labels", []), ("labels", [-1.0]), ("labels", [np.nan])],
)
def test_hostile_states_are_refused(kind, values):
    with pytest.raises(ModelFileError):
        FittedThresholds.from_state(State({"kind": "thresholds", "scores": kind}, {"values": np.array(values)}))
