"""`Tag`: a tag for each token of a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from linnaeus.arrays.numerics import finite_scores
from linnaeus.data.sentences import Sentences
from linnaeus.data.tag_encodings import OUTSIDE, is_encoded, spans
from linnaeus.errors import DataError, InputTypeError, UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.protocols import FittedTagger, LearnsTags, capability
from linnaeus.tasks.base import Given, Wish
from linnaeus.tasks.examples import Examples, Learned
from linnaeus.tasks.sentences import SentenceTask, columns_beside, counted_from_zero, spans_of
from linnaeus.tasks.sources import Pieces
from linnaeus.tasks.tag.encoding import ENCODINGS, Allowed, Encoding
from linnaeus.tasks.tag.examples import labeled, tag_examples
from linnaeus.types import Doubles, Floats, Json, Label, Source, State

if TYPE_CHECKING:
    from linnaeus.evaluation import Facts
    from linnaeus.explain import Explanation
    from linnaeus.features.restore import Functions
    from linnaeus.features.tokens import FittedTemplates, Templates
    from linnaeus.learners.chain import Chain
    from linnaeus.learners.run import Run
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.base import Abstain, Evaluated, Flips
    from linnaeus.tasks.tag.learning import TagLesson


class Part(NamedTuple):
    """A tagger of a part of the sentences, for those that are held out; it has what tags need of a model."""

    features: FittedTemplates
    body: FittedTagger
    names: tuple[str, ...]
    words: dict[str, int]

    def ready(self, sentences: Sentences) -> Sentences:
        """The sentences; they have the answers of earlier stages since they were read."""
        return sentences


@dataclass(frozen=True)
class Tag(SentenceTask):
    """Tags of tokens; all tags of a sentence are found together.

    `encoding` says what tags mean. With "plain" each tag is a class. With "bio" or "bioes" tags mark spans; the model
    learns them in that encoding and predicts only valid sequences. With "edits" a tag is a changed token, such as its
    lemma, and the model learns how tokens are changed, so that it predicts lemmas that it has never seen.

    A word that occurs at least `dictionary` times in training, always with the same tag, keeps that tag; 0 turns this
    off.

    >>> Tag(encoding="bio").encoding
    'bio'
    """

    encoding: str = "plain"
    dictionary: int = 0

    name: ClassVar[str] = "tag"
    model: ClassVar[str] = "tagger"
    models: ClassVar[str] = "taggers"
    data: ClassVar[str] = "lists of tokens with tags, as in CoNLL files"
    usual: ClassVar[str] = "pos"
    heading: ClassVar[str] = "for tags of tokens"
    doubtful: ClassVar[str] = "tags"
    suffix: ClassVar[str] = ".conll"
    forms: ClassVar[tuple[str, ...]] = ("tags",)
    commands: ClassVar[tuple[str, ...]] = (
        'tag {model} "a text of yours"',
        "test {model} test.conllu",
        'explain {model} "a text of yours"',
        "inspect {model}",
    )

    def __post_init__(self) -> None:
        expect("dictionary", self.dictionary, int)
        if self.dictionary < 0:
            raise UsageError(f"dictionary is a whole number from 0 up, not {self.dictionary}.")
        if self.encoding not in ENCODINGS:
            raise UsageError(f"encoding is one of {', '.join(ENCODINGS)}, not {self.encoding!r}.")
        if self.dictionary and self.spans:
            raise UsageError("A dictionary of words needs plain tags; entity tags depend on the context.")

    @property
    def coder(self) -> Encoding:
        """How tags become classes, and classes tags."""
        return ENCODINGS[self.encoding]()

    @property
    def spans(self) -> bool:
        """Whether tags mark spans."""
        return bool(self.coder.entities)

    # The recipe

    def recognize(self, columns: Mapping[str, bool], given: Given) -> bool:
        """Whether data with these columns (and whether each holds lists) are of this task: they have tokens."""
        return columns.get("tokens", False) and columns.get(given.get("text") or "tokens", False)

    def fitting(self, examples: Examples) -> str:
        """The recipe for these examples if none is named: by whether tags mark entities, or are like the tokens."""
        names = [str(tag) for tag in examples.stream.tags.unique().to_pylist()]
        return "entities" if is_encoded(names) else "lemmas" if are_lemmas(examples.stream) else self.usual

    def usual_features(self) -> Templates:
        """Word, lowercase word, shape, affixes, neighbors, and pairs with neighbors: a good default for most tags."""
        from linnaeus.features.tokens import Pair, Part, Templates, Window

        near = Window(("lower",), (-2, -1, 1, 2))
        affixes = tuple(f"lower.{side}{size}" for side in ("prefix", "suffix") for size in (1, 2, 3, 4))
        here = Window(("word", "lower", "shape", "caps", "digits", "hyphen", *affixes))
        beside = Window(("shape", "lower.suffix3"), (-1, 1))
        pairs = tuple(Pair(Part("lower", at), Part("lower", at + 1)) for at in (-1, 0))
        return Templates((here, near, beside, *pairs))

    def usual_learner(self) -> Chain:
        """A conditional random field."""
        from linnaeus.learners.chain.learner import Chain

        return Chain()

    def with_columns(self, features: object, columns: Sequence[str]) -> object:
        """Templates without those of other optional columns."""
        from linnaeus.features.tokens.templates import Templates

        return features.among(columns) if isinstance(features, Templates) else features

    def check(self, recipe: Recipe) -> None:
        """Refuse features and learners of other tasks."""
        from linnaeus.features.tokens.templates import Templates

        if not isinstance(recipe.features, Templates):
            raise InputTypeError(f"features of a tagger are Templates, not {recipe.features!r}.")
        if capability(recipe.learner, LearnsTags) is None:
            raise InputTypeError(f"learner takes a tag learner such as Chain(), not {recipe.learner!r}.")
        super().check(recipe)

    # Data

    def described(self, source: Pieces[Sentences]) -> str:
        """What is read."""
        del source
        return "sentences of tokens with tags"

    def labeled(self, source: Source) -> Iterator[Sentences]:
        """Sentences with tags, in pieces."""
        return labeled(source)

    # Training

    def examples(self, source: Source, truth: str | None = None) -> Examples:
        """Sentences with tags: `Sentences`, lists of (token, tag) pairs, or anything that `read_sentences` takes."""
        return tag_examples(source, truth)

    def contents(self, examples: Examples) -> Iterator[bytes | memoryview]:
        """The bytes of tokens and tags, and where each begins."""
        from linnaeus.tasks.examples import text_bytes

        for column in (examples.stream.tokens, examples.stream.tags, *columns_beside(examples.stream)):
            yield from text_bytes(column)
        yield np.diff(examples.stream.offsets).tobytes()

    def lesson(self, recipe: Recipe, examples: Examples) -> TagLesson:
        """Features and tags of the sentences."""
        from linnaeus.tasks.tag.learning import TagLesson

        return TagLesson(recipe, examples)

    def more(self, model: Model, examples: Examples, run: Run) -> Learned:
        """One epoch over more sentences, from the weights so far."""
        from linnaeus.tasks.tag.learning import learn_more

        return learn_more(model, examples, run)

    # The model

    def restore(self, state: State, functions: Functions | None) -> FittedTemplates:
        """The fitted templates again."""
        from linnaeus.features.tokens import FittedTemplates

        del functions
        return FittedTemplates.from_state(state)

    def check_model(self, model: Model) -> None:
        """Refuse weights and words that do not fit the tags."""
        k = len(model.names)
        if len(set(model.names)) != k or not all(0 <= tag < k for tag in model.words.values()):
            raise damaged("its tags do not fit each other")
        body = capability(model.body, FittedTagger)
        if body is None or not body.fits(model.features.width, k):
            raise damaged("its weights do not fit its features and tags")
        self.rules(model)

    def rules(self, model: Model | Part) -> Allowed | None:
        """Which tag may follow which, if the tags encode spans."""
        return self.coder.allowed(model.names)

    def scores(self, model: Model | Part, material: Sentences) -> Floats:  # type: ignore[override]
        """Scores of each tag at each token (m, k), without transitions; -inf for tags that a token cannot have.

        Words in the dictionary have one tag only, and a lemma is made by edits that fit the token.
        """
        E: Floats = finite_scores(model.body.emissions(model.features, material))
        if (fitting := self.coder.fitting(model.names, material.tokens)) is not None:
            E[~fitting] = -np.inf
        if not model.words:
            return E
        words = material.tokens.dictionary_encode()
        known = np.array([model.words.get(word, -1) for word in words.dictionary.to_pylist()], np.int32)
        tag = known[words.indices.to_numpy()]
        E[(tag >= 0)[:, None] & (tag[:, None] != np.arange(E.shape[1]))] = -np.inf
        return E

    def probabilities(self, model: Model | Part, material: Sentences) -> Doubles:
        """The probability of each tag at each token (m, k), in the order of `classes`; a CRF's are calibrated."""
        E, offsets = self.scores(model, material), counted_from_zero(material)
        return model.body.transitions.marginals(E, offsets, self.rules(model))[0]

    def tagged(self, model: Model | Part, sentences: Sentences, abstain: Abstain = None) -> pa.Array:
        """The tags of all tokens as one Arrow array of strings (m,); null where the model abstains."""
        E, offsets = self.scores(model, sentences), counted_from_zero(sentences)
        z = model.body.transitions.decode(E, offsets, self.rules(model))
        found = self.coder.answers(z, model.names, sentences.tokens)
        if abstain is None:
            return found
        import pyarrow.compute as pc

        from linnaeus.decision.abstention import sure

        given = sure(abstain, z, self.probabilities(model, sentences))
        return pc.if_else(pa.array(given), found, pa.scalar(None, found.type))

    def predict(self, model: Model, material: Sentences, abstain: Abstain = None) -> list[list[str | None]]:
        """The tags of each sentence; None where the model abstains."""
        return material.lists(self.tagged(model, material, abstain))

    def rank(self, model: Model, material: Sentences, count: int) -> list[list[tuple[list[str], float]]]:
        """The best taggings of each sentence, best first, with their scores."""
        if count < 1:
            raise UsageError(f"count is a whole number from 1 up, not {count}.")
        found = []
        for sentence in (material.slice(i, i + 1) for i in range(len(material))):
            E = self.distinct(model, sentence.tokens, self.scores(model, sentence))
            best = model.body.transitions.nbest(E, counted_from_zero(sentence), count, self.rules(model))
            said = (self.coder.answers(z, model.names, sentence.tokens).to_pylist() for z, _ in best)
            found.append([(tags, score) for tags, (_, score) in zip(said, best, strict=True)])
        return found

    def distinct(self, model: Model, tokens: pa.Array, E: Floats) -> Floats:
        """The scores, where of classes that say the same about a token only the best one is left."""
        if self.coder.fitting(model.names, tokens) is None:
            return E
        E = E.copy()
        for t, answers in enumerate(self.answers_by_class(model, tokens)):
            met: set[str] = set()
            for c in np.argsort(-E[t], kind="stable").tolist():
                E[t, c] = -np.inf if answers[c] in met else E[t, c]
                met.add(answers[c])
        return E

    def answers_by_class(self, model: Model, tokens: pa.Array) -> list[list[str]]:
        """What each class would say about each token."""
        k = len(model.names)
        each = tokens.take(pa.array(np.repeat(np.arange(len(tokens)), k)))
        flat = self.coder.answers(np.tile(np.arange(k), len(tokens)), model.names, each).to_pylist()
        return [flat[i : i + k] for i in range(0, len(flat), k)]

    def columns(self, model: Model, batch: Sentences, wish: Wish) -> pa.RecordBatch:
        """The tokens and tags of each sentence, one row each, and the entities that tags mark.

        Tokens of plain text have their places in it, as `spans`; with `top` there are also the best taggings.
        """
        sentences, kind, number = model.ready(batch), pa.list_(pa.string()), pa.int64()
        tags = sentences.lists(self.tagged(model, sentences, wish.abstain))
        found = {"tokens": pa.array(sentences.lists(), kind), "tags": pa.array(tags, kind)}
        if (places := spans_of(sentences)) is not None:
            found["spans"] = places
        if self.spans:
            parts = pa.struct([("start", number), ("end", number), ("type", pa.string()), ("text", pa.string())])
            marked = [entities(*row) for row in zip(sentences.lists(), tags, strict=True)]
            found["entities"] = pa.array(marked, pa.list_(parts))
        if wish.top:
            ranked = self.rank(model, sentences, wish.top)
            best = [[{"tags": tags, "score": score} for tags, score in row] for row in ranked]
            found["top"] = pa.array(best, pa.list_(pa.struct([("tags", kind), ("score", pa.float64())])))
        return pa.RecordBatch.from_pydict(found)

    def lines(self, batch: pa.RecordBatch) -> str:
        """A line for each token, with a tab and its tag (nothing where the model abstains); an empty line ends each."""
        rows = zip(batch["tokens"].to_pylist(), batch["tags"].to_pylist(), strict=True)
        return "".join(
            "".join(f"{token}\t{tag or ''}\n" for token, tag in zip(tokens, tags, strict=True)) + "\n"
            for tokens, tags in rows
        )

    def said(self, sentences: Sentences, answers: Sequence[Sequence[str]]) -> dict[str, pa.Array]:
        """The tags of all tokens."""
        del sentences
        return {"": pa.array(list(chain.from_iterable(answers)), pa.large_string())}

    def observe(self, model: Model | Part, batch: Sentences, abstain: Abstain = None) -> Facts:
        """The facts of the tags of a batch; words count as known if they occur in the training data."""
        from linnaeus.evaluation import is_known, observe_tags

        sentences: Sentences = model.ready(batch)
        if sentences.tags is None:
            raise DataError("the sentences have no tags; name the column that holds them.")
        if not sentences.count:
            raise DataError("There are no tokens to test on; give sentences with tags.")
        found, words = self.tagged(model, sentences, abstain), model.features.values_of("word", "word")
        known = None if words is None else is_known(sentences, words)  # None: the templates keep no whole words
        return observe_tags(sentences.offsets, sentences.tags, found, known, self.coder.entities)

    def truth_of(self, batch: Sentences) -> pa.Array | None:
        """The tags of a batch."""
        return batch.tags

    def known_labels(self, model: Model) -> set[str] | None:
        """The tags that the model knows, in every encoding; None of lemmas, which need not be known."""
        return self.coder.spellings(model.names)

    def evaluated(self, model: Model) -> Evaluated:
        """What is evaluated, as `linnaeus.evaluation.KINDS` calls it."""
        del model
        return "tags"

    def reasons(self, model: Model, row: Source, at: int, classes: Sequence[Label], search: Flips) -> Explanation:
        """Why the token at this position got its tag and not the next best one."""
        from linnaeus.tasks.tag.explanation import explain_tag

        if classes:
            raise UsageError("A tag is explained against the next best one; leave out the class.")
        del search
        return explain_tag(self, model, row, at)


def entities(tokens: list[str], tags: list[str | None]) -> list[dict[str, Json]]:
    """Start, end, type and text of each span that the tags of a sentence mark; places are those of tokens.

    >>> entities(["Ann", "Lee", "left"], ["B-PER", "I-PER", "O"])
    [{'start': 0, 'end': 2, 'type': 'PER', 'text': 'Ann Lee'}]
    """
    found = spans([tag or OUTSIDE for tag in tags], np.array([0, len(tags)])).listed()
    return [{"start": a, "end": b, "type": kind, "text": " ".join(tokens[a:b])} for a, b, kind in found]


def are_lemmas(sentences: Sentences) -> bool:
    """Whether most tags begin with the letter that their token begins with, case aside, as lemmas do.

    >>> from linnaeus.data.sentences import Sentences
    >>> are_lemmas(Sentences.from_lists([["The", "dogs", "were"]], [["the", "dog", "be"]]))
    True
    """
    import pyarrow.compute as pc

    assert sentences.tags is not None
    columns = (column.cast(pa.large_string()) for column in (sentences.tokens, sentences.tags))
    first = [pc.utf8_slice_codeunits(pc.utf8_lower(column), 0, 1) for column in columns]
    return bool(2 * (pc.sum(pc.equal(*first)).as_py() or 0) > sentences.count)
