"""Choices among candidates, judged."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.errors import DataError
from linnaeus.evaluation import evaluate, observe_choices
from linnaeus.evaluation.choices import best_first, right_ranks
from linnaeus.types import Choices

S = np.array([1.0, 2.0, 0.0, 3.0, 1.0, 5.0])
Y = Choices(np.array([0, 2, 5, 5, 6]), np.array([False, True, True, False, False, False]))


def test_ranks_and_what_follows_from_them():
    assert right_ranks(S, Y).tolist() == [1.0, 3.0, np.inf, np.inf]
    found = evaluate(observe_choices(S, Y))
    assert (found.headline, found.value(), found.units) == ("accuracy", 0.25, 6)
    assert found.value("reciprocal-rank") == pytest.approx((1 + 1 / 3) / 4)
    assert [found.value(f"recall-at-{at}") for at in (1, 3, 5, 10)] == [0.25, 0.5, 0.5, 0.5]
    assert found.intervals["accuracy"][0] < 0.25 < found.intervals["accuracy"][1]
    assert "4 examples, 6 candidates" in str(found)
    assert "share of examples predicted correctly" in str(found)


def test_the_best_of_several_right_ones_counts_and_the_first_among_equals_leads():
    y = Choices(np.array([0, 3]), np.array([True, False, True]))
    assert right_ranks(np.array([0.0, 1.0, 2.0]), y).tolist() == [1.0]
    assert best_first(np.zeros(3), np.array([0, 3])).tolist() == [0, 1, 2]
    assert right_ranks(np.zeros(2), Choices(np.array([0, 2]), np.array([False, True]))).tolist() == [2.0]


def test_weights_of_examples():
    y = Choices(Y.offsets, Y.gold, None, np.array([3.0, 1.0, 0.0, 0.0]))
    assert evaluate(observe_choices(S, y), rounds=0).value() == 0.75


def test_nothing_to_judge():
    with pytest.raises(DataError, match="no example"):
        observe_choices(np.zeros(0), Choices(np.zeros(1, np.int64), np.zeros(0, bool)))


def test_where_a_ranker_abstains_nothing_is_chosen():
    y = Choices(np.array([0, 2, 4, 6]), np.array([True, False, True, False, False, True]))
    s = np.array([1.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    found = evaluate(observe_choices(s, y, np.array([True, False, True])))
    assert (found.rows, found.abstained) == (3, 1)
    assert found.value("accuracy") == pytest.approx(1 / 3)
    assert found.value("coverage") == pytest.approx(2 / 3)
    assert found.value("answered_accuracy") == 0.5
    assert found.value("recall_at_3") == 1.0
    nothing = evaluate(observe_choices(s, y, np.zeros(3, bool)))
    assert np.isnan(nothing.value("answered_accuracy"))
