"""`Rank`: the best of the candidates that each example brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from linnaeus.errors import InputTypeError, UsageError
from linnaeus.frozen import dataclass
from linnaeus.protocols import OracleLoss, capability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa

    from linnaeus.data.groups import Groups
    from linnaeus.evaluation import Facts
    from linnaeus.explain import Explanation
    from linnaeus.features.pairs import FittedPairs, PairBlock
    from linnaeus.learners.linear import Linear
    from linnaeus.model.model import Model
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.classify.answers import Wish
    from linnaeus.tasks.examples import Examples, Held
    from linnaeus.tasks.rank.learning import RankLesson
    from linnaeus.tasks.sources import Given, Pieces
    from linnaeus.types import Doubles, State

RECIPE_COLUMNS = {
    "reading": frozenset({"story"}),
    "linking": frozenset({"left", "right", "doc", "in_links", "out_links"}),
}
"""Columns beside text and candidates that the features of a recipe read."""

NONES = ("never", "option")
"""Whether "none of these" may be chosen."""


@dataclass(frozen=True)
class Rank:
    """The candidate with the largest w . f(x, y) is chosen; candidates change from example to example.

    `none="option"` adds "none of these" to every example; it is right if no candidate is. The learner takes any
    structured loss (log, softmargin, hinge, perceptron), with the costs in the data.

    >>> Rank(none="option").none
    'option'
    """

    none: str = "never"

    name: ClassVar[str] = "rank"
    models: ClassVar[str] = "rankers"
    data: ClassVar[str] = "texts with lists of candidates"
    usual: ClassVar[str] = "plain"
    stacks: ClassVar[bool] = False
    texts: ClassVar[bool] = False
    commands: ClassVar[tuple[str, ...]] = (
        "predict {model} new.jsonl",
        "test {model} test.jsonl",
        "explain {model} new.jsonl",
        "inspect {model}",
    )

    def __post_init__(self) -> None:
        if self.none not in NONES:
            raise UsageError(f"none is one of {', '.join(NONES)}, not {self.none!r}.")

    # The recipe

    def recognize(self, columns: Mapping[str, bool], text: str | None) -> bool:
        """Whether data with these columns (and whether each holds lists) are of this task: they have candidates."""
        del text
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

    def usual_learner(self) -> Linear:
        """The linear engine."""
        from linnaeus.learners.linear.learner import Linear

        return Linear()

    def check(self, recipe: Recipe) -> None:
        """Refuse features and learners of other tasks."""
        from linnaeus.decision import Decision
        from linnaeus.features.pairs.base import PairBlock
        from linnaeus.learners.linear.learner import Linear

        if not isinstance(recipe.features, PairBlock):
            raise InputTypeError(
                f"features of a ranker are pair features such as Measured((Match(),)), not {recipe.features!r}."
            )
        if not isinstance(recipe.learner, Linear):
            raise InputTypeError(f"Candidates are ranked by a Linear(...) learner, not {recipe.learner!r}.")
        if capability(recipe.learner.loss, OracleLoss) is None:
            name = type(recipe.learner.loss).__name__
            raise UsageError(f"Candidates take the losses log, softmargin, hinge and perceptron, not {name}.")
        if recipe.keep != "nothing":
            raise UsageError("A ranker keeps no texts; keep is for classifiers of texts.")
        if recipe.decision != Decision():
            raise UsageError("A ranker has no decision to set; to abstain from unsure choices, ask for it in predict.")
        if recipe.before:
            raise UsageError("A ranker cannot come after other stages; its features read columns of the data.")

    # Data

    def examples(self, source: Any, truth: str | None = None) -> Examples:
        """Examples with candidates and answers: `Groups`, or anything that `read_groups` takes."""
        from linnaeus.tasks.rank.learning import rank_examples

        del truth
        return rank_examples(self, source)

    def open(self, data: str, given: Given, usual: Given, labeled: bool = True) -> Pieces[Groups]:
        """The examples of files, in pieces."""
        from linnaeus.tasks.rank.groups import opened
        from linnaeus.tasks.sources import refuse_roles, with_usual

        refuse_roles(given, ("label_kind", "label_separator"), self.models)

        return opened(data, with_usual(data, given, usual), labeled)

    def of_text(self, text: str) -> Pieces[Groups]:
        """Refused: a text alone has no candidates."""
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

    def meant(self, examples: Examples) -> Rank:
        """Itself."""
        del examples
        return self

    def material(self, source: Any) -> Groups:
        """Examples with candidates, including "none of these" if it may be chosen."""
        from linnaeus.tasks.rank.groups import as_groups

        found = as_groups(source)
        return found.with_none() if self.none == "option" else found

    def keyed(self, examples: Examples, features: Any) -> Examples:
        """With a key for each example, which is that of equal examples."""
        from linnaeus.tasks.rank.learning import keyed

        del features
        return keyed(examples)

    def sound(self, examples: Examples) -> Examples:
        """The examples."""
        return examples

    def grouped(self, examples: Examples, by: str) -> Examples:
        """With the values of this column as groups, which are held out together."""
        from linnaeus.tasks.rank.learning import grouped

        return grouped(examples, by)

    def contents(self, examples: Examples) -> Iterator[bytes]:
        """Texts, candidates and answers as bytes."""
        from linnaeus.tasks.rank.learning import contents

        return contents(examples)

    def sizes(self, examples: Examples) -> dict[str, int]:
        """The number of candidates."""
        return {"candidates": len(examples.stream.candidates) - examples.stream.candidates.null_count}

    # Training

    def lesson(self, recipe: Recipe, examples: Examples) -> RankLesson:
        """Features of all pairs of an example and a candidate."""
        from linnaeus.tasks.rank.learning import RankLesson

        return RankLesson(recipe, examples)

    def settle(self, model: Model, examples: Examples, held: Held | None) -> Model:
        """The model with its evaluation on held-out examples."""
        from linnaeus.tasks.judging import with_held_out_evaluation

        return with_held_out_evaluation(model, examples, held)

    # The model

    def restore(self, state: State, functions: Any) -> FittedPairs:
        """The fitted features again."""
        from linnaeus.features.pairs import restore_pairs

        return restore_pairs(state, functions)

    def predict(self, model: Model, material: Groups, abstain: Any = None) -> list[str | None]:
        """A candidate for each example; None means "none of these", or that the model abstains."""
        from linnaeus.tasks.rank.answers import choices

        words, starts = material.candidates.to_pylist(), material.offsets[:-1].tolist()
        chosen = choices(model, material, abstain).tolist()
        return [None if at < 0 else words[start + at] for at, start in zip(chosen, starts, strict=True)]

    def scores(self, model: Model, material: Groups) -> Doubles:
        """The scores of all candidates (m,), example by example; "none of these" is the last of each."""
        from linnaeus.tasks.rank.answers import pair_scores

        return pair_scores(model, material)

    def probabilities(self, model: Model, material: Groups) -> Doubles:
        """The softmax of the scores of each example's candidates (m,)."""
        from linnaeus.tasks.rank.answers import softmax

        return softmax(self.scores(model, material), material)

    def rank(self, model: Model, material: Groups, count: int) -> list[list[tuple[str | None, float]]]:
        """The candidates of each example, best first, with their probabilities."""
        from linnaeus.tasks.rank.answers import ranked

        return [row[:count] for row in ranked(model, material)]

    def single(self, model: Model) -> Callable[[str], Any] | None:
        """None: a text alone has no candidates."""
        del model
        return None

    def units(self, model: Model, source: Pieces[Groups]) -> Iterator[Groups]:
        """The examples in pieces; all at once if features look at other examples of a document."""
        from linnaeus.data.groups import join
        from linnaeus.tasks.rank.answers import looks_around

        parts = source.batches()
        parts = iter([join(list(parts))]) if looks_around(model.recipe.features) else parts
        return (self.material(part) for part in parts)

    def refuse_wish(self, wish: Wish) -> None:
        """Refuse what choices cannot give."""
        if wish.scope:
            raise UsageError("A ranker has no out-of-scope scores; leave out --scope.")

    def columns(self, model: Model, batch: Groups, wish: Wish) -> pa.RecordBatch:
        """`choice`, its `place`, its `probability`, and what else is wished."""
        from linnaeus.tasks.rank.answers import columns

        return columns(model, batch, wish)

    def labeled(self, source: Any) -> Iterator[Groups]:
        """Examples with answers, in pieces."""
        from linnaeus.tasks.sources import Pieces

        parts = source.batches() if isinstance(source, Pieces) else iter([source])
        return (self.material(part) for part in parts)

    def observe(self, model: Model, batch: Groups, abstain: Any = None) -> Facts:
        """The facts of the choices of a batch."""
        from linnaeus.tasks.rank.answers import observed

        return observed(model, batch, abstain)

    def truth_of(self, batch: Groups) -> Any:
        """None: candidates have no names that could be unknown."""
        del batch

    def known_labels(self, model: Model) -> None:
        """None: candidates have no names that could be unknown."""
        del model

    def columns_of(self, batch: Groups) -> dict[str, Any]:
        """What examples can be compared by: their columns, and the `length` of texts."""
        return {"length": batch.text, **batch.columns}

    def evaluated(self, model: Model) -> str:
        """What is evaluated, as `linnaeus.evaluation.KINDS` calls it."""
        del model
        return "candidates"

    def reasons(self, model: Model, row: Any, at: int, classes: Any, search: Any) -> Explanation:
        """Why the chosen candidate of an example scores above the second best, feature by feature."""
        from linnaeus.tasks.rank.reasons import reason

        if classes:
            raise UsageError("A choice is explained against the next best candidate; leave out the class.")
        del search
        groups = self.material(row)
        if not 0 <= at < len(groups):
            raise UsageError(f"There is no example {at}; they are numbered from 0 to {len(groups) - 1}.")
        return reason(model, groups, at)
