"""Shared record types, and the meaning of short names.

n rows, d features, k classes, g groups by offsets;  X rows (n, d), W weights (d, k), S scores (n, k), y true outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, cast

from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Bools: TypeAlias = NDArray[np.bool_]
    Bytes: TypeAlias = NDArray[np.uint8]
    Ints: TypeAlias = NDArray[np.int32]
    Longs: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float32]
    Doubles: TypeAlias = NDArray[np.float64]
    Words16: TypeAlias = NDArray[np.uint16]
    Words64: TypeAlias = NDArray[np.uint64]
    Array: TypeAlias = NDArray[Any]
    AnyFloats: TypeAlias = NDArray[np.floating[Any]]
    AnyInts: TypeAlias = NDArray[np.integer[Any]]
    Arrays: TypeAlias = dict[str, Array]
    Params: TypeAlias = dict[str, NDArray[np.float64]]
    Sparse: TypeAlias = tuple[Longs, Ints, Floats | Doubles]
    Chosen: TypeAlias = AnyInts | slice
    Truth: TypeAlias = "Array | LabelSets"
else:
    # Annotations are not evaluated: these names can be imported without loading NumPy.
    Bools = Bytes = Ints = Longs = Floats = Doubles = Words16 = Words64 = Array = AnyFloats = AnyInts = Any
    Arrays = Params = Sparse = Chosen = Truth = Any

CostTable: TypeAlias = tuple[tuple[float, ...], ...]
"""A cost matrix as nested tuples, so that objects with one stay frozen and comparable."""

Json: TypeAlias = Any
"""What a manifest may hold: None, bool, int, float, str, lists and string-keyed dicts of these."""

Source: TypeAlias = Any
"""Examples as a user has them: a list of texts, a column or table of any library, a corpus, a path."""

Matrix: TypeAlias = Any
"""Rows of numbers as a user has them: NumPy, SciPy, pandas, a list of lists."""

Label: TypeAlias = Any
"""A label as a user writes it: a string or another value that can be a key; a set of these; a number in regression."""


Material: TypeAlias = Any
"""Examples as a task holds them: a stream of texts, `Sentences` or `Groups`, whole or a piece of it."""

Piece: TypeAlias = Any
"""A piece of a recipe, fitted or not: one of ours, or a user's own object."""


NOT_STORED: Mapping[str, bool] = {"stored": False}
"""Metadata of a field that no file holds: a function of the user's, which is passed in when a file is opened."""


@dataclass(frozen=True, slots=True)
class Texts:
    """UTF-8 texts in the layout of an Arrow string array: one buffer, and n+1 offsets into it."""

    data: Bytes
    offsets: Longs

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class State:
    """The stored form of a fitted object: a JSON manifest and named arrays, from which it can be restored."""

    manifest: dict[str, Json]
    tensors: Arrays
    guards: dict[str, Any] = field(default_factory=dict)
    """For large files: the blocks that are not checked yet; they are checked on first use (`store.blocks.Guard`)."""


class Crowding(NamedTuple):
    """A table of hashed features: its columns, its training terms, and how many share theirs; None: not known."""

    columns: int
    terms: int | None = None
    sharing: int | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """The position of a feature in a text: characters start to end (end excluded), and the column of the feature.

    `amount` is what this occurrence adds to the count of the feature: one, a sign if terms are hashed with signs, or
    the weight of a word in a list. `name` is the term if several terms share the column, as in hashing; otherwise it is
    empty, and the column has the name.
    """

    column: int
    start: int
    end: int
    amount: float = 1.0
    name: str = ""

    def at(self, column: int) -> Place:
        """A copy for another column."""
        return Place(column, self.start, self.end, self.amount, self.name)


@dataclass(frozen=True, slots=True)
class LabelSets:
    """The label sets of n examples, without an n x k matrix: `labels[offsets[i]:offsets[i+1]]`, sorted."""

    offsets: Longs
    labels: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: Array | slice) -> LabelSets:
        """The label sets of these rows, in this order, as in NumPy indexing."""
        offsets, at, _ = groups(self.offsets, rows)
        return LabelSets(offsets, self.labels[at])


@dataclass(frozen=True, slots=True)
class Tags:
    """The true tags of n sequences: `tags[offsets[i]:offsets[i+1]]`; `weights` (n,) are the sequence weights."""

    offsets: Longs
    tags: Ints
    weights: Doubles | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: Array | slice) -> Tags:
        """The tags of these sequences, in this order, as in NumPy indexing."""
        offsets, at, chosen = groups(self.offsets, rows)
        return Tags(offsets, self.tags[at], None if self.weights is None else self.weights[chosen])


@dataclass(frozen=True, slots=True)
class Choices:
    """The correct candidates: example i has the candidates `offsets[i]` to `offsets[i+1]`, one or several are gold.

    `costs` (m,) are the costs of the wrong candidates (1 by default), `weights` (n,) the weights of the examples.
    """

    offsets: Longs
    gold: Bools
    costs: Doubles | None = None
    weights: Doubles | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: Array | slice) -> Choices:
        """The choices of these examples, in this order, as in NumPy indexing."""
        offsets, at, chosen = groups(self.offsets, rows)
        costs = None if self.costs is None else self.costs[at]
        return Choices(offsets, self.gold[at], costs, None if self.weights is None else self.weights[chosen])


@dataclass(frozen=True, slots=True)
class Heads:
    """The true dependency trees of n sentences: `heads[tokens[i]:tokens[i+1]]`; `weights` (n,) are sentence weights.

    A head is 0 for the root, or j + 1 for token j of the sentence. A sentence of n tokens has n (n + 1) possible arcs,
    and a row of scores for each: `offsets` are those of these rows.

    >>> y = Heads.of([2, 1], [2, 0, 0])
    >>> y.offsets.tolist(), y.tokens.tolist(), y[1:].heads.tolist()
    ([0, 6, 8], [0, 2, 3], [0])
    """

    offsets: Longs
    tokens: Longs
    heads: Ints
    weights: Doubles | None = None

    @classmethod
    def of(cls, sizes: Array | Sequence[int], heads: ArrayLike, weights: Doubles | None = None) -> Heads:
        """The trees of sentences with these numbers of tokens."""
        import numpy as np

        counts = np.asarray(sizes, np.int64)
        return cls(offsets_of(counts * (counts + 1)), offsets_of(counts), np.asarray(heads, np.int32), weights)

    def __len__(self) -> int:
        return len(self.tokens) - 1

    def __getitem__(self, rows: Array | slice) -> Heads:
        """The trees of these sentences, in this order, as in NumPy indexing."""
        tokens, at, chosen = groups(self.tokens, rows)
        weights = None if self.weights is None else self.weights[chosen]
        return Heads.of(tokens[1:] - tokens[:-1], self.heads[at], weights)


def groups(offsets: Longs, rows: ArrayLike | slice) -> tuple[Longs, Longs, Longs]:
    """The offsets of these groups, the indices of their rows, and the indices of the groups.

    >>> import numpy as np
    >>> [part.tolist() for part in groups(np.array([0, 2, 3, 5]), np.array([2, 0]))]
    [[0, 2, 4], [3, 4, 0, 1], [2, 0]]
    """
    import numpy as np

    chosen = np.arange(len(offsets) - 1)[cast("Array | slice", rows)]
    counts = np.diff(offsets)[chosen]
    found = offsets_of(counts)
    return found, np.repeat(offsets[chosen] - found[:-1], counts) + np.arange(found[-1]), chosen


def offsets_of(counts: Array | Sequence[int]) -> Longs:
    """The offsets (n+1) of n groups with these numbers of rows.

    >>> offsets_of([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    import numpy as np

    found = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=found[1:])
    return found


def stretches(sizes: Array, most: int) -> Iterator[tuple[int, int]]:
    """Ranges [start, stop) of items whose sizes add up to at most `most`; each has at least one item.

    >>> import numpy as np
    >>> list(stretches(np.array([2, 2, 9, 1, 1]), 4))
    [(0, 2), (2, 3), (3, 5)]
    """
    import numpy as np

    ends, start = np.cumsum(sizes), 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + most, side="right")), start + 1)
        yield start, stop
        start = stop


@dataclass(frozen=True, slots=True)
class Lesson:
    """The training data of a learner: rows, labels, row weights, number of classes, random seed.

    The labels y are class indices (n,), `LabelSets`, or numbers (n, k). `space` is the output space that the labels
    make, `names` gives the names of the columns, for learners that look words up, and `run` tells of progress and
    keeps a checkpoint (`learners.run.Run`); `labels` are the names of the classes (k). Each may be missing.
    """

    X: Any
    y: Truth
    weights: Doubles
    k: int
    seed: int = 0
    space: Any = None
    names: Callable[[], Sequence[str]] | None = None
    run: Any = None
    labels: Any = None

    def take(self, rows: Array | slice) -> Lesson:
        """The lesson restricted to these rows."""
        return replace(self, X=self.X.take(rows), y=self.y[rows], weights=self.weights[rows])


@dataclass(frozen=True, slots=True)
class GroupedLesson:
    """The training data of a learner whose examples have several rows: the tokens of a sentence, or candidates.

    X has a row for each token or candidate, y the offsets of the examples with their tags or right candidates; k is the
    number of tags, 1 for candidates. `names` gives the names of the columns, `run` is as in `Lesson`.
    """

    X: Any
    y: Any
    k: int = 1
    seed: int = 0
    names: Callable[[], Sequence[str]] | None = None
    run: Any = None

    def take(self, rows: Array | slice) -> GroupedLesson:
        """The lesson restricted to these examples."""
        _, at, _ = groups(self.y.offsets, rows)
        return replace(self, X=self.X.take(at), y=self.y[rows])


class Effect(NamedTuple):
    """What a feature adds to the scores of a row: where it stands, its name and column, and the amounts (k,)."""

    position: int
    name: str
    column: int
    amounts: Doubles


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of an output space's function: one value per example (n,), and parts shaped like the scores (n, w).

    If an example has several rows (sequences, candidates), the parts have these rows.
    """

    value: Doubles
    parts: Doubles


@dataclass(frozen=True, slots=True)
class Margins:
    """The arguments of a scalar loss (n, q), their weights (n, q), and their linear relation to the scores.

    The values are margins or residuals. `push` maps a change of the scores (n, w) to the change of the values; `pull`,
    its transpose, maps the slopes of a loss in the values to its gradient in the scores.
    """

    values: Doubles
    stakes: Doubles
    push: Callable[[Doubles], Doubles]
    pull: Callable[[Doubles], Doubles]


@dataclass(frozen=True, slots=True)
class RowGrad:
    """A gradient of some rows of a parameter: an index array for sparse batches, `slice(None)` for all rows."""

    rows: Chosen
    block: Doubles


@dataclass(frozen=True, slots=True)
class Polished:
    """An objective at the optimal bias for some weights: parameters, value, gradient.

    `left` bounds the part of the distance to the optimum that is due to the rounded bias.
    """

    params: Params
    value: float
    grad: Params
    left: float


@dataclass(frozen=True, slots=True)
class Warm:
    """The `Step.state` at the end of the same problem with a stronger regularizer, and the ratio of the strengths."""

    state: Mapping[str, Array]
    ratio: float


@dataclass(frozen=True, slots=True)
class Start:
    """The starting point of an optimizer: parameters, epochs already done, and its own arrays if it resumes.

    `epochs` is the planned number of epochs, for schedules; `seed` is the random seed. `score` is the held-out score
    after the epochs already done, for schedules that use it. `deadline`, a time of `time.perf_counter`, is for
    optimizers that can stop within an epoch. `warm` is for optimizers with dual variables.
    """

    params: Params
    epoch: int = 0
    state: Mapping[str, Array] = field(default_factory=dict)
    seed: int = 0
    epochs: int = 100
    score: float | None = None
    deadline: float | None = None
    warm: Warm | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """The report of an optimizer after each epoch or iteration. Parameters and state are computed on request.

    `value` is the objective, `gap` a certified bound on its distance from the optimum, `gradient` the norm of the
    gradient, `scale` that norm at zero parameters, `mistakes` a count over the epoch.
    """

    epoch: int
    params: Callable[[], Params]
    state: Callable[[], Arrays]
    value: float | None = None
    gap: float | None = None
    gradient: float | None = None
    scale: float | None = None
    rate: float | None = None
    mistakes: float | None = None
