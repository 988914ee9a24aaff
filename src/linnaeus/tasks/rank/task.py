"""`Rank`: the best of the candidates that each example brings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from linnaeus.arrays.numerics import finite_scores
from linnaeus.errors import DataError, InputTypeError, UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.protocols import FittedRanker, LearnsCandidates, OracleLoss, capability
from linnaeus.tasks.base import Given, Task, Wish
from linnaeus.types import Bools, Choices, Doubles, Label, Longs, Source, State, Words64

if TYPE_CHECKING:
    from linnaeus.data.groups import Groups
    from linnaeus.evaluation import Facts
    from linnaeus.explain import Explanation
    from linnaeus.features.pairs import FittedPairs, PairBlock
    from linnaeus.features.restore import Functions
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.base import Abstain, Evaluated, Flips
    from linnaeus.tasks.examples import Examples
    from linnaeus.tasks.rank.learning import RankLesson
    from linnaeus.tasks.sources import Pieces

RECIPE_COLUMNS = {
    "reading": frozenset({"story"}),
    "linking": frozenset({"left", "right", "doc", "in_links", "out_links"}),
}
"""Columns beside text and candidates that the features of a recipe read."""

MOST_PROPOSED = 1 << 16
"""Candidates that are proposed for a text."""

NONES = ("never", "option")
"""Whether "none of these" may be chosen."""


@dataclass(frozen=True)
class Rank(Task["Groups", "Groups"]):
    """The candidate with the largest w . f(x, y) is chosen; candidates change from example to example.

    `none="option"` adds "none of these" to every example; it is right if no candidate is. The learner takes any
    structured loss (log, softmargin, hinge, perceptron), with the costs in the data.

    With `proposed` above 0 the data need no candidates: an earlier stage, a label tree, proposes so many labels for
    each text, with their chances.

    >>> Rank(none="option").none
    'option'
    """

    none: str = "never"
    proposed: int = 0

    name: ClassVar[str] = "rank"
    model: ClassVar[str] = "ranker"
    models: ClassVar[str] = "rankers"
    data: ClassVar[str] = "texts with lists of candidates"
    usual: ClassVar[str] = "plain"
    heading: ClassVar[str] = "for candidates"
    doubtful: ClassVar[str] = "choices"
    stacks: ClassVar[bool] = False
    forms: ClassVar[tuple[str, ...]] = ("candidates",)
    named: ClassVar[bool] = False
    commands: ClassVar[tuple[str, ...]] = (
        "predict {model} new.jsonl",
        "test {model} test.jsonl",
        "explain {model} new.jsonl",
        "inspect {model}",
    )

    def __post_init__(self) -> None:
        if self.none not in NONES:
            raise UsageError(f"none is one of {', '.join(NONES)}, not {self.none!r}.")
        expect("proposed", self.proposed, int, 0, MOST_PROPOSED)

    # The recipe

    def recognize(self, columns: Mapping[str, bool], given: Given) -> bool:
        """Whether data with these columns (and whether each holds lists) are of this task: they have candidates."""
        del given
        return columns.get("candidates", False) or columns.get("choices", False)

    def fitting(self, examples: Examples) -> str:
        """The recipe for these examples if none is named: by the columns that its features read."""
        there = {*examples.stream.columns, *examples.stream.details}
        known = (name for name, needed in RECIPE_COLUMNS.items() if needed <= there)
        return next(known, self.usual)

    def usual_features(self) -> PairBlock:
        """Features that need only texts: name matches, and pairs of text words and candidate words."""
        from linnaeus.features import Exact, Words
        from linnaeus.features.pairs import Crossed, Joined, Match, Measured

        left, right = (Words(terms=Exact(max_terms=most), values="binary", length="l2") for most in (5000, 500))
        return Joined((Measured((Match(),)), Crossed(left, right)))

    def alone(self) -> Rank:
        """The same with candidates in the data."""
        return replace(self, proposed=0)

    def check(self, recipe: Recipe) -> None:
        """Refuse features and learners of other tasks."""
        from linnaeus.erm.pieces import piece
        from linnaeus.features.pairs.base import PairBlock

        if not isinstance(recipe.features, PairBlock):
            raise InputTypeError(
                f"features of a ranker are pair features such as Measured((Match(),)), not {recipe.features!r}."
            )
        if capability(recipe.learner, LearnsCandidates) is None:
            raise InputTypeError(
                f"Candidates are ranked by a Linear(...) or RankNetwork(...) learner, not {recipe.learner!r}."
            )
        if capability(loss := piece("loss", recipe.learner.loss), OracleLoss) is None:
            name = type(loss).__name__
            raise UsageError(f"Candidates take the losses log, softmargin, hinge and perceptron, not {name}.")
        super().check(recipe)
        kinds = [stage.recipe.task.name for stage in recipe.before]
        if kinds and not self.proposed:
            raise UsageError("A ranker comes after a stage that proposes its candidates; set task.proposed=16, or so.")
        if self.proposed and kinds != ["many"]:
            raise UsageError("Candidates are proposed by one stage, a label tree; name it in before.")

    # Data

    def open(self, data: str, given: Given, usual: Given, labeled: bool = True) -> Pieces[Groups]:
        """The examples of files, in pieces."""
        from linnaeus.tasks.rank.groups import opened
        from linnaeus.tasks.sources import refuse_roles, with_usual

        refuse_roles(given, ("label_kind", "label_separator"), self.models)
        return opened(data, with_usual(data, given, usual), labeled, self.proposed > 0)

    def of_text(self, text: str) -> Pieces[Groups]:
        """A text whose candidates are proposed; refused where they are not."""
        from linnaeus.tasks.sources import Pieces

        if self.proposed:
            return Pieces(lambda: iter([self.material(text)]))
        raise UsageError(f"A ranker takes a file of examples with candidates, not a text such as {text[:20]!r}.")

    def described(self, source: Pieces[Groups]) -> str:
        """What is read."""
        del source
        return "examples with candidates"

    def explained(self, source: Pieces[Groups], rows: int) -> Iterator[tuple[Groups, int]]:
        """The first examples; features may look at others of the same document, so these come along."""
        from linnaeus.data.groups import join

        groups = join(list(source.batches()))
        return ((groups, at) for at in range(min(rows, len(groups))))

    def material(self, source: Source) -> Groups:
        """Examples with candidates, including "none of these" if it may be chosen; without, if they are proposed."""
        from linnaeus.tasks.rank.groups import as_groups

        if self.proposed:
            return as_groups([source] if isinstance(source, str) else source, bare=True)
        return self.choosable(as_groups(source))

    def choosable(self, groups: Groups) -> Groups:
        """The examples with all that may be chosen: "none of these" is the last of each, if it may."""
        return groups.with_none() if self.none == "option" else groups

    def units(self, model: Model, source: Pieces[Groups]) -> Iterator[Groups]:
        """The examples in pieces; all at once if features look at other examples of a document."""
        from linnaeus.data.groups import join

        parts = source.batches()
        parts = iter([join(list(parts))]) if _looks_around(model.recipe.features) else parts
        return (self.material(part) for part in parts)

    def labeled(self, source: Source) -> Iterator[Groups]:
        """Examples with answers, in pieces."""
        from linnaeus.tasks.sources import Pieces

        parts = source.batches() if isinstance(source, Pieces) else iter([self._read(source)])
        return (self.material(part) for part in parts)

    def _read(self, source: Source) -> Source:
        """A path as its examples, where a string would else be a text."""
        from linnaeus.tasks.rank.groups import as_groups

        return as_groups(source, bare=True) if self.proposed else source

    # Training

    def examples(self, source: Source, truth: str | None = None) -> Examples:
        """Examples with candidates and answers: `Groups`, or anything that `read_groups` takes."""
        from linnaeus.tasks.examples import Examples

        del truth
        groups = self.material(self._read(source))
        if not self.proposed and not (np.bincount(groups.group, groups.truth().gold, len(groups)) > 0).any():
            raise DataError("No example has a right candidate; give answers, or use none='option'.")
        return Examples(groups, None, None, np.ones(len(groups)))

    def keys(self, stream: Groups, features: PairBlock | None = None) -> Words64:
        """A key for each example, which is that of equal examples."""
        from linnaeus.tasks.keys import example_keys

        del features
        return example_keys(stream)

    def groups(self, examples: Examples, by: str) -> Longs:
        """The values of this column as groups, which are held out together."""
        return examples.stream.column(by).dictionary_encode().indices.to_numpy()

    def contents(self, examples: Examples) -> Iterator[bytes | memoryview]:
        """The bytes of texts, candidates and answers, and where each begins."""
        from linnaeus.tasks.examples import text_bytes

        groups: Groups = examples.stream
        for column in (groups.text, groups.candidates):
            yield from text_bytes(column.fill_null(""))
        for array in (groups.offsets, groups.truth().gold):
            yield np.ascontiguousarray(array).tobytes()

    def sizes(self, examples: Examples) -> dict[str, int]:
        """The number of candidates."""
        return {"candidates": len(examples.stream.candidates) - examples.stream.candidates.null_count}

    def lesson(self, recipe: Recipe, examples: Examples) -> RankLesson:
        """Features of all pairs of an example and a candidate."""
        from linnaeus.tasks.rank.learning import RankLesson

        return RankLesson(recipe, examples)

    # The model

    def restore(self, state: State, functions: Functions | None) -> FittedPairs:
        """The fitted features again."""
        from linnaeus.features.pairs import restore_pairs

        return restore_pairs(state, functions)

    def check_model(self, model: Model) -> None:
        """Refuse weights that do not score candidates."""
        if model.body is not None:
            body = capability(model.body, FittedRanker)
            fits = body is not None and not model.params and body.ranks(model.features.width)
        else:
            fits = model.params["W"].shape[1] == 1 and bool(np.isfinite(model.params["W"]).all())
        if not fits:
            raise damaged("its weights do not fit its features")

    def scores(self, model: Model, material: Groups) -> Doubles:
        """The scores of all candidates (m,), example by example; "none of these" is the last of each."""
        from linnaeus.features.pairs.base import View
        from linnaeus.tasks.rank.scoring import candidate_scores

        return finite_scores(candidate_scores(model.features, View(material), model.params, model.body))

    def probabilities(self, model: Model, material: Groups) -> Doubles:
        """The softmax of the scores of each example's candidates (m,)."""
        return softmax(self.scores(model, material), material)

    def choices(self, model: Model, groups: Groups, abstain: Abstain = None) -> Longs:
        """The position of the chosen candidate of each example; -1: "none of these", no candidates, or abstained."""
        from linnaeus.outputs import Candidates

        s = self.scores(model, groups)
        found = Candidates().decode(s[:, None], groups.offsets)
        last = np.diff(groups.offsets) - 1
        kept = np.where(found == last, -1, found) if self.none == "option" else found
        return kept if abstain is None else np.where(_sure(s, groups, abstain), kept, -1)

    def predict(self, model: Model, material: Groups, abstain: Abstain = None) -> list[str | None]:
        """A candidate for each example; None means "none of these", or that the model abstains."""
        words, starts = material.candidates.to_pylist(), material.offsets[:-1].tolist()
        chosen = self.choices(model, material, abstain).tolist()
        return [None if at < 0 else words[start + at] for at, start in zip(chosen, starts, strict=True)]

    def rank(self, model: Model, material: Groups, count: int) -> list[list[tuple[str | None, float]]]:
        """The best candidates of each example, best first, with their probabilities."""
        from linnaeus.evaluation.choices import best_first

        s = self.scores(model, material)
        p = softmax(s, material)
        order, words = best_first(s, material.offsets), material.candidates.to_pylist()
        found = [(words[at], float(p[at])) for at in order.tolist()]
        return [found[a:b][:count] for a, b in pairwise(material.offsets.tolist())]

    def columns(self, model: Model, batch: Groups, wish: Wish) -> pa.RecordBatch:
        """The chosen candidate of each example, its index and its probability; with `top` the best ones."""
        batch = model.ready(batch)
        rows = self.rank(model, batch, max(1, wish.top))
        places = self.choices(model, batch, wish.abstain).tolist()
        first = [row[0] if row else (None, None) for row in rows]
        if wish.abstain is not None:
            first = [told if at >= 0 else (None, None) for told, at in zip(first, places, strict=True)]
        found = {name: batch.column(name) for name in wish.keep}
        found |= {
            "choice": pa.array([name for name, _ in first], pa.string()),
            "place": pa.array([None if at < 0 else at for at in places], pa.int64()),
            "probability": pa.array([p for _, p in first], pa.float64()),
        }
        if wish.top:
            top = [[{"choice": a, "probability": p} for a, p in row] for row in rows]
            found["top"] = pa.array(top, pa.list_(pa.struct([("choice", pa.string()), ("probability", pa.float64())])))
        return pa.RecordBatch.from_pydict(found)

    def observe(self, model: Model, batch: Groups, abstain: Abstain = None) -> Facts:
        """The facts of the scores of all candidates, by which choices are evaluated."""
        from linnaeus.evaluation import observe_choices

        batch = model.ready(batch)
        s = self.scores(model, batch)
        answered = None if abstain is None else _sure(s, batch, abstain)
        return observe_choices(s, batch.truth(), answered)

    def columns_of(self, batch: Groups) -> Mapping[str, pa.Array]:
        """What examples can be compared by: their columns, and the `length` of texts."""
        return {"length": batch.text, **batch.columns}

    def evaluated(self, model: Model) -> Evaluated:
        """What is evaluated, as `linnaeus.evaluation.KINDS` calls it."""
        del model
        return "candidates"

    def reasons(self, model: Model, row: Source, at: int, classes: Sequence[Label], search: Flips) -> Explanation:
        """Why the chosen candidate of an example scores above the second best, feature by feature."""
        from linnaeus.tasks.rank.explanation import explain_choice

        if classes:
            raise UsageError("A choice is explained against the next best candidate; leave out the class.")
        del search
        groups = self.material(row)
        if not 0 <= at < len(groups):
            raise UsageError(f"There is no example {at}; they are numbered from 0 to {len(groups) - 1}.")
        return explain_choice(model, model.ready(groups), at)


def softmax(s: Doubles, groups: Groups) -> Doubles:
    """The probability of each candidate among those of its example (m,)."""
    from linnaeus.outputs import Candidates

    every = Choices(groups.offsets, np.ones(len(s), bool))
    return Candidates().soft(s[:, None], every).parts[:, 0]


def _sure(s: Doubles, groups: Groups, abstain: Abstain) -> Bools:
    """Whether each choice is sure enough; probabilities are those of the best two candidates."""
    from linnaeus.decision.abstention import sure
    from linnaeus.evaluation.choices import best_first

    p, order = softmax(s, groups), best_first(s, groups.offsets)
    counts = np.diff(groups.offsets)
    P = np.zeros((len(groups), 2))
    for place in (0, 1):
        has = counts > place
        P[has, place] = p[order[groups.offsets[:-1][has] + place]]
    return sure(abstain, np.zeros(len(groups), np.intp), P)


def _looks_around(piece: object) -> bool:
    """Whether a feature, or one inside it, puts examples together by a column."""
    if isinstance(piece, tuple):
        return any(map(_looks_around, piece))
    if not is_dataclass(piece):
        return False
    inside = {part.name: getattr(piece, part.name) for part in fields(piece)}
    return inside.get("by") is not None or any(map(_looks_around, inside.values()))
