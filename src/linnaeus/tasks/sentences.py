"""`SentenceTask`: what tasks whose examples are sentences have in common; sentences as users give them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pyarrow as pa

from linnaeus.data.files import standard_input
from linnaeus.data.sentence_reading import Check, Place, stream_sentences
from linnaeus.data.sentences import Sentences, join
from linnaeus.errors import DataError, UsageError
from linnaeus.learners.run import Run
from linnaeus.tasks.base import Given, Task, TaskLesson, Wish
from linnaeus.tasks.examples import Examples, Leg
from linnaeus.tasks.sources import Pieces, file_options, refuse_roles, with_usual
from linnaeus.text import sentences
from linnaeus.types import Longs, Source, Words64

if TYPE_CHECKING:
    from linnaeus.data.corpus import Corpus
    from linnaeus.data.split import Split
    from linnaeus.recipes.recipe import Recipe

TOKENS = 1 << 16
"""Tokens that are answered at a time."""

LINES = 1000
"""Standard input is tagged in pieces of at least this many lines, each up to an empty line."""


LEAST = 20
"""Sentences from which some are held out."""


class SentenceTask(Task[Sentences, Sentences]):
    """A task whose examples are sentences of tokens, and whose answers say something of each token.

    A subclass says what the truth of a token is, and in `open` which columns hold it.
    """

    tokens: ClassVar[bool] = True
    unused: ClassVar[tuple[str, ...]] = ("group", "weight", "label_kind", "label_separator")
    """Arguments of `linnaeus.read` that mean nothing for sentences."""

    def open(self, data: str, given: Given, usual: Given, labeled: bool = True) -> Pieces[Sentences]:
        """The sentences of files; standard input without a format is plain text."""
        refuse_roles(given, self.unused, self.models)
        return opened(data, with_usual(data, given, usual), labeled)

    def of_text(self, text: str) -> Pieces[Sentences]:
        """The sentences of one text."""
        return Pieces(lambda: iter([from_texts([text])]))

    def explained(self, source: Pieces[Sentences], rows: int) -> Iterator[tuple[Sentences, int]]:
        """Each token of the first sentences."""
        some = next(iter(source.batches())).slice(0, rows)
        one = (some.slice(i, i + 1) for i in range(len(some)))
        return ((sentence, at) for sentence in one for at in range(sentence.count))

    def material(self, source: Source) -> Sentences:
        """Sentences: lists of tokens, `Sentences`, or texts, which are cut into sentences and tokens."""
        return as_sentences(source, tagged=False)

    def keys(self, stream: Sentences, features: object = None) -> Words64:
        """A key for each sentence, which is that of equal sentences."""
        from linnaeus.tasks.keys import sentence_keys

        del features
        return sentence_keys(stream)

    def groups(self, examples: Examples, by: str) -> Longs:
        """Refused: sentences of one document are held out together without being asked."""
        raise UsageError(f"Sentences of one document are held out together; tuning.by={by!r} is for other data.")

    def audited(self, data: str, given: Given) -> Corpus:
        """Each sentence as a text, with the set of the labels of its tokens."""
        from linnaeus.data import read

        texts: list[str] = []
        labels: list[list[str]] = []
        for part in self.open(data, given, {}).batches():
            texts += [" ".join(tokens) for tokens in part.lists()]
            labels += [sorted(set(filter(None, found))) for found in part.lists(self.truth_of(part))]
        columns = {"text": pa.array(texts, pa.string()), "labels": pa.array(labels, pa.list_(pa.string()))}
        return read(pa.table(columns), text="text", label="labels")

    def sizes(self, examples: Examples) -> dict[str, int]:
        """The number of tokens."""
        return {"tokens": examples.stream.count}

    def refuse_wish(self, wish: Wish) -> None:
        """Refuse what answers about tokens cannot have."""
        super().refuse_wish(wish)
        if wish.keep:
            raise UsageError("The columns of sentences are not kept; leave out --keep.")

    def columns_of(self, batch: Sentences) -> Mapping[str, pa.Array]:
        """What sentences can be compared by: their text, for its `length`, and their document."""
        found = {"length": pa.array([" ".join(tokens) for tokens in batch.lists()], pa.string())}
        return found if batch.docs is None else found | {"doc": batch.docs}


class SentenceLesson(TaskLesson):
    """The lesson of a task over sentences: some are held out, and a model of the others answers them."""

    folds = 1
    recipe: Recipe
    sentences: Sentences

    def __init__(self, recipe: Recipe, examples: Examples) -> None:
        self.recipe, self.sentences = recipe, examples.stream

    def enough(self, rows: int, groups: int) -> bool:
        """Whether some of these sentences can be held out."""
        return rows >= LEAST and groups >= LEAST // 2

    def legs(self, split: Split, strengths: Collection[float], run: Run) -> Iterator[Leg]:
        """For each strength, the facts of the held-out sentences, answered by a model of the others."""
        from linnaeus.evaluation import evaluate

        part = type(self)(self.recipe, Examples(self.sentences.take(split.train), None, None, np.ones(0)))
        held = self.sentences.take(split.test)
        for strength in strengths:
            learner = self.recipe.learner.with_strength(strength)
            facts = self.recipe.task.observe(part.fitted(learner, run if len(strengths) == 1 else Run()), held)
            yield Leg(facts, evaluate(facts, rounds=0).merit)

    @abstractmethod
    def fitted(self, learner: Any, run: Run) -> Any:
        """What the task needs of a model of these sentences to answer others."""


def columns_beside(sentences: Sentences) -> list[pa.Array]:
    """The columns of text beside the tokens, in the order of their names; nulls are empty."""
    import pyarrow.compute as pc

    columns = (sentences.columns[name] for name in sorted(sentences.columns))
    return [pc.fill_null(pc.cast(column, pa.large_string()), "") for column in columns]


def counted_from_zero(sentences: Sentences) -> Longs:
    """The offsets of sentences, counted from 0."""
    first = sentences.offsets[0]
    return sentences.offsets if first == 0 else sentences.offsets - first


def as_sentences(source: Source, tagged: bool = True, truth: str | None = None) -> Sentences:
    """Sentences unchanged, or made from lists of (token, tag) pairs, or of tokens if no tags are needed."""
    if not isinstance(source, Sentences | Pieces) and not tagged:
        return _untagged(source)
    found = joined(source, truth)
    if tagged and found.tags is None:
        raise DataError("the sentences have no tags; name the column that holds them.")
    return found


def joined(source: Source, tags: str | None = None, check: Check | None = None) -> Sentences:
    """Sentences unchanged, or those of pieces, or of anything that `read_sentences` takes."""
    if isinstance(source, Sentences):
        return source
    pieces = source.batches() if isinstance(source, Pieces) else stream_sentences(source, tags=tags, check=check)
    return join(list(pieces))


def as_sentence(source: Source) -> Sentences:
    """One sentence: a list of tokens, or `Sentences` with one sentence if there are more columns."""
    if not isinstance(source, Sentences):
        return from_texts([source]) if isinstance(source, str) else Sentences.from_lists([source])
    if len(source) != 1:
        raise UsageError(f"This needs one sentence, but there are {len(source)}; give one of them.")
    return source


def place_of(sentences: Sentences, token: int, place: Place = lambda i: f"sentence {i + 1}") -> str:
    """Where a token stands, as a person finds it.

    >>> place_of(Sentences.from_lists([["a"], ["b", "c"]]), 2)
    "sentence 2, token 2 ('c')"
    """
    offsets = sentences.offsets - sentences.offsets[0]
    i = int(np.searchsorted(offsets, token, side="right")) - 1
    return f"{place(i)}, token {token - int(offsets[i]) + 1} ({sentences.tokens[token].as_py()!r})"


def sentence_examples(found: Sentences) -> Examples:
    """Sentences as examples; those of a document are held out together."""
    groups = None
    if found.docs is not None and found.docs.null_count < len(found):
        groups = np.unique(np.array(found.docs.to_pylist(), dtype=str), return_inverse=True)[1]
    return Examples(found, None, None, np.ones(len(found)), groups)


def spans_of(sentences: Sentences) -> pa.Array | None:
    """The places of tokens in the text that they were cut from, if they were."""
    if "start" not in sentences.columns:
        return None
    places = zip(*(sentences.columns[name].to_pylist() for name in ("start", "end")), strict=True)
    return pa.array(sentences.lists(list(map(list, places))), pa.list_(pa.list_(pa.int64())))


def _untagged(source: Source) -> Sentences:
    if isinstance(source, str):
        return from_texts([source])
    texts = isinstance(source, list | tuple) and bool(source) and isinstance(source[0], str)
    return from_texts(source) if texts else Sentences.from_lists(source)


def from_texts(texts: Sequence[str]) -> Sentences:
    """The sentences of texts, cut into tokens; the columns `start` and `end` are positions in the text.

    >>> from_texts(["Why? Yes."]).lists()
    [['Why', '?'], ['Yes', '.']]
    """
    cut = [sentence for text in texts for sentence in sentences(text)]
    found = Sentences.from_lists([[token.text for token in sentence] for sentence in cut])
    for name in ("start", "end"):
        places = [getattr(token, name) for sentence in cut for token in sentence]
        found = found.with_column(name, pa.array(places, pa.int64()))
    return found


def opened(data: str, given: Given, labeled: bool, check: Check | None = None) -> Pieces[Sentences]:
    """The sentences of files in pieces; without their tags where nobody asks for them."""
    if data == "-" and "format" not in given and not labeled:
        return Pieces(lambda: (from_texts([text]) for text in _blocks()))
    tags = given.get("label") if labeled else ""
    return Pieces(
        lambda: (
            part
            for piece in stream_sentences(data, tokens=given.get("text"), tags=tags, check=check, **file_options(given))
            for part in (piece.batches(TOKENS) if len(piece) else [piece])
        )
    )


def _blocks() -> Iterator[str]:
    """Standard input in pieces that end at an empty line."""
    waiting: list[str] = []
    for number, raw in enumerate(standard_input(), 1):
        try:
            waiting.append(raw.decode("utf-8"))
        except UnicodeDecodeError as error:
            raise DataError(
                f"standard input, line {number}: some bytes are not UTF-8; convert the text first."
            ) from error
        if len(waiting) >= LINES and not waiting[-1].strip():
            yield "".join(waiting)
            waiting = []
    if waiting:
        yield "".join(waiting)
