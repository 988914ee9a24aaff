"""`Regress`: numbers of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.tasks.base import Given, Wish
from linnaeus.tasks.classify.task import Classify

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linnaeus.data import Corpus
    from linnaeus.model.model import Model
    from linnaeus.protocols import Stream
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.base import Abstain, Evaluated
    from linnaeus.tasks.examples import Examples
    from linnaeus.types import Array, Label

NO_CLASSES = "This model predicts numbers; it has no probabilities and no out-of-scope scores."


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

    def check(self, recipe: Recipe) -> None:
        """Refuse features and learners of other tasks, and abstention."""
        super().check(recipe)
        if recipe.decision.abstain is not None:
            raise UsageError("Abstaining needs classes; a regression predicts numbers.")

    def recognize(self, columns: Mapping[str, bool], text: str | None) -> bool:
        """Never by columns: labels that are numbers show it."""
        del columns, text
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
