"""`Task`: the questions that everything else asks a task, with the usual answers; a task says what differs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeAlias, TypeVar

from linnaeus.errors import DataError, UsageError
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Doubles, Label, Longs, Source, State, Words64

if TYPE_CHECKING:
    import pyarrow as pa

    from linnaeus.data.corpus import Corpus
    from linnaeus.data.split import Split
    from linnaeus.decision.abstention import Abstention
    from linnaeus.evaluation import Facts, Outcome, outcome
    from linnaeus.explain import Explanation, Search
    from linnaeus.features.restore import Functions
    from linnaeus.learners.run import Run
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.classify.prediction import Prediction
    from linnaeus.tasks.examples import Examples, Held, Learned, Leg

    Evaluated: TypeAlias = outcome.Task
    Abstain: TypeAlias = str | Abstention | None
    Flips: TypeAlias = Search | Literal["default"] | None

Given: TypeAlias = Mapping[str, Any]
"""Arguments of `linnaeus.read` that were given."""

NO_TOKENS = "Answers of this model are not about tokens; use plain `linnaeus predict`."
CAN_UPDATE = "Models that count, linear models of texts, label trees and models of sentences can be updated"

Material = TypeVar("Material")
Batch = TypeVar("Batch")


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What is wanted besides the label: so many classes by rank, when to abstain, columns of the input to keep.

    With `scope` also how unlike the training rows each row is, from 0 to 1.

    >>> Wish(top=3).top
    3
    """

    top: int = 0
    abstain: Abstain = None
    keep: tuple[str, ...] = ()
    scope: bool = False

    @property
    def plain(self) -> bool:
        """Nothing but the label and its probability."""
        return not self.top and self.abstain is None and not self.scope

    def __post_init__(self) -> None:
        if self.top < 0:
            raise UsageError(f"top is the number of classes to show, at least 0, not {self.top}.")


class TaskLesson(Protocol):
    """What a task makes of its examples and a recipe: features, and a problem that learners can solve."""

    features: Any

    @property
    def folds(self) -> int:
        """The number of folds for data of this size; 1 holds out a share once."""
        return 5

    def enough(self, rows: int, groups: int) -> bool:
        """Whether some of so many examples, which stay together in so many groups, can be held out."""
        del rows
        return groups > 1

    def legs(self, split: Split, strengths: Collection[float], run: Run) -> Iterator[Leg]:
        """For each strength the answers to held-out examples by a model of the others, and how good they are.

        `run` tells of progress within a training, and keeps its checkpoint.
        """

    def learn(self, learner: Any, run: Run) -> Learned:
        """The fields of the model of all examples; `run` tells of progress and keeps a checkpoint."""


class Task(Protocol[Material, Batch]):
    """What an example is, what its truth is, and how an answer is said. Everything else asks the task.

    `Material` is what a model answers, `Batch` a part of opened data. `model`, `models`, `data` and `usual` are for
    messages: what one and several of its models are called, what they learn from, its usual recipe; `heading` stands
    above the list of its recipes. `doubtful` are the answers that a model may abstain from. `stacks` says whether its
    answers can be columns of later stages, `texts` whether its examples are rows of text, `tokens` whether they are
    sentences of tokens, `goes_on` whether `more` does its updates. `kin` are tasks whose recipes `fitting` may name,
    too. `forms` are the forms that labels of its models have, and `named` says whether its models have a list of the
    names of all labels. `suffix` is that of files of its `lines`. `commands` are what to try next with a model.
    """

    name: ClassVar[str]
    model: ClassVar[str] = "model"
    models: ClassVar[str]
    data: ClassVar[str]
    usual: ClassVar[str]
    heading: ClassVar[str]
    doubtful: ClassVar[str] = "answers"
    stacks: ClassVar[bool] = True
    texts: ClassVar[bool] = False
    goes_on: ClassVar[bool] = True
    kin: ClassVar[tuple[str, ...]] = ()
    tokens: ClassVar[bool] = False
    forms: ClassVar[tuple[str, ...]]
    named: ClassVar[bool] = True
    suffix: ClassVar[str] = ""
    commands: ClassVar[tuple[str, ...]]

    @property
    def spans(self) -> bool:
        """Whether its answers mark spans of tokens."""
        return False

    # The recipe

    def recognize(self, columns: Mapping[str, bool], given: Given) -> bool:
        """Whether data with these columns (and whether each holds lists) look like this task.

        `given` has the columns that were named: `text` and `label`.
        """

    def fitting(self, examples: Examples) -> str:
        """The recipe for these examples if none is named."""

    def usual_features(self) -> object:
        """The features of a recipe that names none."""

    def usual_learner(self) -> object:
        """The learner of a recipe that names none: the linear engine."""
        from linnaeus.learners.linear.learner import Linear

        return Linear()

    def with_columns(self, features: Any, columns: Sequence[str]) -> Any:
        """The features where only these columns are sure to be beside the texts or tokens; others may be optional."""
        del columns
        return features

    def alone(self) -> AnyTask:
        """The task of the last stage of a pipeline where the earlier ones have done their part."""
        return self

    def check(self, recipe: Recipe) -> None:
        """Refuse a recipe whose pieces are for other tasks: here those that only texts have."""
        from linnaeus.decision import Decision

        if recipe.keep != "nothing":
            raise UsageError(f"A {self.model} keeps no texts; keep is for classifiers of texts.")
        if recipe.decision != Decision():
            raise UsageError(
                f"A {self.model} has no decision to set; to abstain from unsure {self.doubtful}, ask for it in predict."
            )

    # Data

    def open(self, data: str, given: Given, usual: Given, labeled: bool = True) -> Source:
        """The data that a command names, in batches; the columns of `usual` have the same roles, if they are there."""

    def of_text(self, text: str) -> Source:
        """One text as data."""

    def described(self, source: Source) -> str:
        """Which columns of the data hold what."""

    def explained(self, source: Source, rows: int) -> Iterator[tuple[Batch, int]]:
        """The first examples of opened data to explain, each with the place in it."""

    def material(self, source: Source) -> Material:
        """Examples without truth, as the model takes them."""

    def units(self, model: Model, source: Source) -> Iterator[Batch]:
        """Opened data in pieces that can be answered by themselves."""
        del model
        return iter(source.batches())

    def labeled(self, source: Source) -> Iterator[Batch]:
        """Examples with their truth, in batches."""

    # Training

    def examples(self, source: Source, truth: str | None = None) -> Examples:
        """What is learned from; `truth` names the column of the truth."""

    def meant(self, examples: Examples) -> AnyTask:
        """The task that these examples are of: labels that are numbers make a regression."""
        del examples
        return self

    def refuse_examples(self, examples: Examples) -> None:
        """Refuse examples about which something is wrong."""
        return

    def keys(self, stream: Any, features: Any) -> Words64 | None:
        """A number for each example of a stream, which is that of equal examples; None where they cannot be equal."""

    def groups(self, examples: Examples, by: str) -> Longs:
        """The values of a column as groups, which are held out together."""

    def contents(self, examples: Examples) -> Iterator[bytes | memoryview]:
        """What tells these examples from others."""

    def sizes(self, examples: Examples) -> dict[str, int]:
        """What is counted besides examples: tokens, candidates."""
        del examples
        return {}

    def lesson(self, recipe: Recipe, examples: Examples) -> TaskLesson:
        """Features, rows and the problem to solve."""

    def settle(self, model: Model, examples: Examples, held: Held | None) -> Model:
        """The model with what is learned from held-out examples: its decision and its evaluation."""
        from linnaeus.tasks.judging import with_held_out_evaluation

        return with_held_out_evaluation(model, examples, held)

    def more(self, model: Model, examples: Examples, run: Run) -> Learned:
        """The fields of the model after more examples; refused where models of this task cannot go on learning."""
        raise UsageError(f"{CAN_UPDATE}, but not {self.models}.")

    def less(self, model: Model, labels: Sequence[Label]) -> Learned:
        """The fields of the model without these labels; refused where models of this task cannot lose any."""
        raise UsageError(f"Labels can be removed from a label tree only, not from {self.models}.")

    def audited(self, data: str, given: Given) -> Corpus:
        """The examples that a command names as texts with labels, for `check`."""
        what = "standard input" if data == "-" else data
        raise DataError(f"{what} holds {self.data}; `check` reads texts: name their column with --text.")

    # The model

    def restore(self, state: State, functions: Functions | None) -> object:
        """The fitted features of a file."""

    def check_model(self, model: Model) -> None:
        """Refuse a model of a file whose parts do not fit each other in ways that only this task knows."""

    def scores(self, model: Model, material: Material) -> Doubles:
        """The scores behind the answers."""

    def predict(self, model: Model, material: Material, abstain: Abstain = None) -> Sequence[Label] | Array:
        """What is said about each example; None where the model abstains."""

    def probabilities(self, model: Model, material: Material) -> Doubles:
        """Probabilities of all possible answers."""

    def rank(self, model: Model, material: Material, count: int) -> list[list[tuple[Label, float]]]:
        """The best answers to each example, best first."""

    def single(self, model: Model) -> Callable[[str], Prediction] | None:
        """A quick answer to one text, if there is one."""
        del model
        return None

    def several(self, model: Model, texts: list[str], top: int) -> list[Prediction]:
        """The answers to texts as records, with the `top` best answers by rank."""
        from linnaeus.tasks.classify.prediction import predictions

        return predictions(model, texts, top)

    def refuse_wish(self, wish: Wish) -> None:
        """Refuse what the answers of this task cannot have."""
        if wish.scope:
            raise UsageError(f"A {self.model} has no out-of-scope scores; leave out --scope.")

    def columns(self, model: Model, batch: Batch, wish: Wish) -> pa.RecordBatch:
        """The answers to a batch as Arrow columns."""

    def lines(self, batch: pa.RecordBatch) -> str:
        """The answers of `columns` as lines of tokens."""
        raise UsageError(NO_TOKENS)

    def said(self, sentences: Material, answers: Sequence[Label]) -> dict[str, pa.Array]:
        """What a later stage sees of answers to sentences: columns with a string for each token, by suffix of the name.

        Only tasks over tokens are asked.
        """
        raise UsageError(f"A {self.model} says nothing of single tokens.")

    def observe(self, model: Model, batch: Batch, abstain: Abstain = None) -> Outcome | Facts:
        """What evaluation needs to know of the answers to a batch, and of its truth."""

    def truth_of(self, batch: Batch) -> pa.Array | None:
        """The labels of a batch, as names; None where they have none."""
        del batch
        return None

    def known_labels(self, model: Model) -> Iterable[str] | None:
        """The labels that a model knows, as names; None where they have none."""
        del model
        return None

    def columns_of(self, batch: Batch) -> Mapping[str, pa.Array]:
        """What the examples of a batch can be compared by."""

    def evaluated(self, model: Model) -> Evaluated:
        """What is evaluated, as `linnaeus.evaluation.KINDS` calls it."""

    def reasons(self, model: Model, row: Source, at: int, classes: Sequence[Label], search: Flips) -> Explanation:
        """Why this is the answer."""


AnyTask: TypeAlias = Task[Any, Any]
"""A task, whatever its examples are."""
