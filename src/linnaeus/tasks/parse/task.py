"""`Parse`: the dependency tree of a sentence, a head and a relation for each token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from linnaeus.arrays.numerics import finite_scores
from linnaeus.data.conllu import ALIASES
from linnaeus.data.roles import plain
from linnaeus.data.sentence_reading import TAGS, Place
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, InputTypeError, UsageError, damaged
from linnaeus.frozen import dataclass
from linnaeus.protocols import LearnsTrees, capability
from linnaeus.tasks.base import Given
from linnaeus.tasks.examples import Examples, Learned
from linnaeus.tasks.parse.trees import HEADS, RELATIONS, UNNAMED, column_named, trees_of
from linnaeus.tasks.sentences import (
    TOKENS,
    SentenceTask,
    columns_beside,
    joined,
    opened,
    sentence_examples,
    spans_of,
)
from linnaeus.tasks.sources import Pieces, refuse_roles, with_usual
from linnaeus.types import Bools, Doubles, Heads, Ints, Label, Longs, Source, State

if TYPE_CHECKING:
    from linnaeus.evaluation import Facts
    from linnaeus.evaluation.attachment import Attachments
    from linnaeus.explain import Explanation
    from linnaeus.features.arcs import Arcs, FittedArcs
    from linnaeus.features.restore import Functions
    from linnaeus.learners.dependencies import Dependencies, TreeWeights
    from linnaeus.learners.run import Run
    from linnaeus.model.model import Model
    from linnaeus.outputs.trees import TreeSpace
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.base import Abstain, Evaluated, Flips, Wish
    from linnaeus.tasks.parse.learning import ParseLesson

Arc: TypeAlias = tuple[int | None, str | None]
"""The head of a token (0: the root, j: token j) and its relation; None where the model abstains."""

BESIDE = tuple(name for role in ("lemma", "upos", "xpos", "feats") for name in ALIASES[role])
"""Columns of the input that stand beside the answers."""

MAX_SENTENCE_TOKENS = 2000
"""A sentence of n tokens has n (n + 1) arcs, and its best tree takes n^3 steps."""


class Part(NamedTuple):
    """A parser of a part of the sentences, for those that are held out; it has what trees need of a model."""

    features: FittedArcs
    body: TreeWeights
    names: tuple[str, ...]

    @property
    def space(self) -> TreeSpace:
        """The output space of the trees."""
        return space_of(self.body)

    def ready(self, sentences: Sentences) -> Sentences:
        """The sentences; they have the answers of earlier stages since they were read."""
        return sentences


@dataclass(frozen=True)
class Parse(SentenceTask):
    """Dependency trees: each token has a head, another token or the root, and a relation to it.

    Exactly one token has the root as its head. Data have a column `heads` (or `head`) with the number of each token's
    head, 0 for the root, and may have a column `relations` (or `deprel`). The learner says which trees are searched.

    >>> Parse().models
    'parsers'
    """

    name: ClassVar[str] = "parse"
    model: ClassVar[str] = "parser"
    models: ClassVar[str] = "parsers"
    data: ClassVar[str] = "lists of tokens with their heads, as in CoNLL-U files"
    usual: ClassVar[str] = "parse"
    heading: ClassVar[str] = "for dependency trees"
    doubtful: ClassVar[str] = "arcs"
    forms: ClassVar[tuple[str, ...]] = ("trees",)
    suffix: ClassVar[str] = ".conllu"
    commands: ClassVar[tuple[str, ...]] = (
        "predict {model} new.conllu --lines",
        "test {model} test.conllu",
        "explain {model} new.conllu",
        "inspect {model}",
    )

    # The recipe

    def recognize(self, columns: Mapping[str, bool], given: Given) -> bool:
        """Whether the label that is named is that of trees; if none is, whether there are heads and no tags."""
        lists = [name for name, many in columns.items() if many]
        label = given.get("label")
        if label is not None:
            return label in (*HEADS, *RELATIONS) and bool(set(lists) & set(HEADS))
        return bool(set(lists) & set(HEADS)) and plain(TAGS, lists) is None

    def fitting(self, examples: Examples) -> str:
        """The recipe for these examples if none is named."""
        del examples
        return self.usual

    def usual_features(self) -> Arcs:
        """Words, lemmas, tags and morphology of head and dependent, what stands around and between them."""
        from linnaeus.features.arcs import Arcs

        return Arcs()

    def usual_learner(self) -> Dependencies:
        """A structured SVM."""
        from linnaeus.learners.dependencies import Dependencies

        return Dependencies()

    def with_columns(self, features: object, columns: Sequence[str]) -> object:
        """The features that look at words and at these columns."""
        from linnaeus.features.arcs import Arcs

        if not isinstance(features, Arcs):
            return features
        found = features.among(columns)
        if columns and not found.looks_at(columns):
            said = f"The parser would see no answer of an earlier stage ({', '.join(columns)})"
            raise UsageError(f"{said}; name a stage upos, xpos, lemma or feats, or give templates that read it.")
        return found

    def check(self, recipe: Recipe) -> None:
        """Refuse features and learners of other tasks."""
        from linnaeus.features.arcs import Arcs

        if not isinstance(recipe.features, Arcs):
            raise InputTypeError(f"features of a parser are Arcs, not {recipe.features!r}.")
        if capability(recipe.learner, LearnsTrees) is None:
            raise InputTypeError(f"learner takes a learner of trees such as Dependencies(), not {recipe.learner!r}.")
        super().check(recipe)

    # Data

    def open(self, data: str, given: Given, usual: Given, labeled: bool = True) -> Pieces[Sentences]:
        """The sentences of files with all of their columns; trees are checked where they are needed."""
        refuse_roles(given, self.unused, self.models)
        if given.get("label") not in (None, "", *HEADS, *RELATIONS):
            raise UsageError(f"A parser learns from a column {HEADS[0]!r} or {HEADS[1]!r}, not {given['label']!r}.")
        said = with_usual(data, given, usual)
        return opened(data, {**said, "label": ""}, labeled, _check if labeled else None)

    def described(self, source: Pieces[Sentences]) -> str:
        """What is read."""
        del source
        return "sentences of tokens with their heads"

    def labeled(self, source: Source) -> Iterator[Sentences]:
        """Sentences with their trees, in pieces."""
        parts = source.batches() if isinstance(source, Pieces) else iter([joined(source, "", _check)])
        return (piece for part in parts for piece in part.without_tags().batches(TOKENS))

    def material(self, source: Source) -> Sentences:
        """Sentences with all that is known of their tokens as columns."""
        return super().material(source).without_tags()

    # Training

    def examples(self, source: Source, truth: str | None = None) -> Examples:
        """Sentences with heads and relations, which are trees."""
        del truth
        found = joined(source, "", _check).without_tags()
        if not found.count:
            raise DataError("there are no tokens; give sentences in which every token has its head.")
        trees_of(found)
        return sentence_examples(found)

    def contents(self, examples: Examples) -> Iterator[bytes | memoryview]:
        """The bytes of tokens, heads and relations, and where each begins."""
        from linnaeus.tasks.examples import text_bytes

        arcs = trees_of(examples.stream)
        for column in (examples.stream.tokens, arcs.relations, *columns_beside(examples.stream)):
            yield from text_bytes(column)
        yield arcs.heads.tobytes()
        yield np.diff(examples.stream.offsets).tobytes()

    def lesson(self, recipe: Recipe, examples: Examples) -> ParseLesson:
        """Features and trees of the sentences."""
        from linnaeus.tasks.parse.learning import ParseLesson

        return ParseLesson(recipe, examples)

    def more(self, model: Model, examples: Examples, run: Run) -> Learned:
        """One epoch over more sentences, from the weights so far."""
        from linnaeus.tasks.parse.learning import learn_more

        return learn_more(model, examples, run)

    # The model

    def restore(self, state: State, functions: Functions | None) -> FittedArcs:
        """The fitted features again."""
        from linnaeus.features.arcs import FittedArcs

        del functions
        return FittedArcs.from_state(state)

    def check_model(self, model: Model) -> None:
        """Refuse weights that do not fit the features and the relations."""
        from linnaeus.learners.dependencies.weights import TreeWeights

        if not isinstance(model.body, TreeWeights) or not model.body.fits(model.features, len(model.names)):
            raise damaged("its weights do not fit its features and relations")
        if model.space != space_of(model.body) or len(set(model.names)) != len(model.names):
            raise damaged("its relations do not fit each other")

    def scores(self, model: Model | Part, material: Sentences) -> Doubles:
        """The scores of all possible arcs (a,), as `outputs.trees` orders them."""
        return finite_scores(model.body.scores(model.features, with_read_columns(model, material)))

    def probabilities(self, model: Model | Part, material: Sentences) -> Doubles:
        """The probability of each arc (a,), among all trees of its sentence."""
        return model.body.marginals(model.features, with_read_columns(model, material))

    def parsed(self, model: Model | Part, sentences: Sentences, abstain: Abstain = None) -> Attachments:
        """The trees of all sentences; without a head (-1) and a relation where the model abstains."""
        from linnaeus.evaluation.attachment import Attachments

        sentences = with_read_columns(model, sentences)
        tree, names = model.body.parse(model.features, sentences), pa.array(model.names, pa.string())
        if abstain is None:
            return Attachments(tree.heads, names.take(pa.array(tree.relations)))
        sure = _sure(self.probabilities(model, sentences), _sizes(sentences), tree.heads, abstain)
        heads = np.where(sure, tree.heads, -1).astype(np.int32)
        return Attachments(heads, names.take(pa.array(tree.relations, mask=~sure)))

    def relations(self, model: Model | Part, sentences: Sentences, heads: Ints) -> list[int]:
        """The number of the relation of each token in trees that are known."""
        return model.body.relation_scores(model.features, sentences, heads).argmax(axis=1).tolist()

    def predict(self, model: Model, material: Sentences, abstain: Abstain = None) -> list[list[Arc]]:
        """The head and the relation of each token of each sentence; None where the model abstains."""
        found = self.parsed(model, material, abstain)
        heads = [None if head < 0 else head for head in found.heads.tolist()]
        return material.lists(list(zip(heads, found.relations.to_pylist(), strict=True)))

    def rank(self, model: Model, material: Sentences, count: int) -> list[list[tuple[int, float]]]:
        """The most probable heads of each token of all sentences, best first, with their probabilities."""
        if count < 1:
            raise UsageError(f"count is a whole number from 1 up, not {count}.")
        P, y = self.probabilities(model, material), _sizes(material)
        owns = np.arange(material.count) - np.repeat(y.tokens[:-1], np.diff(y.tokens)) + 1
        found = []
        for (start, end), own in zip(pairwise([*_arc_rows(y).tolist(), len(P)]), owns.tolist(), strict=True):
            best = [head for head in np.argsort(-P[start:end], kind="stable").tolist() if head != own][:count]
            found.append([(head, float(P[start + head])) for head in best])
        return found

    def columns(self, model: Model, batch: Sentences, wish: Wish) -> pa.RecordBatch:
        """Tokens, heads and relations of each sentence, one row each, and what the input says of its tokens.

        Tokens of plain text have their places in it, as `spans`; with `top` there are the most probable heads.
        """
        sentences, text, number = model.ready(batch), pa.list_(pa.string()), pa.list_(pa.int64())
        arcs = self.parsed(model, sentences, wish.abstain)
        heads = [None if head < 0 else head for head in arcs.heads.tolist()]
        found = {"tokens": pa.array(sentences.lists(), text)}
        found |= {name: pa.array(sentences.lists(sentences.columns[name]), text) for name in _beside(sentences)}
        found["heads"] = pa.array(sentences.lists(heads), number)
        found["relations"] = pa.array(sentences.lists(arcs.relations), text)
        if (places := spans_of(sentences)) is not None:
            found["spans"] = places
        if wish.top:
            kind = pa.list_(pa.list_(pa.struct([("head", pa.int64()), ("probability", pa.float64())])))
            ranked = [[{"head": a, "probability": p} for a, p in one] for one in self.rank(model, sentences, wish.top)]
            found["top"] = pa.array(sentences.lists(ranked), kind)
        return pa.RecordBatch.from_pydict(found)

    def lines(self, batch: pa.RecordBatch) -> str:
        """The sentences as CoNLL-U."""
        from linnaeus.data.conllu import conllu_lines

        return conllu_lines(batch.to_pydict())

    def said(self, sentences: Sentences, answers: Sequence[Sequence[Arc]]) -> dict[str, pa.Array]:
        """The relation of each token, and as `head` the word of its head."""
        relations = [relation for row in answers for _, relation in row]
        words = [
            "<root>" if not head else tokens[head - 1]
            for tokens, row in zip(sentences.lists(), answers, strict=True)
            for head, _ in row
        ]
        return {"": pa.array(relations, pa.large_string()), "head": pa.array(words, pa.large_string())}

    def observe(self, model: Model | Part, batch: Sentences, abstain: Abstain = None) -> Facts:
        """The facts of the trees of a batch."""
        from linnaeus.evaluation import observe_arcs

        sentences: Sentences = model.ready(batch)
        if not sentences.count:
            raise DataError("There are no tokens to test on; give sentences with heads.")
        gold = trees_of(sentences)
        if model.names == (UNNAMED,) or column_named(sentences, RELATIONS) is None:
            gold = replace(gold, relations=pa.nulls(sentences.count, pa.string()))
        return observe_arcs(sentences.offsets, gold, self.parsed(model, sentences, abstain))

    def truth_of(self, batch: Sentences) -> pa.Array | None:
        """The relations of a batch, if it has any."""
        return column_named(batch, RELATIONS)

    def known_labels(self, model: Model) -> tuple[str, ...] | None:
        """The relations that the model knows; None if it learned from arcs without names."""
        return None if model.names == (UNNAMED,) else model.names

    def evaluated(self, model: Model) -> Evaluated:
        """What is evaluated, as `linnaeus.evaluation.KINDS` calls it."""
        del model
        return "trees"

    def reasons(self, model: Model, row: Source, at: int, classes: Sequence[Label], search: Flips) -> Explanation:
        """Why the token at this position has its head and not the next best one."""
        from linnaeus.tasks.parse.explanation import explain_arc

        if classes:
            raise UsageError("An arc is explained against the next best one; leave out the class.")
        del search
        return explain_arc(self, model, row, at)


def space_of(weights: TreeWeights) -> TreeSpace:
    """The output space in which weights search trees."""
    from linnaeus.learners.dependencies.weights import SPACES

    return SPACES[weights.space][1]


def _check(sentences: Sentences, place: Place) -> None:
    """Refuse sentences whose heads are no tree, and those that are too long."""
    _refuse_long(sentences, place)
    trees_of(sentences, place)


def _refuse_long(sentences: Sentences, place: Place = lambda i: f"sentence {i + 1}") -> None:
    sizes = np.diff(sentences.offsets)
    if (sizes > MAX_SENTENCE_TOKENS).any():
        i = int(np.flatnonzero(sizes > MAX_SENTENCE_TOKENS)[0])
        raise DataError(
            f"{place(i)}: has {sizes[i]:,} tokens, and a parser takes at most {MAX_SENTENCE_TOKENS:,}; split the text "
            "into sentences."
        )


def with_read_columns(model: Model | Part, sentences: Sentences) -> Sentences:
    """The sentences with every column that the parser reads, also if it has another of its usual names there.

    What is missing, or too long, is refused.
    """
    _refuse_long(sentences)
    missing = sorted({*model.features.columns.values()} - {"word", *sentences.columns})
    for name in list(missing):
        known = next((names for names in ALIASES.values() if name in names), ())
        own = next((other for other in known if other in sentences.columns), None)
        if own is not None:
            sentences = sentences.with_column(name, sentences.columns[own])
            missing.remove(name)
    if missing:
        raise DataError(
            f"The parser reads columns beside the tokens that these sentences do not have: {', '.join(missing)}; give "
            "them, or train the parser in a pipeline after a tagger."
        )
    return sentences


def _sizes(sentences: Sentences) -> Heads:
    """The offsets of arcs and tokens of sentences whose heads are not known."""
    return Heads.of(np.diff(sentences.offsets), np.zeros(sentences.count, np.int32))


def _beside(sentences: Sentences) -> list[str]:
    return [name for name in BESIDE if name in sentences.columns]


def _arc_rows(y: Heads) -> Longs:
    """Where the arcs to each token begin (m,): the one from the root, then those from the tokens."""
    sizes = np.diff(y.tokens)
    each: Longs = np.repeat(sizes + 1, sizes)
    return np.cumsum(each) - each


def _sure(P: Doubles, y: Heads, heads: Ints, abstain: Abstain) -> Bools:
    """Whether each head is sure enough, by its probability and that of the best other head."""
    from linnaeus.decision.abstention import sure

    first = _arc_rows(y)
    chosen = first + heads
    rest = P.copy()
    rest[chosen] = 0.0
    other = np.maximum.reduceat(rest, first) if len(first) else np.zeros(0)
    return sure(abstain, np.zeros(len(heads), np.intp), np.column_stack([P[chosen], other]))
