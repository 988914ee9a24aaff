"""`Recipe`: the whole experiment as nested frozen dataclasses, readable and writable as TOML and JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

from linnaeus.decision import Decision
from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.features import Block, Weighted, Words
from linnaeus.features.restore import Functions, bound
from linnaeus.frozen import dataclass
from linnaeus.learners.linear.learner import Linear
from linnaeus.recipes import codec
from linnaeus.recipes.paths import SHORT, change
from linnaeus.recipes.toml import read_table, to_toml
from linnaeus.recipes.tuning import Tuning
from linnaeus.types import Json

if TYPE_CHECKING:
    from linnaeus.model.model import Classifier

KEEPS = ("nothing", "texts")
"""What of the training data a recipe may keep in the model."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Features, learner, tuning, decision and random seed: everything that training needs except data.

    `keep` is "nothing" or "texts". "texts" stores the training texts in the model file, for `search` and for neighbors.

    >>> recipe = Recipe(learner=Linear(loss="hinge"))
    >>> recipe.changed({"regularizer.strength": 0.1}).learner.regularizer
    L2(strength=0.1)
    """

    features: Block = field(default_factory=lambda: Weighted(Words(ngrams=(1, 2)), "tfidf", "l2"))
    learner: Any = field(default_factory=Linear)
    tuning: Tuning | None = None
    decision: Decision = field(default_factory=Decision)
    keep: str = "nothing"
    seed: int = 0

    def __post_init__(self) -> None:
        expect("seed", self.seed, int)
        if self.seed < 0:
            raise UsageError(f"seed is a whole number from 0 up, not {self.seed}.")
        if self.keep not in KEEPS:
            raise UsageError(f"keep is one of {', '.join(KEEPS)}, not {self.keep!r}.")
        if not isinstance(self.features, Block):
            raise InputTypeError(f"features takes an extractor such as Words(), not {self.features!r}.")
        if not (hasattr(self.learner, "settings") or hasattr(self.learner, "learn")):
            raise InputTypeError(f"learner takes a learner such as Linear(), not {self.learner!r}.")

    def fit(self, corpus: Any, progress: Any = None) -> Classifier:
        """Train on a corpus, as `linnaeus.read` returns it; `progress` is called with the current step."""
        from linnaeus.training.train import train_corpus

        return train_corpus(self, corpus, progress)

    def changed(self, changes: Mapping[str, Any]) -> Recipe:
        """A copy of the recipe with new values, by path: `learner.loss`, `features.ngrams`, `features.blocks.0.values`.

        A path may leave out `learner`, `decision`, `tuning` or `features` if only one of them has its first name.
        """
        found: Recipe = change(self, changes, SHORT)
        return found

    def to_json(self) -> dict[str, Json]:
        """The whole recipe as plain data."""
        return {part.name: codec.encode(getattr(self, part.name)) for part in fields(self)}

    @classmethod
    def from_json(cls, value: Mapping[str, Json], functions: Functions | None = None) -> Recipe:
        """A recipe from plain data; what is missing has its default. `functions` are those that its features name."""
        if not isinstance(value, Mapping):
            raise UsageError("A recipe is a table with the entries features, learner, tuning, decision, keep and seed.")
        found: Recipe = codec.build(cls, bound(value, functions), "recipe")
        return found

    def to_toml(self) -> str:
        """The whole recipe as TOML, to keep with the data and to edit by hand."""
        return to_toml(codec.spoken(self.to_json()))

    @classmethod
    def read(cls, path: str | os.PathLike[str], functions: Functions | None = None) -> Recipe:
        """A recipe from a TOML or JSON file."""
        return cls.from_json(read_table(path), functions)
