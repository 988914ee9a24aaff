"""Resamples of the bootstrap: the kernel against its twin, and both against chance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels.reference.redraw import draw_rows as twin

IMPLEMENTATIONS = [kernels.draw_rows, twin]


@given(
    st.integers(0, 2**64 - 1),
    st.tuples(st.integers(0, 10**6), st.integers(1, 4)),
    st.lists(st.integers(0, 4), max_size=40),
    st.integers(1, 8),
)
def test_the_kernel_counts_as_its_twin(key, rounds, kinds, threads):
    rows = np.array(kinds, np.int32)
    ours, theirs = np.zeros(5 * rounds[1]), np.zeros(5 * rounds[1])
    kernels.draw_rows(key, rounds, rows, ours, threads)
    twin(key, rounds, rows, theirs, 1)
    assert ours.tolist() == theirs.tolist()
    assert ours.sum() == rounds[1] * len(kinds)


def test_rounds_are_those_of_their_number_however_they_are_cut():
    kinds = np.arange(101, dtype=np.int32)
    whole, parts = np.zeros(6 * 101), np.zeros(6 * 101)
    kernels.draw_rows(3, (0, 6), kinds, whole, 2)
    for first in (0, 2, 4):
        kernels.draw_rows(3, (first, 2), kinds, parts[first * 101 : (first + 2) * 101], 1)
    assert whole.tolist() == parts.tolist()


def test_every_row_has_the_same_chance_and_is_drawn_independently():
    counts = np.zeros(4000 * 50)
    kernels.draw_rows(11, (0, 4000), np.arange(50, dtype=np.int32), counts, 2)
    table = counts.reshape(4000, 50)
    assert np.allclose(table.mean(axis=0), 1.0, atol=5 * np.sqrt(0.98 / 4000))
    assert np.allclose(table.var(axis=0), 0.98, atol=0.15)  # of a binomial: 50 draws with chance 1/50
    assert abs(np.corrcoef(table[:-1, 0], table[1:, 0])[0, 1]) < 0.08


@pytest.mark.parametrize("draw", IMPLEMENTATIONS)
@pytest.mark.parametrize(
    ("rounds", "kinds", "cells", "said"),
    [
        ((0, 2), [0, 2], 4, "no count"),
        ((0, 2), [0, -1], 4, "no count"),
        ((0, 3), [0, 1], 4, "do not fit"),
        ((0, 0), [0], 4, "do not fit"),
    ],
)
def test_what_does_not_fit_is_refused(draw, rounds, kinds, cells, said):
    with pytest.raises(ValueError, match=said):
        draw(0, rounds, np.array(kinds, np.int32), np.zeros(cells), 1)
