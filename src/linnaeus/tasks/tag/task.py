"""`Tag`: a tag for each token of a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.protocols import LearnsTags, capability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    import pyarrow as pa

    from linnaeus.data.sentences import Sentences
    from linnaeus.evaluation import Facts
    from linnaeus.explain import Explanation
    from linnaeus.features.tokens import FittedTemplates, Templates
    from linnaeus.learners.chain import Chain
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.classify.answers import Wish
    from linnaeus.tasks.examples import Examples, Held
    from linnaeus.tasks.sources import Given, Pieces
    from linnaeus.tasks.tag.learning import TagLesson
    from linnaeus.types import Doubles, State


@dataclass(frozen=True)
class Tag:
    """Tags of tokens; all tags of a sentence are found together.

    `encoding` says what tags mean. With "plain" each tag is a class. With "bio" or "bioes" tags mark spans; the model
    learns them in that encoding and predicts only valid sequences. A word that occurs at least `dictionary` times in
    training, always with the same tag, keeps that tag; 0 turns this off.

    >>> Tag(encoding="bio").encoding
    'bio'
    """

    encoding: str = "plain"
    dictionary: int = 0

    name: ClassVar[str] = "tag"
    models: ClassVar[str] = "taggers"
    data: ClassVar[str] = "lists of tokens with tags, as in CoNLL files"
    usual: ClassVar[str] = "pos"
    stacks: ClassVar[bool] = True
    texts: ClassVar[bool] = False
    commands: ClassVar[tuple[str, ...]] = (
        'tag {model} "a text of yours"',
        "test {model} test.conllu",
        'explain {model} "a text of yours"',
        "inspect {model}",
    )

    def __post_init__(self) -> None:
        from linnaeus.tasks.tag.encoding import ENCODINGS

        expect("dictionary", self.dictionary, int)
        if self.dictionary < 0:
            raise UsageError(f"dictionary is a whole number from 0 up, not {self.dictionary}.")
        if self.encoding not in ENCODINGS:
            raise UsageError(f"encoding is one of {', '.join(ENCODINGS)}, not {self.encoding!r}.")
        if self.dictionary and self.encoding != "plain":
            raise UsageError("A dictionary of words needs plain tags; entity tags depend on the context.")

    # The recipe

    def recognize(self, columns: Mapping[str, bool], text: str | None) -> bool:
        """Whether data with these columns (and whether each holds lists) are of this task: they have tokens."""
        return columns.get("tokens", False) and (text is None or columns.get(text, False))

    def fitting(self, examples: Examples) -> str:
        """The recipe for these examples if none is named: by whether their tags mark entities."""
        from linnaeus.data.tag_encodings import is_encoded

        names = [str(tag) for tag in examples.stream.tags.unique().to_pylist()]
        return "entities" if is_encoded(names) else self.usual

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

    def check(self, recipe: Recipe) -> None:
        """Refuse features and learners of other tasks."""
        from linnaeus.decision import Decision
        from linnaeus.features.tokens.templates import Templates

        if not isinstance(recipe.features, Templates):
            raise InputTypeError(f"features of a tagger are Templates, not {recipe.features!r}.")
        if capability(recipe.learner, LearnsTags) is None:
            raise InputTypeError(f"learner takes a tag learner such as Chain(), not {recipe.learner!r}.")
        if recipe.keep != "nothing":
            raise UsageError("A tagger keeps no texts; keep is for classifiers of texts.")
        if recipe.decision != Decision():
            raise UsageError("A tagger has no decision to set; to abstain from unsure tags, ask for it in predict.")

    # Data

    def examples(self, source: Any, truth: str | None = None) -> Examples:
        """Sentences with tags: `Sentences`, lists of (token, tag) pairs, or anything that `read_sentences` takes."""
        from linnaeus.tasks.tag.learning import tag_examples

        return tag_examples(source, truth)

    def open(self, data: str, given: Given, usual: Given, labeled: bool = True) -> Pieces[Sentences]:
        """The sentences of files; standard input without a format is plain text."""
        from linnaeus.tasks.sources import refuse_roles, with_usual
        from linnaeus.tasks.tag.sentences import opened

        refuse_roles(given, ("group", "weight", "label_kind", "label_separator"), self.models)
        return opened(data, with_usual(data, given, usual), labeled)

    def of_text(self, text: str) -> Pieces[Sentences]:
        """The sentences of one text."""
        from linnaeus.tasks.sources import Pieces
        from linnaeus.tasks.tag.sentences import from_texts

        return Pieces(lambda: iter([from_texts([text])]))

    def described(self, source: Pieces[Sentences]) -> str:
        """What is read."""
        del source
        return "sentences of tokens with tags"

    def explained(self, source: Pieces[Sentences], rows: int) -> Iterator[tuple[Sentences, int]]:
        """Each token of the first sentences."""
        some = next(iter(source.batches())).slice(0, rows)
        one = (some.slice(i, i + 1) for i in range(len(some)))
        return ((sentence, at) for sentence in one for at in range(sentence.count))

    def meant(self, examples: Examples) -> Tag:
        """Itself."""
        del examples
        return self

    def material(self, source: Any) -> Sentences:
        """Sentences: lists of tokens, `Sentences`, or texts, which are cut into sentences and tokens."""
        from linnaeus.tasks.tag.sentences import as_sentences

        return as_sentences(source, tagged=False)

    def keyed(self, examples: Examples, features: Any) -> Examples:
        """With a key for each sentence, which is that of equal sentences."""
        from linnaeus.tasks.tag.learning import keyed

        del features
        return keyed(examples)

    def sound(self, examples: Examples) -> Examples:
        """The examples."""
        return examples

    def grouped(self, examples: Examples, by: str) -> Examples:
        """Refused: sentences of one document are held out together without being asked."""
        del examples
        raise UsageError(f"Sentences of one document are held out together; tuning.by={by!r} is for other data.")

    def contents(self, examples: Examples) -> Iterator[bytes]:
        """Tokens and tags as bytes."""
        from linnaeus.tasks.tag.learning import contents

        return contents(examples)

    def sizes(self, examples: Examples) -> dict[str, int]:
        """The number of tokens."""
        return {"tokens": examples.stream.count}

    # Training

    def lesson(self, recipe: Recipe, examples: Examples) -> TagLesson:
        """Features and tags of the sentences."""
        from linnaeus.tasks.tag.learning import TagLesson

        return TagLesson(recipe, examples)

    def settle(self, model: Model, examples: Examples, held: Held | None) -> Model:
        """The model with its evaluation on held-out sentences."""
        from linnaeus.tasks.judging import with_held_out_evaluation

        return with_held_out_evaluation(model, examples, held)

    # The model

    def restore(self, state: State, functions: Any) -> FittedTemplates:
        """The fitted templates again."""
        from linnaeus.features.tokens.fitted import unpack

        del functions
        return unpack(state)

    def predict(self, model: Model, material: Sentences, abstain: Any = None) -> list[list[str | None]]:
        """The tags of each sentence; None where the model abstains."""
        from linnaeus.tasks.tag.answers import tagged

        return material.lists(tagged(model, material, abstain))

    def scores(self, model: Model, material: Sentences) -> Doubles:
        """Scores of each tag at each token (m, k), without transitions; words in the dictionary have one tag only."""
        from linnaeus.tasks.tag.answers import emissions

        return emissions(model, material)  # type: ignore[return-value]

    def probabilities(self, model: Model, material: Sentences) -> Doubles:
        """The probability of each tag at each token (m, k), in the order of `classes`; a CRF's are calibrated."""
        from linnaeus.tasks.tag.answers import marginals

        return marginals(model, material)

    def rank(self, model: Model, material: Sentences, count: int) -> list[list[tuple[list[str], float]]]:
        """The best taggings of each sentence, best first, with their scores."""
        from linnaeus.tasks.tag.answers import nbest

        return [nbest(model, material.slice(i, i + 1), count) for i in range(len(material))]

    def single(self, model: Model) -> Callable[[str], Any] | None:
        """None: a text is cut into sentences first."""
        del model
        return None

    def units(self, model: Model, source: Pieces[Sentences]) -> Iterator[Sentences]:
        """The sentences in pieces."""
        del model
        return source.batches()

    def refuse_wish(self, wish: Wish) -> None:
        """Refuse what tags cannot give."""
        if wish.scope:
            raise UsageError("A tagger has no out-of-scope scores; leave out --scope.")
        if wish.keep:
            raise UsageError("The columns of sentences are not kept; leave out --keep.")

    def columns(self, model: Model, batch: Sentences, wish: Wish) -> pa.RecordBatch:
        """`tokens`, `tags`, and what else is wished."""
        from linnaeus.tasks.tag.answers import columns

        return columns(model, model.ready(batch), wish)

    def labeled(self, source: Any) -> Iterator[Sentences]:
        """Sentences with tags, in pieces."""
        from linnaeus.tasks.tag.sentences import labeled

        return labeled(source)

    def observe(self, model: Model, batch: Sentences, abstain: Any = None) -> Facts:
        """The facts of the tags of a batch."""
        from linnaeus.tasks.tag.answers import observed

        return observed(model, model.ready(batch), abstain)

    def truth_of(self, batch: Sentences) -> Any:
        """The tags of a batch."""
        return batch.tags

    def known_labels(self, model: Model) -> Iterable[str]:
        """The tags that the model knows, in every encoding."""
        from linnaeus.tasks.tag.encoding import every_spelling

        return every_spelling(model.names, self.encoding)

    def columns_of(self, batch: Sentences) -> dict[str, Any]:
        """What sentences can be compared by: their document, and their `length`."""
        from linnaeus.tasks.tag.sentences import columns_of

        return columns_of(batch)

    def evaluated(self, model: Model) -> str:
        """What is evaluated, as `linnaeus.evaluation.KINDS` calls it."""
        del model
        return "tags"

    def reasons(self, model: Model, row: Any, at: int, classes: Any, search: Any) -> Explanation:
        """Why the token at this position got its tag and not the next best one."""
        from linnaeus.tasks.tag.explanation import explain_tag

        if classes:
            raise UsageError("A tag is explained against the next best one; leave out the class.")
        del search
        return explain_tag(model, row, at)
