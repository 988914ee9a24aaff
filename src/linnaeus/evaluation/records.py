"""The results of an evaluation as plain frozen records."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.evaluation.metrics import METRICS, metric_name
from linnaeus.frozen import dataclass
from linnaeus.render.page import Shown

if TYPE_CHECKING:
    from linnaeus.evaluation.outcome import Task
    from linnaeus.render import Glyphs, Page
    from linnaeus.types import Doubles, Json

SCHEMA = "linnaeus.evaluation/1"
"""The version of the JSON form; within it keys are only ever added."""


@dataclass(frozen=True, slots=True)
class ClassScore:
    """Scores of one class. `support` is the total weight of its true rows: their number if rows have no weights.

    `average_precision` is None if there are no scores or no true rows.

    >>> ClassScore("spam", precision=0.9, recall=0.8, f1=0.847, support=40.0).f1
    0.847
    """

    label: str
    precision: float
    recall: float
    f1: float
    support: float
    average_precision: float | None = None


@dataclass(frozen=True, slots=True)
class Confusion:
    """The confusion matrix as the pairs that occur, sorted by true class, then predicted class.

    `cells` are (truth, predicted, weight) with indices into `labels`; -1 is a true label unknown to the model, or
    a missing prediction (the model abstained).

    >>> Confusion(("ham", "spam"), ((0, 0, 5.0), (1, 0, 2.0))).dense().tolist()
    [[5.0, 0.0], [2.0, 0.0]]
    """

    labels: tuple[str, ...]
    cells: tuple[tuple[int, int, float], ...]

    def dense(self) -> Doubles:
        """The matrix (k, k), truth by row; pairs with -1 are left out."""
        table = np.zeros((len(self.labels), len(self.labels)))
        for truth, predicted, weight in self.cells:
            if truth >= 0 and predicted >= 0:
                table[truth, predicted] = weight
        return table

    def most(self, count: int = 10) -> list[tuple[str, str, float]]:
        """The most frequent errors among known classes: true label, predicted label, weight."""
        wrong = [cell for cell in self.cells if cell[0] != cell[1] and min(cell[:2]) >= 0]
        wrong.sort(key=lambda cell: (-cell[2], cell[0], cell[1]))
        return [(self.labels[truth], self.labels[predicted], weight) for truth, predicted, weight in wrong[:count]]


@dataclass(frozen=True, slots=True)
class Evaluation(Shown):
    """The result of an evaluation, of any task: metrics by name, their confidence intervals, and scores of each class.

    The first metric is the main one, which chooses strengths. Rows of tags are sentences, those of candidates examples;
    `units` counts their tokens or candidates. Classes of tags are the types of entities, where tags mark entities.
    `unknown` counts rows with a true label that the model does not know: errors in every metric. `abstained`
    counts rows without a prediction; if there are no others, metrics of answered rows are NaN (null in JSON).
    `intervals` are score intervals of `level`, and contain their metric. `per_class` has the classes in the
    model's order, or nothing in the brief form of many classes. `once` is the evaluation of the rows whose text occurs
    once, where many rows of the training data share their text with another.

    >>> import numpy as np
    >>> from linnaeus.evaluation import Outcome
    >>> from linnaeus.evaluation import evaluate
    >>> outcome = Outcome(truth=np.array([0, 1, 1]), predicted=np.array([0, 1, 0]), classes=("no", "yes"))
    >>> evaluation = evaluate(outcome, rounds=0)
    >>> round(evaluation.value("accuracy"), 4), evaluation.rows
    (0.6667, 3)
    """

    task: Task
    rows: int
    classes: int
    metrics: dict[str, float]
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    per_class: tuple[ClassScore, ...] = ()
    confusion: Confusion | None = None
    unknown: int = 0
    abstained: int = 0
    level: float = 0.95
    once: Evaluation | None = None
    units: int = 0

    @property
    def headline(self) -> str:
        """The name of the main metric: the first one."""
        return next(iter(self.metrics))

    @property
    def merit(self) -> float:
        """The value of the main metric, negated where lower is better: the larger, the better the model."""
        value = self.value()
        return value if METRICS[self.headline].better == "higher" else -value

    def value(self, name: str = "") -> float:
        """A metric by its name, as in JSON or on the command line, or the main one; an unknown name lists the names.

        >>> Evaluation("single", 4, 2, {"accuracy": 0.75, "macro_f1": 0.7}).value("macro-f1")
        0.7
        """
        return self.metrics[metric_name(name or self.headline, self.metrics)]

    def brief(self, classes: int = 100) -> Evaluation:
        """The form for a model file: without confusions, and without scores of each class if there are many."""
        return replace(self, confusion=None, per_class=self.per_class if len(self.per_class) <= classes else ())

    def to_json(self) -> dict[str, Json]:
        """One JSON object: schema, task, rows, classes, metrics, intervals, per_class, confusion ..."""
        from linnaeus.evaluation.reading import write

        return write(self)

    @staticmethod
    def from_json(given: Json) -> Evaluation:
        """The evaluation from such an object; anything else is refused as a damaged model."""
        from linnaeus.evaluation.reading import read

        return read(given)

    def page(self, glyphs: Glyphs, name: str = "") -> Page:
        """The page that the command line shows; `name` is the name of the data in its first line."""
        from linnaeus.evaluation.page import evaluation_page

        return evaluation_page(self, glyphs, name)
