"""The forward pass of every encoder: the same in NumPy and PyTorch, and the gradients are right."""

from __future__ import annotations

import numpy as np
import pytest
from tests.learners.networks.cases import ENCODERS, form, sequences, weights

from linnaeus.learners.networks.batches import row_batch, word_batch
from linnaeus.learners.networks.operations import NUMPY

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from linnaeus.neural.operations import TorchOperations  # noqa: E402 - after the check

NAMES = [*ENCODERS, "rows"]


def inputs(name, X, rows):
    return (row_batch if name == "rows" else word_batch)(X, rows)


def tensors(batch, dtype=torch.float64):
    found = {name: torch.from_numpy(np.array(part)) for name, part in batch.items()}
    return {name: part.to(dtype) if part.dtype.is_floating_point else part for name, part in found.items()}


def forward(name, params, batch):
    return form(name).forward(TorchOperations(), params, tensors(batch))


@pytest.mark.parametrize("name", NAMES)
def test_numpy_equals_torch(name):
    X, params = sequences(), weights(form(name))
    batch = inputs(name, X, np.arange(len(X)))
    there = forward(name, {n: torch.from_numpy(w) for n, w in params.items()}, batch).numpy()
    assert np.allclose(form(name).forward(NUMPY, params, batch), there, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_what_stands_beside_a_text_does_not_matter(name):
    X, params = sequences(), weights(form(name))
    together = form(name).forward(NUMPY, params, inputs(name, X, np.arange(len(X))))
    alone = [form(name).forward(NUMPY, params, inputs(name, X, np.array([i]))) for i in range(len(X))]
    assert np.allclose(together, np.concatenate(alone), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_are_finite_differences(name):
    X, params = sequences((3, 1, 4)), weights(form(name), seed=3)
    batch = inputs(name, X, np.arange(len(X)))
    way = np.random.default_rng(5).normal(size=(len(X), 3))
    leaves = {n: torch.from_numpy(w).requires_grad_() for n, w in params.items()}
    S = forward(name, leaves, batch)
    grads = torch.autograd.grad(S, list(leaves.values()), torch.from_numpy(way))

    def value(changed):
        return float((form(name).forward(NUMPY, changed, batch) * way).sum())

    for (weight, part), grad in zip(params.items(), grads, strict=True):
        for at in np.ndindex(part.shape):
            step = np.zeros_like(part)
            step[at] = 1e-6
            slope = (value(params | {weight: part + step}) - value(params | {weight: part - step})) / 2e-6
            assert float(grad[at]) == pytest.approx(slope, rel=1e-5, abs=1e-6), (weight, at)


def naive(network, params, ids):
    """Kim's network on one text, by loops over windows, filters and numbers."""
    encoder, found = network.encoder, []
    table = params["words.learned"]
    for width in encoder.widths:
        W, b = params[f"filters{width}.W"], params[f"filters{width}.b"]
        rows = [np.zeros(encoder.width)] * (width - 1)
        rows = [*rows, *(table[i] for i in ids), *([np.zeros(encoder.width)] if not len(ids) else []), *rows]
        fired = []
        for start in range(len(rows) - width + 1):
            window = np.concatenate(rows[start : start + width])
            fired.append(
                [max(0.0, float(sum(window[i] * W[i, j] for i in range(len(window))) + b[j])) for j in range(2)]
            )
        found += [max(fire[j] for fire in fired) for j in range(2)]
    h = np.tanh(np.array(found) @ params["hidden1.W"] + params["hidden1.b"])
    return h @ params["out.W"] + params["out.b"]


def test_a_convolution_is_a_loop_over_windows():
    X, network = sequences(), form("convolution")
    params = weights(network)
    S = network.forward(NUMPY, params, word_batch(X, np.arange(len(X))))
    for i in range(len(X)):
        ids = X.indices[X.indptr[i] : X.indptr[i + 1]]
        assert np.allclose(S[i], naive(network, params, ids), rtol=0, atol=1e-9)


def test_one_hot_is_a_lookup():
    X, params = sequences(), weights(form("mean"))
    batch = word_batch(X, np.arange(len(X)))
    hot = form("one-hot").forward(NUMPY, params, batch)
    assert np.allclose(hot, form("mean").forward(NUMPY, params, batch), rtol=0, atol=1e-12)


def test_dropout_leaves_out_a_share_and_scales_the_others():
    generator = torch.Generator().manual_seed(0)
    found = TorchOperations(0.25, generator).drop(torch.ones(10_000))
    assert set(found.unique().tolist()) == {0.0, 4 / 3} or len(found.unique()) == 2
    assert abs(float((found == 0).double().mean()) - 0.25) < 0.02
