"""Label trees: learning, searching and ordering against their twins, against plain formulas, and what they refuse."""

from __future__ import annotations

import signal
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.tree_data import KINDS, Problem, Tree, joined, make_problem, make_rows, make_tree, offsets_of

from linnaeus import kernels
from linnaeus.kernels import reference

SIDES = kernels, reference
each_side = pytest.mark.parametrize("side", SIDES, ids=["kernel", "twin"])
each_kind = pytest.mark.parametrize("kind", KINDS)
seeds = st.integers(0, 10**6)
NAN, INF = float("nan"), float("inf")
threads_of = st.sampled_from([1, 2, 3, 8])
timed = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers of signals")


def outcome(call):
    """What a call gives, or the kind of error that it raises."""
    try:
        found = call()
    except (ValueError, RuntimeError, OverflowError) as error:
        return type(error)
    return [(part.dtype, part.tobytes()) for part in found or ()]


def spoiled(rng, arrays):
    """The arrays, with a number in one or two of them that was not meant, or one of them cut off."""
    arrays = [array.copy() for array in arrays]
    for at in rng.integers(0, len(arrays), rng.integers(1, 3)):
        array = arrays[at]
        if not array.size or rng.random() < 0.1:
            arrays[at] = array[: len(array) // 2]
        elif array.dtype.kind == "f":
            array.flat[rng.integers(array.size)] = rng.choice([NAN, INF, -INF, -1.0, 0.0, 3e38])
        else:
            info, near = np.iinfo(array.dtype), int(array.flat[rng.integers(array.size)]) + int(rng.integers(-2, 3))
            number = [info.min, info.max, info.max // 2, near, near][rng.integers(5)]
            array.flat[rng.integers(array.size)] = min(max(number, info.min), info.max)
    return arrays


def same(ours, theirs):
    return [(a.dtype, a.tobytes()) for a in ours] == [(b.dtype, b.tobytes()) for b in theirs]


@contextmanager
def a_signal_soon():
    def ring(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


# Learning


def learn(problem, by, threads=1, side=kernels):
    return side.label_learn_squared_hinge(*problem, by, threads)


def dense(problem, found):
    """The weights of all children (c, d), and their biases."""
    starts = problem.level[0]
    firsts, columns, lanes, values, biases = found
    W = np.zeros((len(biases), problem.width))
    W[starts[np.repeat(np.arange(len(starts) - 1), np.diff(firsts))] + lanes, columns] = values
    return W, biases


def matrix(problem):
    X = np.zeros((len(problem.costs), problem.width))
    X[np.repeat(np.arange(len(X)), np.diff(problem.rows[0])), problem.rows[1]] = problem.rows[2]
    return X


@given(seeds, threads_of)
def test_what_is_learned_has_the_bits_of_the_twin(seed, threads):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, int(rng.integers(0, 60)), int(rng.integers(1, 12)), int(rng.integers(1, 40)))
    by = rng.choice([0, 1e-3, 0.1]), rng.choice([0, 1e-3, 0.1, 1.0]), rng.choice([0, 0.5, 1.0]), rng.integers(0, 12)
    by = *map(float, by[:3]), int(by[3])
    ours, theirs = learn(problem, by, threads), learn(problem, by, side=reference)
    assert same(ours, theirs)
    starts, firsts = problem.level[0], ours[0]
    for v, (first, last) in enumerate(pairwise(firsts)):
        keys = ours[1][first:last].astype(np.int64) << 16 | ours[2][first:last]
        assert (np.diff(keys) > 0).all()
        assert (ours[2][first:last] < starts[v + 1] - starts[v]).all()
    assert (np.abs(ours[3]) >= max(by[0], 1e-45)).all()


def test_what_is_learned_does_not_depend_on_the_threads():
    rng = np.random.default_rng(4)
    problem = make_problem(rng, 3000, 60, 200)
    level = np.array([0, 70, 71, 120]), np.sort(rng.integers(0, 201, 121))
    level[1][[0, -1]] = 0, 200
    problem = problem._replace(level=level, led=rng.integers(-1, 3, (3000, 2)).astype(np.int32))
    one = learn(problem, (0.01, 0.01, 1.0, 10))
    assert len(one[3]) > 1000
    for threads in (2, 3, 8):
        assert same(learn(problem, (0.01, 0.01, 1.0, 10), threads), one)


def minimum(X, y, costs, prior):
    """The weights and the bias of one child: Newton's method on the rows that are not far enough on their side."""
    center = (X[y > 0] * costs[y > 0, None]).sum(axis=0)
    length = np.sqrt((center**2).sum())
    center = np.append(prior * center / length if length else center, 0.0)
    X = np.hstack([X, np.ones((len(X), 1))])

    def value(w):
        return 0.5 * ((w - center) ** 2).sum() + (costs * np.maximum(0, 1 - y * (X @ w)) ** 2).sum()

    w = center
    for _ in range(100):
        short = np.where(y * (X @ w) < 1, costs, 0.0)
        bend = np.eye(len(w)) + 2 * X.T @ (short[:, None] * X)
        step = np.linalg.solve(bend, center + 2 * X.T @ (short * y)) - w
        size = next((2.0**-i for i in range(40) if value(w + step * 2.0**-i) < value(w)), 0.0)
        w = w + size * step
        if size == 0:
            break
    return w


@given(seeds, st.sampled_from([0.0, 0.5, 2.0]))
def test_what_is_learned_is_the_minimum(seed, prior):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, int(rng.integers(1, 40)), int(rng.integers(1, 8)), 6)
    problem = problem._replace(costs=rng.choice([0.0, 0.2, 1.0, 3.0], len(problem.costs)))
    W, biases = dense(problem, learn(problem, (0.0, 1e-5, prior, 3000)))
    X, (starts, bounds), (offsets, places) = matrix(problem), problem.level, problem.truth
    owner = np.repeat(np.arange(len(X)), np.diff(offsets))
    for v in range(len(starts) - 1):
        here = (problem.led == v).any(axis=1)
        here[owner[(places >= bounds[starts[v]]) & (places < bounds[starts[v + 1]])]] = True
        for child in range(starts[v], starts[v + 1]):
            y = np.full(len(X), -1.0)
            y[owner[(places >= bounds[child]) & (places < bounds[child + 1])]] = 1.0
            if not (problem.costs[y > 0] > 0).any():
                assert biases[child] == -1
                assert not W[child].any()
                continue
            parts = X[y > 0] * problem.costs[y > 0, None]
            if parts.any() and np.abs(parts.sum(axis=0)).max() < 1e-5:
                continue  # the rows cancel out but for rounding: their direction may be any
            best = minimum(X[here], y[here], problem.costs[here], prior)
            np.testing.assert_allclose(np.append(W[child], biases[child]), best, rtol=2e-3, atol=2e-3)


def test_rows_that_were_left_out_are_looked_at_before_it_ends():
    rng = np.random.default_rng(3)
    X = rng.random((400, 30)) * (rng.random((400, 30)) < 0.3)
    y = (X @ rng.normal(size=30) > 0).astype(np.int32)
    rows = offsets_of((X > 0).sum(axis=1)), np.nonzero(X)[1].astype(np.int32), X[X > 0].astype(np.float32)
    truth = np.arange(401), y
    level = np.array([0, 2]), np.array([0, 1, 2])
    problem = Problem(rows, 30, np.full(400, 10.0), truth, level, np.zeros((400, 0), np.int32))
    W, biases = dense(problem, learn(problem, (0.0, 1e-4, 1.0, 5000)))
    for child in (0, 1):
        best = minimum(X, np.where(y == child, 1.0, -1.0), problem.costs, 1.0)
        np.testing.assert_allclose(np.append(W[child], biases[child]), best, atol=2e-3)


@given(seeds)
def test_a_row_of_no_weight_is_not_there(seed):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, 30, 6, 10)
    kept = np.flatnonzero(problem.costs)
    parts = [slice(*problem.rows[0][i : i + 2]) for i in kept]
    labels = [problem.truth[1][slice(*problem.truth[0][i : i + 2])] for i in kept]
    rows = (
        offsets_of(np.diff(problem.rows[0])[kept]),
        *(joined([array[part] for part in parts], array.dtype) for array in problem.rows[1:]),
    )
    truth = offsets_of([len(some) for some in labels]), joined(labels, np.int32)
    fewer = problem._replace(rows=rows, costs=problem.costs[kept], truth=truth, led=problem.led[kept])
    assert same(learn(problem, (0.01, 0.01, 1.0, 8)), learn(fewer, (0.01, 0.01, 1.0, 8)))


def test_a_row_of_weight_two_is_two_rows():
    rng = np.random.default_rng(6)
    problem = make_problem(rng, 40, 6, 10)
    costs = rng.choice([1.0, 2.0], 40)
    copies = np.repeat(np.arange(40), costs.astype(int))
    parts = [slice(*problem.rows[0][i : i + 2]) for i in copies]
    labels = [problem.truth[1][slice(*problem.truth[0][i : i + 2])] for i in copies]
    rows = (
        offsets_of(np.diff(problem.rows[0])[copies]),
        *(joined([array[part] for part in parts], array.dtype) for array in problem.rows[1:]),
    )
    truth = offsets_of([len(some) for some in labels]), joined(labels, np.int32)
    twice = problem._replace(rows=rows, costs=np.ones(len(copies)), truth=truth, led=problem.led[copies])
    once = dense(problem, learn(problem._replace(costs=costs), (0.0, 1e-5, 1.0, 3000)))
    for ours, theirs in zip(once, dense(twice, learn(twice, (0.0, 1e-5, 1.0, 3000))), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=2e-3)


@timed
@pytest.mark.parametrize("threads", [1, 3])
def test_a_signal_is_heard_while_a_level_is_learned(threads):
    problem = make_problem(np.random.default_rng(8), 5000, 200, 96)
    problem = problem._replace(costs=np.ones(5000), led=np.zeros((5000, 1), np.int32))
    level = np.array([0, 96]), np.arange(97)
    with a_signal_soon(), pytest.raises(KeyboardInterrupt):
        learn(problem._replace(level=level), (0.0, 0.0, 1.0, 10**6), threads)


def small_problem(**changed):
    """Two rows, three labels, a level of two nodes with two and one children."""
    arrays = {
        "rows": (np.array([0, 1, 3]), np.array([1, 0, 2], np.int32), np.ones(3, np.float32)),
        "width": 3,
        "costs": np.ones(2),
        "truth": (np.array([0, 1, 2]), np.array([0, 2], np.int32)),
        "level": (np.array([0, 2, 3]), np.array([0, 1, 2, 3])),
        "led": np.array([[1], [-1]], np.int32),
    }
    return Problem(**{**arrays, **changed})


ROWS, TRUTH, LEVEL = (getattr(small_problem(), name) for name in ("rows", "truth", "level"))


def floats(*values):
    return np.array(values, np.float32)


def ints(*values):
    return np.array(values, np.int32)


UNFIT_PROBLEMS = {
    "offsets that fall": ({"rows": (np.array([0, 2, 1]), *ROWS[1:])}, "offsets"),
    "offsets beyond the values": ({"rows": (np.array([0, 1, 9]), *ROWS[1:])}, "offsets"),
    "a row too few": ({"rows": (np.array([0, 1]), *ROWS[1:])}, "fit"),
    "no offsets": ({"rows": (np.zeros(0, np.int64), *ROWS[1:])}, "fit"),
    "a column too high": ({"rows": (ROWS[0], ints(1, 0, 3), ROWS[2])}, "column"),
    "a negative column": ({"rows": (ROWS[0], ints(1, 0, -1), ROWS[2])}, "column"),
    "no width": ({"width": 0}, "column"),
    "a negative width": ({"width": -1}, "column"),
    "an endless width": ({"width": 1 << 40}, "column"),
    "a value that is no number": ({"rows": (*ROWS[:2], floats(1, NAN, 1))}, "row"),
    "a value without end": ({"rows": (*ROWS[:2], floats(1, -INF, 1))}, "row"),
    "a value whose square is too large": ({"rows": (*ROWS[:2], floats(1, 1e25, 1))}, "row"),
    "a cost too few": ({"costs": np.ones(1)}, "costs"),
    "a negative cost": ({"costs": np.array([1.0, -1.0])}, "cost"),
    "a cost that is no number": ({"costs": np.array([1.0, NAN])}, "cost"),
    "a cost without end": ({"costs": np.array([1.0, INF])}, "cost"),
    "a cost too large": ({"costs": np.array([1.0, 1e300])}, "cost"),
    "labels of one row": ({"truth": (np.array([0, 1]), TRUTH[1])}, "fit"),
    "label offsets that fall": ({"truth": (np.array([0, 2, 1]), TRUTH[1])}, "fit"),
    "label offsets beyond": ({"truth": (np.array([0, 1, 3]), TRUTH[1])}, "fit"),
    "label offsets from one": ({"truth": (np.array([1, 1, 2]), TRUTH[1])}, "fit"),
    "a label too high": ({"truth": (TRUTH[0], ints(0, 3))}, "fit"),
    "a negative label": ({"truth": (TRUTH[0], ints(0, -1))}, "fit"),
    "no nodes": ({"level": (np.array([0]), np.array([0]))}, "fit"),
    "nothing at all": ({"level": (np.zeros(0, np.int64), np.zeros(0, np.int64))}, "fit"),
    "nodes that fall": ({"level": (np.array([0, 4, 3]), LEVEL[1])}, "fit"),
    "nodes of too few children": ({"level": (np.array([0, 1, 2]), LEVEL[1])}, "fit"),
    "nodes of too many children": ({"level": (np.array([0, 2, 4]), LEVEL[1])}, "fit"),
    "children that fall": ({"level": (LEVEL[0], np.array([0, 2, 1, 3]))}, "fit"),
    "children from one": ({"level": (LEVEL[0], np.array([1, 1, 2, 3]))}, "fit"),
    "labels beyond 31 bits": ({"level": (LEVEL[0], np.array([0, 1, 2, 1 << 31]))}, "fit"),
    "a node of too many children": (
        {"level": (np.array([0, 65537]), np.minimum(np.arange(65538), 3)), "led": ints(-1, -1)[:, None]},
        "fit",
    ),
    "led to a node that is not there": ({"led": ints(2, 0)[:, None]}, "fit"),
    "too few led": ({"led": ints(0)[:, None]}, "fit"),
}


@each_side
@pytest.mark.parametrize(("changed", "said"), UNFIT_PROBLEMS.values(), ids=UNFIT_PROBLEMS)
def test_problems_that_do_not_fit_are_refused(side, changed, said):
    with pytest.raises(ValueError, match=said):
        learn(small_problem(**changed), (0.1, 0.1, 1.0, 5), side=side)


@given(seeds)
def test_of_spoiled_problems_the_kernel_says_what_its_twin_says(seed):
    rng = np.random.default_rng(seed)
    problem = make_problem(rng, int(rng.integers(1, 12)), int(rng.integers(1, 8)), int(rng.integers(1, 20)))
    arrays = *problem.rows, problem.costs, *problem.truth, *problem.level, problem.led
    indptr, indices, data, costs, offsets, places, starts, bounds, led = spoiled(rng, arrays)
    if len(bounds) and bounds[-1] > 1000:
        bounds = bounds % 1000  # else there would be a number for each of two billion labels
    broken = Problem((indptr, indices, data), problem.width, costs, (offsets, places), (starts, bounds), led)
    ours, theirs = (outcome(lambda side=side: learn(broken, (0.1, 0.1, 1.0, 3), side=side)) for side in SIDES)
    assert ours == theirs


@each_side
@pytest.mark.parametrize(
    "by", [(-1, 0.1, 1, 5), (NAN, 0.1, 1, 5), (0, -1, 1, 5), (0, NAN, 1, 5), (0, 0.1, NAN, 5), (0, 0.1, 1e300, 5)]
)
def test_settings_that_are_no_numbers_are_refused(side, by):
    with pytest.raises(ValueError, match="have to be numbers"):
        learn(small_problem(), by, side=side)


@each_side
def test_weights_that_overflow_are_refused(side):
    rows = *ROWS[:2], floats(1e19, 1, 1)
    with pytest.raises(OverflowError, match="too large"):
        learn(small_problem(rows=rows, costs=np.full(2, 1e30)), (0.1, 0.1, 1.0, 5), side=side)


@each_side
def test_the_smallest_problems(side):
    problem = small_problem()
    assert [len(part) for part in learn(problem, (0.0, 0.1, 1.0, -5), side=side)] == [3, 3, 3, 3, 3]
    empty = small_problem(
        rows=(np.zeros(1, np.int64), ints(), floats()),
        costs=np.zeros(0),
        truth=(np.zeros(1, np.int64), ints()),
        led=np.zeros((0, 1), np.int32),
        width=0,
    )
    found = learn(empty, (0.0, 0.1, 1.0, 5), side=side)
    assert [part.tolist() for part in found] == [[0, 0, 0], [], [], [], [-1, -1, -1]]
    tiny = learn(small_problem(costs=np.full(2, 1e-300)), (0.0, 0.1, 1.0, 5), side=side)
    assert [part.tolist() for part in tiny] == [part.tolist() for part in found]


@pytest.mark.parametrize("threads", [-5, 0, 5000])
def test_any_number_of_threads_will_do(threads):
    one = learn(small_problem(), (0.0, 0.1, 1.0, 5))
    assert same(learn(small_problem(), (0.0, 0.1, 1.0, 5), threads), one)


# Searching


def search_of(tree, kind="LabelSearch8", side=kernels):
    return getattr(side, kind)(*tree)


def best(search, rows, count, beam, threads=1):
    n = len(rows[0]) - 1
    labels, scores = np.full((n, count), 99, np.int32), np.zeros((n, count), np.float32)
    search.best(rows, labels, scores, beam, threads)
    return labels, scores


def row_of(rows, i):
    inside = slice(rows[0][i], rows[0][i + 1])
    return np.array([0, len(rows[1][inside])]), rows[1][inside], rows[2][inside]


@st.composite
def searches(draw):
    rng = np.random.default_rng(draw(seeds))
    kind, d = draw(st.sampled_from(list(KINDS))), draw(st.sampled_from([1, 4, 9, 3000]))
    tree = make_tree(rng, int(rng.integers(1, 9)), int(rng.integers(1, 40)), min(d, 9), kind)
    names = np.sort(rng.permutation(d)[: min(d, 9)])  # far apart where the rows are wide
    columns = tree.columns[0], names[tree.columns[1]].astype(np.int32), tree.columns[2]
    rows = make_rows(rng, int(rng.integers(0, 70)), min(d, 9))
    rows = rows[0], names[rows[1]].astype(np.int32), rows[2]
    return kind, tree._replace(columns=columns, facts=(tree.facts[0], d, tree.facts[2])), rows


@given(searches(), st.integers(0, 12), st.sampled_from([1, 2, 3, 100]), threads_of)
def test_what_is_found_has_the_bits_of_the_twin(problem, count, beam, threads):
    kind, tree, rows = problem
    ours, theirs = (best(search_of(tree, kind, side), rows, count, beam, threads) for side in (kernels, reference))
    assert same(ours, theirs)
    search, twin = search_of(tree, kind), search_of(tree, kind, reference)
    for i in range(min(3, len(rows[0]) - 1)):
        for node in range(len(tree.values[3])):
            assert same([search.children(row_of(rows, i), node)], [twin.children(row_of(rows, i), node)])
    assert search.check() is twin.check() is None
    digests = search.digests()
    assert same([digests], [twin.digests()])
    again = search_of(tree._replace(digests=digests), kind)
    assert same(best(again, rows, count, beam, threads), ours)


@given(searches())
def test_a_beam_as_wide_as_the_tree_scores_everything(problem):
    kind, tree, rows = problem
    search, (starts, targets, _), (k, _, share) = search_of(tree, kind), tree.children, tree.facts
    found = best(search, rows, k, len(tree.values[3]))
    for i in range(len(rows[0]) - 1):
        above, scores = np.zeros(len(tree.values[3]), np.float32), np.zeros(k, np.float32)
        for v in range(len(above)):
            s = search.children(row_of(rows, i), v)
            off = np.float32(1) - s
            steps = np.where(s >= 1, np.float32(0), -(off * off * off))
            for to, step in zip(targets[starts[v] : starts[v + 1]], steps, strict=True):
                if to >= 0:
                    above[to] = above[v] + np.float32(share) * step
                else:
                    scores[~to] = above[v] + step
        order = np.lexsort((np.arange(k), -scores))
        assert found[0][i].tolist() == order.tolist()
        assert found[1][i].tolist() == scores[order].tolist()
        fewer = best(search, row_of(rows, i), 3, len(above))
        assert fewer[0].tolist() == [np.append(order, [-1] * 3)[:3].tolist()]


@each_kind
def test_many_answers_are_those_of_the_twin(kind):
    """They are kept in another way than a few."""
    rng = np.random.default_rng(11)
    tree, rows = make_tree(rng, 20, 900, 30, kind), make_rows(rng, 8, 30)
    every = best(search_of(tree, kind, reference), rows, 900, 6)
    for count in (256, 257, 300, 900):
        for threads in (1, 3):
            found = best(search_of(tree, kind), rows, count, 6, threads)
            assert same(found, [np.ascontiguousarray(part[:, :count]) for part in every])


@each_kind
def test_what_is_found_does_not_depend_on_the_threads(kind):
    rng = np.random.default_rng(7)
    tree, rows = make_tree(rng, 30, 200, 40, kind), make_rows(rng, 2000, 40)
    one = best(search_of(tree, kind), rows, 10, 4)
    for threads in (-1, 0, 2, 3, 8, 5000):
        assert same(best(search_of(tree, kind), rows, 10, 4, threads), one)


def test_a_node_of_many_children():
    """As many as 8 and 16 bits can count, and one more."""
    for kind, most in (("LabelSearch8", 1 << 8), ("LabelSearchWide8", 1 << 16)):
        for count in (most, most + 1):
            tree = small_tree(kind, labels=count)
            if count > most:
                for side in (kernels, reference):
                    with pytest.raises(RuntimeError, match="too many children"):
                        search_of(tree, kind, side)
            else:
                labels, _ = best(search_of(tree, kind), (np.array([0, 1]), ints(0), floats(1)), 2, 1)
                assert labels.tolist() == [[count - 1, 0]]


def small_tree(kind, labels):
    """A root with so many labels, of which the last has a weight."""
    lanes, values = KINDS[kind]
    return Tree(
        (np.array([0, labels]), ~np.arange(labels, dtype=np.int32), np.zeros(labels, np.float32)),
        (np.array([0, 1]), ints(0), np.zeros(1, np.uint32)),
        (np.array([0, 1]), np.array([(labels - 1) & np.iinfo(lanes).max], lanes), np.ones(1, values), floats(1)),
        np.zeros(0, np.uint64),
        (labels, 1, 0.25),
    )


@pytest.mark.parametrize("value", [NAN, INF, -INF, 3e38])
@each_side
def test_values_that_are_no_numbers_give_the_worst_scores(side, value):
    rng = np.random.default_rng(9)
    tree, rows = make_tree(rng, 6, 300, 8, "LabelSearch16"), make_rows(rng, 50, 8)
    broken = rows[2].copy()
    broken[rows[0][:-1][np.diff(rows[0]) > 0][::2]] = value
    search = search_of(tree, "LabelSearch16", side)
    fine, found = best(search, rows, 300, 6), best(search, (*rows[:2], broken), 300, 6)
    assert np.isfinite(found[1]).all()
    assert (np.diff(found[1], axis=1) <= 0).all()
    assert (np.sort(found[0], axis=1) == np.arange(300)).all()
    whole = ~np.isin(np.arange(50), np.flatnonzero(np.diff(rows[0]) > 0)[::2])
    assert same([part[whole] for part in found], [part[whole] for part in fine])


@timed
@pytest.mark.parametrize("threads", [1, 3])
def test_a_signal_is_heard_while_labels_are_searched(threads):
    rng = np.random.default_rng(10)
    tree, rows = make_tree(rng, 60, 9000, 50, "LabelSearchWide8"), make_rows(rng, 50_000, 50)
    search = search_of(tree, "LabelSearchWide8")
    with a_signal_soon(), pytest.raises(KeyboardInterrupt):
        best(search, rows, 5, 100, threads)


def planted(**changed):
    """A root with the labels 0 and 1 and two nodes, which have the labels 2, 3 and 4."""
    parts = {
        "starts": np.array([0, 4, 6, 7]),
        "targets": ints(~0, 1, ~1, 2, ~2, ~3, ~4),
        "biases": np.zeros(7, np.float32),
        "firsts": np.array([0, 2, 2, 3]),
        "names": ints(0, 2, 1),
        "spots": np.array([0, 2, 0], np.uint32),
        "begins": np.array([0, 3, 3, 4]),
        "lanes": np.array([0, 3, 1, 0], np.uint8),
        "numbers": np.array([5, -5, 9, 1], np.int8),
        "scales": np.ones(3, np.float32),
        "digests": np.zeros(0, np.uint64),
        "facts": (5, 3, 0.5),
        **changed,
    }
    *arrays, digests, facts = parts.values()
    return Tree(tuple(arrays[:3]), tuple(arrays[3:6]), tuple(arrays[6:]), digests, facts)


FAR = 1 << 40
UNFIT_TREES = {
    "no nodes": {"scales": floats()},
    "a scale too many": {"scales": floats(1, 1, 1, 1)},
    "starts too short": {"starts": np.array([0, 4, 6])},
    "firsts too short": {"firsts": np.array([0, 2, 2])},
    "begins too long": {"begins": np.array([0, 3, 3, 4, 4])},
    "a bias too few": {"biases": floats(0)},
    "a spot too few": {"spots": np.zeros(2, np.uint32)},
    "a number too few": {"numbers": np.zeros(3, np.int8)},
    "a digest too few": {"digests": np.zeros(2, np.uint64)},
    "a digest too many": {"digests": np.zeros(4, np.uint64)},
    "no labels": {"facts": (0, 3, 0.5)},
    "a negative width": {"facts": (5, -1, 0.5)},
    "a negative share": {"facts": (5, 3, -0.5)},
    "a share that is no number": {"facts": (5, 3, NAN)},
    "a share without end": {"facts": (5, 3, INF)},
}


@each_side
@pytest.mark.parametrize("changed", UNFIT_TREES.values(), ids=UNFIT_TREES)
def test_trees_whose_arrays_do_not_fit_are_refused(side, changed):
    with pytest.raises(ValueError, match="LabelSearch: "):
        search_of(planted(**changed), side=side)


DAMAGED = {
    "children from one": ({"starts": np.array([1, 4, 6, 7])}, "children"),
    "children that fall": ({"starts": np.array([0, 4, 3, 7])}, "children"),
    "children below zero": ({"starts": np.array([0, 4, -2, 7])}, "children"),
    "children beyond": ({"starts": np.array([0, 4, 6, FAR])}, "children"),
    "children far below": ({"starts": np.array([0, -FAR, FAR, 7])}, "children"),
    "columns that fall": ({"firsts": np.array([0, 2, 1, 3])}, "columns"),
    "columns beyond": ({"firsts": np.array([0, 2, 2, FAR])}, "columns"),
    "values that fall": ({"begins": np.array([0, 3, 2, 4])}, "values"),
    "values beyond": ({"begins": np.array([0, 3, 3, FAR])}, "values"),
    "values without columns": ({"firsts": np.array([0, 2, 2, 2])}, "values without columns"),
    "a cycle of one": ({"targets": ints(~0, 0, ~1, 2, ~2, ~3, ~4)}, "or back"),
    "a cycle of two": ({"targets": ints(~0, 1, ~1, 2, 0, ~3, ~4)}, "or back"),
    "a node twice": ({"targets": ints(~0, 1, ~1, 1, ~2, ~3, ~4)}, "or back"),
    "nodes that fall": ({"targets": ints(~0, 2, ~1, 1, ~2, ~3, ~4)}, "or back"),
    "a node that is not there": ({"targets": ints(~0, 1, ~1, 3, ~2, ~3, ~4)}, "outside"),
    "a node far away": ({"targets": ints(~0, 1, ~1, 2**31 - 1, ~2, ~3, ~4)}, "outside"),
    "a label that is not there": ({"targets": ints(~0, 1, ~1, 2, ~2, ~5, ~4)}, "outside"),
    "a label far away": ({"targets": ints(~0, 1, ~1, 2, ~2, -(2**31), ~4)}, "outside"),
    "two parents": ({"targets": ints(~0, 1, ~1, 2, ~2, 2, ~4)}, "two parents"),
    "a bias that is no number": ({"biases": floats(0, 0, 0, 0, 0, 0, NAN)}, "bias"),
    "a bias without end": ({"biases": floats(0, 0, 0, 0, 0, -INF, 0)}, "bias"),
    "a scale that is no number": ({"scales": floats(1, NAN, 1)}, "scale"),
    "a scale without end": ({"scales": floats(1, 1, INF)}, "scale"),
    "a column twice": ({"names": ints(0, 0, 1)}, "rise"),
    "columns of a node that fall": ({"names": ints(2, 0, 1)}, "rise"),
    "a column outside": ({"names": ints(0, 2, 3)}, "rise"),
    "a negative column": ({"names": ints(0, 2, -1)}, "rise"),
    "a spot beyond": ({"spots": np.array([0, 4, 0], np.uint32)}, "outside its node"),
    "a spot far beyond": ({"spots": np.array([0, 2**32 - 1, 0], np.uint32)}, "outside its node"),
    "a first spot that is not 0": ({"spots": np.array([1, 2, 0], np.uint32)}, "outside its node"),
    "spots that fall": (
        {"names": ints(0, 1, 2), "firsts": np.array([0, 3, 3, 3]), "spots": np.array([0, 2, 1], np.uint32)}
        | {"begins": np.array([0, 4, 4, 4])},
        "outside its node",
    ),
    "a lane beyond the children": ({"lanes": np.array([0, 4, 1, 0], np.uint8)}, "child"),
    "a lane of a node without children": ({"starts": np.array([0, 4, 7, 7])}, "child"),
    "digests of other chunks": ({"digests": np.zeros(3, np.uint64)}, "digest"),
}


@each_side
@pytest.mark.parametrize(("changed", "said"), DAMAGED.values(), ids=DAMAGED)
def test_damage_is_found_where_it_is_used(side, changed, said):
    rows = np.array([0, 3]), ints(0, 1, 2), floats(1, 1, 1)
    for use in (
        lambda search: best(search, rows, 6, 10),
        lambda search: search.check(),
        lambda search: search.digests(),
    ):
        with pytest.raises(RuntimeError, match=said):
            use(search_of(planted(**changed), side=side))


@given(searches(), seeds)
def test_of_spoiled_trees_the_kernel_says_what_its_twin_says(problem, seed):
    kind, tree, rows = problem
    rng = np.random.default_rng(seed)
    tree = tree._replace(digests=search_of(tree, kind).digests()) if rng.random() < 0.2 else tree
    arrays = spoiled(rng, [*tree.children, *tree.columns, *tree.values, tree.digests])
    broken = Tree(tuple(arrays[:3]), tuple(arrays[3:6]), tuple(arrays[6:10]), arrays[10], tree.facts)
    checks = [outcome(lambda side=side: search_of(broken, kind, side).check()) for side in SIDES]
    assert checks[0] == checks[1]
    digests = [outcome(lambda side=side: [search_of(broken, kind, side).digests()]) for side in SIDES]
    assert digests[0] == digests[1]
    # With more answers than labels every node is opened that the beam comes to, in the kernel too.
    found = [outcome(lambda side=side: best(search_of(broken, kind, side), rows, 99, 3)) for side in SIDES]
    assert found[0] == found[1]


@each_side
def test_only_the_check_looks_at_what_no_search_comes_to(side):
    rows = np.array([0, 3]), ints(0, 1, 2), floats(1, 1, 1)
    for changed, said in (
        ({"targets": ints(~0, 1, ~1, ~4, ~2, ~3, ~4)}, "no parent"),
        ({"targets": ints(~0, 1, ~1, 2, ~2, ~3, ~4, 2**31 - 1), "biases": np.zeros(8, np.float32)}, "longer"),
        ({"names": ints(0, 2, 1, 9), "spots": np.zeros(4, np.uint32)}, "longer"),
        ({"lanes": np.zeros(5, np.uint8), "numbers": np.zeros(5, np.int8)}, "longer"),
    ):
        if "spots" in changed:
            changed = {**changed, "spots": np.array([0, 2, 0, 0], np.uint32)}
        search = search_of(planted(**changed), side=side)
        assert (best(search, rows, 3, 10)[0] >= 0).all()
        with pytest.raises(RuntimeError, match=said):
            search.check()


@each_side
def test_each_part_of_a_chunk_is_in_its_digest(side):
    digests = search_of(planted(), side=side).digests()
    search_of(planted(digests=digests), side=side).check()
    for changed in (
        {"names": ints(0, 1, 1)},
        {"spots": np.array([0, 1, 0], np.uint32)},
        {"lanes": np.array([1, 3, 1, 0], np.uint8)},
        {"numbers": np.array([5, -6, 9, 1], np.int8)},
    ):
        with pytest.raises(RuntimeError, match="digest"):
            search_of(planted(digests=digests, **changed), side=side)
    wrong = digests.copy()
    wrong[2] += np.uint64(1)
    search = search_of(planted(digests=wrong), side=side)
    rows = np.array([0, 1]), ints(0), floats(100)  # leads to node 1 only, with a beam of one
    assert best(search, rows, 1, 1)[0].tolist() == [[0]]
    with pytest.raises(RuntimeError, match="digest"):
        search.children(rows, 2)


FINE_ROWS = np.array([0, 1, 3]), ints(1, 0, 2), floats(1, 1, 1)
UNFIT_ROWS = {
    "offsets that fall": (np.array([0, 2, 1]), *FINE_ROWS[1:]),
    "offsets beyond": (np.array([0, 2, FAR]), *FINE_ROWS[1:]),
    "a column too high": (FINE_ROWS[0], ints(1, 0, 3), FINE_ROWS[2]),
    "a negative column": (FINE_ROWS[0], ints(1, -1, 2), FINE_ROWS[2]),
    "columns that fall": (FINE_ROWS[0], ints(1, 2, 0), FINE_ROWS[2]),
}


@each_side
@pytest.mark.parametrize("rows", UNFIT_ROWS.values(), ids=UNFIT_ROWS)
def test_rows_that_do_not_fit_a_tree_are_refused(side, rows):
    search = search_of(planted(), side=side)
    with pytest.raises(ValueError, match="LabelSearch: "):
        best(search, rows, 2, 2)


@each_side
def test_answers_that_do_not_fit_are_refused(side):
    search = search_of(planted(), side=side)
    for shapes, beam in ((((1, 2), (2, 2)), 2), (((2, 2), (3, 2)), 2), (((2, 2), (2, 3)), 2), (((2, 2), (2, 2)), 0)):
        labels, scores = np.zeros(shapes[0], np.int32), np.zeros(shapes[1], np.float32)
        with pytest.raises(ValueError, match="answers do not fit"):
            search.best(FINE_ROWS, labels, scores, beam, 1)
    for node in (-1, 3, FAR):
        with pytest.raises(ValueError, match="no such row or node"):
            search.children(row_of(FINE_ROWS, 0), node)
    with pytest.raises(ValueError, match="no such row or node"):
        search.children(FINE_ROWS, 0)
    with pytest.raises(ValueError, match="column"):
        search.children((np.array([0, 1]), ints(3), floats(1)), 0)
    for offsets in (np.zeros(0, np.int64), np.zeros(1, np.int64)):
        search.best((offsets, *FINE_ROWS[1:]), np.zeros((0, 2), np.int32), np.zeros((0, 2), np.float32), 1, 1)


# Ordering


def order_of(rows, width, by, threads=1, side=kernels):
    return side.label_order(rows, width, by, threads)


def sparse(V):
    return offsets_of((V != 0).sum(axis=1)), np.nonzero(V)[1].astype(np.int32), V[V != 0].astype(np.float32)


@given(seeds, st.integers(0, 2**64 - 1), threads_of)
def test_the_order_is_that_of_the_twin(seed, drawn, threads):
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(0, 50)), int(rng.integers(1, 9))
    labels = make_rows(rng, k, d)
    by = int(rng.integers(0, max(k, 1).bit_length() + 1)), int(rng.integers(-1, 9)), drawn
    order, bounds = order_of(labels, d, by, threads)
    assert same((order, bounds), order_of(labels, d, by, side=reference))
    assert sorted(order.tolist()) == list(range(k))
    assert len(bounds) == (1 << by[0]) + 1
    assert bounds[[0, -1]].tolist() == [0, k]
    assert np.ptp(np.diff(bounds)) <= 1
    for begin, end in pairwise(bounds):
        assert (np.diff(order[begin:end]) > 0).all()


@pytest.mark.parametrize("k", [5000, 140_000])
def test_the_order_does_not_depend_on_the_threads(k):
    """Also where the groups are so large that all threads work on one."""
    rng = np.random.default_rng(0)
    labels = np.arange(0, 4 * k + 1, 4), rng.integers(0, 500, 4 * k).astype(np.int32), rng.random(4 * k, np.float32)
    one = order_of(labels, 500, (4, 3, 5))
    for threads in (2, 3, 8, *((-1, 0, 5000) if k < 10_000 else ())):
        assert same(order_of(labels, 500, (4, 3, 5), threads), one)


@pytest.mark.parametrize(("clusters", "least"), [(2, 95), (4, 80)])
def test_groups_of_clearly_clustered_vectors_are_pure(clusters, least):
    """2-means comes to the best halves nearly always, to the best quarters mostly; of four clusters two are alike."""
    pure = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        cluster = rng.permutation(np.repeat(np.arange(clusters), 50))
        V = np.zeros((clusters, 40))
        for c in range(clusters):
            V[c, 8 * c : 8 * c + 8], V[c, 32 + c // 2 * 4 : 36 + c // 2 * 4] = 1.0, 1.5
        V = V[cluster] * (0.7 + 0.6 * rng.random((len(cluster), 40)))
        V /= np.linalg.norm(V, axis=1, keepdims=True)
        order, bounds = order_of(sparse(V), 40, (clusters // 2, 20, seed))
        groups = [cluster[order[start:end]] for start, end in pairwise(bounds)]
        pure += all(len(set(group.tolist())) == 1 for group in groups)
    assert pure >= least


@timed
@pytest.mark.parametrize("threads", [1, 3])
def test_a_signal_is_heard_while_labels_are_ordered(threads):
    rng = np.random.default_rng(1)
    k = 300_000
    labels = np.arange(0, 8 * k + 1, 8), rng.integers(0, 5000, 8 * k).astype(np.int32), rng.random(8 * k, np.float32)
    with a_signal_soon(), pytest.raises(KeyboardInterrupt):
        order_of(labels, 5000, (10, 1000, 5), threads)


UNFIT_VECTORS = {
    "offsets that fall": ((np.array([0, 2, 1]), *FINE_ROWS[1:]), 3, "offsets"),
    "offsets beyond": ((np.array([0, 2, FAR]), *FINE_ROWS[1:]), 3, "offsets"),
    "a column too high": ((FINE_ROWS[0], ints(1, 0, 3), FINE_ROWS[2]), 3, "column"),
    "a negative column": ((FINE_ROWS[0], ints(1, -1, 2), FINE_ROWS[2]), 3, "column"),
    "no width": (FINE_ROWS, 0, "column"),
    "a negative width": (FINE_ROWS, -1, "column"),
    "an endless width": (FINE_ROWS, FAR, "column"),
    "a value that is no number": ((*FINE_ROWS[:2], floats(1, NAN, 1)), 3, "finite"),
    "a value without end": ((*FINE_ROWS[:2], floats(1, INF, 1)), 3, "finite"),
}


@each_side
@pytest.mark.parametrize(("labels", "width", "said"), UNFIT_VECTORS.values(), ids=UNFIT_VECTORS)
def test_vectors_that_do_not_fit_are_refused(side, labels, width, said):
    with pytest.raises(ValueError, match=said):
        order_of(labels, width, (1, 3, 1), side=side)


@each_side
@pytest.mark.parametrize("halvings", [-1, 3, 30, 40, 2**31 - 1])
def test_more_halves_than_labels_are_refused(side, halvings):
    with pytest.raises(ValueError, match="halves"):
        order_of(FINE_ROWS, 3, (halvings, 3, 1), side=side)


@pytest.mark.parametrize("large", [1e18, 3e38])
def test_sums_that_overflow_still_give_an_order(large):
    rng = np.random.default_rng(2)
    rows = make_rows(rng, 60, 5)
    rows = *rows[:2], np.where(rng.random(len(rows[2])) < 0.5, np.float32(large), rows[2]).astype(np.float32)
    ours, theirs = (order_of(rows, 5, (3, 8, 4), side=side) for side in (kernels, reference))
    assert same(ours, theirs)
    assert sorted(ours[0].tolist()) == list(range(60))


@each_side
def test_no_labels_have_an_order(side):
    for offsets in (np.zeros(0, np.int64), np.zeros(1, np.int64)):
        order, bounds = order_of((offsets, ints(), floats()), 3, (1, 5, 0), side=side)
        assert order.tolist() == []
        assert bounds.tolist() == [0, 0, 0]
