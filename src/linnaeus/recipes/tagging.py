"""Named recipes for sequence taggers: TAGGERS. Each is described in docs/tagging.md."""

from __future__ import annotations

from collections.abc import Callable

from linnaeus.features.tokens import Clusters, Pair, Part, Templates, Window
from linnaeus.frozen import dataclass
from linnaeus.learners.chain.learner import BatchChain, Chain, Greedy
from linnaeus.recipes.names import unknown_recipe
from linnaeus.recipes.tag_recipe import TagRecipe, plain_templates


def _pair(form: str, at: int, other: str, there: int) -> Pair:
    return Pair(Part(form, at), Part(other, there))


def wide_templates() -> Templates:
    """The default templates with longer affixes, more neighbors, and pairs of endings."""
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
    """The recipe with word clusters from a file of `linnaeus clusters`: of the word, its neighbors, and pairs.

    Clusters are bit strings, and their prefixes are larger clusters.
    """
    windows = Window(("word", "prefix4", "prefix6", "prefix8"), (-1, 0, 1), name)
    pairs = tuple(Pair(Part("word", at, name), Part("word", at + 1, name)) for at in (-1, 0))
    plain = recipe.templates
    items, sources = (*plain.items, windows, *pairs), (*plain.sources, Clusters(path, name))
    return recipe.changed({"templates": Templates(items, plain.min_count, sources)})


@dataclass(frozen=True)
class Entry:
    """A named recipe: a one-sentence description, and the function that makes it."""

    says: str
    make: Callable[[], TagRecipe]


def _averaged(**changes: int) -> Chain:
    return Chain(loss="perceptron", rule="sgd", rate=1.0, epochs=10, **changes)


TAGGERS: dict[str, Entry] = {
    "pos": Entry("Averaged structured perceptron: fast and accurate.", lambda: TagRecipe(learner=_averaged())),
    "pos-crf": Entry(
        "Conditional random field (CRF) with probabilities.", lambda: TagRecipe(templates=wide_templates())
    ),
    "pos-second": Entry(
        "Second-order conditional random field: a tag depends on the two before it.",
        lambda: TagRecipe(templates=wide_templates(), learner=Chain(order=2)),
    ),
    "pos-svm": Entry("Structured SVM with the Hamming cost.", lambda: TagRecipe(learner=Chain(loss="hinge", rate=0.1))),
    "pos-greedy": Entry("Greedy tagger from left to right.", lambda: TagRecipe(learner=Greedy())),
    "pos-exact": Entry("CRF with L2 penalty, solved exactly by L-BFGS.", lambda: TagRecipe(learner=BatchChain())),
    "entities": Entry(
        "Named entities: softmax-margin chain, word shapes and pairs, search restricted to valid BIO tags.",
        lambda: TagRecipe(templates=entity_templates(), learner=Chain(loss="softmargin", rate=0.1), encoding="bio"),
    ),
    "entities-fast": Entry(
        "Named entities with the averaged structured perceptron.",
        lambda: TagRecipe(templates=entity_templates(), learner=_averaged(), encoding="bio"),
    ),
}
"""Every tagger recipe by name."""


def tag_recipe(name: str) -> TagRecipe:
    """The tagger recipe with this name.

    >>> tag_recipe("entities").encoding
    'bio'
    """
    if name not in TAGGERS:
        raise unknown_recipe(name, "tags")
    return TAGGERS[name].make()
