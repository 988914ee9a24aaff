"""`Classify`: classes or label sets of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from linnaeus.errors import InputTypeError
from linnaeus.frozen import dataclass
from linnaeus.protocols import LearnsRows, capability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa
    from numpy.typing import NDArray

    from linnaeus.data import Batch, Corpus
    from linnaeus.evaluation import Outcome
    from linnaeus.explain import Explanation
    from linnaeus.features import Block, Fitted
    from linnaeus.learners.linear import Linear
    from linnaeus.model.model import Model
    from linnaeus.protocols import Stream
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.classify.answers import Wish
    from linnaeus.tasks.examples import Examples, Held
    from linnaeus.tasks.rows import RowsLesson
    from linnaeus.tasks.sources import Given
    from linnaeus.types import Doubles, State


@dataclass(frozen=True)
class Classify:
    """One class for each text, or a set of labels.

    >>> Classify().name
    'classify'
    """

    name: ClassVar[str] = "classify"
    models: ClassVar[str] = "classifiers of texts"
    data: ClassVar[str] = "texts with labels"
    usual: ClassVar[str] = "default"
    stacks: ClassVar[bool] = True
    texts: ClassVar[bool] = True
    commands: ClassVar[tuple[str, ...]] = (
        "predict {model} new.csv -o answers.csv",
        "test {model} test.csv",
        'explain {model} "a text of yours"',
        "inspect {model}",
    )

    # The recipe

    def recognize(self, columns: Mapping[str, bool], text: str | None) -> bool:
        """Whether data with these columns (and whether each holds lists) are of this task: texts, if nothing else."""
        del columns, text
        return True

    def fitting(self, examples: Examples) -> str:
        """The recipe for these examples if none is named."""
        return self.usual if examples.labels is not None else "ridge"

    def usual_features(self) -> Block:
        """Words and pairs of words, weighted by tf-idf."""
        from linnaeus.features import Weighted, Words

        return Weighted(Words(ngrams=(1, 2)), "tfidf", "l2")

    def usual_learner(self) -> Linear:
        """The linear engine."""
        from linnaeus.learners.linear.learner import Linear

        return Linear()

    def check(self, recipe: Recipe) -> None:
        """Refuse features and learners of other tasks."""
        from linnaeus.features.base import Block
        from linnaeus.learners.linear.learner import Linear

        if not isinstance(recipe.features, Block):
            raise InputTypeError(f"features takes an extractor such as Words(), not {recipe.features!r}.")
        if capability(recipe.learner, LearnsRows) is None and not isinstance(recipe.learner, Linear):
            raise InputTypeError(f"learner takes a learner such as Linear(), not {recipe.learner!r}.")

    # Data

    def examples(self, source: Any, truth: str | None = None) -> Examples:
        """Labeled texts: a corpus, or anything that `linnaeus.read` takes."""
        from linnaeus.tasks.examples import as_examples

        del truth
        return as_examples(source)

    def open(self, data: str, given: Given, usual: Given, labeled: bool = True) -> Corpus:
        """The rows of files; the columns of `usual` have the same roles here, if the data have them."""
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

    def meant(self, examples: Examples) -> Any:
        """The task of these examples: numbers are a regression."""
        if examples.labels is not None:
            return self
        from linnaeus.tasks.regress import Regress

        return Regress()

    def material(self, source: Any) -> Stream:
        """Texts as a stream of batches."""
        from linnaeus.features.base import as_stream

        return as_stream(source)

    def keyed(self, examples: Examples, features: Any) -> Examples:
        """With a key for each text, which is that of equal texts."""
        return examples.keyed(features)

    def sound(self, examples: Examples) -> Examples:
        """The examples, if their texts and labels do not look swapped."""
        from linnaeus.tasks.classify.label_checks import refuse_swapped

        refuse_swapped(examples)
        return examples

    def grouped(self, examples: Examples, by: str) -> Examples:
        """With the values of this column as groups, which are held out together."""
        from linnaeus.tasks.examples import grouped

        return grouped(examples, by)

    def contents(self, examples: Examples) -> Iterator[bytes]:
        """Texts, labels and weights as bytes."""
        from linnaeus.tasks.examples import contents

        return contents(examples)

    def sizes(self, examples: Examples) -> dict[str, int]:
        """What is counted besides rows: nothing."""
        del examples
        return {}

    # Training

    def lesson(self, recipe: Recipe, examples: Examples) -> RowsLesson:
        """Features and rows of the examples, and the problem to solve."""
        from linnaeus.tasks.rows import RowsLesson

        return RowsLesson(recipe, examples)

    def settle(self, model: Model, examples: Examples, held: Held | None) -> Model:
        """The model with its decision, and its evaluation on held-out rows."""
        from linnaeus.tasks.classify.settling import settle

        return settle(model, examples, held)

    # The model

    def restore(self, state: State, functions: Any) -> Fitted:
        """The fitted features again."""
        from linnaeus.features.restore import restore

        return restore(state, functions)

    def predict(self, model: Model, material: Stream, abstain: Any = None) -> NDArray[Any]:
        """A label, or a tuple of labels, for each text; None where the model abstains."""
        from linnaeus.tasks.classify.answers import decide, known, spoken

        return spoken(
            model, decide(model, model.class_scores(model.raw_scores(material)), abstain, known(model, material))
        )

    def scores(self, model: Model, material: Stream) -> Doubles:
        """Class scores: (n, 1) for two classes, (n, k) for more or for label sets."""
        return model.class_scores(model.raw_scores(material))

    def probabilities(self, model: Model, material: Stream) -> Doubles:
        """Calibrated class probabilities (n, k), in the order of `classes`."""
        return model.decided().probabilities(self.scores(model, material))

    def rank(self, model: Model, material: Stream, count: int) -> list[list[tuple[Any, float]]]:
        """The most probable classes of each text, best first, with their probabilities."""
        from linnaeus.tasks.classify.prediction import ranked

        return ranked(model, self.probabilities(model, material), count)

    def single(self, model: Model) -> Callable[[str], Any] | None:
        """A quick answer to one text, if there is one."""
        from linnaeus.tasks.classify.prediction import single

        return single(model)

    def units(self, model: Model, source: Corpus) -> Iterator[Batch]:
        """The rows in pieces that can be answered by themselves."""
        del model
        return source.batches()

    def refuse_wish(self, wish: Wish) -> None:
        """Refuse what this task cannot give: nothing."""

    def columns(self, model: Model, batch: Batch, wish: Wish) -> pa.RecordBatch:
        """The kept columns, `label`, `probability`, and what else is wished."""
        from linnaeus.tasks.classify.answers import answers

        return answers(model, self.staged(model, batch), wish)

    def labeled(self, source: Any) -> Iterator[Batch]:
        """Labeled rows, batch by batch."""
        from linnaeus.tasks.examples import labeled_stream

        return labeled_stream(source).batches()

    def observe(self, model: Model, batch: Batch, abstain: Any = None) -> Outcome:
        """Predictions for a batch, and its labels."""
        from linnaeus.tasks.classify.answers import outcome

        return outcome(model, self.staged(model, batch), abstain=abstain)

    def staged(self, model: Model, batch: Batch) -> Batch:
        """The batch with the answers of earlier stages as columns."""
        return next(iter(model.ready(batch).batches())) if model.stages else batch

    def truth_of(self, batch: Batch) -> Any:
        """The labels of a batch."""
        return batch.labels

    def known_labels(self, model: Model) -> Iterable[str] | None:
        """The labels that the model knows; None for numbers."""
        return None if model.classes is None else model.names

    def columns_of(self, batch: Batch) -> dict[str, Any]:
        """What rows can be compared by: their columns, and the `length` of texts."""
        return batch.columns if batch.text is None else {"length": batch.text, **batch.columns}

    def evaluated(self, model: Model) -> str:
        """What is evaluated, as `linnaeus.evaluation.KINDS` calls it."""
        return "single" if model.form == "single" else "sets"

    def reasons(self, model: Model, row: Any, at: int, classes: Any, search: Any) -> Explanation:
        """What each part of a text adds to the score of its class."""
        from linnaeus.explain import as_row
        from linnaeus.tasks.classify.reasons import reasons

        del at
        return reasons(model, self.staged(model, as_row(row)), classes, search)
