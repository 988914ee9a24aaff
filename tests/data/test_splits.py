import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.data import folds, folds_by_time, holdout, holdout_by_time
from linnaeus.errors import DataError, UsageError

sizes = st.integers(2, 200)
seeds = st.integers(-(2**63), 2**64)


def parts(split) -> list[int]:
    return sorted([*split.train.tolist(), *split.test.tolist()])


@given(sizes, seeds, st.floats(0.01, 0.99))
def test_holdout_shares_out_all_rows(n, seed, share):
    split = holdout(n, share=share, seed=seed)
    assert parts(split) == list(range(n))
    assert abs(split.test.size - n * share) <= 1
    assert split.test.size
    assert (np.diff(split.train) > 0).all()


@given(st.lists(st.integers(0, 4), min_size=2, max_size=200), seeds, st.floats(0.05, 0.95))
def test_stratified_holdout_rounds_every_share(strata, seed, share):
    split = holdout(len(strata), share=share, seed=seed, strata=strata)
    counts, held = np.bincount(strata), np.bincount(np.array(strata)[split.test], minlength=max(strata) + 1)
    for count, found in zip(counts, held, strict=True):
        if (counts > 1).any():
            assert abs(found - count * share) < 1 + 1e-9
            assert count != 1 or found == 0


@given(
    st.integers(2, 10).flatmap(lambda k: st.tuples(st.just(k), st.lists(st.integers(0, 4), min_size=k, max_size=99))),
    seeds,
)
def test_stratified_folds_differ_by_one(case, seed):
    k, strata = case
    found = folds(len(strata), k, seed=seed, strata=strata)
    assert sorted(row for fold in found for row in fold.test.tolist()) == list(range(len(strata)))
    counts = np.array([np.bincount(np.array(strata)[fold.test], minlength=5) for fold in found])
    assert np.ptp(counts, axis=0).max() <= 1
    assert np.ptp(counts.sum(axis=1)) <= 1


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=2, max_size=150), seeds, st.integers(2, 5))
def test_no_group_is_on_both_sides(rows, seed, k):
    groups, strata = (np.array(column) for column in zip(*rows, strict=True))
    if len(set(groups)) < k:
        with pytest.raises(DataError, match="groups cannot make"):
            folds(max(len(groups), k), k, seed=seed, groups=np.resize(groups, max(len(groups), k)))
        return
    found = [
        *folds(len(groups), k, seed=seed, groups=groups, strata=strata),
        holdout(len(groups), groups=groups, seed=seed),
    ]
    for split in found:
        assert not set(groups[split.train]) & set(groups[split.test])
        assert parts(split) == list(range(len(groups)))
        assert split.test.size
        assert split.train.size


def test_grouped_folds_are_balanced():
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 200, 4000)
    strata = (groups % 4 == 0).astype(int)
    for fold in folds(4000, 5, groups=groups, strata=strata):
        assert abs(fold.test.size - 800) < 40
        assert abs(strata[fold.test].mean() - strata.mean()) < 0.03


def test_seed_decides():
    assert (holdout(1000, seed=3).test == holdout(1000, seed=3).test).all()
    assert set(holdout(1000, seed=3).test) != set(holdout(1000, seed=4).test)


def test_the_split_is_fixed_for_ever():
    assert holdout(20, share=0.25, seed=1).test.tolist() == [3, 6, 8, 13, 19]
    assert [fold.test.tolist() for fold in folds(9, 3, seed=7)] == [[1, 4, 5], [0, 3, 8], [2, 6, 7]]


def test_keys_look_random():
    test = holdout(100_000, share=0.5, seed=0).test
    assert abs(test.mean() - 50_000) < 500
    assert abs((np.diff(test) == 1).mean() - 0.5) < 0.01


@given(st.lists(st.integers(0, 20), min_size=2, max_size=100), st.floats(0.05, 0.95))
def test_training_is_earlier_than_testing(times, share):
    when = np.array(times)
    if len(set(times)) == 1:
        with pytest.raises(DataError, match="same time"):
            holdout_by_time(when, share=share)
        return
    split = holdout_by_time(when, share=share)
    assert when[split.train].max() < when[split.test].min()
    assert parts(split) == list(range(len(times)))


def test_folds_by_time_walk_forward():
    found = folds_by_time(np.arange(12)[::-1], 3)
    assert [(fold.train.size, fold.test.size) for fold in found] == [(3, 3), (6, 3), (9, 3)]
    with pytest.raises(DataError, match="too few different times"):
        folds_by_time([1, 1, 1, 2], 3)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: holdout(10, share=0), UsageError),
        (lambda: holdout(1), DataError),
        (lambda: folds(10, 1), UsageError),
        (lambda: folds(3, 4), DataError),
        (lambda: holdout(3, strata=[1, 2]), UsageError),
        (lambda: holdout_by_time([1, 2], share=1), UsageError),
        (lambda: folds_by_time([1, 2], 0), UsageError),
        (lambda: holdout_by_time([1]), DataError),
    ],
)
def test_splits_that_cannot_be(call, kind):
    with pytest.raises(kind):
        call()


def test_too_few_rows_are_counted_in_words_and_say_what_to_do():
    with pytest.raises(DataError, match=r"^1 row cannot be split in two; read more data\.$"):
        holdout(1)
    with pytest.raises(DataError, match=r"^1 row cannot make 2 folds; take fewer, or read more data\.$"):
        folds(1, 2)
