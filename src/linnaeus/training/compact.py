"""Smaller models: features that do not matter are forgotten, weights become int8 or float16, and the loss is measured.

The model itself has seen every row, so what pruning loses cannot be seen on them. A second model of the same recipe and
strength is trained without a part of the rows, made smaller in the same way, and both are asked about that part.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.arrays.linear import stored
from linnaeus.data.split import Split, holdout, kept_together
from linnaeus.decision.fitted import learn_scope
from linnaeus.errors import UsageError, expect
from linnaeus.features.known_words import known_share
from linnaeus.frozen import dataclass
from linnaeus.learners.linear.solving import solve
from linnaeus.learners.problems import goodness, is_family
from linnaeus.protocols import NumberSpace, OneScore, OutputSpace, SetSpace, has
from linnaeus.store.compression import KINDS, dequantize, prune, quantize
from linnaeus.store.states import Tensors
from linnaeus.tasks.classify.settling import blank_of
from linnaeus.tasks.examples import Examples
from linnaeus.tasks.keys import text_keys
from linnaeus.tasks.rows import pose, spread, there
from linnaeus.types import Doubles, Floats, Json

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.decision import FittedDecision
    from linnaeus.features import Fitted
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe

FEW = 25
"""With fewer rows nothing is measured, and so nothing is pruned."""

LEAST = 200
"""Features that are always kept: fewer would save nothing, and each of them counts."""


@dataclass(frozen=True, kw_only=True)
class Compact:
    """How small a model becomes: the fewest features that lose at most `loss` on a held-out part of the rows.

    `shares` of the features are tried from large to small, until one loses more. `loss` is a share of right answers
    (0.001: a tenth of a point), of label sets micro-F1, of numbers the variance that is explained. `weights` are
    stored as "int8" or "float16"; `held_out` is the part of the rows by which the loss is measured.

    >>> Compact(shares=(0.1, 0.5)).shares
    (1.0, 0.5, 0.1)
    """

    shares: tuple[float, ...] = (0.5, 0.35, 0.25, 0.18, 0.12, 0.08, 0.05, 0.03, 0.02)
    loss: float = 0.001
    weights: str = "int8"
    held_out: float = 0.2

    def __post_init__(self) -> None:
        object.__setattr__(self, "shares", tuple(sorted({1.0, *map(float, self.shares)}, reverse=True)))
        if not 0 < self.shares[-1] <= self.shares[0] == 1:
            raise UsageError("Compact(shares=...) takes shares of the features, above 0 and at most 1.")
        expect("Compact(loss=...)", self.loss, float)
        if self.weights not in KINDS:
            raise UsageError(f"Compact(weights=...) is one of {', '.join(KINDS)}, not {self.weights!r}.")
        if not 0 < self.held_out < 1:
            raise UsageError(f"Compact(held_out=...) is a share between 0 and 1, not {self.held_out}.")


class Small(NamedTuple):
    """Fewer features, their weights as they are stored, and the parameters that these make."""

    features: Fitted
    codes: Tensors
    params: dict[str, Floats]


class Trial(NamedTuple):
    """A share of the features, what it lost, the factor by which scores have become smaller, and what it knows.

    `scores` (m, w) are those of the held-out rows before the factor; `known` is the share of their words that are left.
    """

    share: float
    lost: float
    factor: float
    scores: Doubles | None = None
    known: Doubles | None = None


def refuse_compact(recipe: Recipe) -> None:
    """Refuse recipes whose models cannot become compact."""
    if not recipe.task.texts:
        raise UsageError(f"Only classifiers and regressions of texts become compact, not {recipe.task.models}.")
    if recipe.before:
        raise UsageError("Pipelines do not become compact; only a model without earlier stages does.")
    if is_family(recipe.learner):
        name = type(recipe.learner).__name__
        raise UsageError(f"Only models of the linear engine become compact, not those learned by {name}.")


def compacted(model: Model, examples: Examples, how: Compact) -> Model:
    """The model made smaller; `examples` are those it was trained on."""
    examples = examples.counted()
    X = model.features.rows(examples.stream)
    split = _split(model, examples, how)
    trials = [] if split is None else _trials(model, (examples.take(split.train), examples.take(split.test)), how)
    fits = [trial for trial in trials if trial.lost <= how.loss]
    chosen = (fits or trials[:1] or [Trial(1.0, 0.0, 1.0)])[-1]
    params = {name: array * np.float32(chosen.factor) for name, array in model.params.items()}
    small = smaller(model.features, params, mean_squares(X), (chosen.share, how.weights))
    facts: dict[str, Json] = {
        "weights": how.weights,
        "features": small.features.width,
        "of": model.features.width,
        "held_out": 0 if split is None else len(split.test),
        "lost": chosen.lost if trials else None,
        "tried": [[trial.share, trial.lost] for trial in trials],
    }
    told = {**model.facts, "compact": facts}
    found = replace(model, features=small.features, params=small.params, codes=small.codes, facts=told)
    return replace(found, decision=_scoped(found, chosen))


def _scoped(model: Model, chosen: Trial) -> FittedDecision | None:
    """The decision, with the scope of the held-out rows: fewer words are known than before."""
    decision = model.decision
    if decision is None or decision.scope is None or not decision.scope.by_known or chosen.scores is None:
        return decision
    S = model.class_scores(chosen.scores * chosen.factor)
    return replace(decision, scope=learn_scope(decision.scope.kind, S, chosen.known, blank_of(model)))


def smaller(features: Fitted, params: dict[str, Floats], squares: Doubles, how: tuple[float, str]) -> Small:
    """A share of the features, those that move scores most, and their weights in this kind of numbers."""
    share, kind = how
    W = params["W"]
    columns = prune(W, squares, max(LEAST, round(share * len(W))))
    codes = quantize(np.ascontiguousarray(W[columns]), kind)
    return Small(features.shrink(columns), codes, {**params, "W": dequantize(codes)})


def mean_squares(X: CSR) -> Doubles:
    """The mean square of each feature over the rows."""
    values = X.data[: X.nnz].astype(np.float64)
    return np.bincount(X.indices[: X.nnz], values * values, minlength=X.shape[1]) / max(1, len(X))


def _trials(model: Model, parts: tuple[Examples, Examples], how: Compact) -> list[Trial]:
    """What is lost by each share, from large to small, up to the first that loses too much."""
    found: list[Trial] = []
    for trial in _walk(model.recipe, model.facts.get("strength"), parts, how):
        found.append(trial)
        if trial.lost > how.loss:
            break
    return found


def _split(model: Model, examples: Examples, how: Compact) -> Split | None:
    """Rows to train on and rows to ask about; None where there are too few of them."""
    n, strata = len(examples), examples.strata
    keys = text_keys(examples.stream, model.recipe.features)
    groups = kept_together(keys, examples.groups, part=n * how.held_out)
    if n < FEW or (groups is not None and len(np.unique(groups)) < FEW):
        return None
    split = holdout(n, share=how.held_out, seed=model.recipe.seed, strata=strata, groups=groups)
    return None if strata is not None and len(np.unique(strata[split.train])) < 2 else split


def _walk(recipe: Recipe, strength: float | None, parts: tuple[Examples, Examples], how: Compact) -> Iterator[Trial]:
    """Train on the one part, and compare the whole model and smaller ones on the other."""
    learner = recipe.learner if strength is None else recipe.learner.with_strength(strength)
    features, X = recipe.features.fit_rows(parts[0].stream)
    problem = pose(learner, X, parts[0])
    lean, present = there(problem)
    params, squares = stored(solve(learner.settings(recipe.seed), lean).params), mean_squares(X)

    def ask(features: Fitted, params: dict[str, Floats]) -> Doubles:
        X = features.rows(parts[1].stream)
        S: Doubles = X.dot(params["W"]) + params.get("b", np.float32(0))
        return spread(S, present, problem)

    full = ask(features, params)
    for share in how.shares:
        small = smaller(features, params, squares, (share, how.weights))
        S = ask(small.features, small.params)
        lost, factor = _lost(problem.space, (full, S), parts[1]), _factor(problem.space, full, S)
        yield Trial(share, lost, factor, S, known_share(small.features, parts[1].stream))


def _lost(space: OutputSpace, scores: tuple[Doubles, Doubles], asked: Examples) -> float:
    weights = asked.weights
    if asked.numbers is None:
        full, small = (goodness(space, S, asked.y, weights) for S in scores)
        return full - small
    y = asked.numbers.reshape(len(weights), -1)
    full, small = (goodness(space, S, y, weights) for S in scores)
    center = np.average(y, axis=0, weights=weights)
    return (full - small) / max(1e-300, float(np.average(((y - center) ** 2).mean(axis=1), weights=weights)))


def _factor(space: OutputSpace, full: Doubles, S: Doubles) -> float:
    """What to multiply scores by, so that they are as large as before and probabilities stay calibrated.

    Least squares of the scores of the full model on those of the smaller one; of classes that are compared with each
    other, on their differences.
    """
    if has(space, NumberSpace):
        return 1.0
    if not (has(space, OneScore) or has(space, SetSpace)):
        full, S = full - full.mean(axis=1, keepdims=True), S - S.mean(axis=1, keepdims=True)
    size = float(np.vdot(S, S))
    found = float(np.vdot(S, full)) / size if size > 0 else 1.0
    return found if found > 0 else 1.0
