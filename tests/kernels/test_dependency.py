"""Best dependency trees and chances of arcs: against enumeration, against the twins, for any number of threads."""

from __future__ import annotations

import signal
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln
from tests.kernels.all_trees import is_projective, is_tree, score, trees

from linnaeus import kernels
from linnaeus.kernels import reference

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])
each_kind = pytest.mark.parametrize("kind", ["projective", "spanning"])
NONE = np.zeros(0, np.int32)
SIZES = [5, 0, 1, 12, 2, 3, 8, *[4] * 20]


def draw(sizes, seed=0, scale=1.0):
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    return np.random.default_rng(seed).normal(size=sum(n * (n + 1) for n in sizes)) * scale, offsets


def best(side, kind, S, offsets, against=NONE, threads=1):
    heads = np.full(offsets[-1], -1, np.int32)
    getattr(side, f"dependency_best_{kind}")(S.ravel(), offsets, against, heads, threads)
    return heads


def soft(side, kind, S, offsets, threads=1):
    out = np.full(S.size, np.nan), np.full(len(offsets) - 1, np.nan)
    getattr(side, f"dependency_soft_{kind}")(S.ravel(), offsets, *out, threads)
    return out


def truths(heads, gold):
    return sum(a == b for a, b in zip(heads, gold, strict=True))


def scores_of_kind(scores, n, seed):
    rng = np.random.default_rng(seed)
    if scores == "ties":
        return rng.integers(0, 2, (n, n + 1)).astype(float)
    S = rng.normal(size=(n, n + 1)) * (30.0 if scores == "peaked" else 1.0)
    if scores == "forbidden":
        S[rng.random(S.shape) < 0.5] = -np.inf
    return S


def test_there_are_as_many_trees_as_there_should_be():
    assert [len(trees("spanning", n)) for n in range(1, 6)] == [n ** (n - 1) for n in range(1, 6)]
    assert [len(trees("projective", n)) for n in range(1, 6)] == [1, 2, 7, 30, 143]


@each_side
@each_kind
@pytest.mark.parametrize("scores", ["random", "ties", "forbidden", "peaked"])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_enumeration_finds_the_same(side, kind, n, scores):
    every, found = trees(kind, n), 0
    for seed in range(20 if n < 5 else 6):
        S = scores_of_kind(scores, n, seed)
        all_scores = np.array([score(S, z) for z in every])
        high = all_scores.max()
        if high == -np.inf:
            continue
        found += 1
        gold = every[seed % len(every)]
        equal = [z for z, s in zip(every, all_scores, strict=True) if s == high]
        for against in (NONE, np.array(gold, np.int32)):
            heads = tuple(best(side, kind, S, np.array([0, n]), against).tolist())
            assert is_tree(heads)
            assert score(S, heads) == pytest.approx(high)
            assert scores != "ties" or heads in equal
        if scores == "ties":
            assert truths(heads, gold) == min(truths(z, gold) for z in equal)
        chances, (value,) = soft(side, kind, S, np.array([0, n]))
        parts = np.exp(all_scores - high)
        assert value == pytest.approx(high + np.log(parts.sum()))
        wanted = np.zeros(S.shape)
        for z, p in zip(every, parts / parts.sum(), strict=True):
            wanted[np.arange(n), z] += p
        np.testing.assert_allclose(chances.reshape(S.shape), wanted, atol=1e-12)
    assert found


@each_kind
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_best_trees_are_the_twins(kind, threads):
    S, offsets = draw(SIZES)
    gold = best(reference, kind, *draw(SIZES, seed=1))
    for scores, against in product((S, np.round(S), np.zeros_like(S)), (NONE, gold)):
        ours = best(kernels, kind, scores, offsets, against, threads)
        assert ours.tolist() == best(reference, kind, scores, offsets, against).tolist()


@each_kind
@pytest.mark.parametrize("scale", [1e-3, 1.0, 30.0, 3000.0])
def test_chances_are_the_twins(kind, scale):
    S, offsets = draw(SIZES, scale=scale)
    tolerance = reference.TOLERANCES[f"dependency_soft_{kind}"].doubles
    for ours, theirs in zip(soft(kernels, kind, S, offsets), soft(reference, kind, S, offsets), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=1e-9)


@each_kind
def test_threads_do_not_matter(kind):
    sizes = [30] * 80
    S, offsets = draw(sizes)
    one, two, five = (
        [best(kernels, kind, S, offsets, threads=t), *soft(kernels, kind, S, offsets, threads=t)] for t in (1, 2, 5)
    )
    for a, b, c in zip(one, two, five, strict=True):
        assert a.tobytes() == b.tobytes() == c.tobytes()


@each_side
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_the_sum_over_all_trees_is_a_determinant(side, n):
    """Koo, Globerson, Carreras and Collins 2007: the Laplacian of the tokens, with the root in its first row."""
    S, offsets = draw([n], seed=n)
    w = np.exp(S.reshape(n, n + 1))
    own = np.eye(n, dtype=bool)
    between = np.where(own, 0.0, w[:, 1:]).T
    laplacian = np.diag(between.sum(axis=0)) - between
    laplacian[0] = w[:, 0]
    chances, (value,) = soft(side, "spanning", S, offsets)
    assert value == pytest.approx(np.linalg.slogdet(laplacian)[1])
    np.testing.assert_allclose(chances.reshape(n, n + 1)[:, 0], w[:, 0] * np.linalg.inv(laplacian)[:, 0], atol=1e-12)


@each_side
def test_strong_cycles_leave_digits(side):
    """Two tokens that want each other as heads, far more than doubles have digits."""
    S = np.zeros((3, 4))
    S[1, 3] = S[2, 2] = 60.0
    chances, (value,) = soft(side, "spanning", S, np.array([0, 3]))
    # Both together would be a cycle, and trees without them do not show.
    ways = [sum(z[1] == 3 for z in trees("spanning", 3)), sum(z[2] == 2 for z in trees("spanning", 3))]
    assert value == pytest.approx(60.0 + np.log(sum(ways)), abs=1e-14)
    assert chances.reshape(3, 4)[1, 3] == pytest.approx(ways[0] / sum(ways), abs=1e-14)


@each_side
@each_kind
def test_the_own_token_is_not_read(side, kind):
    S = draw([6])[0].reshape(6, 7)
    other = S.copy()
    np.fill_diagonal(other[:, 1:], 1e9)
    offsets = np.array([0, 6])
    assert best(side, kind, S, offsets).tolist() == best(side, kind, other, offsets).tolist()
    for a, b in zip(soft(side, kind, S, offsets), soft(side, kind, other, offsets), strict=True):
        np.testing.assert_array_equal(a, b)


@each_side
@each_kind
def test_without_a_tree_nothing_has_a_chance(side, kind):
    S = np.zeros((3, 4))
    S[0] = -np.inf
    chances, values = soft(side, kind, S, np.array([0, 3]))
    assert values.tolist() == [-np.inf]
    assert not chances.any()
    assert is_tree(best(side, kind, S, np.array([0, 3])))
    S[:] = -np.inf
    S[:, 0] = 0.0  # two roots are no tree
    assert soft(side, kind, S, np.array([0, 3]))[1].tolist() == [-np.inf]


@each_side
def test_cycles_that_only_the_root_can_enter(side):
    S = np.full((3, 4), -np.inf)
    S[0, 2], S[1, 3], S[2, 2], S[1, 0], S[2, 0] = 1.0, 3.0, 2.0, -1.0, 1.0
    chances, (value,) = soft(side, "spanning", S, np.array([0, 3]))
    a, b = 1.0 - 1.0 + 2.0, 1.0 + 3.0 + 1.0  # below the root: the second token, or the third
    assert value == pytest.approx(np.logaddexp(a, b))
    np.testing.assert_allclose(chances.reshape(3, 4)[:, 0], [0.0, 1 / (1 + np.exp(b - a)), 1 / (1 + np.exp(a - b))])


@each_side
@each_kind
@pytest.mark.parametrize("scale", [1.0, 2000.0])
def test_long_sentences(side, kind, scale):
    n = 200 if side is kernels else 40
    S, offsets = draw([n], scale=scale)
    table = S.reshape(n, n + 1)
    heads = best(side, kind, S, offsets)
    assert is_tree(heads)
    chances, (value,) = soft(side, kind, S, offsets)
    assert value >= score(table, heads) - 1e-9 * abs(value)
    if kind == "spanning":
        assert score(table, heads) >= score(table, best(side, "projective", S, offsets))
    else:
        assert is_projective(heads)
    P = chances.reshape(n, n + 1)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, atol=1e-9)
    assert P[:, 0].sum() == pytest.approx(1.0)
    assert P.min() >= 0.0


@pytest.mark.native
@pytest.mark.parametrize("scale", [1.0, 50.0])
def test_projective_trees_that_do_not_fit_in_doubles(scale):
    n = 420  # more than e^709 trees
    S, offsets = draw([n], scale=scale)
    chances, (value,) = soft(kernels, "projective", S, offsets)
    np.testing.assert_allclose(chances.reshape(n, n + 1).sum(axis=1), 1.0, atol=1e-9)
    assert np.isfinite(value)
    if scale == 1.0:
        zeros = soft(kernels, "projective", np.zeros_like(S), offsets)[1]
        count = gammaln(3 * n - 1) - gammaln(n) - gammaln(2 * n) - np.log(n)
        assert zeros[0] == pytest.approx(count)


@each_side
@each_kind
def test_arrays_that_do_not_fit_are_refused(side, kind):
    S, offsets = draw([2, 3])
    for scores, bounds in (
        (S[1:], offsets),
        (S, offsets[1:]),
        (S, offsets[:0]),
        (S, np.array([0, 6, 5])),
        (S[:0], np.array([0, 1 << 40])),
        (S, np.array([0, -2, 5])),
        (S, np.array([0, 2, -(1 << 63)])),
        (S, np.array([0, 2, 1 << 20, 5])),
    ):
        with pytest.raises(ValueError, match="dependency"):
            getattr(side, f"dependency_best_{kind}")(scores, bounds, NONE, np.zeros(5, np.int32), 1)
        with pytest.raises(ValueError, match="dependency"):
            getattr(side, f"dependency_soft_{kind}")(scores, bounds, np.zeros_like(S), np.zeros(2), 1)
    with pytest.raises(ValueError, match="one head"):
        best(side, kind, S, offsets, np.zeros(4, np.int32))
    with pytest.raises(ValueError, match="results"):
        getattr(side, f"dependency_soft_{kind}")(S, offsets, np.zeros_like(S), np.zeros(3), 1)


@each_kind
@pytest.mark.parametrize("scale", [1e12, 1e15, 1e19, 1e300])
def test_scores_of_any_size_have_chances(kind, scale):
    sizes = [2, 3, 6, 20]
    S, offsets = draw(sizes, scale=scale)
    S = np.where(np.arange(len(S)) % 5 == 0, -np.abs(S), S)
    chances, values = soft(kernels, kind, S, offsets)
    assert np.isfinite(values).all()
    assert ((chances >= 0) & (chances <= 1 + 1e-9)).all()
    if scale <= 1e15:
        at, heads = np.cumsum([0, *(n * (n + 1) for n in sizes)]), best(kernels, kind, S, offsets)
        for i, n in enumerate(sizes):
            own = heads[offsets[i] : offsets[i + 1]]
            one = S[at[i] : at[i + 1]].reshape(n, n + 1)
            assert values[i] == pytest.approx(score(one, own), rel=1e-9)
            found = chances[at[i] : at[i + 1]].reshape(n, n + 1)
            np.testing.assert_allclose(found[np.arange(n), own], 1.0)


@each_kind
def test_long_and_short_sentences_together_have_the_same_bits_on_any_number_of_threads(kind):
    S, offsets = draw([130, *[3] * 40, 0, 140, 1, 60, 0])
    one = [best(kernels, kind, S, offsets), *soft(kernels, kind, S, offsets)]
    for threads in (2, 5):
        other = [best(kernels, kind, S, offsets, threads=threads), *soft(kernels, kind, S, offsets, threads=threads)]
        assert [part.tobytes() for part in one] == [part.tobytes() for part in other]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers of signals")
@each_kind
def test_a_signal_is_heard_within_a_long_sentence(kind):
    def ring(*_):
        raise KeyboardInterrupt

    S, offsets = draw([900], scale=1e4)
    chances, values = np.zeros_like(S), np.full(1, np.nan)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(KeyboardInterrupt):
            getattr(kernels, f"dependency_soft_{kind}")(S, offsets, chances, values, 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert np.isnan(values).all(), "the sentence was not worked on to its end"
