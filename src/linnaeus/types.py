"""Plain records that travel between the rooms, and the legend of names.

n rows, d features, k classes, g groups by offsets;  X rows (n, d), W weights (d, k), S scores (n, k), y truth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, TypeAlias

from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Bytes: TypeAlias = NDArray[np.uint8]
    Ints: TypeAlias = NDArray[np.int32]
    Longs: TypeAlias = NDArray[np.int64]
    Floats: TypeAlias = NDArray[np.float32]
    Doubles: TypeAlias = NDArray[np.float64]
    Words16: TypeAlias = NDArray[np.uint16]
    Words64: TypeAlias = NDArray[np.uint64]
    Params: TypeAlias = dict[str, NDArray[np.float64]]
    Truth: TypeAlias = "NDArray[Any] | LabelSets"

Json: TypeAlias = Any
"""What a manifest may hold: None, bool, int, float, str, lists and string-keyed dicts of these."""


@dataclass(frozen=True, slots=True)
class Texts:
    """UTF-8 texts as they lie in an Arrow string array: one buffer, n+1 offsets into it."""

    data: Bytes
    offsets: Longs

    def __len__(self) -> int:
        return len(self.offsets) - 1


@dataclass(frozen=True, slots=True)
class State:
    """What a fitted piece is made of: a manifest that is JSON, and named arrays. It is enough to build it again."""

    manifest: dict[str, Json]
    tensors: dict[str, NDArray[Any]]
    guards: dict[str, Any] = field(default_factory=dict)
    """Of a large file: what has not been checked yet, and is checked when it is used (`store.blocks.Guard`)."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a text a feature came from: characters start to end (end excluded), and the feature's column.

    `amount` is what this occurrence adds to the feature's count: one, a sign where terms are hashed with signs, the
    weight of a word in a list. `name` says what stands there where the column may stand for several things, as it does
    for hashed terms; elsewhere it is empty, and the column's name says it.
    """

    column: int
    start: int
    end: int
    amount: float = 1.0
    name: str = ""

    def at(self, column: int) -> Place:
        """The same place for another column."""
        return Place(column, self.start, self.end, self.amount, self.name)


@dataclass(frozen=True, slots=True)
class LabelSets:
    """The labels of n examples, any number each: `labels[offsets[i]:offsets[i+1]]`, sorted. No n x k matrix."""

    offsets: Longs
    labels: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: Any) -> LabelSets:
        """The label sets of these rows, in this order, as an array would give them."""
        offsets, at, _ = groups(self.offsets, rows)
        return LabelSets(offsets, self.labels[at])


@dataclass(frozen=True, slots=True)
class Tags:
    """The true tags of n sequences: `tags[offsets[i]:offsets[i+1]]`; `weights` (n,) is what each sequence counts."""

    offsets: Longs
    tags: Ints
    weights: Doubles | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: Any) -> Tags:
        """Those of these sequences, in this order, as an array would give them."""
        offsets, at, chosen = groups(self.offsets, rows)
        return Tags(offsets, self.tags[at], None if self.weights is None else self.weights[chosen])


@dataclass(frozen=True, slots=True)
class Choices:
    """Which candidates are right: example i has the candidates `offsets[i]` to `offsets[i+1]`, one or several gold.

    `costs` (m,) is what choosing each wrong candidate costs (1 where there are none), `weights` (n,) what each example
    counts.
    """

    offsets: Longs
    gold: NDArray[np.bool_]
    costs: Doubles | None = None
    weights: Doubles | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, rows: Any) -> Choices:
        """Those of these examples, in this order, as an array would give them."""
        offsets, at, chosen = groups(self.offsets, rows)
        costs = None if self.costs is None else self.costs[at]
        return Choices(offsets, self.gold[at], costs, None if self.weights is None else self.weights[chosen])


def groups(offsets: Longs, rows: Any) -> tuple[Longs, Longs, Longs]:
    """The offsets of these groups, the numbers of their rows, and their own numbers.

    >>> import numpy as np
    >>> [part.tolist() for part in groups(np.array([0, 2, 3, 5]), np.array([2, 0]))]
    [[0, 2, 4], [3, 4, 0, 1], [2, 0]]
    """
    import numpy as np

    chosen = np.arange(len(offsets) - 1)[rows]
    counts = np.diff(offsets)[chosen]
    found = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(counts, out=found[1:])
    return found, np.repeat(offsets[chosen] - found[:-1], counts) + np.arange(found[-1]), chosen


@dataclass(frozen=True, slots=True)
class Lesson:
    """What a learner that is not trained by gradients learns from: rows, truth, what each row counts, classes, a seed.

    The truth is class indices (n,), `LabelSets`, or numbers (n, k).
    """

    X: Any
    y: Truth
    weights: Doubles
    k: int
    seed: int = 0

    def take(self, rows: Any) -> Lesson:
        """The same on these rows."""
        return Lesson(self.X.take(rows), self.y[rows], self.weights[rows], self.k, self.seed)


@dataclass(frozen=True, slots=True)
class Answer:
    """What an output space says about scores: one value per example (n,), and parts shaped like the scores (n, w).

    Where an example is made of several rows (sequences, candidates) the parts have those rows.
    """

    value: Doubles
    parts: Doubles


@dataclass(frozen=True, slots=True)
class Margins:
    """Numbers a scalar loss looks at (n, q), what each counts (n, q), and the way to and from the scores.

    Signed distances from a mistake, or residuals. `push` takes a move of the scores (n, w) to the move of the values;
    `pull`, its transpose, takes slopes of a loss in the values to its gradient in the scores.
    """

    values: Doubles
    stakes: Doubles
    push: Callable[[Doubles], Doubles]
    pull: Callable[[Doubles], Doubles]


@dataclass(frozen=True, slots=True)
class RowGrad:
    """A gradient that touches some rows of a parameter: an index array for sparse batches, `slice(None)` for all."""

    rows: Any
    block: Doubles


@dataclass(frozen=True, slots=True)
class Polished:
    """An objective at the best bias for some weights: parameters, value, gradient.

    `left` bounds what rounding left of the bias's part in the distance to the optimum.
    """

    params: Params
    value: float
    grad: Params
    left: float


@dataclass(frozen=True, slots=True)
class Start:
    """Where an optimizer begins: parameters, epochs already done, its own arrays when it resumes.

    `epochs` is how many are planned, for schedules that end there; `seed` makes every order and every draw. `score` is
    the held-out score after the epochs already done, for schedules that follow it. `deadline`, a time of
    `time.perf_counter`, is for optimizers that can end in the middle of an epoch. `warm` is for those that keep duals:
    what `Step.state` gave at the end of the same problem with a stronger regularizer, and how many times stronger.
    """

    params: Params
    epoch: int = 0
    state: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    seed: int = 0
    epochs: int = 100
    score: float | None = None
    deadline: float | None = None
    warm: tuple[Mapping[str, NDArray[Any]], float] | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """What an optimizer tells after each epoch or iteration. Parameters and state are made only when asked for.

    `value` is the objective, `gap` a certified bound on its distance from the optimum, `gradient` the norm of the
    gradient, `scale` that norm at zero parameters, `mistakes` a count over the epoch.
    """

    epoch: int
    params: Callable[[], Params]
    state: Callable[[], dict[str, NDArray[Any]]]
    value: float | None = None
    gap: float | None = None
    gradient: float | None = None
    scale: float | None = None
    rate: float | None = None
    mistakes: float | None = None
