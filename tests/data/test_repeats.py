"""Rows with equal keys are held out together, with the groups that were given."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.data.split import folds, holdout, kept_together, repeated


def test_rows_without_repeats_are_in_no_group():
    assert kept_together(np.arange(50), None, part=10) is None
    assert kept_together(None, None, part=10) is None
    groups = np.arange(50) % 7
    assert kept_together(None, groups, part=10) is groups


def test_equal_keys_are_one_group():
    keys = np.repeat(np.arange(300), 3)
    groups = kept_together(keys, None, part=90)
    assert np.array_equal(groups, keys)
    for fold in folds(900, 10, groups=groups, strata=np.arange(900) % 2):
        assert not set(keys[fold.test]) & set(keys[fold.train])
        assert abs(len(fold.test) - 90) <= 3


@given(
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 60)), min_size=30, max_size=200),
    st.integers(2, 5),
)
def test_keys_and_groups_are_joined(rows, k):
    keys, groups = (np.array(column) for column in zip(*rows, strict=True))
    found = kept_together(keys, groups, part=len(rows))
    for row in range(len(rows)):
        same = groups == groups[row]
        assert len(set(found[same])) == 1, "a given group is never cut"
    few = np.bincount(keys)[keys] <= max(len(rows) / 10, 2)
    for row in np.flatnonzero(few):
        if len(rows) * 0.1 >= 2:
            assert len(set(found[keys == keys[row]])) == 1, "nor is a text"


def test_a_chain_of_texts_and_groups_is_one_component():
    keys = np.array([1, 2, 2, 3, 3, 4, *range(10, 60)])
    groups = np.array([0, 0, 1, 1, 2, 2, *range(10, 60)])
    found = kept_together(keys, groups, part=30)
    assert len(set(found[:6])) == 1
    assert len(set(found)) == 51


def test_a_text_that_is_everywhere_is_spread():
    keys = np.concatenate([np.zeros(3000, int), np.arange(1, 7001)])
    assert kept_together(keys, None, part=1000) is None
    split = holdout(10_000, groups=kept_together(keys, None, part=2000), strata=keys == 0)
    assert (keys[split.test] == 0).sum() == 600


def test_texts_that_would_join_all_groups_join_none():
    """Forty dialogs that all say "yes" now and then, and share one rare sentence in pairs."""
    groups = np.repeat(np.arange(40), 50)
    keys = np.arange(2000) + 100
    keys[::50] = 1
    keys[1::50] = 2 + np.arange(40) // 2
    found = kept_together(keys, groups, part=200)
    assert len(set(found)) == 20
    assert np.bincount(found).max() == 100


def test_which_rows_repeat():
    assert repeated(np.array([5, 6, 5, 7])).tolist() == [True, False, True, False]


def test_many_groups_of_one_row_keep_the_shares_of_classes():
    rng = np.random.default_rng(0)
    keys = np.concatenate([np.arange(20_000), rng.integers(0, 3000, 10_000)])
    strata = rng.choice(20, len(keys), p=np.arange(1, 21) / 210)
    groups = kept_together(keys, None, part=6000)
    found = folds(len(keys), 5, strata=strata, groups=groups)
    counts = np.array([np.bincount(strata[fold.test], minlength=20) for fold in found])
    assert np.ptp(counts, axis=0).max() <= 3
    assert np.ptp(counts.sum(axis=1)) <= 20
    for fold in found:
        assert not set(keys[fold.test]) & set(keys[fold.train])


def test_classes_of_one_row_are_dealt_evenly_beside_a_group():
    groups, strata = np.array([0, 0, *range(1, 99)]), np.arange(100)
    sizes = [len(fold.test) for fold in folds(100, 10, strata=strata, groups=groups)]
    assert max(sizes) - min(sizes) <= 1


def test_a_small_part_gets_its_share_of_groups_of_every_size():
    groups = np.concatenate([np.repeat(np.arange(100), 3), np.arange(100, 200)])
    split = holdout(400, share=0.1, groups=groups)
    assert len(split.test) == 40
    assert 6 <= len(set(groups[split.test][groups[split.test] < 100])) <= 12
