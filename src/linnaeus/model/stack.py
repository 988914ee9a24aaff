"""`StackModel`: the trained stages of a pipeline, from a text or a sentence to the prediction of the last stage."""

from __future__ import annotations

import os
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from linnaeus.data.sentences import Sentences
from linnaeus.frozen import dataclass
from linnaeus.model.stack_answers import answered, answers_of
from linnaeus.model.stack_material import Texts, of_sentences
from linnaeus.model.summary import model_repr

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.features.restore import Functions
    from linnaeus.recipes.stack_recipe import StackRecipe
    from linnaeus.types import Json


@dataclass(frozen=True, eq=False, repr=False)
class StackModel:
    """Models in order; each gets the predictions of the earlier ones.

    >>> from linnaeus import Recipe
    >>> from linnaeus.features import Field, Words
    >>> from linnaeus.recipes.stack_recipe import Stage, StackRecipe
    >>> from linnaeus.recipes.tag_recipe import TagRecipe
    >>> tagged = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]]
    >>> topic = Recipe(features=Words() | Field("pos.tags", Words(tokenizer="whitespace")))
    >>> stack = StackRecipe((Stage("pos", TagRecipe()), Stage("topic", topic)))
    >>> model = stack.fit({"pos": tagged, "topic": [("dogs bark", "loud"), ("cats sleep", "calm")]})
    >>> model.predict(["the dogs bark"]).tolist()
    ['loud']
    """

    plan: StackRecipe | dict[str, Json]
    models: tuple[Any, ...]
    facts: dict[str, Json] = field(default_factory=dict)

    def __repr__(self) -> str:
        return model_repr(self, {"stages": ", ".join(f"{stage.name} ({stage.task})" for stage in self.recipe.stages)})

    @cached_property
    def recipe(self) -> StackRecipe:
        """The recipe of the model."""
        from linnaeus.model.file import refusing
        from linnaeus.recipes.stack_recipe import StackRecipe

        with refusing():
            return StackRecipe.from_json(self.plan) if isinstance(self.plan, dict) else self.plan

    @property
    def last(self) -> Any:
        """The last model; its predictions are those of the pipeline."""
        return self.models[-1]

    @property
    def task(self) -> str:
        """What the last stage does: "tag" or "classify"."""
        return self.recipe.stages[-1].task

    def predict(self, source: Any) -> Any:
        """Predict the label of each text, or the tags of each sentence, with the last stage."""
        if self.task == "tag":
            said: list[list[str]] = self.last.tag(self.ready_sentences(source))
            return said
        return self.last.predict(self.ready(source))

    def explain(self, text: Any, position: int = 0) -> Any:
        """Explain the label of a text with the last stage; predictions of earlier stages appear by name.

        If the last stage tags, explain the tag of the token at this position of a sentence.
        """
        if self.task == "tag":
            return self.last.explain(self.ready_sentences(text if isinstance(text, Sentences) else [text]), position)
        batch = self.ready([text] if isinstance(text, str) else text)
        return self.last.explain(batch)

    def ready(self, source: Any) -> Batch:
        """Texts with the predictions of earlier stages as columns, for the last stage."""
        ready: Batch = self._run(Texts.of(source)).batch()
        return ready

    def ready_sentences(self, source: Any) -> Sentences:
        """Sentences with the predictions of earlier stages as columns, for the last stage."""
        ready: Sentences = self._run(of_sentences(source, tagged=False)).sentences
        return ready

    def _run(self, rows: Any) -> Any:
        for stage, model in zip(self.recipe.stages[:-1], self.models[:-1], strict=True):
            rows = answered(stage, model, rows, answers_of(stage, model, rows))
        return rows

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write all stages to one file, in one step; `force` replaces an existing file."""
        from linnaeus import store
        from linnaeus.model.stack_file import state_of

        store.save(path, state_of(self), force)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], functions: Functions | None = None, verify: bool | None = None
    ) -> StackModel:
        """Load a pipeline from a file that `save` wrote; a damaged file raises an error."""
        from linnaeus import store
        from linnaeus.model.stack_file import stack_of

        return stack_of(store.load(path, verify), functions)
