"""Steps of embedding bags: kernels against their twins, the same bits for any threads, and gradients of one step."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.kernels import reference
from linnaeus.kernels.online import LOSSES, SPACES

N, D, NUMBERS = 30, 23, 5
SIZE = 16
SPACES_AND_LOSSES = [
    ("joint", "log"),
    ("joint", "hinge"),
    ("joint", "softmargin"),
    ("product", "logistic"),
    ("product", "squared_hinge"),
    ("product", "log"),
]
WHOLE = ("bag_sum_steps", "bag_max_steps")
LISTED = ("bag_sum_listed_steps", "bag_max_listed_steps")


def counts(seed=0, width=D):
    """Rows of counts, an empty one among them."""
    rng = np.random.default_rng(seed)
    X = rng.integers(1, 4, (N, width)) * (rng.random((N, width)) < 0.4)
    X[4] = 0
    indptr = np.concatenate([[0], np.cumsum((X != 0).sum(axis=1))]).astype(np.int64)
    return indptr, np.nonzero(X)[1].astype(np.int32), X[X != 0].astype(np.float32)


def layout(module=kernels, threads=1, seed=0):
    rows = counts(seed)
    totals = np.add.reduceat(np.append(rows[2], 0), np.minimum(rows[0][:-1], len(rows[2])))
    factors = 1 / np.where(np.diff(rows[0]) > 0, totals, 1.0)
    places = np.arange(D, dtype=np.int32)
    places[7] = -1
    places[8:] -= 1
    return module.bag_layout(rows, places, factors, threads)


def tables(w, seed=1, output=True):
    rng = np.random.default_rng(seed)
    E, O = (np.zeros((rows, SIZE), np.float32) for rows in (D - 1, w))  # noqa: E741
    b = np.zeros(2 * w, np.float32)
    E[:, :NUMBERS] = rng.normal(size=(D - 1, NUMBERS))
    if output:
        O[:, :NUMBERS] = rng.normal(size=(w, NUMBERS))
        b[:w] = rng.normal(size=w)
    return E, O, b, np.ones(1)


def truth(space, w, seed=2):
    rng = np.random.default_rng(seed)
    lists = [[int(rng.integers(w))] if space == "joint" else np.flatnonzero(rng.random(w) < 0.4) for _ in range(N)]
    offsets = np.cumsum([0] + [len(one) for one in lists]).astype(np.int64)
    labels = np.array([k for one in lists for k in one], np.int32)
    return offsets, labels, rng.uniform(0.5, 2.0, N)


def lists(w, seed=2):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 4, N)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    at = rng.integers(0, w, offsets[-1]).astype(np.int32)
    return offsets, at, rng.choice([-1.0, 1.0], len(at)).astype(np.float32), rng.uniform(0.5, 2.0, N)


def clock(batch, epochs=2, rate=0.3, seed=3):
    order = np.concatenate([np.random.default_rng([seed, i]).permutation(N) for i in range(epochs)]).astype(np.int32)
    return order, np.linspace(rate, rate / 10, -(-len(order) // batch))


def run(module, name, w, told, asked, settings=(8, NUMBERS, 0, 0.1, 0.0), threads=1, rows=None):
    state = tables(w)
    found = getattr(module, name)(state, (rows or layout(), told), clock(settings[0]), (asked, settings), threads)
    return found, state


def assert_near(found, wanted, name):
    tol = reference.TOLERANCES[name].floats
    assert found[0][1] == wanted[0][1]
    assert found[0][0] == pytest.approx(wanted[0][0], rel=tol)
    for ours, theirs in zip(found[1], wanted[1], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tol, atol=tol)


@pytest.mark.parametrize("settings", [(8, NUMBERS, 0, 0.1, 0.0), (7, NUMBERS, 2, 0.1, 0.02), (1, NUMBERS, 0, 1.0, 0.0)])
@pytest.mark.parametrize(("space", "loss"), SPACES_AND_LOSSES)
@pytest.mark.parametrize("name", WHOLE)
def test_steps_are_those_of_the_twin(name, space, loss, settings):
    asked = (SPACES[space], LOSSES[loss], np.zeros(0))
    found = [run(module, name, 3, truth(space, 3), asked, settings) for module in (kernels, reference)]
    assert_near(*found, name)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("name", LISTED)
def test_listed_steps_are_those_of_the_twin(name, loss):
    found = [run(module, name, 11, lists(11), LOSSES[loss]) for module in (kernels, reference)]
    assert_near(*found, name)


def test_stakes_are_those_of_the_twin():
    stakes = np.array([0, 1, 4, 2, 0, 1, 3, 0.5, 0])
    asked = (SPACES["joint"], LOSSES["hinge"], stakes)
    found = [run(module, "bag_sum_steps", 3, truth("joint", 3), asked) for module in (kernels, reference)]
    assert_near(*found, "bag_sum_steps")


@pytest.mark.parametrize("numbers", [1, 15, 16, 31, 40, 63, 100, 127, 150])
def test_rows_of_any_length_are_those_of_the_twin(numbers):
    size, rng, found = -(-(numbers + 1) // 16) * 16, np.random.default_rng(0), []
    E = np.zeros((D - 1, size), np.float32)
    E[:, :numbers] = rng.normal(size=(D - 1, numbers))
    for module in (kernels, reference):
        state = E.copy(), np.zeros((2, size), np.float32), np.zeros(4, np.float32), np.ones(1)
        asked, settings = (SPACES["joint"], LOSSES["log"], np.zeros(0)), (5, numbers, 0, 0.1, 0.01)
        said = module.bag_sum_steps(state, (layout(), truth("joint", 2)), clock(5), (asked, settings), 2)
        found.append((said, state))
    assert_near(*found, "bag_sum_steps")


@pytest.mark.parametrize("name", [*WHOLE, *LISTED])
def test_bits_do_not_depend_on_threads(name):
    told, asked = (lists(11), LOSSES["logistic"]) if name in LISTED else (truth("joint", 11), None)
    asked = (SPACES["joint"], LOSSES["log"], np.zeros(0)) if asked is None else asked
    first, state = run(kernels, name, 11, told, asked, (8, NUMBERS, 1, 0.1, 0.03))
    for threads in (2, 3, 8, 20):
        again, other = run(kernels, name, 11, told, asked, (8, NUMBERS, 1, 0.1, 0.03), threads)
        assert again == first
        assert all(np.array_equal(a, b) for a, b in zip(state, other, strict=True))


@pytest.mark.native
@pytest.mark.parametrize("name", [*WHOLE, *LISTED])
def test_bits_do_not_depend_on_threads_where_batches_are_worth_several(name):
    numbers, found = 2000, []
    told, asked = (lists(40), LOSSES["logistic"]) if name in LISTED else (truth("joint", 40), None)
    asked = (SPACES["joint"], LOSSES["log"], np.zeros(0)) if asked is None else asked
    for threads in (1, 2, 3, 8):
        rng = np.random.default_rng(0)
        E = np.zeros((D - 1, 2016), np.float32)
        E[:, :numbers] = rng.normal(size=(D - 1, numbers))
        state = E, np.zeros((40, 2016), np.float32), np.zeros(80, np.float32), np.ones(1)
        plan = asked, (30, numbers, 0, 0.1, 0.01)
        said = getattr(kernels, name)(state, (layout(), told), clock(30, epochs=4), plan, threads)
        found.append((said, *(table.tobytes() for table in state)))
    assert found[1:] == found[:1] * 3


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_layout_is_that_of_the_twin(threads):
    found, wanted = layout(kernels, threads), layout(reference)
    assert [part.dtype for part in found] == [part.dtype for part in wanted]
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("name", WHOLE)
def test_one_step_follows_the_gradient(name):
    """With a sum of squares that is hidden by a large smoothing, a step is the rate times the gradient of the loss."""
    rows, told, w, h = layout(), truth("joint", 3), 3, 1e-3
    asked, settings = (SPACES["joint"], LOSSES["log"], np.zeros(0)), (1, NUMBERS, 0, 1e12, 0.0)
    one = np.array([9], np.int32), np.array([1e6 * 1e-3])

    def value(state):
        state = tuple(table.copy() for table in state)
        return reference.__dict__[name](state, (rows, told), (one[0], np.array([1e-12])), (asked, settings))[0]

    before, after = tables(w), tables(w)
    getattr(kernels, name)(after, (rows, told), one, (asked, settings), 1)
    for which, (a, b) in enumerate(zip(before[:3], after[:3], strict=True)):
        for place in itertools.islice(np.ndindex(a.shape), 0, None, 3):
            if (a.ndim == 2 and place[1] >= NUMBERS) or (a.ndim == 1 and place[0] >= w):
                continue
            sides = []
            for way in (h, -h):
                state = tuple(table.astype(np.float64) for table in before)
                state[which][place] += way
                sides.append(value(state))
            slope = (sides[0] - sides[1]) / (2 * h)
            assert (a[place] - b[place]) / 1e-3 == pytest.approx(slope, abs=2e-3)


WRONG = {
    "an example that does not exist": lambda a: a["clock"][0].__setitem__(0, N),
    "rates": lambda a: a.update(clock=(a["clock"][0], a["clock"][1][:-1])),
    "a column that does not exist": lambda a: a["rows"][2].__setitem__(0, D + 8),
    "a column in another part": lambda a: a["rows"][2].__setitem__(0, a["rows"][2][0] + 1),
    "offsets that fall": lambda a: a["rows"][0].__setitem__(3, 1 << 40),
    "ends that fall": lambda a: a["rows"][1].__setitem__(3, -5),
    "too few ends": lambda a: a.update(rows=(a["rows"][0], a["rows"][1][:-8], *a["rows"][2:])),
    "a label that does not exist": lambda a: a["truth"][1].__setitem__(0, 3),
    "labels that do not exist": lambda a: a["truth"][0].__setitem__(-1, 1 << 40),
    "weights": lambda a: a.update(truth=(*a["truth"][:-1], np.ones(3))),
    "no smoothing": lambda a: a.update(settings=(8, NUMBERS, 0, 0.0, 0.0)),
    "more numbers than a row has": lambda a: a.update(settings=(8, SIZE, 0, 0.1, 0.0)),
    "frozen numbers": lambda a: a.update(settings=(8, NUMBERS, NUMBERS + 1, 0.1, 0.0)),
    "no batch": lambda a: a.update(settings=(0, NUMBERS, 0, 0.1, 0.0)),
    "biases": lambda a: a.update(tables=(*a["tables"][:2], np.zeros(5, np.float32), np.ones(1))),
    "a scale of zero": lambda a: a["tables"][3].__setitem__(0, 0.0),
}


@pytest.mark.parametrize("module", [kernels, reference], ids=["kernel", "twin"])
@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("name", ["bag_sum_steps", "bag_max_listed_steps"])
def test_hostile_arrays_are_refused(module, name, wrong):
    listed = name in LISTED
    given = {
        "tables": tables(3),
        "rows": tuple(part.copy() for part in layout()),
        "truth": lists(3) if listed else truth("joint", 3),
        "clock": clock(8),
        "asked": LOSSES["logistic"] if listed else (SPACES["joint"], LOSSES["log"], np.zeros(0)),
        "settings": (8, NUMBERS, 0, 0.1, 0.0),
    }
    WRONG[wrong](given)
    data, plan = (given["rows"], given["truth"]), (given["asked"], given["settings"])
    with pytest.raises(ValueError, match="bag_steps"):
        getattr(module, name)(given["tables"], data, given["clock"], plan, 1)


@pytest.mark.parametrize("module", [kernels, reference], ids=["kernel", "twin"])
def test_layout_refuses_hostile_rows(module):
    rows = counts()
    with pytest.raises(ValueError, match="no place"):
        module.bag_layout(rows, np.zeros(3, np.int32), np.ones(N), 1)
    with pytest.raises(ValueError, match="factor"):
        module.bag_layout(rows, np.zeros(D, np.int32), np.ones(3), 1)
    with pytest.raises(ValueError, match="offsets"):
        module.bag_layout((rows[0] + 9, *rows[1:]), np.zeros(D, np.int32), np.ones(N), 1)
