"""`RankRecipe`: everything that training a ranker needs except data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.features import Exact, Words
from linnaeus.features.pairs import Crossed, Joined, Match, Measured, PairBlock
from linnaeus.features.restore import Functions, bound
from linnaeus.frozen import dataclass
from linnaeus.learners.linear.learner import Linear
from linnaeus.recipes import codec
from linnaeus.recipes.paths import change
from linnaeus.recipes.toml import to_toml
from linnaeus.recipes.tuning import Tuning
from linnaeus.types import Json

if TYPE_CHECKING:
    from linnaeus.model.ranker import RankModel

NONES = ("never", "option")
"""Whether "none of these" may be chosen."""


def plain_pairs() -> PairBlock:
    """Features that need only texts: name matches, and pairs of text words and candidate words."""
    left, right = (Words(terms=Exact(max_terms=most), values="binary", length="l2") for most in (5000, 500))
    return Joined((Measured((Match(),)), Crossed(left, right)))


@dataclass(frozen=True, kw_only=True)
class RankRecipe:
    """Pair features, learner, tuning and random seed. The model chooses the candidate with the largest w . f(x, y).

    `learner` takes any structured loss (log, softmargin, hinge, perceptron), with the costs in the data. `tuning` tries
    strengths on held-out examples; examples with the same value in the column `by` (a story, a document) stay together.
    `none="option"` adds "none of these" to every example; it is right if no candidate is.

    >>> RankRecipe(learner=Linear(loss="hinge")).changed({"none": "option"}).none
    'option'
    """

    pairs: PairBlock = field(default_factory=plain_pairs)
    learner: Any = field(default_factory=Linear)
    tuning: Tuning | None = None
    by: str | None = None
    none: str = "never"
    seed: int = 0

    def __post_init__(self) -> None:
        expect("seed", self.seed, int)
        if not isinstance(self.pairs, PairBlock):
            raise InputTypeError(f"pairs takes pair features such as Measured((Match(),)), not {self.pairs!r}.")
        if not isinstance(self.learner, Linear):
            raise InputTypeError(f"Candidates are ranked by a Linear(...) learner, not {self.learner!r}.")
        if not hasattr(self.learner.loss, "upper"):
            name = type(self.learner.loss).__name__
            raise UsageError(f"Candidates take the losses log, softmargin, hinge and perceptron, not {name}.")
        if self.none not in NONES:
            raise UsageError(f"none is one of {', '.join(NONES)}, not {self.none!r}.")

    def fit(self, groups: Any, progress: Any = None) -> RankModel:
        """Train on `Groups`, or on anything that `read_groups` reads; `progress` is called with each `Phase`."""
        from linnaeus.training.ranking import train_groups

        return train_groups(self, groups, progress)

    def changed(self, changes: Mapping[str, Any]) -> RankRecipe:
        """The recipe with new values, by path: `learner.loss`, `regularizer.strength`, `pairs.parts.0.standing`."""
        found: RankRecipe = change(self, changes, ("learner", "tuning"))
        return found

    def to_json(self) -> dict[str, Json]:
        """The whole recipe as plain data."""
        return {part.name: codec.encode(getattr(self, part.name)) for part in fields(self)}

    def to_toml(self) -> str:
        """The whole recipe as TOML."""
        return to_toml(codec.spoken(self.to_json()))

    @classmethod
    def from_json(cls, value: Mapping[str, Json], functions: Functions | None = None) -> RankRecipe:
        """A recipe from plain data; what is missing has its default. `functions` are those that its features name."""
        if not isinstance(value, Mapping):
            raise UsageError("A recipe is a table with the entries pairs, learner, tuning, by, none and seed.")
        found: RankRecipe = codec.build(cls, bound(value, functions), "recipe")
        return found
