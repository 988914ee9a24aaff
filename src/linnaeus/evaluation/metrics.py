"""The table of metrics: their names, what each needs, which direction is better, and a description."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from linnaeus.errors import UsageError, did_you_mean
from linnaeus.evaluation import formulas as f
from linnaeus.evaluation.facts import Facts
from linnaeus.evaluation.formulas import TOP, Formula, Sample
from linnaeus.evaluation.outcome import Task
from linnaeus.frozen import dataclass
from linnaeus.types import Doubles

if TYPE_CHECKING:
    from linnaeus.evaluation.intervals import Scale

View: TypeAlias = Literal["answers", "rows"]
Better: TypeAlias = Literal["higher", "lower"]


@dataclass(frozen=True)
class Metric:
    """One number that measures the quality of predictions.

    `needs` names what must be known of the rows (`Facts.known`). A metric with the view "answers" looks at a row only
    through its truth, its prediction and its weight, so that equal rows can be counted together. `scale` is the range
    of its values, which its interval keeps. One that is about `answered` rows has no value, NaN, where there are none.
    `among` names the value that counts what it is a share of; without any there is no such metric.

    >>> from linnaeus.evaluation import METRICS
    >>> METRICS["log_loss"].better
    'lower'
    """

    formula: Formula
    sentence: str
    tasks: tuple[Task, ...] = ("single",)
    better: Better = "higher"
    needs: tuple[str, ...] = ()
    view: View = "answers"
    scale: Scale = "share"
    answered: bool = False
    among: str = ""

    def fits(self, facts: Facts) -> bool:
        """Whether this metric can be computed from these facts."""
        if facts.task not in self.tasks or not facts.known.issuperset(self.needs):
            return False
        return not self.among or bool(facts.values[self.among].any())

    def view_of(self, task: Task) -> View:
        """The view for rows of a task; sentences and examples with candidates are never counted together."""
        return "rows" if KINDS[task].units else self.view

    def about(self, task: Task) -> str:
        """The sentence for a task, which names its rows.

        >>> from linnaeus.evaluation import METRICS
        >>> METRICS["accuracy"].about("tags")
        'share of tokens predicted correctly'
        """
        return self.sentence.format(rows=KINDS[task].counted, sought=KINDS[task].sought)


_ONE: tuple[Task, ...] = ("single",)
_SET: tuple[Task, ...] = ("sets",)
_ANY: tuple[Task, ...] = ("single", "sets")
_NUM: tuple[Task, ...] = ("numbers",)
_TAG: tuple[Task, ...] = ("tags",)
_TREE: tuple[Task, ...] = ("trees",)
_PICK: tuple[Task, ...] = ("candidates",)
_MANY: tuple[Task, ...] = ("many",)
_CHOICE: tuple[Task, ...] = ("single", "tags", "trees", "candidates", "many")

DEPTHS = (1, 3, 5, 10)
"""The depths of recall at k."""

GROUPED = 5
"""The depth of recall by frequency."""

GROUPS = {"head": "frequent labels", "middle": "labels of middle frequency", "tail": "rare labels"}
"""Groups of labels from frequent to rare, each with about a third of all labels given in the training data."""

_AVERAGES: dict[str, tuple[Callable[[str, Sample], Doubles], str, tuple[Task, ...]]] = {
    "macro": (f.macro, "mean {} over classes that occur", _ANY),
    "micro": (f.micro, "{} over all labels together", _ANY),
    "weighted": (f.weighted, "mean {}, weighted by support", _ANY),
    "sample": (f.by_row, "mean {} of the rows", _SET),
}
"""How the scores of classes or rows become one number."""


def _averages() -> dict[str, Metric]:
    return {
        f"{average}_{name}": Metric(partial(formula, name), sentence.format(said), tasks)
        for name, said in (("f1", "F1"), ("precision", "precision"), ("recall", "recall"))
        for average, (formula, sentence, tasks) in _AVERAGES.items()
    }


def _entities(name: str, sentence: str) -> Metric:
    return Metric(partial(f.of_entities, name), sentence, _TAG, needs=("entities",))


def _words(name: str, sentence: str) -> Metric:
    return Metric(partial(f.share_of, f"right_{name}", name), sentence, _TAG, needs=(name,))


def _arcs(right: str, among: str, sentence: str) -> Metric:
    return Metric(partial(f.share_of, right, among), sentence, _TREE, needs=(right, among), among=among)


def _labels(right: str, among: str, sentence: str) -> Metric:
    return Metric(partial(f.share_of, right, among), sentence, _MANY, needs=(right, among), view="rows", among=among)


ARCS_ABOUT = {
    "root": "of tokens under the root",
    "1": "of tokens beside their head",
    "2": "of arcs of length 2",
    "3_to_6": "of arcs of length 3 to 6",
    "7_up": "of arcs of length 7 and more",
}
"""Arcs by their length: `evaluation.attachment.DISTANCES`."""


def _mean(
    column: str,
    sentence: str,
    tasks: tuple[Task, ...] = _ONE,
    better: Better = "higher",
    scale: Scale = "share",
    divisor: int = 1,
) -> Metric:
    """The mean of one number of each row."""
    return Metric(partial(f.mean_of, column, divisor), sentence, tasks, better, (column,), "rows", scale)


def _error(formula: Formula, sentence: str, better: Better = "lower", scale: Scale = "error") -> Metric:
    return Metric(formula, sentence, _NUM, better, (), "rows", scale)


METRICS: dict[str, Metric] = {
    "f1": _entities("f1", "F1 of entities: begin, end and type must be correct"),
    "precision": _entities("precision", "share of predicted entities that are correct"),
    "recall": _entities("recall", "share of true entities that are found"),
    "accuracy": Metric(f.accuracy, "share of {rows} predicted correctly", ("single", "tags", "candidates")),
    "known_accuracy": _words("known", "accuracy on words of the training data"),
    "unknown_accuracy": _words("unknown", "accuracy on other words"),
    "las": _arcs("right_arcs", "tokens", "labeled attachment: share of tokens with the right head and relation"),
    "uas": _arcs("right_heads", "tokens", "unlabeled attachment: share of tokens with the right head"),
    **{
        f"uas_{name}": _arcs(f"right_{name}", f"arcs_{name}", f"unlabeled attachment {about}")
        for name, about in ARCS_ABOUT.items()
    },
    "sentence_accuracy": _mean("whole", "share of sentences without an error", (*_TAG, *_TREE)),
    "reciprocal_rank": _mean("reciprocal_rank", "mean of 1 / rank of the best right candidate", _PICK),
    "subset_accuracy": Metric(f.subset_accuracy, "share of rows with exactly the right label set", _SET),
    **_averages(),
    "balanced_accuracy": Metric(f.balanced_accuracy, "mean recall over true classes"),
    "hamming_loss": Metric(f.hamming_loss, "share of wrong label decisions", _SET, "lower"),
    "log_loss": _mean("log_loss", "mean -log p(true class)", _ANY, "lower", "error"),
    "brier": _mean("brier", "squared error of probabilities", _ONE, "lower", "error"),
    "ece": Metric(f.calibration_error, "expected calibration error", _ONE, "lower", ("confidence",), "rows"),
    "average_precision": Metric(f.average_precision, "mean over true classes", _ANY, needs=("ranked",), view="rows"),
    **{
        f"precision_at_{at}": _mean(
            f"found_at_{at}", f"share of true labels among the {at} best", (*_ANY, *_MANY), divisor=at
        )
        for at in TOP
    },
    **{
        f"recall_at_{at}": _mean(f"recalled_at_{at}", f"{{sought}} among the {at} best", (*_PICK, *_MANY))
        for at in DEPTHS
    },
    **{
        f"ndcg_at_{at}": _mean(f"gain_at_{at}", f"true labels among the {at} best, early ones count more", _MANY)
        for at in TOP
    },
    **{
        f"hit_at_{at}": _mean(f"hit_at_{at}", f"share of rows with a true label among the {at} best", _MANY)
        for at in TOP
    },
    **{
        f"ps_precision_at_{at}": _labels(
            f"ps_found_at_{at}", f"ps_best_at_{at}", f"precision at {at}, rare labels count more"
        )
        for at in TOP
    },
    **{
        f"{name}_recall_at_{GROUPED}": _labels(f"{name}_found", f"{name}_labels", f"recall at {GROUPED} of {about}")
        for name, about in GROUPS.items()
    },
    **{f"top_{at}_accuracy": _mean(f"found_at_{at}", f"true class among the {at} best") for at in TOP[1:]},
    "cost": Metric(
        partial(f.share_of, "cost", "answered"),
        *("mean cost of a prediction", _ONE, "lower", ("cost",)),
        scale="error",
        answered=True,
    ),
    "coverage": Metric(f.coverage, "share of {rows} with a prediction", _CHOICE, needs=("abstained",)),
    "answered_accuracy": Metric(
        f.answered_accuracy, "accuracy on the {rows} with a prediction", _CHOICE, needs=("abstained",), answered=True
    ),
    "set_coverage": _mean("set_holds", "true class in the prediction set"),
    "mean_set_size": _mean("set_size", "mean size of the prediction sets", _ONE, "lower", "error"),
    "empty_sets": _mean("set_empty", "share of empty prediction sets", _ONE, "lower"),
    "rmse": _error(f.root_mean_square, "root mean squared error"),
    "mae": _error(f.mean_absolute, "mean absolute error"),
    "r2": _error(f.explained, "share of the variance that is explained", "higher", "explained"),
    "median_absolute_error": _error(f.median_absolute, "median absolute error"),
}


@dataclass(frozen=True)
class Kind:
    """What the rows of a task are called, and which of its metrics come first.

    `units` are what rows consist of: tokens, candidates; a value of that name in the facts counts them. `outputs` are
    what the table of scores lists, `counted` is what accuracy counts. The first of `headlines` that can be computed
    chooses strengths; all of them are shown for slices and comparisons. `shown` are the metrics on the page. `whole` is
    the value in the facts that says whether all of a row is right, where its labels do not say it (of ranked labels:
    whether the first is). `sought` is what recall at k looks for among the best.
    """

    headlines: tuple[str, ...]
    shown: tuple[str, ...]
    row: str = "row"
    units: str = ""
    counted: str = "rows"
    outputs: str = "classes"
    whole: str = ""
    sought: str = "share of a row's true labels"


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
        (
            *("f1", "precision", "recall", "accuracy", "known_accuracy", "unknown_accuracy", "sentence_accuracy"),
            *("coverage", "answered_accuracy"),
        ),
        *("sentence", "tokens", "tokens", "tags", "whole"),
    ),
    "trees": Kind(
        ("las", "uas"),
        ("las", "uas", *(f"uas_{name}" for name in ARCS_ABOUT), "sentence_accuracy", "coverage", "answered_accuracy"),
        *("sentence", "tokens", "tokens", "relations", "whole"),
    ),
    "candidates": Kind(
        ("accuracy", "reciprocal_rank"),
        (
            *("accuracy", "reciprocal_rank", "recall_at_3", "recall_at_5", "recall_at_10"),
            *("coverage", "answered_accuracy"),
        ),
        *("example", "candidates", "examples", "classes", "found_at_1", "right candidate"),
    ),
    "many": Kind(
        ("precision_at_1", "ndcg_at_5", "recall_at_5"),
        (
            *("precision_at_1", "precision_at_3", "precision_at_5", "ndcg_at_3", "ndcg_at_5"),
            *("recall_at_5", "recall_at_10", "hit_at_5"),
            *("ps_precision_at_1", "ps_precision_at_3", "ps_precision_at_5"),
            *(f"{name}_recall_at_{GROUPED}" for name in GROUPS),
            *("coverage", "answered_accuracy"),
        ),
        outputs="labels",
        whole="found_at_1",
    ),
}
"""The tasks; all metrics are in the JSON form."""


def headlines(facts: Facts) -> list[str]:
    """The metrics of slices and comparisons, where nobody names others."""
    return [name for name in KINDS[facts.task].headlines if METRICS[name].fits(facts)]


COSTLY = frozenset({"average_precision"})
"""Metrics that sort all rows for each class: with many rows, their intervals are computed only by request."""


SHORT = {"p": "precision", "r": "recall", "psp": "ps_precision"}
"""Metrics at k by their short names in papers, such as P@1, R@5 and PSP@3; nDCG@5 and hit@5 need none."""


def metric_name(name: str, among: Iterable[str] = METRICS) -> str:
    """The name of a metric as in JSON, from that name or from the command line's spelling.

    >>> metric_name("macro-f1"), metric_name("P@3"), metric_name("nDCG@5"), metric_name("log_loss")
    ('macro_f1', 'precision_at_3', 'ndcg_at_5', 'log_loss')
    """
    plain = str(name).strip().lower().replace("-", "_").replace(" ", "_")
    measure, sign, depth = plain.partition("@")
    if sign:
        plain = f"{SHORT.get(measure, measure)}_at_{depth}"
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
