"""Recipes for taggers; each is described in docs/tagging.md."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from linnaeus.features.tokens import Clusters, Pair, Part, Templates, Window
from linnaeus.learners.chain.learner import BatchChain, Chain, Greedy
from linnaeus.protocols import LearnsTags
from linnaeus.recipes.recipe import Recipe
from linnaeus.recipes.tuning import Tuning
from linnaeus.tasks import Tag

if TYPE_CHECKING:
    from linnaeus.learners.networks import TagNetwork


def _pair(form: str, at: int, other: str, there: int) -> Pair:
    return Pair(Part(form, at), Part(other, there))


def wide_templates() -> Templates:
    """The default templates with longer affixes, more neighbors, and pairs of endings."""
    more: tuple[Window | Pair, ...] = (
        Window(("lower.prefix5", "lower.suffix5")),
        Window(("caps", "lower.prefix2", "lower.suffix2"), (-1, 1)),
        *(_pair("lower", a, "lower", b) for a, b in ((-1, 1), (-2, -1), (1, 2))),
        *(_pair("lower.suffix3", a, "lower.suffix3", a + 1) for a in (-1, 0)),
        _pair("short", -1, "short", 0),
    )
    return Templates((*Tag().usual_features().items, *more))


def token_templates() -> Templates:
    """A token alone: as written, its shape and affixes. Networks look at its neighbors themselves."""
    affixes = tuple(f"lower.{side}{size}" for side in ("prefix", "suffix") for size in (1, 2, 3, 4, 5))
    return Templates((Window(("word", "lower", "shape", "short", "caps", "digits", "hyphen", *affixes)),))


def convolved() -> TagNetwork:
    """Convolutions over tokens, and a conditional random field."""
    from linnaeus.learners.networks import TagNetwork

    return TagNetwork()


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


TAG_COLUMNS = ("upos", "xpos", "feats")
"""The columns of tags in treebanks, which say a lot about the lemma of a word."""


def lemma_templates() -> Templates:
    """The word with its affixes and its neighbors; its tags, where the data have them, and pairs of a tag and a form.

    Values that occur once are left out.
    """
    prefixes = tuple(f"lower.prefix{size}" for size in (1, 2, 3))
    suffixes = tuple(f"lower.suffix{size}" for size in (1, 2, 3, 4, 5))
    items: list[Window | Pair] = [Window(("word", "lower", "short", *suffixes, *prefixes)), Window(("lower",), (-1, 1))]
    for column in TAG_COLUMNS:
        items.append(Window(source=column))
        items += [Pair(Part(form), Part("word", 0, column)) for form in ("lower", "short", *suffixes[:3])]
    return Templates(tuple(items), min_count=2, optional=TAG_COLUMNS)


def clustered(recipe: Recipe, path: str, name: str = "cluster") -> Recipe:
    """The recipe with word clusters from a file of `linnaeus clusters`: of the word, its neighbors, and pairs.

    Clusters are bit strings, and their prefixes are larger clusters.
    """
    windows = Window(("word", "prefix4", "prefix6", "prefix8"), (-1, 0, 1), name)
    pairs = tuple(Pair(Part("word", at, name), Part("word", at + 1, name)) for at in (-1, 0))
    plain = recipe.features
    items, sources = (*plain.items, windows, *pairs), (*plain.sources, Clusters(path, name))
    return recipe.changed({"features": replace(plain, items=items, sources=sources)})


def averaged() -> Chain:
    """The averaged structured perceptron."""
    return Chain(loss="perceptron", rule="sgd", rate=1.0, epochs=10)


def tagger(learner: LearnsTags, templates: Templates | None = None, encoding: str = "plain") -> Recipe:
    """A tagger that is evaluated on a tenth of the sentences, which a second training does not see."""
    return Recipe(task=Tag(encoding=encoding), features=templates, learner=learner, tuning=Tuning(folds=1, share=0.1))


MAKERS: dict[str, Callable[[], Recipe]] = {
    "pos": lambda: tagger(averaged()),
    "pos-crf": lambda: tagger(Chain(), wide_templates()),
    "pos-second": lambda: tagger(Chain(order=2), wide_templates()),
    "pos-svm": lambda: tagger(Chain(loss="hinge", rate=0.1)),
    "pos-greedy": lambda: tagger(Greedy()),
    "pos-exact": lambda: tagger(BatchChain()),
    "pos-cnn": lambda: tagger(convolved(), token_templates()),
    "entities": lambda: tagger(Chain(loss="softmargin", rate=0.1), entity_templates(), "bio"),
    "entities-fast": lambda: tagger(averaged(), entity_templates(), "bio"),
    "lemmas": lambda: tagger(Greedy(loss="perceptron", rule="sgd", rate=1.0), lemma_templates(), "edits"),
}
"""What makes each recipe for taggers in `cookbook`."""
