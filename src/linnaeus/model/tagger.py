"""`TagModel`: the model that a tag recipe trains. It tags, tests, explains, and saves itself to one file."""

from __future__ import annotations

import os
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays.finite import finite_scores
from linnaeus.errors import DataError, UsageError
from linnaeus.frozen import dataclass
from linnaeus.model.summary import figure, model_repr, some
from linnaeus.tasks.tag.encoding import allowed, spoken
from linnaeus.tasks.tag.sentences import as_sentence, as_sentences

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.evaluation import Evaluation
    from linnaeus.explain import Explanation
    from linnaeus.features.tokens import FittedTemplates
    from linnaeus.learners.chain.weights import ChainWeights
    from linnaeus.recipes.tag_recipe import TagRecipe
    from linnaeus.tasks.tag.encoding import Allowed
    from linnaeus.types import Doubles, Floats, Ints, Json, Longs


@dataclass(frozen=True, eq=False, repr=False)
class TagModel:
    """A trained tagger: fitted templates, float32 weights, tags, and a dictionary of words that have one tag only.

    >>> from linnaeus.recipes.tag_recipe import TagRecipe
    >>> model = TagRecipe().fit([[("the", "D"), ("dog", "N"), ("barks", "V")], [("a", "D"), ("cat", "N")]])
    >>> model.tag([["the", "cat"], []])
    [['D', 'N'], []]
    """

    plan: TagRecipe | dict[str, Json]
    features: FittedTemplates
    weights: ChainWeights
    tags: list[str]
    words: dict[str, int] = field(default_factory=dict)
    facts: dict[str, Json] = field(default_factory=dict)

    def __repr__(self) -> str:
        learner = type(self.recipe.learner).__name__
        counts = {name: figure(self.facts.get(name)) for name in ("sentences", "tokens", "features")}
        return model_repr(self, {"learner": learner, "tags": some(self.tags), **counts})

    @cached_property
    def recipe(self) -> TagRecipe:
        """The recipe of the model."""
        from linnaeus.model.file import refusing
        from linnaeus.recipes.tag_recipe import TagRecipe

        with refusing():
            return TagRecipe.from_json(self.plan) if isinstance(self.plan, dict) else self.plan

    @cached_property
    def allowed(self) -> Allowed | None:
        """Which tag may follow which, if the tags encode spans."""
        return allowed(self.tags, self.recipe.encoding)

    # Answers

    def tag(self, source: Any) -> list[list[str]]:
        """Tag each sentence, given lists of tokens or `Sentences`."""
        sentences = as_sentences(source, tagged=False)
        return sentences.lists(self.tagged(sentences))

    predict = tag

    def tagged(self, sentences: Sentences) -> Any:
        """The tags of all tokens as one Arrow array of strings (m,)."""
        return spoken(self._found(sentences), self.tags, self.recipe.encoding)

    def _found(self, sentences: Sentences) -> Ints:
        return self.weights.decode(self.scores(sentences), _bounds(sentences), self.allowed)

    def scores(self, sentences: Sentences) -> Floats:
        """Scores of each tag at each token (m, k), without transitions; words in the dictionary have one tag only."""
        E = finite_scores(self.features.scores(sentences, self.weights.W))
        return self._known(sentences, E) if self.words else E

    def _known(self, sentences: Sentences, E: Floats) -> Floats:
        """Other tags than that of the dictionary are out of reach."""
        words = sentences.tokens.dictionary_encode()
        known = np.array([self.words.get(word, -1) for word in words.dictionary.to_pylist()], np.int32)
        tag = known[words.indices.to_numpy()]
        E[(tag >= 0)[:, None] & (tag[:, None] != np.arange(E.shape[1]))] = -np.inf
        return E

    def marginals(self, source: Any) -> Doubles:
        """The probability of each tag at each token (m, k), in the order of `tags`; a CRF's are calibrated."""
        sentences = as_sentences(source, tagged=False)
        return self.weights.marginals(self.scores(sentences), _bounds(sentences), self.allowed)[0]

    def nbest(self, sentence: list[str] | Sentences, count: int = 5) -> list[tuple[list[str], float]]:
        """The best taggings of one sentence with their scores, best first."""
        if count < 1:
            raise UsageError(f"count is a whole number from 1 up, not {count}.")
        sentences = as_sentence(sentence)
        offsets = _bounds(sentences)
        found = self.weights.nbest(self.scores(sentences), offsets, count, self.allowed)
        return [(spoken(z, self.tags, self.recipe.encoding).to_pylist(), score) for z, score in found]

    # Judging and explaining

    def test(self, source: Any, rounds: int = 1000) -> Evaluation:
        """Evaluate on sentences with true tags: accuracy, and the F1 score of entities if there are any."""
        from linnaeus.evaluation import evaluate, is_known, observe_tags

        sentences = as_sentences(source)
        if not sentences.count:
            raise DataError("There are no tokens to test on; give sentences with tags.")
        known = None if self.vocabulary is None else is_known(sentences, self.vocabulary)
        facts = observe_tags(sentences.offsets, sentences.tags, self.tagged(sentences), known)
        return evaluate(facts, rounds)

    @cached_property
    def vocabulary(self) -> Any:
        """The vocabulary of the training sentences; None if the templates do not keep whole words."""
        return self.features.values_of("word", "word")

    def explain(self, sentence: list[str] | Sentences, position: int) -> Explanation:
        """Explain why the token at this position (from 0) got its tag and not the next best one.

        A sentence is a list of tokens, or `Sentences` with one sentence if the templates read more columns.
        """
        from linnaeus.tasks.tag.explanation import explain_tag

        return explain_tag(self, sentence, position)

    # Files

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write one file, in one step; `force` replaces an existing file."""
        from linnaeus import store
        from linnaeus.model.tagger_file import state_of

        store.save(path, state_of(self), force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TagModel:
        """Load a tagger from a file that `save` wrote; a damaged file raises an error."""
        from linnaeus import store
        from linnaeus.model.tagger_file import tagger_of

        return tagger_of(store.load(path))


def _bounds(sentences: Sentences) -> Longs:
    first = sentences.offsets[0]
    return sentences.offsets if first == 0 else sentences.offsets - first
