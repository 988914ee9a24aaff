"""What estimators on matrices share: a fitted one is a `Model`, which is saved and explains; linear ones also scores.

Only faces mutate themselves, because that is their users' convention. A face is a dataclass whose fields are its
parameters; `composed()` is the general face it equals, and the one that `fit` reads.
"""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

import linnaeus
from linnaeus.arrays import as_rows, column_names, linear
from linnaeus.arrays.labels import label_sets
from linnaeus.arrays.linear import stored
from linnaeus.arrays.numerics import refuse_overflow
from linnaeus.arrays.weights import sample_weights
from linnaeus.decision import Decision
from linnaeus.decision.calibration import SCORED, FittedChances
from linnaeus.decision.thresholds import FittedThresholds
from linnaeus.erm import Record, Trace
from linnaeus.erm.pieces import KINDS, nested, piece, replaced
from linnaeus.errors import ModelFileError, UsageError, damaged
from linnaeus.features.precomputed import FittedReady, Ready
from linnaeus.learners.base import values_of
from linnaeus.learners.linear.learner import Linear
from linnaeus.learners.linear.probabilities import has_chances
from linnaeus.learners.linear.solving import BIASES, Problem, solve
from linnaeus.learners.linear.streaming import Memory, go_on
from linnaeus.losses import LOSSES
from linnaeus.model.file import SPACES, refusing
from linnaeus.model.model import Model
from linnaeus.outputs import Real
from linnaeus.recipes import codec
from linnaeus.recipes.field_types import unfit
from linnaeus.recipes.recipe import Recipe
from linnaeus.tasks.classify.settling import kind_of
from linnaeus.types import Array, Doubles, Floats, Json, Label, Matrix, Params, Piece, Source

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from linnaeus.arrays import CSR, Dense
    from linnaeus.decision import FittedDecision
    from linnaeus.explain import Explanation


Progress = Callable[[Record], None] | str
PathOrName = str | os.PathLike[str]


PAIRS = "pairs"
ABOVE_HALF = float(np.nextafter(0.5, 1.0))
"""The probability from which a label is predicted: where its score is above zero."""

ESTIMATORS = {
    "classify": "TextClassifier",
    "regress": "TextRegressor",
    "many": "TextClassifier",
    "tag": "Tagger",
    "rank": "CandidateClassifier",
}
"""The estimator for the models of each task, if they are not of matrices."""


def estimator_of(model: Model) -> str:
    """The class of the estimator that a model belongs to."""
    own = model.facts.get("estimator")
    if own is not None:
        return str(own["name"])
    if model.task.name not in ESTIMATORS:
        raise UsageError(f"A {model.task.model} has no estimator; open it with linnaeus.load.")
    return ESTIMATORS[model.task.name]


class MatrixFace(BaseEstimator):  # type: ignore[misc]
    """An estimator on matrices. Once it is fitted, it can be written as a `Model` with `Ready` features."""

    n_features_in_: int

    @abstractmethod
    def _recipe(self) -> Recipe:
        """The recipe that its parameters make."""

    @abstractmethod
    def _trained(self) -> Model:
        """The model, without what describes the estimator."""

    @abstractmethod
    def _take(self, model: Model) -> None:
        """Become what a model of `_trained` says."""

    def explain(self, row: Matrix, classes: Label = ()) -> Explanation:
        """Explain the prediction for a matrix of one row; `classes` are explained beside the predicted one."""
        return self._model().explain(row, classes=classes)

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the fitted model to one file, without pickle; with `force` a file of that name is replaced.

        `load` gives this estimator again, `linnaeus.load` a `Model` that takes matrices and libsvm files.
        """
        self._model().save(path, force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A fitted estimator from a file that `save` wrote."""
        model = Model.load(path)
        name = estimator_of(model)
        if name != cls.__name__:
            raise ModelFileError(f"{path} holds a {name}; load it with that class.")
        with refusing():
            told = model.facts["estimator"]
            params = {name: _parameter(name, value) for name, value in told["params"].items()}
            wrong = unfit(params, cls.__init__)
            if wrong is not None:
                raise damaged(f"the parameter {wrong!r} of its estimator is of another type")
            found = cls(**params)
            if not isinstance(model.features, FittedReady) or model.codes is not None:
                raise ModelFileError(f"{path} holds a model that was changed after its training; use linnaeus.load.")
            found.n_features_in_ = model.features.width
            if model.features.called is not None:
                found.feature_names_in_ = np.array(model.features.called, object)
            if found._recipe().to_json() != model.recipe.to_json():
                raise damaged("the parameters of its estimator do not fit its recipe")
            found._take(model)
        return found

    def _model(self) -> Model:
        if "n_features_in_" not in self.__dict__:
            raise UsageError(f"Only fitted models are saved and explain; call fit on this {type(self).__name__} first.")
        found = self._trained()
        params = {name: _plain(value) for name, value in self.get_params(deep=False).items() if name != "progress"}
        own: dict[str, Json] = {"name": type(self).__name__, "params": params}
        if "one_target_" in self.__dict__:
            own["one_target"] = bool(self.__dict__["one_target_"])
        return replace(found, facts={"version": linnaeus.__version__, **found.facts, "estimator": own})

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _learned(self, X: Matrix) -> tuple[CSR | Dense, dict[str, object]]:
        """Rows to learn from, and what is remembered of them: their width, and the names of their columns."""
        names = column_names(X)
        rows = as_rows(X, who=type(self).__name__)
        refuse_overflow("X", values_of(rows), "features")
        seen: dict[str, object] = {"n_features_in_": rows.shape[1]}
        return rows, seen if names is None else {**seen, "feature_names_in_": names}

    def _checked(self, X: Matrix) -> CSR | Dense:
        """Rows to score: as wide as those learned from, with the same names where both have some."""
        who, names = type(self).__name__, vars(self).get("feature_names_in_")
        given = column_names(X)
        if names is not None and given is None:
            warnings.warn(f"X does not have valid feature names, but {who} was fitted with feature names", stacklevel=4)
        if names is None and given is not None:
            warnings.warn(f"X has feature names, but {who} was fitted without feature names", stacklevel=4)
        return as_rows(X, self.n_features_in_, names, who)

    def _features(self) -> FittedReady:
        names = self.__dict__.get("feature_names_in_")
        return FittedReady(self.n_features_in_, None if names is None else tuple(names.tolist()))


def _plain(value: Piece) -> Json:
    """A parameter as in a recipe; but a path is its text, and keys of a mapping, which are labels, keep their type."""
    if isinstance(value, Mapping):
        return {PAIRS: [[codec.encode(key), codec.encode(item)] for key, item in value.items()]}
    return os.fspath(value) if isinstance(value, os.PathLike) else codec.encode(value)


def _parameter(name: str, value: Json) -> Piece:
    if isinstance(value, dict) and PAIRS in value:
        return {codec.decode("key", key): codec.decode("value", item) for key, item in value[PAIRS]}
    return value if isinstance(value, str) else codec.decode(name, value)


LEARNED = (
    *("params_", "trace_", "memory_", "n_features_in_", "feature_names_in_"),
    *("classes_", "form_", "space_", "one_target_", "n_rows_"),
)
"""All that a training leaves in a face."""


class Face(MatrixFace):
    """A linear model that scikit-learn knows how to handle."""

    params_: dict[str, Floats]
    trace_: Trace

    @abstractmethod
    def composed(self) -> LinearFace:
        """The equivalent general face."""

    def get_params(self, deep: bool = True) -> dict[str, Piece]:
        """The parameters; deep: with those of the pieces, such as `regularizer__strength`."""
        found: dict[str, Piece] = super().get_params(deep=False)
        if deep:
            for name in [name for name in found if name in KINDS]:
                found.update(nested(name, found[name]))
        return found

    def set_params(self, **params: Piece) -> Self:
        """Set parameters; those of a piece replace the frozen piece by a new one. If one is refused, none is set."""
        before = dict(vars(self))
        try:
            self._set(params)
        except Exception:
            self.__dict__.update(before)
            raise
        return self

    def _set(self, params: dict[str, Piece]) -> None:
        plain = {name: value for name, value in params.items() if name.partition("__")[0] not in KINDS}
        whole = {name: value for name, value in params.items() if name in KINDS}
        super().set_params(**plain, **whole)
        inside: dict[str, dict[str, Piece]] = {}
        for path, value in params.items():
            name, _, rest = path.partition("__")
            if rest and name in KINDS:
                inside.setdefault(name, {})[rest] = value
        for name, changes in inside.items():
            super().set_params(**{name: replaced(name, getattr(self, name, None), changes)})

    @property
    def coef_(self) -> Floats:
        """The weights as scikit-learn lays them out: one row for each score (w, d)."""
        self._expect_fit("coef_")
        return self.params_["W"].T

    @property
    def intercept_(self) -> Floats:
        """The biases (w,); zeros where there is none."""
        self._expect_fit("intercept_")
        W = self.params_["W"]
        return self.params_.get("b", np.zeros(W.shape[1], W.dtype))

    @property
    def n_iter_(self) -> int:
        """Epochs or iterations of the last training."""
        self._expect_fit("n_iter_")
        return self.trace_.last.epoch if len(self.trace_) else 0

    def _recipe(self) -> Recipe:
        """Costs are those of the training, or those of the decision."""
        spec, classes = self.composed(), isinstance(self, ClassifierMixin)
        given = {field.name: getattr(spec, field.name) for field in fields(Linear) if field.name in vars(spec)}
        by_cost = classes and spec.decision == "expected_cost"
        learner = Linear(**given | {"bias": BIASES[spec.bias]} | ({"costs": None} if by_cost else {}))
        return Recipe(
            task="classify" if classes else "regress",
            features=Ready(self.n_features_in_),
            learner=learner,
            decision=Decision(costs=spec.costs) if by_cost else Decision(),
            seed=spec.seed,
        )

    def _trained(self) -> Model:
        own, recipe = self.__dict__, self._recipe()
        classes, memory = own.get("classes_"), own.get("memory_", Memory())
        found = Model(
            task=recipe.task,
            plan=recipe,
            features=self._features(),
            params=self.params_,
            space=own.get("space_", Real()),
            classes=classes,
            form=own.get("form_", "numbers"),
            facts={
                "rows": own["n_rows_"],
                "ending": self.trace_.reason,
                "epochs": self.n_iter_,
                "updates": memory.batches,
            },
            memory=memory.state,
        )
        return found if classes is None else replace(found, decision=untaught(found, recipe.learner.loss))

    def _take(self, model: Model) -> None:
        if model.body is not None or (model.classes is None) == isinstance(self, ClassifierMixin):
            raise damaged("its estimator is of another kind")
        facts = model.facts
        self.params_ = dict(model.params)
        self.trace_ = Trace([Record(facts.get("epochs", 0), 0.0)], facts.get("ending", ""))
        self.n_rows_ = facts.get("rows", 0)
        if facts.get("updates", 0):
            self.memory_ = Memory(facts["updates"], self.n_rows_, dict(model.memory))
        if model.classes is None:
            self.one_target_ = bool(facts["estimator"].get("one_target", True))
        else:
            self.classes_, self.form_, self.space_ = model.classes, model.form, model.space

    def _solve(self, problem: Problem, about: Mapping[str, object]) -> Self:
        """Train, and take over the result in place of all before it: a training that fails changes nothing."""
        fit = solve(self.composed(), problem)
        for name in LEARNED:
            self.__dict__.pop(name, None)
        self.__dict__.update(about, n_rows_=problem.rows.shape[0], params_=stored(fit.params), trace_=fit.trace)
        return self

    def _go_on(self, problem: Problem, begin: tuple[Params | None, Memory], about: Mapping[str, object]) -> Self:
        """Train on one more batch of a stream."""
        found = go_on(self.composed(), problem, *begin)
        self.__dict__.update(about, params_=found.params, trace_=found.trace, memory_=found.memory)
        self.n_rows_ = found.memory.rows
        return self

    def _expect_fit(self, name: str) -> None:
        """An attribute of a fitted model is not there before: `hasattr` says so."""
        if "params_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name} before fit.")

    def _scores(self, X: Matrix) -> Doubles:
        """X W + b  (n, w), of checked rows."""
        check_is_fitted(self, "params_")
        return linear.scores(self._checked(X), self.params_)  # type: ignore[arg-type]


@dataclass(eq=False, repr=False, kw_only=True)
class LinearFace(Face):
    """The parameters that `LinearClassifier` and `LinearRegressor` share."""

    loss: Piece = "log"
    regularizer: Piece = "l2"
    optimizer: Piece = "auto"
    bias: Piece = "free"
    epochs: int | None = None
    tol: float | None = 1e-4
    seed: int = 0
    held_out: float = 0.0
    patience: int | None = 5
    seconds: float | None = None
    progress: Progress | None = None
    checkpoint: PathOrName | None = None

    def composed(self) -> Self:
        """Itself."""
        return self


def sets_score(found: Array, y: Label, sample_weight: Source) -> float:
    """The share of the rows whose predicted label set is correct."""
    right = [set(a) == b for a, b in zip(found, label_sets(y, len(found)), strict=True)]
    return float(np.average(right, weights=sample_weights(sample_weight, len(found))))


def untaught(model: Model, loss: Piece = None) -> FittedDecision:
    """The decision of a model that held out no rows: by its scores, with the probabilities that its loss gives them."""
    assert model.classes is not None
    kind, space = kind_of(model), SPACES[type(model.space)]
    found = model.recipe.decision.untaught(kind, len(model.classes))
    if kind == "labels":
        found = replace(found, thresholds=FittedThresholds(kind, np.full(len(model.classes), ABOVE_HALF)))
    if loss is None or space not in SCORED[kind] or not has_chances(loss := piece("loss", loss), model.space):
        return found
    named = next((name for name in LOSSES if type(loss) is LOSSES[name]), None)
    return found if named is None else replace(found, calibrator=FittedChances(kind, named, space))
