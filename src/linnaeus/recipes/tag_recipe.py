"""`TagRecipe`: templates, learner and tag encoding of a tagger, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any

from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.features.tokens import Pair, Part, Templates, Window
from linnaeus.frozen import dataclass
from linnaeus.learners.chain.learner import Chain
from linnaeus.recipes import codec
from linnaeus.recipes.paths import change
from linnaeus.tasks.tag.encoding import ENCODINGS

if TYPE_CHECKING:
    from linnaeus.model.tagger import TagModel
    from linnaeus.types import Json


def plain_templates() -> Templates:
    """Word, lowercase word, shape, affixes, neighbors, and pairs with neighbors: a good default for most tags."""
    near = Window(("lower",), (-2, -1, 1, 2))
    affixes = tuple(f"lower.{side}{size}" for side in ("prefix", "suffix") for size in (1, 2, 3, 4))
    here = Window(("word", "lower", "shape", "caps", "digits", "hyphen", *affixes))
    beside = Window(("shape", "lower.suffix3"), (-1, 1))
    pairs = tuple(Pair(Part("lower", at), Part("lower", at + 1)) for at in (-1, 0))
    return Templates((here, near, beside, *pairs))


@dataclass(frozen=True, kw_only=True)
class TagRecipe:
    """Everything that training a tagger needs except sentences.

    `encoding` says what tags mean. With "plain" each tag is a class. With "bio" or "bioes" tags mark spans; the model
    learns them in that encoding and predicts only valid sequences. A word that occurs at least `dictionary` times in
    training, always with the same tag, keeps that tag; 0 turns this off.

    >>> TagRecipe().changed({"learner.epochs": 3}).learner.epochs
    3
    """

    templates: Templates = field(default_factory=plain_templates)
    learner: Any = field(default_factory=Chain)
    encoding: str = "plain"
    dictionary: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("seed", "dictionary"):
            expect(name, getattr(self, name), int)
            if getattr(self, name) < 0:
                raise UsageError(f"{name} is a whole number from 0 up, not {getattr(self, name)}.")
        if self.encoding not in ENCODINGS:
            raise UsageError(f"encoding is one of {', '.join(ENCODINGS)}, not {self.encoding!r}.")
        if self.dictionary and self.encoding != "plain":
            raise UsageError("A dictionary of words needs plain tags; entity tags depend on the context.")
        if not isinstance(self.templates, Templates):
            raise InputTypeError(f"templates takes Templates, not {self.templates!r}.")
        if not hasattr(self.learner, "learn_tags"):
            raise InputTypeError(f"learner takes a tag learner such as Chain(), not {self.learner!r}.")

    def fit(self, sentences: Any, progress: Any = None) -> TagModel:
        """Train on sentences with tags; `progress` is called with each `Phase`."""
        from linnaeus.training.tagging import train_tagger

        return train_tagger(self, sentences, progress)

    def changed(self, changes: Mapping[str, Any]) -> TagRecipe:
        """A copy of the recipe with new values, by path: `learner.epochs`, `templates.min_count`, `encoding`."""
        found: TagRecipe = change(self, changes, ("learner", "templates"))
        return found

    def to_json(self) -> dict[str, Json]:
        """The whole recipe as plain data."""
        return {part.name: codec.encode(getattr(self, part.name)) for part in fields(self)}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> TagRecipe:
        """A recipe from plain data; missing entries get their defaults."""
        if not isinstance(value, Mapping):
            raise UsageError("A recipe of a tagger is a table with templates, learner, encoding, dictionary and seed.")
        found: TagRecipe = codec.build(cls, value, "recipe")
        return found
