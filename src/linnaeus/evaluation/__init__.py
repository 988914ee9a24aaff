"""Evaluation: how good predictions are, and how sure that is.

    outcome      what is evaluated: truth, predictions, probabilities, weights
    observe      boils each row down to a few numbers (facts), so that batches can be evaluated one after the other
    metrics      the table of metrics; each is a formula (formulas) of weighted rows (sample)
    intervals    score intervals, which hold their estimate and keep the range of its metric
    bootstrap    the variance they need: the same formulas with the weights of a resample
    evaluate     all metrics, per class, confusions; `Accumulator` for batches
    comparison   two models on the same rows: McNemar's test and paired intervals
    slicing      metrics by the values of a column, or by length of text
    curve        learning curves
    choices      choices among candidates: accuracy, mean reciprocal rank, recall at k
    tagging      tags of tokens: accuracy, entities as seqeval counts them
    page, pages  all of these for people

To add a metric: a formula, its row in `METRICS`, its place in `page.SHOWN`, a test against another implementation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.evaluation.bootstrap import bootstrap
from linnaeus.evaluation.evaluate import Accumulator, evaluate, score
from linnaeus.evaluation.facts import Facts
from linnaeus.evaluation.metrics import HEADLINES, METRICS, Metric, metric_name, metric_names
from linnaeus.evaluation.observe import observe
from linnaeus.evaluation.outcome import Outcome, lookup, lookup_sets
from linnaeus.evaluation.records import SCHEMA, ClassScore, Confusion, Evaluation
from linnaeus.lazy import lazily

if TYPE_CHECKING:
    from linnaeus.evaluation.choices import ChoiceScores as ChoiceScores
    from linnaeus.evaluation.choices import judge_choices as judge_choices
    from linnaeus.evaluation.comparison import Comparison as Comparison
    from linnaeus.evaluation.comparison import Difference as Difference
    from linnaeus.evaluation.comparison import compare as compare
    from linnaeus.evaluation.comparison import mcnemar as mcnemar
    from linnaeus.evaluation.curve import Curve as Curve
    from linnaeus.evaluation.curve import Point as Point
    from linnaeus.evaluation.curve import learning_curve as learning_curve
    from linnaeus.evaluation.slicing import Column as Column
    from linnaeus.evaluation.slicing import Slice as Slice
    from linnaeus.evaluation.slicing import Slices as Slices
    from linnaeus.evaluation.slicing import by_length as by_length
    from linnaeus.evaluation.slicing import column as column
    from linnaeus.evaluation.slicing import slices as slices
    from linnaeus.evaluation.tagging import EntityScore as EntityScore
    from linnaeus.evaluation.tagging import TagScores as TagScores
    from linnaeus.evaluation.tagging import is_known as is_known
    from linnaeus.evaluation.tagging import score_tags as score_tags

_HOMES = {
    "ChoiceScores": "choices",
    "Column": "slicing",
    "Comparison": "comparison",
    "Curve": "curve",
    "Difference": "comparison",
    "EntityScore": "tagging",
    "Point": "curve",
    "Slice": "slicing",
    "Slices": "slicing",
    "TagScores": "tagging",
    "by_length": "slicing",
    "column": "slicing",
    "compare": "comparison",
    "is_known": "tagging",
    "judge_choices": "choices",
    "learning_curve": "curve",
    "mcnemar": "comparison",
    "score_tags": "tagging",
    "slices": "slicing",
}
"""Where each of the other names lives; it is imported when it is asked for."""

__all__ = [
    "HEADLINES",
    "METRICS",
    "SCHEMA",
    "Accumulator",
    "ChoiceScores",
    "ClassScore",
    "Column",
    "Comparison",
    "Confusion",
    "Curve",
    "Difference",
    "EntityScore",
    "Evaluation",
    "Facts",
    "Metric",
    "Outcome",
    "Point",
    "Slice",
    "Slices",
    "TagScores",
    "bootstrap",
    "by_length",
    "column",
    "compare",
    "evaluate",
    "is_known",
    "judge_choices",
    "learning_curve",
    "lookup",
    "lookup_sets",
    "mcnemar",
    "metric_name",
    "metric_names",
    "observe",
    "score",
    "score_tags",
    "slices",
]


__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
