"""`ManyLabels`: the best of very many labels for each text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from linnaeus.errors import InputTypeError, UsageError, damaged
from linnaeus.features.base import Block
from linnaeus.frozen import dataclass
from linnaeus.learners.base import RowLearner
from linnaeus.protocols import RanksLabels, Stream, capability
from linnaeus.tasks.base import AnyTask, Given, Wish
from linnaeus.tasks.classify.prediction import Prediction
from linnaeus.tasks.classify.task import Classify
from linnaeus.tasks.examples import Examples, Held, Learned
from linnaeus.types import Array, Doubles, Label, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from linnaeus.data import Batch
    from linnaeus.evaluation import Facts
    from linnaeus.explain import Explanation
    from linnaeus.learners.run import Run
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.base import Abstain, Evaluated, Flips
    from linnaeus.tasks.many.learning import ManyLesson


@dataclass(frozen=True)
class ManyLabels(Classify):
    """The best of very many labels for each text: one, or a set. Only the best labels have scores and probabilities.

    >>> ManyLabels().name
    'many'
    """

    name: ClassVar[str] = "many"
    models: ClassVar[str] = "models of many labels"
    data: ClassVar[str] = "texts with very many different labels"
    usual: ClassVar[str] = "label-tree"
    heading: ClassVar[str] = "for very many labels"
    named: ClassVar[bool] = False
    goes_on: ClassVar[bool] = True

    # The recipe

    def recognize(self, columns: Mapping[str, bool], given: Given) -> bool:
        """Never by columns: the number of different labels shows it."""
        del columns, given
        return False

    def fitting(self, examples: Examples) -> str:
        """The recipe for these examples if none is named."""
        del examples
        return self.usual

    def usual_learner(self) -> object:
        """A label tree."""
        from linnaeus.learners.label_tree import LabelTree

        return LabelTree()

    def check(self, recipe: Recipe) -> None:
        """Refuse learners that do not rank labels, and decisions."""
        from linnaeus.decision import Decision
        from linnaeus.learners.label_tree import LabelTree

        if not isinstance(recipe.features, Block):
            raise InputTypeError(f"features takes an extractor such as Words(), not {recipe.features!r}.")
        if not isinstance(recipe.learner, LabelTree):
            what = type(recipe.learner).__name__ if isinstance(recipe.learner, RowLearner) else repr(recipe.learner)
            raise UsageError(f"A model of many labels is learned by LabelTree(), not by {what}.")
        if recipe.keep != "nothing":
            raise UsageError("A model of many labels keeps no texts; leave out keep.")
        if recipe.decision != Decision():
            raise UsageError("A model of many labels has no decision to set; to abstain, ask for it in predict.")

    # Training

    def meant(self, examples: Examples) -> AnyTask:
        """The same task, however many labels there are."""
        del examples
        return self

    def refuse_examples(self, examples: Examples) -> None:
        """Nothing: most labels may have one text."""

    def lesson(self, recipe: Recipe, examples: Examples) -> ManyLesson:
        """Rows of the examples, and their labels."""
        from linnaeus.tasks.many.learning import ManyLesson

        return ManyLesson(recipe, examples)

    def settle(self, model: Model, examples: Examples, held: Held | None) -> Model:
        """The model with chances that held-out rows teach, and its evaluation on them."""
        from linnaeus.tasks.many.learning import settle

        return settle(model, examples, held)

    def more(self, model: Model, examples: Examples, run: Run) -> Learned:
        """The model with more rows: new labels are added, known ones are learned again; the others stay."""
        from linnaeus.tasks.many.learning import more

        return more(model, examples)

    def less(self, model: Model, labels: Sequence[Label]) -> Learned:
        """The model without these labels."""
        from linnaeus.tasks.many.learning import less

        return less(model, labels)

    # The model

    def check_model(self, model: Model) -> None:
        """Refuse a model without a label tree, or with one for other features."""
        body = model.body
        if capability(body, RanksLabels) is None or body.width != model.features.width:
            raise damaged("its label tree does not fit its features")
        if body.counts.max() > model.facts.get("rows", -1):
            raise damaged("its labels have more rows than it was trained on")

    def predict(self, model: Model, material: Stream, abstain: Abstain = None) -> Array:
        """A label, or a tuple of labels, for each text; None where the model abstains."""
        from linnaeus.tasks.many import answers

        return answers.predicted(model, answers.best(model, material, 2), abstain)

    def scores(self, model: Model, material: Stream | Batch) -> Doubles:
        """Refused: there are too many labels for a score of each."""
        raise UsageError(
            "A model of many labels gives no score for every label; `rank` gives the best ones with their "
            "probabilities."
        )

    def probabilities(self, model: Model, material: Stream | Batch) -> Doubles:
        """Refused: there are too many labels for a probability of each."""
        return self.scores(model, material)

    def rank(self, model: Model, material: Stream, count: int) -> list[list[tuple[Label, float]]]:
        """The best labels of each text, best first, with their probabilities."""
        from linnaeus.tasks.many import answers

        return answers.ranked(model, answers.best(model, material, count), count)

    def single(self, model: Model) -> Callable[[str], Prediction] | None:
        """The answer to one text."""
        return None

    def several(self, model: Model, texts: list[str], top: int) -> list[Prediction]:
        """The answers to texts, as records."""
        from linnaeus.tasks.many import answers

        return answers.predictions(model, texts, top)

    def refuse_wish(self, wish: Wish) -> None:
        """Refuse what only scores of all labels could tell."""
        if wish.scope:
            raise UsageError("A model of many labels has no out-of-scope scores; leave out --scope.")

    def columns(self, model: Model, batch: Batch, wish: Wish) -> pa.RecordBatch:
        """The kept columns, `label` and `probability` (or lists of them), and `top` where wished."""
        from linnaeus.tasks.many import answers

        return answers.columns(model, self.staged(model, batch), wish)

    def observe(self, model: Model, batch: Batch, abstain: Abstain = None) -> Facts:  # type: ignore[override]
        """The best labels of a batch beside its own."""
        from linnaeus.tasks.many import answers

        return answers.observe(model, self.staged(model, batch), abstain)

    def known_labels(self, model: Model) -> None:
        """None: evaluation counts labels that the model does not know by itself."""

    def evaluated(self, model: Model) -> Evaluated:
        """What is evaluated, as `linnaeus.evaluation.KINDS` calls it."""
        del model
        return "many"

    def reasons(self, model: Model, row: Source, at: int, classes: Sequence[Label], search: Flips) -> Explanation:
        """What each part of a text adds to the score of its label, and of each branch that leads to it."""
        from linnaeus.explain import as_row
        from linnaeus.tasks.many.reasons import explained

        del at, search
        model.body.ready()
        return explained(model, self.staged(model, as_row(row)), classes)
