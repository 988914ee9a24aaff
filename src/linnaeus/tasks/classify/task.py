"""`Classify`: classes or label sets of texts; `Regress`: numbers of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from linnaeus.errors import InputTypeError, UsageError
from linnaeus.features.base import Block, as_stream
from linnaeus.frozen import dataclass
from linnaeus.protocols import LearnsRows, Stream, capability
from linnaeus.tasks.base import AnyTask, Given, Task, Wish
from linnaeus.tasks.classify import answers, prediction
from linnaeus.tasks.classify.prediction import Prediction
from linnaeus.tasks.examples import Examples, Held, as_examples, column_groups, contents, labeled_stream
from linnaeus.tasks.keys import text_keys
from linnaeus.types import Array, Doubles, Label, Longs, Source, State, Words64

if TYPE_CHECKING:
    import pyarrow as pa

    from linnaeus.data import Batch, Corpus
    from linnaeus.evaluation import Outcome
    from linnaeus.explain import Explanation
    from linnaeus.features import Fitted
    from linnaeus.features.restore import Functions
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.base import Abstain, Evaluated, Flips
    from linnaeus.tasks.rows import RowsLesson


MANY_LABELS = 1000
"""Different labels from which a label tree is trained where no recipe is named: weights of all features for each label
would take a thousand times the memory, and as long to train."""

NO_CLASSES = "This model predicts numbers; it has no probabilities and no out-of-scope scores."


@dataclass(frozen=True)
class Classify(Task["Stream", "Batch"]):
    """One class for each text, or a set of labels.

    >>> Classify().name
    'classify'
    """

    name: ClassVar[str] = "classify"
    models: ClassVar[str] = "classifiers of texts"
    data: ClassVar[str] = "texts with labels"
    usual: ClassVar[str] = "default"
    heading: ClassVar[str] = "for texts"
    texts: ClassVar[bool] = True
    goes_on: ClassVar[bool] = False
    kin: ClassVar[tuple[str, ...]] = ("many",)
    forms: ClassVar[tuple[str, ...]] = ("single", "lists", "indicator", "sparse")
    commands: ClassVar[tuple[str, ...]] = (
        "predict {model} new.csv -o answers.csv",
        "test {model} test.csv",
        'explain {model} "a text of yours"',
        "inspect {model}",
    )

    # The recipe

    def recognize(self, columns: Mapping[str, bool], given: Given) -> bool:
        """Whether data with these columns (and whether each holds lists) are of this task: texts, if nothing else."""
        del columns, given
        return True

    def fitting(self, examples: Examples) -> str:
        """The recipe for these examples if none is named."""
        if examples.labels is None:
            return "ridge"
        return "label-tree" if len(examples.labels.classes) >= MANY_LABELS else self.usual

    def usual_features(self) -> Block:
        """Words and pairs of words, weighted by tf-idf."""
        from linnaeus.features import Weighted, Words

        return Weighted(Words(ngrams=(1, 2)), "tfidf", "l2")

    def check(self, recipe: Recipe) -> None:
        """Refuse features and learners of other tasks."""
        from linnaeus.learners.linear.learner import Linear

        if not isinstance(recipe.features, Block):
            raise InputTypeError(f"features takes an extractor such as Words(), not {recipe.features!r}.")
        if capability(recipe.learner, LearnsRows) is None and not isinstance(recipe.learner, Linear):
            raise InputTypeError(f"learner takes a learner such as Linear(), not {recipe.learner!r}.")

    # Data

    def open(self, data: str, given: Given, usual: Given, labeled: bool = True) -> Corpus:
        """The rows of files; without labels, standard input without a format is lines."""
        from linnaeus.data.corpus import read_usual

        given = dict(given)
        if not labeled:
            given.setdefault("label", "")
            if data == "-":
                given.setdefault("format", "lines")
        return read_usual(data, usual, **given)

    def of_text(self, text: str) -> Corpus:
        """One text as data."""
        from linnaeus.data import read

        return read([text])

    def described(self, source: Corpus) -> str:
        """Which columns hold what."""
        kinds = {"one": "one label for each row", "many": "sets of labels", "numeric": "numbers", "none": "no labels"}
        return f"{source.roles.describe()}, {kinds[source.kind]}"

    def explained(self, source: Corpus, rows: int) -> Iterator[tuple[Batch, int]]:
        """The first rows, one by one."""
        batch = source.head(rows).batch()
        return ((batch.slice(i, 1), 0) for i in range(len(batch)))

    def material(self, source: Source) -> Stream:
        """Texts as a stream of batches."""
        return as_stream(source)

    def labeled(self, source: Source) -> Iterator[Batch]:
        """Labeled rows, batch by batch."""
        return labeled_stream(source).batches()

    # Training

    def examples(self, source: Source, truth: str | None = None) -> Examples:
        """Labeled texts: a corpus, or anything that `linnaeus.read` takes."""
        del truth
        return as_examples(source)

    def meant(self, examples: Examples) -> AnyTask:
        """The task of these examples: numbers are a regression."""
        return Regress() if examples.labels is None else self

    def refuse_examples(self, examples: Examples) -> None:
        """Refuse texts and labels that look swapped."""
        from linnaeus.tasks.classify.label_checks import refuse_swapped

        refuse_swapped(examples)

    def keys(self, stream: Stream, features: Block | None = None) -> Words64 | None:
        """A key for each text, which is that of equal texts."""
        return text_keys(stream, features)

    def groups(self, examples: Examples, by: str) -> Longs:
        """The values of this column as groups, which are held out together."""
        return column_groups(examples, by)

    def contents(self, examples: Examples) -> Iterator[bytes | memoryview]:
        """Texts, labels and weights as bytes."""
        return contents(examples)

    def lesson(self, recipe: Recipe, examples: Examples) -> RowsLesson:
        """Features and rows of the examples, and the problem to solve."""
        from linnaeus.tasks.rows import RowsLesson

        return RowsLesson(recipe, examples)

    def settle(self, model: Model, examples: Examples, held: Held | None) -> Model:
        """The model with its decision, and its evaluation on held-out rows."""
        from linnaeus.tasks.classify.settling import settle

        return settle(model, examples, held)

    def audited(self, data: str, given: Given) -> Corpus:
        """The rows themselves."""
        from linnaeus.data.corpus import read_usual

        return read_usual(data, {}, **given)

    # The model

    def restore(self, state: State, functions: Functions | None) -> Fitted:
        """The fitted features again."""
        from linnaeus.features.restore import restore

        return restore(state, functions)

    def check_model(self, model: Model) -> None:
        """Refuse a model that cannot answer."""
        from linnaeus.tasks.classify.model_check import check_answers

        check_answers(model)

    def predict(self, model: Model, material: Stream, abstain: Abstain = None) -> Array:
        """A label, or a tuple of labels, for each text; None where the model abstains."""
        S, known = self.scores(model, material), answers.known(model, material)
        return answers.spoken(model, answers.decide(model, S, abstain, known))

    def scores(self, model: Model, material: Stream | Batch) -> Doubles:
        """Class scores: (n, 1) for two classes, (n, k) for more or for label sets."""
        return model.class_scores(model.raw_scores(material))

    def probabilities(self, model: Model, material: Stream | Batch) -> Doubles:
        """Calibrated class probabilities (n, k), in the order of `classes`."""
        return model.decided().probabilities(self.scores(model, material))

    def rank(self, model: Model, material: Stream, count: int) -> list[list[tuple[Label, float]]]:
        """The most probable classes of each text, best first, with their probabilities."""
        return prediction.ranked(model, self.probabilities(model, material), count)

    def single(self, model: Model) -> Callable[[str], Prediction] | None:
        """A quick answer to one text, if there is one."""
        return prediction.single(model)

    def refuse_wish(self, wish: Wish) -> None:
        """Refuse what this task cannot give: nothing."""

    def columns(self, model: Model, batch: Batch, wish: Wish) -> pa.RecordBatch:
        """The kept columns, `label`, `probability`, and what else is wished."""
        return answers.answers(model, self.staged(model, batch), wish)

    def observe(self, model: Model, batch: Batch, abstain: Abstain = None) -> Outcome:
        """Predictions for a batch, and its labels."""
        return answers.outcome(model, self.staged(model, batch), abstain)

    def staged(self, model: Model, batch: Batch) -> Batch:
        """The batch with the answers of earlier stages as columns."""
        return next(iter(model.ready(batch).batches())) if model.stages else batch

    def truth_of(self, batch: Batch) -> pa.Array | None:
        """The labels of a batch."""
        return batch.labels

    def known_labels(self, model: Model) -> tuple[str, ...] | None:
        """The labels that the model knows; None for numbers."""
        return None if model.classes is None else model.names

    def columns_of(self, batch: Batch) -> Mapping[str, pa.Array]:
        """What rows can be compared by: their columns, and the `length` of texts."""
        return batch.columns if batch.text is None else {"length": batch.text, **batch.columns}

    def evaluated(self, model: Model) -> Evaluated:
        """What is evaluated, as `linnaeus.evaluation.KINDS` calls it."""
        return "single" if model.form == "single" else "sets"

    def reasons(self, model: Model, row: Source, at: int, classes: Sequence[Label], search: Flips) -> Explanation:
        """What each part of a text adds to the score of its class."""
        from linnaeus.explain import as_row

        del at
        return answers.reasons(model, self.staged(model, as_row(row)), classes, search)


@dataclass(frozen=True)
class Regress(Classify):
    """One number for each text, or several. Everything but the answers is as for classes.

    >>> Regress().name
    'regress'
    """

    name: ClassVar[str] = "regress"
    models: ClassVar[str] = "regressions of texts"
    data: ClassVar[str] = "texts with numbers"
    usual: ClassVar[str] = "ridge"
    heading: ClassVar[str] = "for numbers"
    kin: ClassVar[tuple[str, ...]] = ()
    forms: ClassVar[tuple[str, ...]] = ("numbers",)
    named: ClassVar[bool] = False

    def check(self, recipe: Recipe) -> None:
        """Refuse features and learners of other tasks, and abstention."""
        super().check(recipe)
        if recipe.decision.abstain is not None:
            raise UsageError("Abstaining needs classes; a regression predicts numbers.")

    def recognize(self, columns: Mapping[str, bool], given: Given) -> bool:
        """Never by columns: labels that are numbers show it."""
        del columns, given
        return False

    def open(self, data: str, given: Given, usual: Given, labeled: bool = True) -> Corpus:
        """The rows of files, whose labels are numbers."""
        return super().open(data, {"label_kind": "numeric", **given} if labeled else given, usual, labeled)

    def meant(self, examples: Examples) -> Classify:
        """The task of these examples: labels that are no numbers are classes."""
        return self if examples.labels is None else Classify()

    def predict(self, model: Model, material: Stream, abstain: Abstain = None) -> Array:
        """A number for each text, or a row of numbers."""
        if abstain is not None:
            raise UsageError("Abstaining needs classes; this model predicts numbers.")
        S = self.scores(model, material)
        return S[:, 0] if S.shape[1] == 1 else S

    def refuse_wish(self, wish: Wish) -> None:
        """Refuse what numbers cannot give."""
        if wish.top:
            raise UsageError("The best answers need classes; this model predicts numbers.")
        if wish.abstain is not None:
            raise UsageError("Abstaining needs classes; this model predicts numbers.")
        if wish.scope:
            raise UsageError(NO_CLASSES)

    def evaluated(self, model: Model) -> Evaluated:
        """What is evaluated, as `linnaeus.evaluation.KINDS` calls it."""
        del model
        return "numbers"

    def rank(self, model: Model, material: Stream, count: int) -> list[list[tuple[Label, float]]]:
        """Refused: there are no classes to rank."""
        raise UsageError(NO_CLASSES)
