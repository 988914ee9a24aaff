"""Spaces of dependency trees: answers against enumeration, losses against differences, ties, weights, training."""

from __future__ import annotations

import numpy as np
import pytest
from tests.kernels.all_trees import is_projective, is_tree, score, trees

from linnaeus.arrays import CSR
from linnaeus.erm.objective import structured
from linnaeus.erm.train import Stop, Watch, train
from linnaeus.errors import UsageError
from linnaeus.losses import LOSSES
from linnaeus.optimizers import OPTIMIZERS
from linnaeus.outputs import Multiclass, ProjectiveTree, SpanningTree
from linnaeus.regularizers import L2
from linnaeus.types import Heads

FOUR = ("perceptron", "hinge", "log", "softmargin")
SURE = {
    "log": ("lbfgs", "sgd", "adagrad", "adam"),
    "softmargin": ("lbfgs", "sgd", "adagrad", "adam"),
    "hinge": ("sgd", "adagrad", "adam"),
    "perceptron": ("sgd", "adagrad", "adam"),
}
SPACES = {"projective": ProjectiveTree(), "spanning": SpanningTree()}
each_kind = pytest.mark.parametrize("kind", sorted(SPACES))


def sentences(kind: str, sizes: list[int], seed: int, weights: bool = False) -> tuple[np.ndarray, Heads]:
    """Random scores, and random true trees."""
    rng = np.random.default_rng(seed)
    drawn = [trees(kind, n)[rng.integers(len(trees(kind, n)))] if n else () for n in sizes]
    y = Heads.of(sizes, [h for heads in drawn for h in heads], rng.uniform(0.5, 2, len(sizes)) if weights else None)
    return rng.normal(size=(int(y.offsets[-1]), 1)), y


def pieces(S: np.ndarray, y: Heads) -> list[tuple[np.ndarray, tuple[int, ...], float]]:
    """Scores (n, n+1), true heads and weight of each sentence."""
    weights = np.ones(len(y)) if y.weights is None else y.weights
    return [
        (S[a:b, 0].reshape(d - c, d - c + 1), tuple(y.heads[c:d].tolist()), w)
        for a, b, c, d, w in zip(y.offsets, y.offsets[1:], y.tokens, y.tokens[1:], weights, strict=False)
    ]


@each_kind
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("scores", ["random", "ties", "forbidden"])
def test_trees_answer_as_all_of_them_do(kind: str, weights: bool, scores: str) -> None:
    S, y = sentences(kind, [1, 2, 0, 3, 4, 5, 3], 0, weights)
    space, rng = SPACES[kind], np.random.default_rng(1)
    if scores == "ties":
        S = np.round(S)
    if scores == "forbidden":
        S[(rng.random(S.shape) < 0.4) & (space.gold(S, y).parts == 0)] = -np.inf
    costs = space.cost(S, y).parts
    best, soft, gold, worst = space.best(S, y), space.soft(S, y), space.gold(S, y), space.best(S + costs, y)
    parts = []
    for i, (table, truth, w) in enumerate(pieces(S, y)):
        if not truth:
            assert best.value[i] == soft.value[i] == gold.value[i] == 0.0
            continue
        every = trees(kind, len(truth))
        found = np.array([score(table, z) for z in every])
        lost = np.array([sum(a != b for a, b in zip(z, truth, strict=True)) for z in every])
        assert best.value[i] == pytest.approx(w * found.max())
        assert worst.value[i] == pytest.approx(w * (found + lost).max())
        assert gold.value[i] == pytest.approx(w * score(table, truth))
        assert soft.value[i] == pytest.approx(w * np.logaddexp.reduce(found))
        chances = np.zeros(table.shape)
        for z, p in zip(every, np.exp(found - np.logaddexp.reduce(found)), strict=True):
            chances[np.arange(len(z)), z] += w * p
        parts.append(chances.ravel())
        if scores == "ties":
            marks = best.parts[y.offsets[i] : y.offsets[i + 1]].reshape(table.shape)
            shared = (marks[np.arange(len(truth)), list(truth)] > 0).sum()
            assert len(truth) - shared == lost[found == found.max()].max()
        else:
            heads = space.decode(S, y.offsets)[y.tokens[i] : y.tokens[i + 1]]
            assert tuple(heads) == every[int(np.argmax(found))]
    assert np.allclose(soft.parts[:, 0], np.concatenate(parts), atol=1e-12)
    alone = space.marginals(S, y.offsets)
    assert y.weights is not None or np.array_equal(alone, soft.parts)


@each_kind
@pytest.mark.parametrize("loss", FOUR)
def test_gradients_agree_with_differences(kind: str, loss: str) -> None:
    S, y = sentences(kind, [3, 1, 0, 4, 2], 2, weights=True)
    space, piece, eps = SPACES[kind], LOSSES[loss](), 1e-6
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


@each_kind
def test_marginals_of_a_token_and_of_the_root_sum_to_one(kind: str) -> None:
    S, y = sentences(kind, [5, 4, 1, 3], 3)
    for scale in (0.0, 1.0, 100.0):
        P = SPACES[kind].marginals(S * scale, y.offsets)
        for table, _, _ in pieces(P, y):
            assert np.allclose(table.sum(axis=1), 1.0)
            assert table[:, 0].sum() == pytest.approx(1.0)
            assert not np.diag(table[:, 1:]).any()


@each_kind
def test_a_tree_that_shares_the_best_score_is_a_mistake(kind: str) -> None:
    space = SPACES[kind]
    for n in (2, 3, 4):
        S = np.zeros((n * (n + 1), 1))
        for truth in trees(kind, n):
            y = Heads.of([n], truth)
            assert not (space.best(S, y).parts * space.gold(S, y).parts).any() or n < 4
            assert (space.best(S, y).parts != space.gold(S, y).parts).any()
        assert is_tree(space.decode(S))


@each_kind
@pytest.mark.parametrize("n", [1, 200])
def test_sentences_of_one_word_and_of_two_hundred(kind: str, n: int) -> None:
    S, space = np.random.default_rng(n).normal(size=(n * (n + 1), 1)), SPACES[kind]
    heads = space.decode(S)
    y = Heads.of([n], heads)
    assert is_tree(heads)
    assert kind == "spanning" or is_projective(heads)
    best, soft = space.gold(S, y).value[0], space.soft(S, y).value[0]
    assert soft >= best
    assert SpanningTree().soft(S, y).value[0] >= soft - 1e-9
    assert SpanningTree().best(S, y).value[0] >= best - 1e-9
    assert SpanningTree().best(S, y).value[0] >= ProjectiveTree().best(S, y).value[0] - 1e-9


def test_a_truth_with_crossing_arcs_is_scored_as_it_is() -> None:
    crossing = next(z for z in trees("spanning", 4) if not is_projective(z))
    y = Heads.of([4], crossing)
    S = 5.0 * SpanningTree().gold(np.zeros((20, 1)), y).parts
    assert ProjectiveTree().gold(S, y).value[0] == SpanningTree().best(S, y).value[0] == 20.0
    values, G = LOSSES["perceptron"]().value_and_grad(ProjectiveTree(), S, y)
    assert values[0] < 0.0
    assert G.any(), "no step of the perceptron ends here"


@each_kind
def test_only_the_arcs_from_tokens_of_the_own_sentence_count(kind: str) -> None:
    S, y = sentences(kind, [4, 3], 5)
    both = SPACES[kind].soft(S, y)
    for i in (0, 1):
        rows = slice(y.offsets[i], y.offsets[i + 1])
        alone = SPACES[kind].soft(S[rows], y[np.array([i])])
        assert alone.value[0] == both.value[i]
        assert np.array_equal(alone.parts, both.parts[rows])


def test_sentences_are_chosen_as_rows_are() -> None:
    _, y = sentences("spanning", [4, 0, 3, 2], 6, weights=True)
    some = y[np.array([2, 0])]
    assert some.tokens.tolist() == [0, 3, 7]
    assert some.offsets.tolist() == [0, 12, 32]
    assert some.heads.tolist() == [*y.heads[4:7], *y.heads[:4]]
    assert some.weights is not None
    assert y.weights is not None
    assert some.weights.tolist() == y.weights[[2, 0]].tolist()
    assert y[1:3].tokens.tolist() == [0, 0, 3]


@pytest.mark.parametrize("loss", FOUR)
def test_one_token_that_chooses_its_head_is_the_multiclass_space(loss: str) -> None:
    """Two tokens have two trees: both classes of a multiclass space."""
    rng = np.random.default_rng(7)
    S, y = rng.normal(size=(6, 1)), Heads.of([2], [0, 1])
    two = np.array([[S[0, 0] + S[4, 0], S[2, 0] + S[3, 0]]])
    costs = ((0.0, 2.0), (2.0, 0.0))  # both heads are wrong
    ours = LOSSES[loss]().value_and_grad(SpanningTree(), S, y)
    plain = LOSSES[loss]().value_and_grad(Multiclass(costs), two, np.array([0]))
    assert np.allclose(ours[0], plain[0])
    assert np.allclose(ours[1][[0, 4, 2, 3], 0], plain[1][0][[0, 0, 1, 1]])


def treebank(kind: str, seed: int, n: int = 10) -> tuple[CSR, Heads]:
    """Sparse rows of arcs, three features each, and the trees that hidden weights find best."""
    rng = np.random.default_rng(seed)
    y = Heads.of(rng.integers(1, 6, n), [])
    a = int(y.offsets[-1])
    indices = np.sort(np.array([rng.choice(9, 3, replace=False) for _ in range(a)]), axis=1).astype(np.int32)
    X = CSR(np.arange(0, 3 * a + 1, 3), indices.ravel(), np.ones(3 * a, np.float32), 9)
    heads = SPACES[kind].decode(X.dot(rng.normal(size=(9, 1))), y.offsets)
    return X, Heads(y.offsets, y.tokens, heads)


@each_kind
@pytest.mark.parametrize("name", sorted(OPTIMIZERS))
@pytest.mark.parametrize("loss", FOUR)
def test_every_optimizer_trains_trees_or_refuses(kind: str, name: str, loss: str) -> None:
    X, y = treebank(kind, 8)
    objective = structured(X, y, SPACES[kind], LOSSES[loss](), L2(0.1))
    if OPTIMIZERS[name]().refuse(objective) is not None:
        assert name not in SURE[loss]
        return
    fit = train(objective, OPTIMIZERS[name](), Watch(Stop(epochs=5)))
    assert fit.params["W"].shape == (9, 1)
    if name not in SURE[loss]:
        return
    heads = SPACES[kind].decode(X.dot(fit.params["W"]), y.offsets)
    start = SPACES[kind].decode(np.zeros((int(y.offsets[-1]), 1)), y.offsets)
    assert (heads == y.heads).mean() > (start == y.heads).mean()
    assert loss == "perceptron" or objective.value(fit.params) < objective.value(objective.initial())


@each_kind
def test_scores_that_are_no_numbers_and_losses_of_margins_are_refused(kind: str) -> None:
    space = SPACES[kind]
    S, y = sentences(kind, [3], 9)
    for value in (np.nan, np.inf):
        wrong = S.copy()
        wrong[4] = value
        with pytest.raises(UsageError, match="-inf where the arc is forbidden"):
            space.best(wrong, y)
        with pytest.raises(UsageError, match="-inf where the arc is forbidden"):
            space.soft(wrong, y)
        ignored = S.copy()
        ignored[1] = value  # a token that is its own head
        assert np.array_equal(space.soft(ignored, y).parts, space.soft(S, y).parts)
        assert np.array_equal(space.decode(ignored), space.decode(S))
    with pytest.raises(UsageError, match="n \\(n \\+ 1\\)"):
        space.decode(S[1:])
    X, y = treebank(kind, 9)
    with pytest.raises(UsageError, match="a loss of whole trees"):
        structured(X, y, space, LOSSES["squared_hinge"](), L2(1.0)).value({"W": np.zeros((9, 1))})
    with pytest.raises(UsageError, match="for numbers"):
        structured(X, y, space, LOSSES["squared"](), L2(1.0))
