"""The result of an evaluation of any task, as frozen records and as JSON; and bounds of its metrics (`--min`, `--max`).

The evaluation in a model file is checked before it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, field, replace
from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus.errors import UsageError, damaged, damaged_or_newer
from linnaeus.evaluation.metrics import KINDS, METRICS, metric_name, metric_names, spelled
from linnaeus.evaluation.outcome import Task
from linnaeus.frozen import dataclass
from linnaeus.render.page import Shown
from linnaeus.types import Doubles, Json

if TYPE_CHECKING:
    from linnaeus.render import Glyphs, Page

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
        """One JSON object: schema, task, rows, classes, metrics ...; whole weights are written as whole numbers."""
        confusion = self.confusion
        return {
            "schema": SCHEMA,
            "task": self.task,
            "rows": self.rows,
            **({"units": self.units} if self.units else {}),
            "classes": self.classes,
            "unknown": self.unknown,
            "abstained": self.abstained,
            "metrics": {name: None if isnan(value) else value for name, value in self.metrics.items()},
            "level": self.level,
            "intervals": {name: list(pair) for name, pair in self.intervals.items()},
            "per_class": [asdict(row) | {"support": _weight(row.support)} for row in self.per_class],
            "confusion": [[t, p, _weight(w)] for t, p, w in confusion.cells] if confusion else None,
            "once": None if self.once is None else self.once.to_json(),
        }

    @staticmethod
    def from_json(given: Json) -> Evaluation:
        """The evaluation from such an object; anything else is refused as a damaged model."""
        whole = _as(dict, given, "its evaluation is not an object")
        once = whole.get("once")
        if once is None:
            return _read(whole)
        inner = _as(dict, once, "the evaluation of its texts that occur once is not an object")
        if inner.get("once") is not None:
            raise damaged("the evaluation of its texts that occur once contains another one")
        return replace(_read(whole), once=_read(inner))

    def page(self, glyphs: Glyphs, name: str = "") -> Page:
        """The page that the command line shows; `name` is the name of the data in its first line."""
        from linnaeus.evaluation.pages import evaluation_page

        return evaluation_page(self, glyphs, name)


def _weight(weight: float) -> float | int:
    return int(weight) if weight.is_integer() else weight


def _read(whole: dict[str, Json]) -> Evaluation:
    if whole.get("schema") != SCHEMA:
        raise damaged_or_newer(f"its evaluation has the schema {str(whole.get('schema'))[:40]!r}")
    task = whole.get("task")
    if not isinstance(task, str) or task not in KINDS:
        raise damaged_or_newer("its evaluation has an unknown task")
    rows, classes, unknown, abstained = (_count(whole, name) for name in ("rows", "classes", "unknown", "abstained"))
    metrics = _as(dict, whole.get("metrics"), "its evaluation has no metrics")
    intervals = _as(dict, whole.get("intervals"), "its evaluation has no intervals")
    table = _as(list, whole.get("per_class"), "its evaluation has no list of classes")
    if table and len(table) != classes:
        raise damaged(f"its evaluation lists {len(table)} of {classes} classes")
    per_class = tuple(_read_class(row) for row in table)
    return Evaluation(
        task,
        rows,
        classes,
        {str(name): nan if value is None else _number(value) for name, value in metrics.items()},
        {str(name): _pair(value) for name, value in intervals.items()},
        per_class,
        _read_confusion(whole.get("confusion"), tuple(row.label for row in per_class)),
        unknown,
        abstained,
        _number(whole.get("level")),
        units=_count(whole, "units") if "units" in whole else 0,
    )


def _read_class(given: Json) -> ClassScore:
    row = _as(dict, given, "a class in its evaluation is not an object")
    label = _as(str, row.get("label"), "a class in its evaluation has no label")
    precision, recall, f1, support = (_number(row.get(name)) for name in ("precision", "recall", "f1", "support"))
    ranked = row.get("average_precision")
    return ClassScore(label, precision, recall, f1, support, None if ranked is None else _number(ranked))


def _read_confusion(given: Json, labels: tuple[str, ...]) -> Confusion | None:
    if given is None:
        return None
    cells = []
    for cell in _as(list, given, "the confusions in its evaluation are not a list"):
        if not isinstance(cell, list) or len(cell) != 3 or not all(type(i) is int for i in cell[:2]):
            raise damaged("a confusion in its evaluation is not two classes and a weight")
        if not all(-1 <= i < len(labels) for i in cell[:2]):
            raise damaged("a confusion in its evaluation has an unknown class")
        cells.append((cell[0], cell[1], _number(cell[2])))
    return Confusion(labels, tuple(cells))


def _count(whole: dict[str, Json], name: str) -> int:
    value = whole.get(name)
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise damaged(f"{name} of its evaluation is not a count")
    return value


def _number(value: Json) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or isnan(value):
        raise damaged("a value of its evaluation is not a finite number")
    return float(value)


def _pair(value: Json) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise damaged("an interval of its evaluation is not a pair of numbers")
    return _number(value[0]), _number(value[1])


def _as(kind: type, value: Json, what: str) -> Json:
    if not isinstance(value, kind):
        raise damaged(what)
    return value


class Side(NamedTuple):
    """An option of gates: for metrics of which direction, an example, and the word for a bound that is missed."""

    better: str
    example: str
    missed: str


SIDES = {"--min": Side("higher", "macro-f1=0.85", "below"), "--max": Side("lower", "log-loss=0.5", "above")}
"""The options; `--min` is for metrics where higher is better, `--max` for the others."""


@dataclass(frozen=True)
class Gate:
    """A metric and its bound.

    >>> gate("--max", "log-loss=0.5")
    Gate(option='--max', name='log_loss', value=0.5)
    """

    option: str
    name: str
    value: float

    def kept(self, evaluation: Evaluation) -> bool:
        """Whether the metric satisfies the bound; equality does."""
        found = evaluation.value(self.name)
        return found <= self.value if SIDES[self.option].better == "lower" else found >= self.value

    def sentence(self, evaluation: Evaluation) -> str:
        """What the metric is, where it misses the bound."""
        value = evaluation.value(self.name)
        if isnan(value):
            return f"{self.name} has no value, because no row was answered"
        return f"{self.name} is {value:.4f}, {SIDES[self.option].missed} {self.value:g}"

    def to_json(self) -> dict[str, Json]:
        """The bound as plain data."""
        return {"metric": self.name, "wanted": self.value}


def gate(option: str, text: str, task: Task | None = None) -> Gate:
    """The bound of METRIC=VALUE; a metric of the other direction or of another task is refused.

    >>> gate("--min", "recall-at-3=0.8")
    Gate(option='--min', name='recall_at_3', value=0.8)
    """
    side = SIDES[option]
    name, sign, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = nan
    if not sign or isnan(number):
        raise UsageError(f"{option} takes METRIC=VALUE, such as {side.example}, not {text!r}.")
    metric = METRICS[name := metric_name(name)]
    if metric.better != side.better:
        other = next(option for option, side in SIDES.items() if side.better == metric.better)
        raise UsageError(f"For {spelled(name)}, {metric.better} is better; use {other} {spelled(name)}={value}.")
    if task is not None:
        metric_name(name, metric_names(task))
    if metric.scale == "share" and not 0 <= number <= 1:
        hint = f"; use {option} {spelled(name)}={number / 100:g}" if 2 <= number <= 100 else ""
        raise UsageError(f"{spelled(name)} lies between 0 and 1, so {number:g} cannot be its bound{hint}.")
    return Gate(option, name, number)


def missed(evaluation: Evaluation, gates: Sequence[Gate]) -> list[Gate]:
    """The bounds that an evaluation misses; a metric that it does not have is refused.

    >>> from linnaeus.evaluation import Evaluation
    >>> found = Evaluation("single", 4, 2, {"accuracy": 0.75})
    >>> [one.sentence(found) for one in missed(found, [gate("--min", "accuracy=0.9")])]
    ['accuracy is 0.7500, below 0.9']
    """
    return [one for one in gates if not one.kept(evaluation)]
