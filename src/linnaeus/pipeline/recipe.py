"""`Recipe`: the whole experiment as nested frozen dataclasses, readable and writable as TOML and JSON."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from linnaeus.decision import Decision
from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.features import Block, Weighted, Words
from linnaeus.frozen import dataclass
from linnaeus.pipeline import codec
from linnaeus.pipeline.learner import Linear
from linnaeus.pipeline.toml import read_table, to_toml
from linnaeus.pipeline.tuning import Tuning
from linnaeus.types import Json

if TYPE_CHECKING:
    from linnaeus.pipeline.classifier import Classifier

KEEPS = ("nothing", "texts")
"""What of the training data a recipe may keep in the model."""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Features, learner, tuning, decision and seed: all that a training needs besides data.

    `keep` is "nothing", or "texts": then the training texts are in the model file, for `search` and for neighbors.

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
        """Train on a corpus, as `linnaeus.read` gives it; `progress` is called with what is done now."""
        from linnaeus.pipeline.training import train_corpus

        return train_corpus(self, corpus, progress)

    def changed(self, changes: Mapping[str, Any]) -> Recipe:
        """The recipe with other values, by path: `learner.loss`, `features.ngrams`, `features.blocks.0.values`.

        A path may leave out `learner`, `decision`, `tuning` or `features` where its first name stands only there.
        """
        found: Recipe = change(self, changes, SHORT)
        return found

    def to_json(self) -> dict[str, Json]:
        """All of it as plain data."""
        return {part.name: codec.encode(getattr(self, part.name)) for part in fields(self)}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Recipe:
        """A recipe from plain data; what is left out has its default."""
        if not isinstance(value, Mapping):
            raise UsageError("A recipe is a table with the entries features, learner, tuning, decision, keep and seed.")
        found: Recipe = codec.build(cls, value, "recipe")
        return found

    def to_toml(self) -> str:
        """All of it as TOML, to keep beside the data and to change by hand."""
        return to_toml(codec.spoken(self.to_json()))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Recipe:
        """A recipe from a TOML or JSON file."""
        return cls.from_json(read_table(path))


SHORT = ("learner", "decision", "tuning", "features")
"""Parts whose fields can be named without them, in the order in which they are looked through."""


def change(recipe: Any, changes: Mapping[str, Any], short: tuple[str, ...]) -> Any:
    """A recipe with other values, by path; the fields of the parts in `short` can be named without them."""
    for path, value in changes.items():
        names = path.replace("__", ".").split(".")
        recipe = _changed(recipe, _whole(recipe, names, short), value, path)
    return recipe


def _whole(recipe: Any, names: list[str], short: tuple[str, ...]) -> list[str]:
    if names[0] in {part.name for part in fields(recipe)}:
        return names
    for part in short:
        inside = getattr(recipe, part)
        if is_dataclass(inside) and names[0] in {field.name for field in fields(inside)}:
            return [part, *names]
    return names


def _changed(piece: Any, names: list[str], value: Any, path: str) -> Any:
    """The piece with this value at the end of these names; everything on the way is new."""
    name, rest = names[0], names[1:]
    if isinstance(piece, tuple):
        if not name.isdecimal() or int(name) >= len(piece):
            raise UsageError(f"{path!r} names part {name!r} of a list of {len(piece)}; they are numbered from 0.")
        at = int(name)
        new = _changed(piece[at], rest, value, path) if rest else value
        return (*piece[:at], new, *piece[at + 1 :])
    known = [part.name for part in fields(piece)] if is_dataclass(piece) else []
    if name not in known:
        what = type(piece).__name__ if is_dataclass(piece) else f"the value {piece!r}"
        raise UsageError(f"{path!r} is not known: {what} has {', '.join(known) or 'no parts'}.")
    inside = getattr(piece, name)
    if not rest:
        return replace(piece, **{name: codec.decode(name, value, path)})
    if inside is None and name in codec.PLAIN:
        inside = codec.PLAIN[name]()
    if isinstance(inside, str) and inside in codec.SLOTS.get(name, {}):
        inside = codec.SLOTS[name][inside]()
    return replace(piece, **{name: _changed(inside, rest, value, path)})
