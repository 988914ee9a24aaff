"""Evaluation: how good predictions are, and how sure that is.

    outcome      what is evaluated: truth, predictions, probabilities, weights
    observe      boils each row down to a few numbers (facts), so that batches can be evaluated one after the other
    metrics      the table of metrics; each is a formula (formulas) of weighted rows (sample)
    bootstrap    intervals: the same formulas with the weights of a resample
    evaluate     all metrics, per class, confusions; `Accumulator` for batches
    compare      two models on the same rows: McNemar's test and paired intervals
    slices       metrics by the values of a column, or by length of text
    curve        learning curves
    page, pages  all of these for people

To add a metric: a formula, its row in `METRICS`, its place in `page.SHOWN`, a test against another implementation.
"""

from linnaeus.evaluation.bootstrap import bootstrap
from linnaeus.evaluation.compare import Comparison, Difference, compare, mcnemar
from linnaeus.evaluation.curve import Curve, Point, learning_curve
from linnaeus.evaluation.evaluate import Accumulator, evaluate, score
from linnaeus.evaluation.facts import Facts
from linnaeus.evaluation.metrics import HEADLINES, METRICS, Metric, metric_name, metric_names
from linnaeus.evaluation.observe import observe
from linnaeus.evaluation.outcome import Outcome, lookup, lookup_sets
from linnaeus.evaluation.records import SCHEMA, ClassScore, Confusion, Evaluation
from linnaeus.evaluation.slices import Column, Slice, Slices, by_length, column, slices

__all__ = [
    "HEADLINES",
    "METRICS",
    "SCHEMA",
    "Accumulator",
    "ClassScore",
    "Column",
    "Comparison",
    "Confusion",
    "Curve",
    "Difference",
    "Evaluation",
    "Facts",
    "Metric",
    "Outcome",
    "Point",
    "Slice",
    "Slices",
    "bootstrap",
    "by_length",
    "column",
    "compare",
    "evaluate",
    "learning_curve",
    "lookup",
    "lookup_sets",
    "mcnemar",
    "metric_name",
    "metric_names",
    "observe",
    "score",
    "slices",
]
