"""Weights of taggers from a file: tables that would not fit in memory are refused before they are laid out."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.errors import ModelFileError
from linnaeus.learners.chain.weights import MOST_WEIGHTS, ChainWeights
from linnaeus.types import State


def sparse(rows, k, shared):
    """The state of weights that are all zero."""
    empty = {"W.columns": np.zeros(0, np.int32), "W.values": np.zeros(0, np.float32)}
    tensors = {"W.offsets": np.zeros(rows + 1, np.int64), **empty, "shared": np.zeros(shared, np.float32)}
    return State({"kind": "chain", "search": "whole", "W.width": k}, tensors)


@pytest.mark.parametrize("shared", [(3, 2), (7, 2)])
def test_sparse_rows_are_laid_out(shared):
    assert ChainWeights.from_state(sparse(5, 2, shared)).W.tolist() == [[0.0, 0.0]] * 5


@pytest.mark.parametrize("shared", [(0, 50_000), (2, 2), (4, 2), (8, 2), (0, 0)])
def test_transitions_have_the_shape_of_the_tags(shared):
    with pytest.raises(ModelFileError, match="transitions"):
        ChainWeights.from_state(sparse(1_000_000, shared[1], shared))


def test_there_are_not_more_weights_than_memory():
    k = 2000
    with pytest.raises(ModelFileError, match="more than"):
        ChainWeights.from_state(sparse(MOST_WEIGHTS // k + 1, k, (1 + k, k)))
