"""The table of metrics: their names, what each needs, which direction is better, and a description."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

from linnaeus.errors import UsageError, did_you_mean
from linnaeus.evaluation import formulas as f
from linnaeus.evaluation.formulas import TOP
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.evaluation.facts import Facts
    from linnaeus.evaluation.formulas import Formula
    from linnaeus.evaluation.intervals import Scale
    from linnaeus.evaluation.outcome import Task

View: TypeAlias = Literal["answers", "rows"]


@dataclass(frozen=True)
class Metric:
    """One number that measures the quality of predictions.

    `needs` names what must be known of the rows (`Facts.known`). A metric with the view "answers" looks at a row only
    through its truth, its prediction and its weight, so that equal rows can be counted together. `scale` is the range
    of its values, which its interval keeps. One that is about `answered` rows has no value, NaN, where there are none.

    >>> from linnaeus.evaluation import METRICS
    >>> METRICS["log_loss"].better
    'lower'
    """

    formula: Formula
    sentence: str
    tasks: tuple[Task, ...] = ("single",)
    better: Literal["higher", "lower"] = "higher"
    needs: tuple[str, ...] = ()
    view: View = "answers"
    scale: Scale = "share"
    answered: bool = False

    def fits(self, facts: Facts) -> bool:
        """Whether this metric can be computed from these facts."""
        return facts.task in self.tasks and facts.known.issuperset(self.needs)

    def view_of(self, task: Task) -> View:
        """The view for rows of a task; sentences and examples with candidates are never counted together."""
        return "rows" if task in ("tags", "candidates") else self.view

    def about(self, task: Task) -> str:
        """The sentence for a task, which names its rows.

        >>> from linnaeus.evaluation import METRICS
        >>> METRICS["accuracy"].about("tags")
        'share of tokens predicted correctly'
        """
        return self.sentence.format(rows=KINDS[task].counted)


_ONE: tuple[Task, ...] = ("single",)
_SET: tuple[Task, ...] = ("sets",)
_ANY: tuple[Task, ...] = ("single", "sets")
_NUM: tuple[Task, ...] = ("numbers",)
_TAG: tuple[Task, ...] = ("tags",)
_PICK: tuple[Task, ...] = ("candidates",)
_CHOICE: tuple[Task, ...] = ("single", "candidates")

DEPTHS = (1, 3, 5, 10)
"""The depths of recall at k among candidates."""


def _at(depth: int, what: str = "found_at_") -> tuple[str, ...]:
    return (f"{what}{depth}",)


METRICS: dict[str, Metric] = {
    "f1": Metric(f.entity_f1, "F1 of entities: begin, end and type must be correct", _TAG, needs=("entities",)),
    "precision": Metric(
        f.share_of("right_entities", "predicted_entities"),
        "share of predicted entities that are correct",
        _TAG,
        needs=("entities",),
    ),
    "recall": Metric(
        f.share_of("right_entities", "entities"), "share of true entities that are found", _TAG, needs=("entities",)
    ),
    "accuracy": Metric(f.accuracy, "share of {rows} predicted correctly", ("single", "tags", "candidates")),
    "known_accuracy": Metric(
        f.share_of("right_known", "known"), "accuracy on words of the training data", _TAG, needs=("known",)
    ),
    "unknown_accuracy": Metric(
        f.share_of("right_unknown", "unknown"), "accuracy on other words", _TAG, needs=("unknown",)
    ),
    "sentence_accuracy": Metric(f.mean_of("whole"), "share of sentences without an error", _TAG),
    "reciprocal_rank": Metric(f.mean_of("reciprocal_rank"), "mean of 1 / rank of the best right candidate", _PICK),
    **{
        f"recall_at_{at}": Metric(f.mean_of(f"found_at_{at}"), f"right candidate among the {at} best", _PICK)
        for at in DEPTHS
    },
    "subset_accuracy": Metric(f.subset_accuracy, "share of rows with exactly the right label set", _SET),
    "macro_f1": Metric(f.macro("f1"), "mean F1 over classes that occur", _ANY),
    "micro_f1": Metric(f.micro_f1, "F1 over all labels together", _ANY),
    "weighted_f1": Metric(f.weighted("f1"), "mean F1, weighted by support", _ANY),
    "sample_f1": Metric(f.sample_f1, "mean F1 of the rows", _SET),
    "macro_precision": Metric(f.macro("precision"), "mean precision over classes that occur", _ANY),
    "micro_precision": Metric(f.micro_precision, "precision over all labels together", _ANY),
    "weighted_precision": Metric(f.weighted("precision"), "mean precision, weighted by support", _ANY),
    "sample_precision": Metric(f.sample_precision, "mean precision of the rows", _SET),
    "macro_recall": Metric(f.macro("recall"), "mean recall over classes that occur", _ANY),
    "micro_recall": Metric(f.micro_recall, "recall over all labels together", _ANY),
    "weighted_recall": Metric(f.weighted("recall"), "mean recall, weighted by support", _ANY),
    "sample_recall": Metric(f.sample_recall, "mean recall of the rows", _SET),
    "balanced_accuracy": Metric(f.balanced_accuracy, "mean recall over true classes"),
    "hamming_loss": Metric(f.hamming_loss, "share of wrong label decisions", _SET, "lower"),
    "log_loss": Metric(
        f.mean_of("log_loss"), "mean -log p(true class)", _ANY, "lower", ("log_loss",), "rows", scale="error"
    ),
    "brier": Metric(
        f.mean_of("brier"), "squared error of probabilities", _ONE, "lower", ("brier",), "rows", scale="error"
    ),
    "ece": Metric(f.calibration_error, "expected calibration error", _ONE, "lower", ("confidence",), "rows"),
    "average_precision": Metric(
        f.average_precision,
        "mean over true classes",
        _ANY,
        "higher",
        ("ranked",),
        "rows",
    ),
    **{
        f"precision_at_{at}": Metric(
            f.mean_of(f"found_at_{at}", at),
            f"share of true labels among the {at} best",
            _ANY,
            needs=_at(at),
            view="rows",
        )
        for at in TOP
    },
    **{
        f"top_{at}_accuracy": Metric(
            f.mean_of(f"found_at_{at}"),
            f"true class among the {at} best",
            needs=_at(at),
            view="rows",
        )
        for at in TOP[1:]
    },
    "cost": Metric(f.cost, "mean cost of a prediction", _ONE, "lower", ("cost",), scale="error", answered=True),
    "coverage": Metric(f.coverage, "share of {rows} with a prediction", _CHOICE, needs=("abstained",)),
    "answered_accuracy": Metric(
        f.answered_accuracy, "accuracy on the {rows} with a prediction", _CHOICE, needs=("abstained",), answered=True
    ),
    "set_coverage": Metric(
        f.mean_of("set_holds"),
        "true class in the prediction set",
        needs=("set_holds",),
        view="rows",
    ),
    "mean_set_size": Metric(
        f.mean_of("set_size"),
        "mean size of the prediction sets",
        _ONE,
        "lower",
        ("set_size",),
        "rows",
        scale="error",
    ),
    "empty_sets": Metric(
        f.mean_of("set_empty"), "share of empty prediction sets", _ONE, "lower", ("set_empty",), "rows"
    ),
    "rmse": Metric(f.root_mean_square, "root mean squared error", _NUM, "lower", (), "rows", scale="error"),
    "mae": Metric(f.mean_absolute, "mean absolute error", _NUM, "lower", (), "rows", scale="error"),
    "r2": Metric(f.explained, "share of the variance that is explained", _NUM, "higher", (), "rows", scale="explained"),
    "median_absolute_error": Metric(
        f.median_absolute, "median absolute error", _NUM, "lower", (), "rows", scale="error"
    ),
}


@dataclass(frozen=True)
class Kind:
    """What the rows of a task are called, and which of its metrics come first.

    `units` are what rows consist of: tokens, candidates; a value of that name in the facts counts them. `outputs` are
    what the table of scores lists, `counted` is what accuracy counts. The first of `headlines` that can be computed
    chooses strengths; all of them are shown for slices and comparisons. `shown` are the metrics on the page.
    """

    headlines: tuple[str, ...]
    shown: tuple[str, ...]
    row: str = "row"
    units: str = ""
    counted: str = "rows"
    outputs: str = "classes"


KINDS: dict[Task, Kind] = {
    "single": Kind(
        ("accuracy", "macro_f1"),
        (
            *("accuracy", "macro_f1", "weighted_f1", "balanced_accuracy", "top_3_accuracy", "top_5_accuracy"),
            *("average_precision", "log_loss", "brier", "ece", "cost", "coverage", "answered_accuracy"),
            *("set_coverage", "mean_set_size", "empty_sets"),
        ),
    ),
    "sets": Kind(
        ("micro_f1", "macro_f1"),
        (
            *("micro_f1", "macro_f1", "weighted_f1", "sample_f1", "subset_accuracy", "hamming_loss"),
            *("precision_at_1", "precision_at_3", "precision_at_5", "average_precision", "log_loss"),
        ),
        outputs="labels",
    ),
    "numbers": Kind(("rmse", "mae"), ("rmse", "mae", "r2", "median_absolute_error")),
    "tags": Kind(
        ("f1", "accuracy"),
        ("f1", "precision", "recall", "accuracy", "known_accuracy", "unknown_accuracy", "sentence_accuracy"),
        *("sentence", "tokens", "tokens", "tags"),
    ),
    "candidates": Kind(
        ("accuracy", "reciprocal_rank"),
        (
            *("accuracy", "reciprocal_rank", "recall_at_3", "recall_at_5", "recall_at_10"),
            *("coverage", "answered_accuracy"),
        ),
        *("example", "candidates", "examples"),
    ),
}
"""The tasks; all metrics are in the JSON form."""


def headlines(facts: Facts) -> list[str]:
    """The metrics of slices and comparisons, where nobody names others."""
    return [name for name in KINDS[facts.task].headlines if METRICS[name].fits(facts)]


COSTLY = frozenset({"average_precision"})
"""Metrics that sort all rows for each class: with many rows, their intervals are computed only by request."""


def metric_name(name: str, among: Iterable[str] = METRICS) -> str:
    """The name of a metric as in JSON, from that name or from the command line's spelling.

    >>> metric_name("macro-f1"), metric_name("P@3"), metric_name("log_loss")
    ('macro_f1', 'precision_at_3', 'log_loss')
    """
    plain = str(name).strip().lower().replace("-", "_").replace(" ", "_")
    if plain.startswith("p@"):
        plain = f"precision_at_{plain[2:]}"
    names = list(among)
    if plain not in names:
        listed = ", ".join(spelled(known) for known in names)
        if plain in METRICS:
            raise UsageError(f"{spelled(plain)} cannot be computed for these predictions; take one of {listed}.")
        raise UsageError(f"There is no metric {name!r}; {did_you_mean(plain, map(spelled, names))}")
    return plain


def spelled(name: str) -> str:
    """The name as the command line spells it.

    >>> spelled("macro_f1")
    'macro-f1'
    """
    return name.replace("_", "-")


def metric_names(task: Task) -> list[str]:
    """The metrics of a task, in the order of the table.

    >>> metric_names("numbers")
    ['rmse', 'mae', 'r2', 'median_absolute_error']
    """
    return [name for name, metric in METRICS.items() if task in metric.tasks]


def fitting(facts: Facts, names: Sequence[str] = ()) -> list[str]:
    """The named metrics, or all that can be computed from these facts; other names are refused."""
    there = [name for name, metric in METRICS.items() if metric.fits(facts)]
    return [metric_name(name, there) for name in names] or there
