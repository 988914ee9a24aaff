"""`Classifier`: the model that a recipe trains. It predicts, evaluates, explains, and saves itself to one file."""

from __future__ import annotations

import os
import warnings
from dataclasses import field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import store
from linnaeus.arrays import linear
from linnaeus.arrays.finite import finite_scores
from linnaeus.data.arrow import as_numpy, number
from linnaeus.errors import DataError, LinnaeusWarning, UsageError
from linnaeus.features.base import as_stream, empty_rows
from linnaeus.frozen import dataclass
from linnaeus.learners.restore import scores_of
from linnaeus.model.scorer import compile_scorer
from linnaeus.model.summary import classifier_repr
from linnaeus.outputs import Real
from linnaeus.tasks.classify.prediction import Prediction, predictions
from linnaeus.tasks.examples import labeled_stream
from linnaeus.types import LabelSets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from linnaeus.arrays import CSR
    from linnaeus.data import Batch
    from linnaeus.decision import FittedDecision
    from linnaeus.evaluation import Evaluation, Outcome
    from linnaeus.explain import Explanation, Neighbor, TopFeatures
    from linnaeus.features import Fitted
    from linnaeus.model.kept_texts import Kept
    from linnaeus.protocols import Model
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.store.states import Tensors
    from linnaeus.training.compact import Compact
    from linnaeus.types import Doubles, Floats, Json

CELLS = 1 << 23
"""Numbers of rows that have one in every column, which are made at a time."""

NEIGHBORS = 5
"""Training texts that an explanation shows."""


@dataclass(frozen=True, eq=False, repr=False)
class Classifier:
    """A trained model: fitted features, float32 weights, an output space, classes and a decision rule.

    `plan` is the recipe. `form` is the form of the labels: "single", a form of label sets, or "numbers". `account` is
    the evaluation on held-out rows; `facts` describe the training data and the training. `codes` are the weights as a
    compact model stores them; `params` hold the float32 numbers decoded from them. `body` is the model of a learner
    that computes scores itself; if it is linear, `params` hold its weights, else `params` is empty. `kept` holds the
    training texts if the recipe keeps them.

    >>> from linnaeus import Recipe
    >>> model = Recipe().fit([("good film", "pos"), ("bad film", "neg"), ("good", "pos"), ("bad", "neg")])
    >>> model.predict(["a good one"]).tolist()
    ['pos']
    """

    plan: Recipe | dict[str, Json]
    features: Fitted
    params: Mapping[str, Floats]
    space: Any
    classes: NDArray[Any] | None
    form: str
    decision: FittedDecision | None = None
    account: Evaluation | dict[str, Json] | None = None
    facts: dict[str, Json] = field(default_factory=dict)
    codes: Tensors | None = None
    body: Model | None = None
    kept: Kept | None = None

    def __repr__(self) -> str:
        return classifier_repr(self)

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """The evaluation on rows that were held out in training; None if no rows were held out."""
        from linnaeus.evaluation import Evaluation
        from linnaeus.model.file import refusing

        with refusing():
            return Evaluation.from_json(self.account) if isinstance(self.account, dict) else self.account

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe of the model. From a file it is read at first use, because predictions do not need it."""
        from linnaeus.model.file import refusing
        from linnaeus.recipes.recipe import Recipe

        with refusing():
            return Recipe.from_json(self.plan) if isinstance(self.plan, dict) else self.plan

    # Scores

    @cached_property
    def quick(self) -> Any:
        """Features and weights compiled into one kernel; None if the features or the model need rows."""
        return compile_scorer(self.features, self.params) if self.params else None

    def scores(self, source: Any) -> Doubles:
        """Class scores: (n, 1) for two classes, (n, k) for more or for label sets, (n, t) for numbers."""
        return self.class_scores(self._raw(source))

    def _raw(self, source: Any) -> Doubles:
        """The scores of the output space (n, w); finite."""
        if self.quick is not None:
            S: Doubles = self.quick.scores(source)
            return finite_scores(S)
        parts = (part for batch in as_stream(source).batches() for part in self._parts(batch))
        with np.errstate(over="ignore", invalid="ignore"):
            blocks = [self._scored(self.features.extract(part)) for part in parts]
            blocks = blocks or [self._scored(empty_rows(0, self.features.width))]
        return finite_scores(blocks[0] if len(blocks) == 1 else np.concatenate(blocks))

    def _scored(self, rows: CSR) -> Doubles:
        if self.params:
            return linear.scores(rows, self.params)  # type: ignore[arg-type]
        assert self.body is not None
        return scores_of(self.body, rows, self.space)

    def _parts(self, batch: Batch) -> Iterator[Batch]:
        """The batch in parts: rows of features that have a number in every column take memory by their width."""
        step = max(1, CELLS // max(1, self._full))
        if len(batch) <= step:
            return iter([batch])
        return (batch.slice(at, step) for at in range(0, len(batch), step))

    @cached_property
    def _full(self) -> int:
        from linnaeus.model.contents import parts

        return sum(part.width for part in parts(self.features) if getattr(part, "full", False))

    def class_scores(self, S: Doubles) -> Doubles:
        """Class scores from the scores of the output space, for example from scores of pairs of classes."""
        found: Doubles = self.space.class_scores(S) if hasattr(self.space, "class_scores") else S
        return found

    def probabilities(self, source: Any) -> Doubles:
        """Calibrated class probabilities (n, k), in the order of `classes`."""
        return self._decided().probabilities(self.scores(source))

    def out_of_scope(self, source: Any) -> Doubles:
        """Out-of-scope scores (n,): the share of training rows with stronger scores; near 1 is unlike all of them."""
        source = as_stream(source)
        return self.unlikeness(self.scores(source), self.known(source))

    def unlikeness(self, S: Doubles, known: Any = None) -> Doubles:
        """Out-of-scope scores (n,) from class scores and the result of `known` for the rows."""
        return self._decided().out_of_scope(S, known)

    def known(self, source: Any) -> Callable[[], Doubles | None]:
        """A function that gives the share of each row's words that the features know; None where they know no words.

        Texts are read for it only when it is called: when a scope is asked for.
        """
        from linnaeus.features.known_words import known_share

        return lambda: known_share(self.features, source)

    # Answers

    def predict(self, source: Any, abstain: Any = None) -> NDArray[Any]:
        """Predict each row: labels, tuples of labels, or numbers; None if the model abstains."""
        source = as_stream(source)
        return self.spoken(self.decide(self.scores(source), abstain, self.known(source)))

    def classify(self, text: str, top: int = 1) -> Prediction:
        """Classify one text, quickly: the label, its probability, and the `top` classes by rank."""
        single = self._single
        if top == 1 and single is not None:
            return single(text)
        return predictions(self, [text], top)[0]

    @cached_property
    def _single(self) -> Callable[[str], Prediction] | None:
        from linnaeus.tasks.classify.single import single

        return single(self)

    def decide(self, S: Doubles, abstain: Any = None, known: Any = None) -> Any:
        """From class scores to class indices (-1: abstained), label sets, or numbers; `known` is that of the rows.

        Where a coverage is asked for, one class or none for each row becomes a set of classes.
        """
        if isinstance(self.space, Real):
            if abstain is not None:
                raise UsageError("Abstaining needs classes; this model predicts numbers.")
            return S
        decided = self._decided().decide(S, abstain, known)
        return decided.labels if decided.sets is None else decided.sets

    def chosen(self, S: Doubles, abstain: Any = None, known: Any = None) -> Any:
        """The predictions to evaluate: as `decide`, but for sets with a coverage the best class, -1 if empty."""
        decided = self._decided().decide(S, abstain, known)
        return decided.sets if decided.labels is None else decided.labels

    def spoken(self, found: Any) -> NDArray[Any]:
        """The labels of class indices."""
        if self.classes is None:
            numbers: NDArray[Any] = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
            return numbers
        names = self.classes.tolist()
        if isinstance(found, LabelSets):
            rows = [found.labels[a:b] for a, b in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
            answer = np.empty(len(rows), object)
            answer[:] = [tuple(names[i] for i in row) for row in rows]
            return answer
        if (found < 0).any():
            return np.array([names[i] if i >= 0 else None for i in found.tolist()], dtype=object)
        labels: NDArray[Any] = self.classes[found]
        return labels

    # Judging and explaining

    @property
    def label_kind(self) -> str:
        """How to read the labels of evaluation data: "one", "many" or "numeric"."""
        return "numeric" if self.classes is None else "one" if self.form == "single" else "many"

    def outcome(self, source: Any, S: Doubles | None = None, abstain: Any = None) -> Outcome:
        """True labels and predictions of labeled rows, for `linnaeus.evaluation`; holds all rows in memory."""
        from linnaeus.data.batch import join
        from linnaeus.data.roles import label_hint
        from linnaeus.evaluation import Outcome
        from linnaeus.tasks.classify.unknown_labels import refuse_label_kind

        batch = join(list(labeled_stream(source).batches()))
        if batch.labels is None:
            raise DataError(f"There are no labels to compare with; {label_hint(list(batch.columns))}")
        refuse_label_kind(self, batch.labels.type, abstain)
        S = self.scores(batch) if S is None else S
        weights = None if batch.weights is None else as_numpy(batch.weights)
        if self.classes is None:
            truth = as_numpy(batch.labels).astype(np.float64).reshape(len(batch), -1)
            return Outcome(truth, S, weights=weights)
        names = [str(name) for name in self.classes.tolist()]
        truth = self._truth(batch.labels, names)
        P, decided = self._decided().probabilities(S), self._decided().decide(S, abstain, self.known(batch))
        found, sets = (decided.sets, None) if decided.labels is None else (decided.labels, decided.sets)
        return Outcome(truth, found, names, P, S, weights, self.recipe.decision.costs, sets)

    def _truth(self, labels: Any, names: list[str]) -> Any:
        """Labels as indices among the classes; each different one is looked up once."""
        from linnaeus.evaluation import lookup, lookup_sets

        if self.form != "single":
            return lookup_sets(labels.to_pylist(), names)
        codes, found = number(labels)
        return lookup(found, names)[codes]

    def evaluate(self, corpus: Any, abstain: Any = None, rounds: int = 1000) -> Evaluation:
        """Evaluate predictions on labeled rows, batch by batch; `corpus` may be anything `linnaeus.read` takes."""
        from linnaeus.evaluation import Accumulator
        from linnaeus.tasks.classify.unknown_labels import UnknownLabels

        seen, unknown = Accumulator(), UnknownLabels(self.classes)
        for batch in labeled_stream(corpus).batches():
            seen.add(self.outcome(batch, abstain=abstain))
            unknown.add(batch.labels)
        found = seen.evaluation(rounds, self.recipe.seed)
        if said := unknown.sentence(found.unknown, found.rows):
            warnings.warn(said, LinnaeusWarning, stacklevel=2)
        return found

    def explain(self, row: Any, classes: Any = (), search: Any = "default") -> Explanation:
        """Explain the prediction for a text, or a batch of one row: contributions, character by character.

        They are exact if the model is linear in the contents of the text, else approximate, word by word.
        """
        from linnaeus import explain as room
        from linnaeus.model.contents import opaque

        how = room.Search() if search == "default" else search
        row = room.as_row(row)
        whole = not self.params or opaque(self.features)
        model = room.local(row, self.features, self._raw, self.space, self._names) if whole else self.linear
        near = None if self.kept is None else lambda row: self.search(row, NEIGHBORS)[0]
        found = room.explain(row, model, tuple(classes), how, near, self._decoded)
        if self.decision is None:
            return found
        return found.with_probabilities(dict(zip(self._names, self.probabilities(row)[0].tolist(), strict=True)))

    @cached_property
    def index(self) -> Any:
        """The index that finds kept texts similar to a row."""
        from linnaeus.model.kept_texts import index_of

        return index_of(self)

    def search(self, source: Any, count: int = 10) -> list[list[Neighbor]]:
        """Find the training texts most similar to each row, nearest first; the recipe must keep the texts."""
        from linnaeus.model.kept_texts import nearest

        return nearest(self, [source] if isinstance(source, str) else source, count)

    @cached_property
    def linear(self) -> Any:
        """The parts that `explain` needs: features, weights, biases, output space and class names."""
        from linnaeus.explain import Linear

        if not self.params:
            raise UsageError(f"A model by {type(self.recipe.learner).__name__} has no weights to show.")
        W = self.params["W"]
        b = self.params.get("b", np.zeros(W.shape[1], np.float32))
        return Linear(self.features, W, b, self.space, self._names)

    @cached_property
    def _names(self) -> tuple[str, ...]:
        """What the classes, or the numbers, are called."""
        if self.classes is not None:
            return tuple(map(str, self.classes.tolist()))
        return tuple(_numbered(self._raw([""]).shape[1]))

    def top_features(self, count: int = 10, classes: Any = None) -> tuple[TopFeatures, ...]:
        """The features with the largest weights for and against each class."""
        from linnaeus.explain import top_features

        return top_features(self.linear, count, classes)

    # More data

    def merged(self, other: Classifier) -> Classifier:
        """The exact model of both data sets together, for models that count (naive Bayes) with the same features."""
        from linnaeus.training.merging import merged

        return merged(self, other)

    def updated(self, corpus: Any) -> Classifier:
        """The model updated with more labeled rows, for models that count; the features do not change."""
        from linnaeus.training.merging import updated

        return updated(self, corpus)

    # Keeping

    def compact(self, corpus: Any, how: Compact | None = None) -> Classifier:
        """A smaller model with nearly the same predictions; `corpus` is the training data.

        It drops features that hardly matter and stores weights as int8 with scales. A second model, trained on four
        fifths of the rows, measures the loss on the other fifth; the result is in `facts["compact"]["lost"]`.
        """
        from linnaeus.tasks.examples import as_examples
        from linnaeus.training.compact import Compact, compacted

        return compacted(self, as_examples(corpus), how or Compact())

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write one file, in one step; equal models give equal bytes. `force` replaces an existing file."""
        from linnaeus.model.file import state_of

        store.save(path, state_of(self), force)

    @staticmethod
    def load(path: str | os.PathLike[str], functions: Any = None, verify: bool | None = None) -> Classifier:
        """Load a classifier from a file that `save` or `linnaeus train` wrote."""
        from linnaeus.model.file import classifier_of
        from linnaeus.model.opening import weights_later

        return classifier_of(store.load(path, verify, weights_later), functions)

    def __getstate__(self) -> dict[str, Any]:
        """Its fields; what is compiled from them is made again."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _decided(self) -> FittedDecision:
        if self.decision is None:
            raise UsageError("This model predicts numbers; it has no probabilities and no out-of-scope scores.")
        return self.decision

    def _decoded(self, S: Doubles, rows: Batch) -> Any:
        """The answers to raw scores of these rows, as `explain` asks for them."""
        K = self.class_scores(S)
        if self.classes is None:
            return K
        found = self.chosen(K, known=self.known(rows))
        if not isinstance(found, LabelSets):
            return found
        given = np.zeros((len(found), len(self.classes)), bool)
        given[np.repeat(np.arange(len(found)), np.diff(found.offsets)), found.labels] = True
        return given


def _numbered(count: int) -> list[str]:
    """What the numbers that a model predicts are called: those of `predict` are `label`, or `label_1` and so on."""
    return ["the number"] if count == 1 else [f"number {i + 1}" for i in range(count)]
