"""`CountModel`: counts, and the learner that turns them into scores. All counting learners share it."""

from __future__ import annotations

from dataclasses import asdict, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from linnaeus.errors import UsageError, damaged, expect
from linnaeus.frozen import dataclass
from linnaeus.lazy import Table, places
from linnaeus.learners.bayes.counts import Counts
from linnaeus.learners.bayes.priors import check_number, posterior
from linnaeus.types import LabelSets, State

if TYPE_CHECKING:
    from linnaeus.protocols import Rows
    from linnaeus.types import Doubles, Lesson

COUNTING = Table(
    "linnaeus.learners.bayes",
    {
        "frequencies": "frequencies.Frequencies",
        "multinomial": "multinomial.Multinomial",
        "bernoulli": "bernoulli.Bernoulli",
        "complement": "complement.Complement",
    },
)
"""The learners whose models are counts, by name."""


class Counting(Protocol):
    """A learner that counts: it defines what is counted and how counts become weights."""

    @property
    def priors(self) -> tuple[float, ...] | None:
        """Given probabilities of the classes."""
        ...

    @property
    def as_is(self) -> bool:
        """Whether the values of rows are used unchanged, so that scores are linear in them."""
        ...

    def read(self, X: Rows) -> Rows:
        """The rows as they are counted and scored."""
        ...

    def count(self, lesson: Lesson) -> Counts:
        """The counts of a lesson."""
        ...

    def weigh(self, counts: Counts) -> tuple[Doubles, Doubles]:
        """W (d, k) and b (k,): scores are rows W + b."""
        ...


@dataclass(frozen=True, eq=False)
class CountModel:
    """The counts of a learner. The sum of the models of two data sets is exactly the model of both together.

    >>> import numpy as np
    >>> from linnaeus.arrays import Dense
    >>> from linnaeus.learners.bayes import Multinomial
    >>> from linnaeus.types import Lesson
    >>> X, y = Dense(np.array([[1.0, 0.0], [0.0, 2.0], [3.0, 1.0]])), np.array([0, 1, 0])
    >>> whole = Lesson(X, y, np.ones(3), 2)
    >>> parts = [Multinomial().learn(whole.take(np.array(rows))) for rows in ([0, 1], [2])]
    >>> (parts[0] + parts[1]).counts.inside.tolist() == Multinomial().learn(whole).counts.inside.tolist()
    True
    """

    learner: Counting
    counts: Counts

    def __add__(self, other: CountModel) -> CountModel:
        """The model of both data sets together."""
        if not isinstance(other, CountModel) or self.learner != other.learner:
            raise UsageError("Only models of the same learner can be added; train both with the same settings.")
        return CountModel(self.learner, self.counts + other.counts)

    def update(self, lesson: Lesson) -> CountModel:
        """The model after these further rows."""
        return CountModel(self.learner, self.counts + self.learner.count(lesson))

    def widen(self, columns: Any, k: int) -> CountModel:
        """A copy for k classes: class i here becomes class `columns[i]`; the other classes have no rows."""
        return CountModel(self.learner, self.counts.widen(columns, k))

    @cached_property
    def _weights(self) -> tuple[Doubles, Doubles]:
        return self.learner.weigh(self.counts)

    def linear(self) -> tuple[Doubles, Doubles] | None:
        """W and b, if the values of rows are used unchanged; else None."""
        return self._weights if self.learner.as_is else None

    def scores(self, X: Rows) -> Doubles:
        """Logarithms of joint probabilities (n, k); for label sets, log-odds."""
        W, b = self._weights
        return self.learner.read(X).dot(W) + b

    def chances(self, S: Doubles) -> Doubles:
        """Class probabilities (n, k) for these scores."""
        return posterior(S, sets=self.counts.all is not None)

    def state(self) -> State:
        """The counts, and the settings of the learner."""
        inside = self.counts.state()
        kind = places(COUNTING)[type(self.learner).__module__, type(self.learner).__qualname__]
        told = {name: list(item) if isinstance(item, tuple) else item for name, item in _settings(self.learner)}
        return State({"kind": kind, **told, **inside.manifest}, inside.tensors)

    @classmethod
    def from_state(cls, state: State) -> CountModel:
        """Restore the model from its stored state."""
        kind = COUNTING[str(state.manifest["kind"])]
        told = {part.name: state.manifest[part.name] for part in fields(kind)}
        learner = kind(**{name: tuple(item) if isinstance(item, list) else item for name, item in told.items()})
        counts = Counts.from_state(state)
        if learner.priors is not None and (len(learner.priors) != len(counts.sizes) or counts.all is not None):
            raise damaged("the priors do not match the classes")
        return cls(learner, counts)


def _settings(learner: Any) -> Any:
    return asdict(learner).items()


def counted(learner: Any, lesson: Lesson) -> CountModel:
    """The model of a lesson."""
    check_number(learner.priors, lesson.k, sets=isinstance(lesson.y, LabelSets))
    return CountModel(learner, learner.count(lesson))


def check_smoothing(smoothing: float, least: str = "above zero") -> None:
    """Refuse a smoothing that is out of range."""
    expect("smoothing", smoothing, float)
    bad = smoothing < 0 if least == "of at least zero" else smoothing <= 0
    if bad or not smoothing < float("inf"):
        raise UsageError(f"smoothing must be a number {least}, not {smoothing!r}.")
