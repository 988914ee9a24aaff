"""The learner of dependency parsers: trees by their arcs, one sentence at a time, then relations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, UsageError, expect
from linnaeus.features.arcs.table import ArcTable, Tree
from linnaeus.frozen import dataclass
from linnaeus.learners.dependencies.runs import ArcRun, RelationRun, Run, minimized
from linnaeus.learners.dependencies.weights import PARTS, SPACES, TreeWeights, relations_of
from linnaeus.learners.early_stopping import Best, set_aside
from linnaeus.learners.resuming import fill, number, taken_over
from linnaeus.learners.step_settings import check_steps, one_of
from linnaeus.protocols import LearnsTrees, UpdatesTrees
from linnaeus.types import Arrays, Doubles, Floats, Heads, Ints, Longs, Piece, State, groups

if TYPE_CHECKING:
    from linnaeus.features.arcs.fitted import FittedArcs
    from linnaeus.learners.run import Told
    from linnaeus.store.parts import Part

_NONE = np.zeros(0)


@dataclass(frozen=True, eq=False)
class Treebank:
    """What a parser is learned from: sentences with their features, true heads, and relations (m,) as numbers below k.

    Weights of sentences are those of the heads.
    """

    features: FittedArcs
    sentences: Sentences
    y: Heads
    relations: Ints
    k: int

    def __post_init__(self) -> None:
        sizes = np.diff(self.sentences.offsets)
        if len(self.y) != len(self.sentences) or (np.diff(self.y.tokens) != sizes).any():
            raise DataError("The heads are not those of the sentences; give one for each token.")
        own = np.arange(self.sentences.count) - np.repeat(self.y.tokens[:-1], sizes) + 1
        wrong = (self.y.heads < 0) | (self.y.heads > np.repeat(sizes, sizes)) | (self.y.heads == own)
        if wrong.any():
            at = int(np.searchsorted(self.y.tokens, np.flatnonzero(wrong)[0], side="right"))
            raise DataError(f"sentence {at}: a token has a head that is not in it, or itself; correct the heads.")
        if len(self.relations) != self.sentences.count:
            raise DataError(f"{len(self.relations)} relations do not fit {self.sentences.count} tokens; give each one.")
        if self.sentences.count and not 0 <= self.relations.min() <= self.relations.max() < self.k:
            raise DataError(f"The relations are not numbers from 0 to {self.k - 1}.")

    @property
    def weights(self) -> Doubles:
        """The weights of the sentences, or none."""
        return _NONE if self.y.weights is None else self.y.weights


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """Dependency trees as sums of their arcs, trained one sentence at a time; relations are classified after that.

    Minimizes sum_i loss_i + strength/2 |w|^2 over the trees of each sentence. The loss is "perceptron" (Collins 2002),
    "hinge" (structured SVM, each wrong head costs 1; McDonald, Crammer and Pereira 2005), "log" (Koo et al. 2007) or
    "softmargin". `rule` is "adagrad" or "sgd", both with a constant `rate`; the result is the mean of the weights after
    each step. Each epoch shuffles the sentences. `space` is "projective" (no two arcs cross) or "spanning".

    Relations are one of k classes for each arc of the true tree, with the same loss, rule, rate and epochs, and without
    a penalty. If the features have a second pass, the first one is also learned from all but one of `folds` parts of
    the sentences, and parses that part: so the second pass learns from trees with the mistakes of sentences that the
    first one has not seen.

    With several `runs` every part is learned as many times, with other orders of the sentences, and the weights are
    the mean: three take three times as long, and on English texts one head in 300 more is right.

    With `held_out`, a share of the sentences chooses the number of epochs, at most `epochs`: that after which the first
    pass, trained on the others, parses them best; it gives up after `patience` epochs that are not better. Then all
    sentences are learned from.

    A loss of your own is an object with `value_and_grad(space, S, y)`, written over the answers of
    `outputs.ProjectiveTree`. It takes steps in NumPy, which are slower, and needs the rows of all arcs in memory.

    >>> Dependencies(epochs=3).with_strength(0.1).strength
    0.1
    """

    provides: ClassVar[tuple[type, ...]] = (LearnsTrees, UpdatesTrees)

    loss: Piece = "hinge"
    rule: str = "adagrad"
    rate: float = 0.01
    epochs: int = 8
    strength: float = 0.0
    smoothing: float = 1.0
    space: str = "projective"
    folds: int = 2
    runs: int = 1
    held_out: float = 0.0
    patience: int = 3

    def __post_init__(self) -> None:
        check_steps(self)
        one_of("space", self.space, tuple(SPACES))
        for name, least in (("folds", 2), ("runs", 1)):
            expect(name, getattr(self, name), int, least)

    def with_strength(self, strength: float) -> Self:
        """The same, regularized with another strength."""
        return replace(self, strength=strength)

    def learn_trees(
        self, bank: Treebank, seed: int = 0, told: Told | None = None, kept: Part | None = None
    ) -> TreeWeights:
        """Learn weights of arcs and relations; `told` gets epoch, loss and wrong tokens after each epoch.

        The epochs of all parts of the training are counted together, see `parts`. `kept` is the place of a checkpoint,
        from which training goes on to the same bits.
        """
        plan = self if not self.held_out else replace(self, epochs=best_epochs(self, bank, seed), held_out=0.0)
        return _Training(plan, bank, seed, told, kept).run()

    def update_trees(self, bank: Treebank, start: TreeWeights, seed: int = 0, told: Told | None = None) -> TreeWeights:
        """The mean of the weights in one epoch over more sentences that begins at `start`, for each of its parts.

        The second pass sees trees that the first one finds with the weights of `start`.
        """
        if not isinstance(self.loss, str):
            raise UsageError("A parser with a loss of your own cannot be updated; train it on all sentences.")
        features, rows = bank.features, np.arange(len(bank.sentences))
        walks: dict[str, tuple[Run, Floats, Longs]] = {
            "first": (ArcRun(self, bank, features.first, None), start.first, rows)
        }
        if bank.k > 1:
            walks["relations"] = (RelationRun(self, bank), start.relations, np.arange(bank.sentences.count))
        if len(start.second):
            guide = start.guides(features, bank.sentences)
            walks["second"] = (ArcRun(self, bank, features.second, guide), start.second, rows)
        found = {name: _one_epoch(*walk, seed) for name, walk in walks.items()}
        if told is not None:
            told(0, *found["first"][1])
        parts = {name: found[name][0] if name in found else getattr(start, name) for name in PARTS}
        return TreeWeights(**parts, space=start.space)

    def parts(self, features: FittedArcs) -> int:
        """How many times `epochs` epochs there are: relations, the first pass, those of each fold, the second pass."""
        return self.runs * (2 + (2 * self.folds + 1 if features.second.templates else 0))


def best_epochs(plan: Dependencies, bank: Treebank, seed: int) -> int:
    """The number of epochs after which the first pass parses sentences best that it does not learn from."""
    if not isinstance(plan.loss, str):
        raise UsageError("A loss of your own trains for `epochs` epochs; leave out held_out.")
    learned, aside = set_aside(len(bank.sentences), plan.held_out, seed)
    table, space = bank.features.first, SPACES[plan.space][1]
    coded, heads = table.coded(bank.sentences.take(aside)), bank.y[aside].heads
    run, rng, best = ArcRun(plan, bank, table, None), np.random.default_rng(seed), Best[int](plan.patience)
    run.total = float(len(learned))
    for epoch in range(1, plan.epochs + 1):
        run.epoch(rng.permutation(learned).astype(np.int32))
        found = space.decode(table.scores(coded, run.weights())[:, None], coded.arc_offsets)
        if best.stops(float((found == heads).mean()), epoch):
            break
    return best.weights or plan.epochs


def _one_epoch(run: Run, start: Floats, rows: Longs, seed: int) -> tuple[Floats, tuple[float, int | None]]:
    """The weights after one epoch from `start` on; the sum of its losses, and how many tokens were wrong."""
    run.begin_at(start)
    run.total = float(max(len(rows), 1))
    told = run.epoch(np.random.default_rng(seed).permutation(rows).astype(np.int32))
    return run.weights(), told


class _Training:
    """One training: its parts in order, each done once and kept in the checkpoint."""

    def __init__(self, plan: Dependencies, bank: Treebank, seed: int, told: Told | None, kept: Part | None) -> None:
        self.plan, self.bank, self.seed, self.told = plan, bank, seed, told
        self.journal = _Journal(kept)
        self.part = 0

    def run(self) -> TreeWeights:
        bank, features = self.bank, self.bank.features
        everyone = np.arange(len(bank.sentences))
        relations = self._relations(everyone)
        first = self._arcs(features.first, None, everyone)
        if not features.second.templates:
            return TreeWeights(first, np.zeros(0, np.float32), relations, self.plan.space)
        second = self._arcs(features.second, self._guides(), everyone)
        return TreeWeights(first, second, relations, self.plan.space)

    def _guides(self) -> Tree:
        """Trees of the first pass, each found by weights that had not seen the sentence."""
        bank, sizes = self.bank, np.diff(self.bank.sentences.offsets)
        if len(bank.sentences) < self.plan.folds:
            raise DataError(
                f"The second pass needs at least {self.plan.folds} sentences; give more, or use the recipe parse-fast."
            )
        fold = np.random.default_rng(self.seed).permutation(len(sizes)) % self.plan.folds
        heads, relations = np.zeros((2, int(sizes.sum())), np.int32)
        for j in range(self.plan.folds):
            seen, unseen = np.flatnonzero(fold != j), np.flatnonzero(fold == j)
            related = self._relations(seen)
            arcs = self._arcs(bank.features.first, None, seen)
            weights = TreeWeights(arcs, np.zeros(0, np.float32), related, self.plan.space)
            tree = weights.parse(bank.features, bank.sentences.take(unseen))
            at = np.repeat(fold == j, sizes)
            heads[at], relations[at] = tree.heads, relations_of(tree)
        return Tree(heads, relations)

    def _arcs(self, table: ArcTable, tree: Tree | None, rows: Longs) -> Floats:
        if isinstance(self.plan.loss, str):
            shape = (table.width,)
            return self._mean(lambda: self._learned(lambda: ArcRun(self.plan, self.bank, table, tree), rows, shape))
        return self._mean(lambda: self._minimized(table, tree, rows))

    def _mean(self, learn: Callable[[], Floats]) -> Floats:
        """The mean of the weights of all runs."""
        found = [learn() for _ in range(self.plan.runs)]
        return found[0] if len(found) == 1 else np.stack(found).mean(axis=0, dtype=np.float64).astype(np.float32)

    def _minimized(self, table: ArcTable, tree: Tree | None, rows: Longs) -> Floats:
        """The weights of one part of the training, for a loss that the kernel does not know."""
        part, self.part = self.part, self.part + 1
        found = self.journal.result(part, (table.width,))
        if found is None:
            sentences, y = self.bank.sentences.take(rows), self.bank.y[rows]
            own = None if tree is None else _taken(tree, self.bank.sentences.offsets, rows)
            X = table.rows(table.coded(sentences, own))
            found = self.journal.finish(part, minimized(self.plan, X, y, self.seed + part, self._tell(part)))
        return found

    def _tell(self, part: int) -> Told:
        """What is told of the epochs of a part."""
        first = part * self.plan.epochs

        def tell(epoch: int, loss: float, wrong: int | None) -> None:
            if self.told is not None:
                self.told(first + epoch, loss, wrong)

        return tell

    def _relations(self, rows: Longs) -> Floats:
        shape = self.bank.features.relations.width, self.bank.k
        if self.bank.k == 1:  # arcs without names: nothing is left to choose
            self.part += self.plan.runs
            return np.zeros(shape, np.float32)
        sizes = np.diff(self.bank.sentences.offsets)
        chosen = np.repeat(np.isin(np.arange(len(sizes)), rows), sizes)
        own = np.flatnonzero(chosen)
        return self._mean(lambda: self._learned(lambda: RelationRun(self.plan, self.bank), own, shape))

    def _learned(self, begin: Callable[[], Run], rows: Longs, shape: tuple[int, ...]) -> Floats:
        """The weights of one part of the training, which have this shape."""
        part, self.part = self.part, self.part + 1
        weights = self.journal.result(part, shape)
        if weights is not None:
            return weights
        run, rng = begin(), np.random.default_rng([self.seed, part])
        run.total, tell = float(max(len(rows), 1)), self._tell(part)
        done = self.journal.resume(part, run.arrays())
        for epoch in range(self.plan.epochs):
            order = rng.permutation(rows).astype(np.int32)
            if epoch < done:
                continue
            loss, wrong = run.epoch(order)
            self.journal.note(part, epoch + 1, run.arrays())
            tell(epoch, loss, wrong)
        return self.journal.finish(part, run.weights())


class _Journal:
    """What a checkpoint holds: the weights of parts that are done, and the state of the one that is not."""

    def __init__(self, kept: Part | None) -> None:
        state = None if kept is None else kept.get()
        self.kept = kept
        self.manifest = {"part": -1, "epochs": 0} if state is None else state.manifest
        self.open: Arrays = {}
        self.done: Arrays = {}
        for name, array in ({} if state is None else state.tensors).items():
            kind, _, rest = name.partition(".")
            (self.done if kind == "done" else self.open)[rest] = array

    def result(self, part: int, shape: tuple[int, ...]) -> Floats | None:
        """The weights of a part that is done, which have this shape; None where it is not."""
        return taken_over(self.done, str(part), shape) if str(part) in self.done else None

    def resume(self, part: int, arrays: Arrays) -> int:
        """Fill the arrays of a part as they were; the number of epochs that it has behind it."""
        if number(self.manifest, "part", -1) != part:
            return 0
        fill(arrays, self.open)
        return number(self.manifest, "epochs")

    def note(self, part: int, epochs: int, arrays: Arrays) -> None:
        self.manifest = {"part": part, "epochs": epochs}
        self.open = arrays
        self._put()

    def finish(self, part: int, weights: Floats) -> Floats:
        self.manifest, self.open = {"part": -1, "epochs": 0}, {}
        if self.kept is not None:
            self.done[str(part)] = weights
            self._put()
        return weights

    def _put(self) -> None:
        if self.kept is not None:
            done = {f"done.{part}": weights for part, weights in self.done.items()}
            self.kept.put(State(dict(self.manifest), {**done, **{f"open.{name}": a for name, a in self.open.items()}}))


def _taken(tree: Tree, offsets: Longs, rows: Longs) -> Tree:
    """The trees of some sentences."""
    _, at, _ = groups(offsets, rows)
    return Tree(tree.heads[at], None if tree.relations is None else tree.relations[at])
