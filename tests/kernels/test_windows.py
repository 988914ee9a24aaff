"""Features of windows: the kernels against their twins, and arrays that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference


def problem(seed, sizes, k=3):
    """Sentences of these sizes, two sources, templates of one and two parts with columns at random."""
    rng = np.random.default_rng(seed)
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    m, u, q, values = int(offsets[-1]), 6, 2, 5
    codes = rng.integers(-1, u, (2, m)).astype(np.int32)
    atoms = rng.integers(-1, values, (u, q)).astype(np.int32)
    single = [[s, f, at, -1, 0, 0] for s in (0, 1) for at in (-2, 0, 1) for f in (0, 1)]
    double = [[0, 0, -1, 0, 1, 0], [1, 0, 0, 0, 0, 3]]
    templates = np.array(single + double, np.int32)
    starts = np.minimum(np.arange(len(templates) + 1), len(single)) * values
    d = len(single) * values
    tables = np.where(rng.random(d) < 0.8, np.arange(d), -1).astype(np.int32)
    keys = [t << 56 | a << 28 | b for t in (len(single), len(single) + 1) for a in range(values) for b in range(3)]
    slots = kernels.probe_pairs(np.array(keys, np.uint64), np.arange(d, d + len(keys), dtype=np.int32), 0)
    W = rng.normal(size=(d + len(keys), k)).astype(np.float32)
    return ((offsets, codes), atoms, (templates, tables, starts.astype(np.int64)), slots), W


@given(st.integers(0, 100), st.lists(st.integers(0, 6), max_size=6), st.integers(1, 20))
def test_rows_and_scores_have_the_bits_of_the_twins(seed, sizes, k):
    arrays, W = problem(seed, sizes, k)
    ours, theirs = kernels.token_rows(*arrays, 2), reference.token_rows(*arrays, 1)
    assert [part.tolist() for part in ours] == [part.tolist() for part in theirs]
    assert kernels.token_scores(*arrays, W, 2).tobytes() == reference.token_scores(*arrays, W, 1).tobytes()


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_many_tokens_have_the_same_bits_for_any_number_of_threads(threads):
    arrays, W = problem(1, np.random.default_rng(0).integers(0, 40, 1500))
    rows = [kernels.token_rows(*arrays, count) for count in (threads, 1)]
    assert all((a == b).all() for a, b in zip(*rows, strict=True))
    assert (kernels.token_scores(*arrays, W, threads) == kernels.token_scores(*arrays, W, 1)).all()


def test_scores_are_rows_times_weights():
    arrays, W = problem(2, [5, 0, 9])
    indptr, indices = kernels.token_rows(*arrays, 1)
    dense = np.zeros((14, len(W)), np.float64)
    for i in range(14):
        dense[i, indices[indptr[i] : indptr[i + 1]]] = 1
    assert np.allclose(kernels.token_scores(*arrays, W, 1), dense @ W, atol=1e-5)


def _changed(name, change):
    ((offsets, codes), atoms, (templates, tables, starts), slots), W = problem(3, [4, 3])
    held = {"offsets": offsets, "codes": codes, "atoms": atoms, "templates": templates, "starts": starts}
    held |= {"slots": slots, "W": W}
    held[name] = change(held[name].copy())
    arrays = (held["offsets"], held["codes"]), held["atoms"], (held["templates"], tables, held["starts"])
    return (*arrays, held["slots"]), held["W"]


def _set(at, value):
    def change(array):
        array[at] = value
        return array

    return change


HOSTILE = [
    ("offsets", _set(1, 9), "offsets"),
    ("offsets", _set(0, -1), "offsets"),
    ("offsets", lambda a: a[:-1], "offsets"),
    ("codes", _set((0, 0), 6), "word"),
    ("codes", _set((1, 2), -2), "word"),
    ("atoms", lambda a: a[:, :1].copy(), "looks at"),
    ("templates", _set((0, 0), 2), "looks at"),
    ("templates", _set((0, 1), -1), "looks at"),
    ("templates", lambda a: a[:, :5].copy(), "templates"),
    ("starts", _set(3, 10**6), "tables"),
    ("starts", lambda a: a[:-1], "tables"),
    ("slots", lambda a: a[:6], "probe"),
    ("W", lambda a: a[:4], "weights"),
]


@pytest.mark.parametrize(("name", "change", "sentence"), HOSTILE)
@pytest.mark.parametrize("room", [kernels, reference])
def test_arrays_that_do_not_fit_are_refused(room, name, change, sentence):
    arrays, W = _changed(name, change)
    with pytest.raises(ValueError, match=sentence):
        room.token_scores(*arrays, W, 1)


@pytest.mark.parametrize("room", [kernels, reference])
def test_values_outside_a_table_are_none(room):
    (coded, atoms, plan, slots), _ = problem(3, [4, 3])
    indptr, indices = room.token_rows(coded, np.full_like(atoms, 99), plan, slots, 1)
    assert len(indptr) == 8
    assert (indices < 3 * 4 * 5).all()
