"""`Model`: what a recipe trains, whatever its task. It predicts, evaluates, explains, and saves itself to one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus import store
from linnaeus.arrays import linear
from linnaeus.arrays.numerics import finite_scores
from linnaeus.errors import UsageError
from linnaeus.features.base import as_stream, empty_rows
from linnaeus.frozen import dataclass
from linnaeus.learners.restore import scores_of
from linnaeus.model.scorer import Quick, compile_scorer
from linnaeus.model.summary import model_repr
from linnaeus.protocols import ClassScores, RanksLabels, TakesMatrices, capability
from linnaeus.store.states import Tensors
from linnaeus.types import Array, Doubles, Floats, Json, Label, Source

if TYPE_CHECKING:
    from linnaeus.arrays import CSR
    from linnaeus.data import Batch
    from linnaeus.decision import FittedDecision
    from linnaeus.evaluation import Evaluation, Facts
    from linnaeus.explain import Explanation, Linear, Neighbor, TopFeatures
    from linnaeus.features.restore import Functions
    from linnaeus.learners.label_tree.names import LabelNames
    from linnaeus.learners.neighbors.exact import ExactIndex
    from linnaeus.learners.neighbors.learner import FittedNeighbors
    from linnaeus.model.kept_texts import Kept
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.base import Abstain, AnyTask, Flips
    from linnaeus.tasks.classify.prediction import Prediction
    from linnaeus.training.compact import Compact

CELLS = 1 << 23
"""Numbers of rows that have one in every column, which are made at a time."""


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A trained model: a task, fitted features, float32 weights, an output space, classes and a decision rule.

    `plan` is the recipe. `classes` are the names of classes or tags; None for numbers and candidates. `form` is the
    form of the labels: "single", a form of label sets, "numbers", "tags", "trees" or "candidates". `account` is the
    evaluation on held-out rows; `facts` describe the training data and the training. `codes` are the weights as a
    compact model stores them; `params` hold the float32 numbers decoded from them. `body` is the model of a learner
    that computes scores itself; if it is linear, `params` hold its weights, else `params` is empty. `kept` holds the
    training texts if the recipe keeps them, `words` the tags of words that a tagger looks up, `memory` what an
    optimizer goes on with in updates. `stages` are the earlier models of a pipeline, by name.

    >>> from linnaeus import Recipe
    >>> model = Recipe().fit([("good film", "pos"), ("bad film", "neg"), ("good", "pos"), ("bad", "neg")])
    >>> model.predict(["a good one"]).tolist()
    ['pos']
    """

    task: AnyTask
    plan: Recipe | dict[str, Json]
    features: Any
    params: Mapping[str, Floats]
    space: Any
    classes: Array | None
    form: str
    decision: FittedDecision | None = None
    account: Evaluation | dict[str, Json] | None = None
    facts: dict[str, Json] = field(default_factory=dict)
    codes: Tensors | None = None
    body: Any = None
    kept: Kept | None = None
    words: dict[str, int] = field(default_factory=dict)
    memory: Tensors = field(default_factory=dict)
    stages: tuple[tuple[str, Model], ...] = ()

    def __repr__(self) -> str:
        return model_repr(self)

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

    # Answers

    def predict(self, source: Source, abstain: Abstain = None) -> Label:
        """Predict each example: a label, labels, a number, a list of tags, a candidate; None if the model abstains."""
        return self.task.predict(self, self._material(source), abstain)

    def probabilities(self, source: Source) -> Doubles:
        """Probabilities of the classes of each row (n, k), of the tags of each token (m, k), or of candidates (m,)."""
        return self.task.probabilities(self, self._material(source))

    def scores(self, source: Source) -> Doubles:
        """The scores behind the probabilities; (n, 1) for two classes, (n, t) for numbers."""
        return self.task.scores(self, self._material(source))

    def rank(self, source: Source, count: int = 10) -> list[list[tuple[Label, float]]]:
        """The best answers to each example, best first, with their probabilities (of taggings: their scores)."""
        return self.task.rank(self, self._material(source), count)

    def classify(self, text: str, top: int = 1) -> Prediction:
        """Classify one text, quickly: the label, its probability, and the `top` classes by rank."""
        single = self._single
        if top == 1 and single is not None:
            return single(text)
        return self.task.several(self, [text], top)[0]

    @cached_property
    def _single(self) -> Callable[[str], Prediction] | None:
        return self.task.single(self)

    def out_of_scope(self, source: Source) -> Doubles:
        """Out-of-scope scores (n,): the share of training rows with stronger scores; near 1 is unlike all of them."""
        from linnaeus.tasks.classify.answers import known

        material = self._material(source)
        return self.decided().out_of_scope(self.task.scores(self, material), known(self, material))

    # Judging and explaining

    @property
    def label_kind(self) -> str:
        """How to read the labels of evaluation data: "one", "many" or "numeric"."""
        return "numeric" if self.form == "numbers" else "one" if self.form == "single" else "many"

    def evaluate(self, source: Source, abstain: Abstain = None, rounds: int = 1000) -> Evaluation:
        """Evaluate predictions on labeled examples; intervals come from `rounds` resamples (0: none).

        A model of matrices also takes a pair `(X, y)`.
        """
        from linnaeus.tasks.judging import judge

        return judge(self, self._labeled(source), abstain, rounds)[0]

    def outcome(self, source: Source, abstain: Abstain = None) -> Facts:
        """The truth of labeled examples and the predictions for them, as `linnaeus.evaluation` takes them."""
        from linnaeus.evaluation import Accumulator

        seen = Accumulator()
        for batch in self.task.labeled(self._labeled(source)):
            seen.add(self.task.observe(self, batch, abstain))
        return seen.facts()

    def explain(
        self, example: Source, at: int = 0, classes: Sequence[Label] = (), search: Flips = "default"
    ) -> Explanation:
        """Explain a prediction: what each part of the example adds to the score of the answer.

        The example is a text, or a batch or a matrix of one row; a sentence, of which the token at position `at` is
        explained; or examples with candidates, of which number `at` is explained. `classes` are explained beside the
        predicted one.
        """
        return self.task.reasons(self, self._adopted(example), at, classes, search)

    @property
    def many(self) -> LabelNames | None:
        """The names of very many labels, which are read one by one; None of a model with a list of classes."""
        own = capability(self.body, RanksLabels)
        return None if own is None or self.classes is not None else own.names

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What the classes, the tags, or the numbers are called."""
        classes = self.classes if self.many is None else self.many.array()
        if classes is not None:
            return tuple(map(str, classes.tolist()))
        count = self._scored(empty_rows(1, self.features.width)).shape[1]
        return ("the number",) if count == 1 else tuple(f"number {i + 1}" for i in range(count))

    # Scores of rows

    def _material(self, source: Source) -> Source:
        found = self.task.material(self._adopted(source))
        return self.ready(found) if self.stages else found

    def _adopted(self, source: Source) -> Source:
        """A matrix as a batch, if the features are its columns; other data as they are."""
        own = capability(self.features, TakesMatrices)
        return source if own is None else own.adopt(source)

    def _labeled(self, source: Source) -> Source:
        """A matrix and its labels as a batch; other data as they are."""
        if not isinstance(source, tuple) or capability(self.features, TakesMatrices) is None:
            return source
        from linnaeus.tasks.examples import labeled_rows

        X, y = source
        return labeled_rows(self._adopted(X), y, self.classes is None)

    def ready(self, source: Source) -> Source:
        """The examples with the answers of earlier stages as columns."""
        if not self.stages:
            return source
        from linnaeus.model.stages import staged

        return staged(self, source)

    @cached_property
    def quick(self) -> Quick | None:
        """Features and weights compiled into one kernel; None if the features or the model need rows."""
        return compile_scorer(self.features, self.params) if self.params else None

    def raw_scores(self, source: Source) -> Doubles:
        """The scores of the output space (n, w), of rows that have the answers of earlier stages; finite."""
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
        return scores_of(self.body, rows, self.space)

    def _parts(self, batch: Batch) -> Iterator[Batch]:
        """The batch in parts: rows of features that have a number in every column take memory by their width."""
        step = max(1, CELLS // max(1, self._full))
        if len(batch) <= step:
            return iter([batch])
        return (batch.slice(at, step) for at in range(0, len(batch), step))

    @cached_property
    def _full(self) -> int:
        return sum(part.width for part in self.features.parts() if part.full)

    @cached_property
    def opaque(self) -> bool:
        """Whether some features come from all of a text at once, so that their weights say nothing of its words."""
        return any(part.opaque for part in self.features.parts())

    def class_scores(self, S: Doubles) -> Doubles:
        """Class scores from the scores of the output space, for example from scores of pairs of classes."""
        own = capability(self.space, ClassScores)
        return S if own is None else own.class_scores(S)

    def decided(self) -> FittedDecision:
        """The decision rule; refused where there is none."""
        if self.decision is None:
            what = "predicts numbers" if self.form == "numbers" else "has no decision rule"
            raise UsageError(f"This model {what}; it has no probabilities and no out-of-scope scores.")
        return self.decision

    @cached_property
    def index(self) -> ExactIndex | FittedNeighbors:
        """The index that finds kept texts similar to a row."""
        from linnaeus.model.kept_texts import index_of

        return index_of(self)

    def search(self, source: Source, count: int = 10) -> list[list[Neighbor]]:
        """Find the training texts most similar to each row, nearest first; the recipe must keep the texts."""
        from linnaeus.model.kept_texts import nearest

        return nearest(self, lambda: self._material([source] if isinstance(source, str) else source), count)

    @cached_property
    def linear(self) -> Linear:
        """The parts that `explain` needs: features, weights, biases, output space and class names."""
        from linnaeus.explain import Linear

        if not self.params or self.form == "candidates":
            raise UsageError(f"A model by {type(self.recipe.learner).__name__} has no weights to show.")
        W = self.params["W"]
        b = self.params.get("b", np.zeros(W.shape[1], np.float32))
        return Linear(self.features, W, b, self.space, self.names)

    def top_features(self, count: int = 10, classes: Sequence[Label] | None = None) -> tuple[TopFeatures, ...]:
        """The features with the largest weights for and against each class."""
        from linnaeus.explain import top_features

        return top_features(self.linear, count, classes)

    # More data

    def merged(self, other: Model) -> Model:
        """The exact model of both data sets together, for models that count (naive Bayes) with the same features."""
        from linnaeus.training.merging import merged

        return merged(self, other)

    def updated(self, corpus: Source, remove: Sequence[Label] = ()) -> Model:
        """The model after more labeled rows, for models that count, linear models and label trees.

        The features do not change. A label tree also loses the labels to `remove`.
        """
        from linnaeus.training.merging import updated

        return updated(self, corpus, remove=remove)

    # Keeping

    def compact(self, corpus: Source, how: Compact | None = None) -> Model:
        """A smaller model with nearly the same predictions; `corpus` is the training data.

        It drops features that hardly matter and stores weights as int8 with scales. A second model, trained on four
        fifths of the rows, measures the loss on the other fifth; the result is in `facts["compact"]["lost"]`.
        """
        from linnaeus.tasks.examples import as_examples
        from linnaeus.training.compact import Compact, compacted, refuse_compact

        refuse_compact(self.recipe)
        return compacted(self, as_examples(corpus), how or Compact())

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write one file, in one step; equal models give equal bytes. `force` replaces an existing file."""
        from linnaeus.model.file import state_of

        store.save(path, state_of(self), force)

    @staticmethod
    def load(path: str | os.PathLike[str], functions: Functions | None = None, verify: bool | None = None) -> Model:
        """Load a model from a file that `save` or `linnaeus train` wrote; see `linnaeus.load`."""
        from linnaeus.model.file import load

        return load(path, functions, verify)

    def __getstate__(self) -> dict[str, object]:
        """Its fields; what is compiled from them is made again."""
        return {part.name: getattr(self, part.name) for part in fields(self)}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
