"""Trees of classes: paths, chances, and what a log loss over a path is."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.errors import LinnaeusError
from linnaeus.losses import Log
from linnaeus.outputs import Huffman
from linnaeus.outputs.huffman import build
from linnaeus.types import LabelSets


def test_frequent_classes_have_short_paths_and_no_code_is_shorter():
    counts = (40, 30, 15, 10, 5)
    sizes = np.diff(build(counts).offsets)
    assert sizes.tolist() == [1, 2, 3, 4, 4]


@pytest.mark.parametrize("k", [2, 3, 7, 40])
def test_chances_of_classes_add_up_to_one(k):
    rng = np.random.default_rng(k)
    space = Huffman(tuple(rng.integers(0, 50, k).tolist()))
    S = 3 * rng.normal(size=(20, space.width(k)))
    P = space.probabilities(S, Log().chance)
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(space.class_scores(S)), P)
    assert (space.decode(S) == P.argmax(axis=1)).all()


def test_the_log_loss_is_minus_the_logarithm_of_the_chance():
    rng = np.random.default_rng(0)
    space, y = Huffman((3, 9, 1, 4)), rng.integers(0, 4, 25)
    S = rng.normal(size=(25, 3))
    values, _ = Log().value_and_grad(space, S, y)
    np.testing.assert_allclose(values, -np.log(space.probabilities(S, Log().chance)[np.arange(25), y]))


def test_the_readout_is_the_signed_sum_along_a_path():
    space, y = Huffman((3, 9, 1, 4)), np.arange(4)
    assert np.array_equal(space.readout(4).T, space.signs(y, 3))


def test_paths_are_the_signs_that_are_not_zero():
    space, y = Huffman((3, 9, 1, 4)), np.array([2, 0, 0, 3])
    offsets, nodes, signs = space.paths(y, 3)
    found = np.zeros((4, 3))
    found[np.repeat(np.arange(4), np.diff(offsets)), nodes] = signs
    assert np.array_equal(found, space.signs(y, 3))


def test_a_large_score_of_one_side_is_certain():
    P = Huffman((1, 1)).probabilities(np.array([[1e4], [-1e4]]), Log().chance)
    assert P.tolist() == [[1.0, 0.0], [0.0, 1.0]] or P.tolist() == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.parametrize("counts", [(1,), (1, -2), (1.5, 2), (True, 2), ()])
def test_counts_that_mean_nothing_are_refused(counts):
    with pytest.raises(LinnaeusError):
        Huffman(counts)


def test_other_classes_and_label_sets_are_refused():
    with pytest.raises(LinnaeusError, match="3 classes"):
        Huffman((1, 2, 3)).width(4)
    with pytest.raises(LinnaeusError, match="multilabel"):
        Huffman().paths(LabelSets(np.array([0, 1]), np.array([0], np.int32)), 2)
