"""Every (piece, capability) pair: what is declared is there, and fused paths do what the four questions define.

A solver of a convex objective ends where no other weights are better; a learner of single examples takes the step that
`gold`, `best`, `soft` and `cost` define, by way of the loss.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from tests.contracts.cells import COSTS, covered, spaces
from tests.contracts.problems import problem, separable

from linnaeus import kernels, protocols
from linnaeus.arrays import CSR, Dense
from linnaeus.data.sentences import Sentences
from linnaeus.erm import Objective, Stop, Watch, train
from linnaeus.features import Hashed, Words
from linnaeus.features.arcs import Arcs
from linnaeus.features.precomputed import FittedReady
from linnaeus.kernels.online import LOSSES as KNOWN
from linnaeus.learners import LEARNERS
from linnaeus.learners.chain.learner import BatchChain, Chain
from linnaeus.learners.chain.weights import ChainWeights
from linnaeus.learners.dependencies.learner import Dependencies
from linnaeus.learners.dependencies.weights import SPACES as TREE_SPACES
from linnaeus.learners.networks import STRUCTURED
from linnaeus.learners.networks.architecture import Architecture, RowLayer
from linnaeus.learners.networks.fitted import FittedNetwork
from linnaeus.learners.networks.fitted_tagger import FittedTagNetwork
from linnaeus.learners.networks.tokens import LINKS, TokenLayers
from linnaeus.learners.step_settings import STEP_LOSSES
from linnaeus.losses import LOSSES
from linnaeus.optimizers import FTRL, OPTIMIZERS, SCHEDULES, SGD, AdaGrad, DualAscent, PassiveAggressive
from linnaeus.optimizers.ftrl import Proximal
from linnaeus.optimizers.fused_steps import Fused, online_kernel
from linnaeus.optimizers.stochastic_steps import Descent
from linnaeus.outputs import OUTPUTS, STRUCTURES, Sequence
from linnaeus.protocols import (
    Chances,
    ChanceSpace,
    CurvedSpace,
    DualLoss,
    JointDualLoss,
    JointSpace,
    ListedSpace,
    NewtonLoss,
    OnlineLoss,
    ProductSpace,
    SeparablePenalty,
    capability,
)
from linnaeus.regularizers import L2, REGULARIZERS, ElasticNet, NoPenalty
from linnaeus.similarities import SIMILARITIES
from linnaeus.types import GroupedLesson, Heads, LabelSets, Lesson, Start, Tags

BIASES = ("free", "regularized", "none")
RULES = {"sgd": SGD(rate=0.3), "adagrad": AdaGrad(rate=0.3), "ftrl": FTRL(rate=0.3)}
LESSON = Lesson(Dense(np.random.default_rng(0).random((20, 3))), np.arange(20) % 2, np.ones(20), 2)
NEURAL = ("network", "sequence_network")
"""Learners that need PyTorch, which may be missing."""
TAGGER = TokenLayers(columns=1, tags=2)
PIECES = {
    **{f"loss {name}": LOSSES[name]() for name in LOSSES},
    **{f"output {name}": space() for name, space in [*OUTPUTS.items(), *STRUCTURES.items()]},
    **{f"regularizer {name}": piece() for name, piece in REGULARIZERS.items()},
    **{f"optimizer {name}": OPTIMIZERS[name]() for name in OPTIMIZERS},
    "rule of sgd": SGD(rate=0.3),
    "rule of adagrad": AdaGrad(rate=0.3),
    "rule of ftrl": Proximal(0.3, 1.0),
    **{f"schedule {name}": schedule() for name, schedule in SCHEDULES.items()},
    "sparse rows": CSR(np.array([0, 1]), np.zeros(1, np.int32), np.ones(1), 1),
    "features ready": FittedReady(2),
    **{f"learner {name}": LEARNERS[name]() for name in LEARNERS},
    **{f"fitted {name}": LEARNERS[name]().learn(LESSON) for name in LEARNERS if name not in ("linear", *NEURAL)},
    "fitted network": FittedNetwork(Architecture(RowLayer(2), (), "relu", 3, 1), {}, {}),
    "fitted chain": ChainWeights(np.zeros((1, 2), np.float32), np.zeros((3, 2), np.float32)),
    "fitted network that tags": FittedTagNetwork(TAGGER, {LINKS: np.zeros((3, 2), np.float32)}, {}),
    **{f"learner {name}": STRUCTURED[name]() for name in STRUCTURED},
    "learner of tags": Chain(),
    "exact learner of tags": BatchChain(),
    "learner of trees": Dependencies(),
    **{f"similarity {name}": SIMILARITIES[name]() for name in SIMILARITIES},
    "hashed features": Words(terms=Hashed()).fit(["a b"]),
}
BELOW = itertools.dropwhile(lambda item: item[0] != "Fused", vars(protocols).items())
CAPABILITIES = {name: found for name, found in BELOW if isinstance(found, type) and name != "Fused"}
"""What stands below `Fused` in protocols.py; above are the interfaces that every piece of a kind has."""
DECLARED = [
    (piece, name)
    for piece, name in itertools.product(PIECES, CAPABILITIES)
    if capability(PIECES[piece], CAPABILITIES[name])
]
FUSED = {"loss": ("DualLoss", "JointDualLoss", "OnlineLoss"), "output": ("ListedSpace",), "rule": ("FusedRule",)}


def _members(name):
    """What a capability asks for: the names in its protocol and in those it extends."""
    homes = [home for home in CAPABILITIES[name].__mro__ if home.__module__ == protocols.__name__]
    return {member for home in homes for member in vars(home) if not member.startswith("_")}


@pytest.mark.parametrize(("piece", "name"), DECLARED)
def test_what_is_declared_is_there(piece, name):
    assert [member for member in _members(name) if getattr(PIECES[piece], member, None) is None] in ([], ["costs"])


@pytest.mark.parametrize("piece", PIECES)
def test_what_a_fused_path_needs_is_there_only_where_it_is_declared(piece):
    kind = type(PIECES[piece])
    for name in FUSED.get(piece.split()[0], ()):
        own = _members(name) <= set(vars(kind))
        assert own == (capability(PIECES[piece], CAPABILITIES[name]) is not None)


@pytest.mark.parametrize("piece", PIECES)
def test_a_subclass_inherits_all_but_fused_paths(piece):
    class Own(type(PIECES[piece])):
        pass

    mine, theirs = object.__new__(Own), PIECES[piece]
    for wanted in CAPABILITIES.values():
        has = capability(mine, wanted) is not None
        assert has == (capability(theirs, wanted) is not None and protocols.Fused not in wanted.__mro__)


def test_there_is_a_piece_for_every_capability():
    fused = {name for name, found in CAPABILITIES.items() if protocols.Fused in found.__mro__}
    assert fused == {name for names in FUSED.values() for name in names}
    assert {name for _, name in DECLARED} == set(CAPABILITIES)


def test_the_docs_say_which_paths_are_fused():
    page = Path(__file__).parents[2] / "docs" / "ARCHITECTURE.md"
    if not page.is_file():
        pytest.skip("the tests run outside the source tree")
    lines = page.read_text(encoding="utf-8").partition("<!-- fused -->")[2].partition("##")[0].splitlines()
    said = [line.strip("| ").split(" | ")[-2:] for line in lines if "`" in line and line.startswith("|")]
    told = {}
    for name, pieces in said:
        told.setdefault(name.strip("`| "), set()).update(pieces.replace("`", "").split(", "))
    fused = [name for names in FUSED.values() for name in names]
    assert told == {name: {piece.split()[-1] for piece, own in DECLARED if own == name} for name in fused}


# --- Solvers ---


def _least(objective, params, rng):
    """Whether no weights nearby have a lower objective: for a convex one, no weights at all."""
    value = objective.value(params)
    _, grad = objective.value_and_grad(params)
    ways = [{name: -g for name, g in grad.items()}]
    ways += [{name: rng.normal(size=g.shape) for name, g in grad.items()} for _ in range(30)]
    for way in ways:
        length = np.sqrt(sum(float((v * v).sum()) for v in way.values()))
        for step in (1e-1, 1e-2, 1e-3):
            there = {name: params[name] + step / max(length, 1e-300) * way[name] for name in params}
            if objective.value(there) < value - 1e-6 * abs(value):
                return False
    return True


def _posed(loss, output, bias, costs=False, strength=0.5):
    X, y, space, k = problem(output)
    rng = np.random.default_rng(3)
    space = type(space)(costs=COSTS[k]) if costs else space
    return Objective(X, y, space, LOSSES[loss](), L2(strength), rng.uniform(0.5, 2.0, len(y)), k, bias)


BINARY_DUALS = [
    (loss, output)
    for loss, output in itertools.product(LOSSES, OUTPUTS)
    if capability(LOSSES[loss](), DualLoss) and capability(OUTPUTS[output](), ProductSpace)
]
JOINT_DUALS = [
    (loss, output)
    for loss, output in itertools.product(LOSSES, OUTPUTS)
    if capability(LOSSES[loss](), JointDualLoss) and capability(OUTPUTS[output](), JointSpace)
]


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize(("loss", "output"), [*BINARY_DUALS, *JOINT_DUALS])
def test_dual_ascent_minimizes_the_objective(loss, output, bias):
    objective = _posed(loss, output, bias)
    fit = train(objective, DualAscent(tol=1e-7), Watch(Stop(epochs=3000, tol=1e-7)))
    assert fit.trace.converged
    assert fit.trace.last.value == pytest.approx(objective.value(fit.params), rel=1e-6)
    assert _least(objective, fit.params, np.random.default_rng(0))


@pytest.mark.parametrize(("loss", "output"), JOINT_DUALS)
def test_dual_ascent_minimizes_the_objective_with_costs(loss, output):
    objective = _posed(loss, output, "free", costs=True)
    fit = train(objective, DualAscent(tol=1e-7), Watch(Stop(epochs=3000, tol=1e-7)))
    assert fit.trace.converged
    assert _least(objective, fit.params, np.random.default_rng(0))


SIDE_BY_SIDE = list(itertools.product(("hinge", "squared_hinge"), ("onevsrest", "multilabel"), BIASES))


@pytest.mark.parametrize(("loss", "output", "bias"), covered(SIDE_BY_SIDE))
def test_problems_solved_side_by_side_minimize_the_objective(loss, output, bias):
    objective = _posed(loss, output, bias, strength=0.05)
    fit = train(objective, DualAscent(tol=1e-3), Watch(Stop(epochs=1000, tol=None)))
    exact = train(objective, DualAscent(tol=1e-8), Watch(Stop(epochs=3000, tol=1e-8)))
    assert objective.value(fit.params) <= (1 + 2e-3) * objective.value(exact.params)


def _convex(loss, space):
    return LOSSES[loss].convex and not (capability(space, JointSpace) and issubclass(LOSSES[loss], _margin()))


def _margin():
    from linnaeus.losses import MarginLoss

    return MarginLoss


EXACT = ("gradient_descent", "lbfgs", "conjugate_gradient", "newton_cg", "newton", "normal_equations", "lsqr")
EXACT += ("coordinate", "proximal", "dual")


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "output", "solver"), list(itertools.product(LOSSES, OUTPUTS, EXACT)))
def test_every_solver_minimizes_every_objective_that_it_takes(loss, output, solver):
    X, y, space, k = problem(output)
    numbers = output == "real" and loss not in ("squared", "absolute", "huber")
    if numbers or not _convex(loss, space):
        return
    piece = DualAscent(tol=1e-7) if solver == "dual" else OPTIMIZERS[solver]()
    weights = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    for penalty, bias, posed in itertools.product(REGULARIZERS, BIASES, spaces(output, k)):
        regularizer = REGULARIZERS[penalty]() if penalty == "none" else REGULARIZERS[penalty](0.5)
        objective = Objective(X, y, posed, LOSSES[loss](), regularizer, weights, k, bias)
        if piece.refuse(objective) is not None:
            continue
        fit = train(objective, piece, Watch(Stop(epochs=5000, tol=1e-8, gradient=1e-8)))
        if fit.trace.reason != "no minimum":
            assert _least(objective, fit.params, np.random.default_rng(0)), (penalty, bias, posed)


# --- Learners of single examples ---


def _steps(objective, solver, general):
    """The parameters after two epochs, by the fused kernel or by general steps in NumPy."""
    start = Start({name: value + 0.1 for name, value in objective.initial().items()}, epochs=2, seed=4)
    rule = solver.rule_for(objective)
    kernel = online_kernel(rule, objective, False)
    if kernel is None:
        return None
    run = Descent(solver, rule, objective, start, False) if general else Fused(solver, kernel, objective, start, False)
    steps = [run.epoch(1), run.epoch(2)]
    return run.result(), [(step.value, step.mistakes) for step in steps]


PENALTIES = {"none": NoPenalty(), "l2": L2(0.3), "elastic_net": ElasticNet(0.2)}
ONLINE = [
    (loss, output, rule, penalty, costs)
    for loss, output, rule, penalty, costs in itertools.product(LOSSES, OUTPUTS, RULES, PENALTIES, (False, True))
    if capability(LOSSES[loss](), OnlineLoss) and capability(OUTPUTS[output](), ListedSpace)
    if not costs or hasattr(OUTPUTS[output](), "costs")
]


@pytest.mark.parametrize(("loss", "output", "rule", "penalty", "costs"), covered(ONLINE, ways=[(0, 1, 2)]))
def test_fused_learners_take_the_steps_of_the_loss(loss, output, rule, penalty, costs):
    X, y, space, k = problem(output)
    space = type(space)(costs=COSTS[k]) if costs else space
    weights = np.random.default_rng(3).uniform(0.5, 2.0, len(y))
    objective = Objective(X, y, space, LOSSES[loss](), PENALTIES[penalty], weights, k)
    (ours, told), (theirs, meant) = (_steps(objective, RULES[rule], general) for general in (False, True))
    for name in ours:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(told, meant, rtol=1e-9)


@pytest.mark.parametrize("output", [name for name in OUTPUTS if capability(OUTPUTS[name](), ListedSpace)])
def test_a_passive_aggressive_step_is_the_smallest_that_corrects_an_example(output):
    X, y, space, k = separable(output)
    one, truth = X.take(np.array([3])), y[3:4]
    objective = Objective(one, truth, space, LOSSES["hinge"](), NoPenalty(), np.ones(1), k, "none")
    before = objective.initial()
    after = train(objective, PassiveAggressive(slack="none"), Watch(Stop(epochs=1))).params
    move = after["W"] - before["W"]
    values, D = LOSSES["hinge"]().value_and_grad(space, np.zeros((1, space.width(k))), truth)
    step = -np.asarray(one.tdot(D))
    scale = (move * step).sum() / (step * step).sum()
    np.testing.assert_allclose(move, scale * step, atol=1e-9)  # along the gradient
    assert values[0] + (D * one.dot(move)).sum() == pytest.approx(0.0, abs=1e-9)  # until the worst rival is beaten by 1


def test_the_kernels_know_the_losses_that_say_so():
    online = {name: capability(LOSSES[name](), OnlineLoss) for name in LOSSES}
    assert {name: loss.online for name, loss in online.items() if loss is not None} == KNOWN


def _sentence(rng, k, n=7, d=5):
    rows = rng.normal(size=(n, d))
    X = CSR(np.arange(0, n * d + 1, d), np.tile(np.arange(d, dtype=np.int32), n), rows.ravel(), d)
    return X, Tags(np.array([0, n]), rng.integers(0, k, n).astype(np.int32))


@pytest.mark.parametrize("rule", ["sgd", "adagrad"])
@pytest.mark.parametrize("loss", STEP_LOSSES)
def test_a_chain_learner_takes_the_step_of_the_loss(loss, rule):
    k = 3
    X, y = _sentence(np.random.default_rng(5), k)
    learned = Chain(loss=loss, rule=rule, rate=0.3, epochs=1).learn_tags(GroupedLesson(X, y, k))
    _, D = LOSSES[loss]().value_and_grad(Sequence(), np.zeros((len(X) + 1 + k, k)), y)
    rows, links, W, total = X.to_scipy().toarray(), D[len(X) :], np.zeros((X.width, k)), np.zeros((X.width, k))
    for x, d in zip(rows, D, strict=False):  # the tokens of the sentence, each with its part of the gradient
        g = np.outer(x, d)
        total += g * g
        W -= 0.3 * g / (np.sqrt(1e-6 + total) if rule == "adagrad" else 1.0)
    np.testing.assert_allclose(learned.W, W, rtol=1e-5, atol=1e-6)
    by = np.sqrt(1e-6 + links * links) if rule == "adagrad" else 1.0
    np.testing.assert_allclose(learned.shared, -0.3 * links / by, rtol=1e-5, atol=1e-6)


def _trees(rng, space):
    """Sentences with features of arcs, so few that none share a column; trees that may cross only in that space."""
    words = [[f"w{rng.integers(30)}" for _ in range(n)] for n in (1, 6, 4)]
    tags = [[f"T{rng.integers(4)}" for _ in row] for row in words]
    sentences = Sentences.from_lists(words, columns={"upos": tags})
    features = Arcs(("h.upos", "m.word", "h.upos m.upos", "h.word between.upos"), (), ("m.upos",), bits=20).fit(
        sentences
    )
    heads = [0, *((2, 0, 2, 5, 3, 1) if space == "spanning" else (2, 0, 5, 5, 2, 5)), 2, 0, 2, 3]
    return features, sentences, Heads.of([1, 6, 4], heads)


@pytest.mark.parametrize("rule", ["sgd", "adagrad"])
@pytest.mark.parametrize("space", ["projective", "spanning"])
@pytest.mark.parametrize("loss", STEP_LOSSES)
def test_a_learner_of_trees_takes_the_steps_of_the_loss(loss, space, rule):
    features, sentences, y = _trees(np.random.default_rng(5), space)
    table, order = features.first, np.array([1, 2, 0, 1, 2])
    X = table.rows(table.coded(sentences))
    there, columns = np.unique(X.indices, return_inverse=True)
    rows = CSR(X.indptr, columns.astype(np.int32), X.data, len(there)).to_scipy().toarray().astype(np.float64)
    assert X.data.max() == 1
    w, total, iterates = np.zeros(len(there)), np.zeros(len(there)), []
    for i in order:
        own = rows[y.offsets[i] : y.offsets[i + 1]]
        _, D = LOSSES[loss]().value_and_grad(TREE_SPACES[space][1], (own @ w)[:, None], y[i : i + 1])
        g = own.T @ D[:, 0]
        total += g * g
        w = w - 0.3 * g / (np.sqrt(0.5 + total) if rule == "adagrad" else 1.0)
        iterates.append(w)
    adaptive = rule == "adagrad"
    state = np.zeros((3 + adaptive, table.width), np.float32), np.zeros(0), np.zeros(2)
    steps = order.astype(np.int32), np.full(len(order), 0.3)
    data, asked = (table.coded(sentences).arrays, table.atoms), (TREE_SPACES[space][0], STEP_LOSSES.index(loss))
    kernels.arc_learn(data, (y.heads, np.zeros(0)), steps, state, asked, (0.0, 3.0, 0.5 if adaptive else 0.0))
    np.testing.assert_allclose(state[0][0, there], w, rtol=1e-4, atol=1e-5)
    mean = state[0][0] - state[0][-2] / len(order)
    np.testing.assert_allclose(mean[there], np.mean(iterates, axis=0), rtol=1e-4, atol=1e-5)


# --- Derivatives, probabilities, penalties ---


@pytest.mark.parametrize("output", [name for name in OUTPUTS if capability(OUTPUTS[name](), CurvedSpace)])
def test_the_hessian_of_the_soft_maximum_is_the_change_of_its_marginals(output):
    _, y, space, k = problem(output)
    rng = np.random.default_rng(1)
    S, V = rng.normal(size=(2, len(y), space.width(k)))
    moved = (space.soft(S + 1e-6 * V, y).parts - space.soft(S - 1e-6 * V, y).parts) / 2e-6
    np.testing.assert_allclose(space.soft_dot(S, V, y), moved, atol=1e-8)


@pytest.mark.parametrize(
    ("loss", "output"),
    [(a, b) for a, b in itertools.product(LOSSES, OUTPUTS) if capability(LOSSES[a](), NewtonLoss) and b != "real"],
)
def test_the_curvature_of_a_loss_is_the_change_of_its_slope(loss, output):
    _, y, space, k = problem(output)
    piece, rng = LOSSES[loss](), np.random.default_rng(1)
    S, V = 0.4 * rng.normal(size=(2, len(y), space.width(k)))
    moved = piece.value_and_grad(space, S + 1e-6 * V, y)[1] - piece.value_and_grad(space, S - 1e-6 * V, y)[1]
    found = piece.curvature(space, S, y)(V)
    smooth = np.abs(found - moved / 2e-6) <= 1e-6 * (1.0 + np.abs(found))
    assert smooth.mean() > 0.95  # at a jump of the curvature the two differ


@pytest.mark.parametrize("loss", [name for name in LOSSES if capability(LOSSES[name](), Chances)])
@pytest.mark.parametrize("output", [name for name in OUTPUTS if capability(OUTPUTS[name](), ChanceSpace)])
def test_probabilities_are_probabilities_and_those_of_the_log_loss_its_own(loss, output):
    _, y, space, k = problem(output)
    S = np.random.default_rng(2).normal(size=(len(y), space.width(k)))
    P = space.probabilities(S, LOSSES[loss]().chance)
    assert P.shape == (len(y), k)
    assert (P >= 0).all()
    if not isinstance(y, LabelSets):
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
    if loss == "log" and output in ("binary", "multiclass"):
        values, _ = LOSSES["log"]().value_and_grad(space, S, y)
        np.testing.assert_allclose(-np.log(P[np.arange(len(y)), y]), values)


@pytest.mark.parametrize("penalty", [name for name in REGULARIZERS if name != "group"])
def test_a_separable_penalty_is_its_two_factors(penalty):
    piece, rng = REGULARIZERS[penalty](), np.random.default_rng(0)
    assert capability(piece, SeparablePenalty) is piece
    W, G = rng.normal(size=(2, 5, 3))
    before = G.copy()
    value = piece.l1 * np.abs(W).sum() + 0.5 * piece.l2 * (W * W).sum()
    assert piece.value(W) == pytest.approx(value)
    assert piece.charge(W, G) == pytest.approx(value)
    np.testing.assert_allclose(G - before, piece.grad(W), atol=1e-12)
