"""Spaces whose examples have several rows: answers against enumeration, losses against differences, equivalences."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from linnaeus.arrays import CSR, Dense
from linnaeus.erm.objective import Objective, structured
from linnaeus.erm.train import Stop, Watch, train
from linnaeus.errors import UsageError
from linnaeus.losses import LOSSES
from linnaeus.optimizers import OPTIMIZERS
from linnaeus.outputs import Candidates, Multiclass, Sequence
from linnaeus.regularizers import L1, L2
from linnaeus.types import Choices, Tags

SURE = {"log": ("lbfgs", "sgd", "adagrad", "adam"), "hinge": ("sgd", "adagrad", "adam")}
FOUR = ("perceptron", "hinge", "log", "softmargin")
COSTS = ((0.0, 1.0, 2.0), (3.0, 0.0, 1.0), (0.5, 1.0, 0.0))


def chains(seed: int, weights: bool = False) -> tuple[np.ndarray, Tags]:
    """Scores and truth of four sequences of 3, 0, 1 and 4 tokens, three tags."""
    rng = np.random.default_rng(seed)
    y = Tags(
        np.array([0, 3, 3, 4, 8]), rng.integers(0, 3, 8).astype(np.int32), rng.uniform(0.5, 2, 4) if weights else None
    )
    return rng.normal(size=(8 + 1 + 3, 3)), y


def groups(seed: int, several: bool = False) -> tuple[np.ndarray, Choices]:
    """Scores and truth of groups of 3, 1, 4 and 2 candidates."""
    rng = np.random.default_rng(seed)
    gold = np.zeros(10, bool)
    gold[[1, 3, 6, 8]] = True
    if several:
        gold[7] = True
    y = Choices(np.array([0, 3, 4, 8, 10]), gold, rng.uniform(0.5, 2, 10), rng.uniform(0.5, 2, 4))
    return rng.normal(size=(10, 1)), y


def taggings(S: np.ndarray, y: Tags, i: int) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """All taggings of a sequence, and their scores by the formula."""
    k, m = S.shape[1], len(y.tags)
    E, start, T = S[y.offsets[i] : y.offsets[i + 1]], S[m], S[m + 1 :]
    every = list(product(range(k), repeat=len(E)))
    scores = [
        sum(E[t, z[t]] for t in range(len(z)))
        + (start[z[0]] if z else 0.0)
        + sum(T[z[t - 1], z[t]] for t in range(1, len(z)))
        for z in every
    ]
    return every, np.array(scores)


@pytest.mark.parametrize("weights", [False, True])
def test_a_chain_answers_as_all_its_taggings_do(weights: bool) -> None:
    S, y = chains(0, weights)
    space = Sequence(COSTS)
    costs = space.cost(S, y).parts
    best, soft, worst = space.best(S, y), space.soft(S, y), space.best(S + costs, y)
    tags = np.zeros((8, 3))
    for i in range(4):
        w = 1.0 if y.weights is None else y.weights[i]
        truth = y.tags[y.offsets[i] : y.offsets[i + 1]]
        every, scores = taggings(S, y, i)
        if not len(truth):
            assert best.value[i] == soft.value[i] == 0.0
            continue
        lost = np.array([sum(COSTS[a][b] for a, b in zip(z, truth, strict=True)) for z in every])
        assert best.value[i] == pytest.approx(w * scores.max())
        assert worst.value[i] == pytest.approx(w * (scores + lost).max())
        assert soft.value[i] == pytest.approx(w * np.logaddexp.reduce(scores))
        chances = np.exp(scores - np.logaddexp.reduce(scores))
        for z, p in zip(every, chances, strict=True):
            tags[y.offsets[i] + np.arange(len(z)), z] += w * p
        found = space.decode(S, y.offsets)[y.offsets[i] : y.offsets[i + 1]]
        assert tuple(found) == every[int(np.argmax(scores))]
    assert np.allclose(soft.parts[:8], tags)
    assert soft.parts[8].sum() == pytest.approx(3.0 if y.weights is None else y.weights[[0, 2, 3]].sum())


def test_a_tagging_that_shares_the_best_score_is_a_mistake() -> None:
    y = Tags(np.array([0, 2]), np.array([0, 0], np.int32))
    S = np.zeros((2 + 1 + 2, 2))
    space = Sequence()
    assert (space.best(S, y).parts != space.gold(S, y).parts).any()
    assert space.decode(S, y.offsets).tolist() == [0, 0]


def test_candidates_answer_as_each_group_does_alone() -> None:
    S, y = groups(1)
    space = Candidates()
    best, soft, gold = space.best(S, y), space.soft(S, y), space.gold(S, y)
    worst = space.best(S + space.cost(S, y).parts, y)
    assert y.weights is not None
    assert y.costs is not None
    for i in range(4):
        rows = slice(y.offsets[i], y.offsets[i + 1])
        s, right, w = S[rows, 0], y.gold[rows], y.weights[i]
        assert best.value[i] == pytest.approx(w * s.max())
        assert gold.value[i] == pytest.approx(w * s[right].max())
        assert soft.value[i] == pytest.approx(w * np.logaddexp.reduce(s))
        assert np.allclose(soft.parts[rows, 0], w * np.exp(s) / np.exp(s).sum())
        assert worst.value[i] == pytest.approx(w * (s + np.where(right, 0.0, y.costs[rows])).max())
        assert space.decode(S, y.offsets)[i] == np.argmax(s)


def test_candidates_without_a_truth_count_nothing_and_empty_groups_answer_nothing() -> None:
    y = Choices(np.array([0, 2, 2, 4]), np.array([False, False, True, False]))
    S = np.array([[1.0], [2.0], [1.0], [1.0]])
    space = Candidates()
    assert space.soft(S, y).value[:2].tolist() == [0.0, 0.0]
    assert not space.best(S, y).parts[:2].any()
    assert space.best(S, y).parts[2:, 0].tolist() == [0.0, 1.0], "a tie goes against the truth"
    assert space.decode(S, y.offsets).tolist() == [1, -1, 0]


@pytest.mark.parametrize("loss", FOUR)
@pytest.mark.parametrize("which", ["sequence", "candidates", "several"])
def test_gradients_agree_with_differences(loss: str, which: str) -> None:
    S, y = chains(2, True) if which == "sequence" else groups(2, which == "several")
    space = Sequence(COSTS) if which == "sequence" else Candidates()
    piece, eps = LOSSES[loss](), 1e-6
    values, G = piece.value_and_grad(space, S, y)
    assert (values >= -1e-12).all()
    found = np.zeros_like(S)
    for at in np.ndindex(S.shape):
        up, down = S.copy(), S.copy()
        up[at] += eps
        down[at] -= eps
        found[at] = (piece.value_and_grad(space, up, y)[0].sum() - piece.value_and_grad(space, down, y)[0].sum()) / (
            2 * eps
        )
    assert np.allclose(found, G, atol=1e-6)


@pytest.mark.parametrize("loss", FOUR)
def test_a_chain_of_single_tokens_is_the_multiclass_space(loss: str) -> None:
    rng = np.random.default_rng(3)
    S, tags = rng.normal(size=(6, 3)), rng.integers(0, 3, 6).astype(np.int32)
    y = Tags(np.arange(7), tags)
    chain = LOSSES[loss]().value_and_grad(Sequence(COSTS), np.vstack([S, np.zeros((4, 3))]), y)
    plain = LOSSES[loss]().value_and_grad(Multiclass(COSTS), S, tags)
    assert np.allclose(chain[0], plain[0])
    assert np.allclose(chain[1][:6], plain[1])
    assert np.allclose(chain[1][6], plain[1].sum(axis=0)), "the start is a bias"


@pytest.mark.parametrize("loss", FOUR)
def test_fixed_candidates_are_the_multiclass_space(loss: str) -> None:
    rng = np.random.default_rng(4)
    S, tags = rng.normal(size=(5, 3)), rng.integers(0, 3, 5)
    gold = np.zeros((5, 3), bool)
    gold[np.arange(5), tags] = True
    paid = np.array(COSTS).T[tags]
    y = Choices(np.arange(0, 18, 3), gold.ravel(), paid.ravel())
    candidates = LOSSES[loss]().value_and_grad(Candidates(), S.reshape(-1, 1), y)
    plain = LOSSES[loss]().value_and_grad(Multiclass(COSTS), S, tags)
    assert np.allclose(candidates[0], plain[0])
    assert np.allclose(candidates[1].reshape(5, 3), plain[1])


def sentences(seed: int, n: int = 12) -> tuple[CSR, Tags]:
    """Sparse rows of tokens, three features each, and tags that follow from them."""
    rng = np.random.default_rng(seed)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(1, 5, n))])
    m = int(offsets[-1])
    indices = np.sort(np.array([rng.choice(9, 3, replace=False) for _ in range(m)]), axis=1).astype(np.int32)
    X = CSR(np.arange(0, 3 * m + 1, 3), indices.ravel(), np.ones(3 * m, np.float32), 9)
    return X, Tags(offsets, (indices[:, 0] % 3).astype(np.int32))


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_every_optimizer_trains_a_chain_or_refuses(name: str, loss: str) -> None:
    X, y = sentences(5)
    objective = structured(X, y, Sequence(), LOSSES[loss](), L2(0.5), 3)
    before = objective.value(objective.initial())
    if OPTIMIZERS[name]().refuse(objective) is not None:
        assert name not in SURE[loss]
        return
    fit = train(objective, OPTIMIZERS[name](), Watch(Stop(epochs=5)))
    assert objective.value(fit.params) < before
    assert fit.params["W"].shape == (9 + 4, 3)


@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_every_optimizer_trains_choices_or_refuses(name: str, loss: str) -> None:
    X, _ = sentences(5)
    y = Choices(np.arange(0, len(X) // 3 * 3 + 1, 3), np.arange(len(X) // 3 * 3) % 3 == 1)
    rows = X.rows_slice(0, int(y.offsets[-1]))
    objective = structured(rows, y, Candidates(), LOSSES[loss](), L2(0.5))
    if OPTIMIZERS[name]().refuse(objective) is not None:
        assert name not in SURE[loss]
        return
    fit = train(objective, OPTIMIZERS[name](), Watch(Stop(epochs=5)))
    assert name not in SURE[loss] or objective.value(fit.params) < objective.value(objective.initial())


def test_a_chain_of_single_tokens_learns_the_weights_of_softmax_regression() -> None:
    X, y = sentences(6)
    alone = Tags(np.arange(len(y.tags) + 1), y.tags)
    chain = structured(X, alone, Sequence(), LOSSES["log"](), L2(0.3), 3)
    W = train(chain, OPTIMIZERS["lbfgs"](), Watch(Stop(epochs=300, tol=1e-12))).params["W"]
    both = CSR(
        np.arange(0, 4 * len(X) + 1, 4),
        np.hstack([X.indices.reshape(-1, 3), np.full((len(X), 1), 9, np.int32)]).ravel(),
        np.ones(4 * len(X), np.float32),
        10,
    )
    plain = Objective(both, y.tags, Multiclass(), LOSSES["log"](), L2(0.3), np.ones(len(X)), 3, "none")
    V = train(plain, OPTIMIZERS["lbfgs"](), Watch(Stop(epochs=300, tol=1e-12))).params["W"]
    assert np.allclose(W[:10], V, atol=1e-6)
    assert not W[10:].any()


@pytest.mark.parametrize("penalty", [L2(0.3), L1(0.05)])
def test_candidates_are_learned_from_dense_and_sparse_rows_alike(penalty: object) -> None:
    X, _ = sentences(7)
    y = Choices(np.arange(0, len(X) // 3 * 3 + 1, 3), np.arange(len(X) // 3 * 3) % 3 == 1)
    X = X.rows_slice(0, int(y.offsets[-1]))
    dense = Dense(X.to_scipy().toarray().astype(np.float64))
    solver = OPTIMIZERS["lbfgs" if isinstance(penalty, L2) else "proximal"]()
    found = [
        train(structured(rows, y, Candidates(), LOSSES["log"](), penalty), solver, Watch(Stop(epochs=200))).params["W"]
        for rows in (X, dense)
    ]
    assert np.allclose(found[0], found[1], atol=1e-5)


def test_a_bias_and_rows_that_do_not_fit_are_refused() -> None:
    X, y = sentences(8)
    with pytest.raises(UsageError, match="There are 3 rows, but y has"):
        structured(X.rows_slice(0, 3), y, Sequence(), LOSSES["log"](), L2(1.0), 3)
    f = structured(X, y, Sequence(), LOSSES["log"](), L2(1.0), 3)
    with pytest.raises(UsageError, match="bias"):
        type(f)(f.X, f.y, f.space, f.loss, f.regularizer, f.weights, 3, "free")
    with pytest.raises(UsageError, match="for numbers"):
        structured(X, y, Sequence(), LOSSES["squared"](), L2(1.0), 3)
    with pytest.raises(UsageError, match="a loss of whole taggings"):
        structured(X, y, Sequence(), LOSSES["squared_hinge"](), L2(1.0), 3).value(f.initial())


def test_the_loss_of_probabilities_is_refused() -> None:
    S, y = groups(0)
    with pytest.raises(UsageError, match="for candidates, sequences and trees use log"):
        LOSSES["probability"]().value_and_grad(Candidates(), S, y)
