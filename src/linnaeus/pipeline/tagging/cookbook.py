"""Recipes of taggers with names: TAGGERS. Each has its section in docs/tagging.md."""

from __future__ import annotations

from collections.abc import Callable

from linnaeus.features.tokens import Clusters, Pair, Part, Templates, Window
from linnaeus.frozen import dataclass
from linnaeus.pipeline.recipe_names import unknown_recipe
from linnaeus.pipeline.tagging.learner import BatchChain, Chain, Greedy
from linnaeus.pipeline.tagging.recipe import TagRecipe, plain_templates


def _pair(form: str, at: int, other: str, there: int) -> Pair:
    return Pair(Part(form, at), Part(other, there))


def wide_templates() -> Templates:
    """The plain ones, longer affixes, more of the neighbors, and pairs of endings."""
    more = (
        Window(("lower.prefix5", "lower.suffix5")),
        Window(("caps", "lower.prefix2", "lower.suffix2"), (-1, 1)),
        *(_pair("lower", a, "lower", b) for a, b in ((-1, 1), (-2, -1), (1, 2))),
        *(_pair("lower.suffix3", a, "lower.suffix3", a + 1) for a in (-1, 0)),
        _pair("short", -1, "short", 0),
    )
    return Templates((*plain_templates().items, *more))


def entity_templates() -> Templates:
    """Words as written, their shapes and affixes in a window of five, and pairs of words and of shapes."""
    affixes = tuple(f"{side}{size}" for side in ("prefix", "suffix") for size in range(1, 6))
    return Templates(
        (
            Window(("word", "lower", "zeros", "shape", "short", "caps", "digits", "hyphen", *affixes)),
            Window(("word", "lower", "shape", "short", "caps", "digits"), (-2, -1, 1, 2)),
            Window(("prefix3", "suffix3"), (-1, 1)),
            *(_pair("lower", a, "lower", a + 1) for a in (-2, -1, 0, 1)),
            *(_pair("short", a, "short", a + 1) for a in (-1, 0)),
            *(_pair("lower", a, "short", 0) for a in (-1, 1)),
            _pair("caps", -1, "caps", 1),
        )
    )


def clustered(recipe: TagRecipe, path: str, name: str = "cluster") -> TagRecipe:
    """The recipe with word clusters of a file as `linnaeus clusters` writes it: of the word, its neighbors, and pairs.

    Clusters are strings of bits, and their prefixes are wider clusters.
    """
    windows = Window(("word", "prefix4", "prefix6", "prefix8"), (-1, 0, 1), name)
    pairs = tuple(Pair(Part("word", at, name), Part("word", at + 1, name)) for at in (-1, 0))
    plain = recipe.templates
    items, sources = (*plain.items, windows, *pairs), (*plain.sources, Clusters(path, name))
    return recipe.changed({"templates": Templates(items, plain.min_count, sources)})


@dataclass(frozen=True)
class Entry:
    """A named recipe: what it is in a sentence, and how it is made."""

    says: str
    make: Callable[[], TagRecipe]


def _averaged(**changes: int) -> Chain:
    return Chain(loss="perceptron", rule="sgd", rate=1.0, epochs=10, **changes)


TAGGERS: dict[str, Entry] = {
    "pos": Entry("Averaged structured perceptron: the quickest good tagger.", lambda: TagRecipe(learner=_averaged())),
    "pos-crf": Entry(
        "Conditional random field with probabilities, more templates.", lambda: TagRecipe(templates=wide_templates())
    ),
    "pos-second": Entry(
        "The same of second order: a tag depends on the two before it.",
        lambda: TagRecipe(templates=wide_templates(), learner=Chain(order=2)),
    ),
    "pos-svm": Entry(
        "Structured SVM: Hamming cost in the search.", lambda: TagRecipe(learner=Chain(loss="hinge", rate=0.1))
    ),
    "pos-greedy": Entry("Tags from left to right, no search.", lambda: TagRecipe(learner=Greedy())),
    "pos-exact": Entry("The exact minimum of a CRF with L2, by L-BFGS.", lambda: TagRecipe(learner=BatchChain())),
    "entities": Entry(
        "Entities: softmax-margin chain, shapes and pairs, the rules of BIO in the search.",
        lambda: TagRecipe(templates=entity_templates(), learner=Chain(loss="softmargin", rate=0.1), encoding="bio"),
    ),
    "entities-fast": Entry(
        "Entities by the averaged perceptron.",
        lambda: TagRecipe(templates=entity_templates(), learner=_averaged(), encoding="bio"),
    ),
}
"""Every recipe of taggers by its name."""


def tag_recipe(name: str) -> TagRecipe:
    """The recipe of this name.

    >>> tag_recipe("entities").encoding
    'bio'
    """
    if name not in TAGGERS:
        raise unknown_recipe(name, "tags")
    return TAGGERS[name].make()
