"""Evaluation: how good predictions are, and how sure that is.

    outcome      what is evaluated: truth, predictions, probabilities, weights; `observe` boils each row down to facts
    facts        a few numbers for each row, so that batches can be evaluated one after the other
    tagging      the facts of tags of tokens, and of entities as seqeval counts them
    attachment   the facts of dependency trees: heads and relations of tokens
    choices      the facts of choices among candidates: ranks of the right one
    ranked       the facts of ranked labels, for tasks with very many of them: which of the best are true
    metrics      the tables of metrics and of tasks; each metric is a formula (formulas) of weighted rows
    intervals    score intervals, which hold their estimate and keep the range of its metric, by the bootstrap
    evaluate     all metrics, per class, confusions; `Accumulator` for batches
    evaluation   the result: `Evaluation`, its JSON form, and `Gate`: the least or the largest value that is accepted
    comparison   two models on the same rows: McNemar's test and paired intervals
    slicing      metrics by the values of a column, or by length of text
    curve        learning curves
    pages        all of these for people

Every task has the same `Evaluation`. What is its own are the facts of its rows, and their names in `KINDS`.

To add a metric: a formula, its row in `METRICS`, its place in `KINDS`, a test against another implementation.
To add a task: a function that gives its facts, its metrics, and its row in `KINDS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.evaluation.evaluate import evaluate as evaluate
from linnaeus.evaluation.intervals import bootstrap as bootstrap
from linnaeus.evaluation.outcome import observe as observe
from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.evaluation.attachment import Attachments as Attachments
    from linnaeus.evaluation.attachment import observe_arcs as observe_arcs
    from linnaeus.evaluation.choices import observe_choices as observe_choices
    from linnaeus.evaluation.comparison import Comparison as Comparison
    from linnaeus.evaluation.comparison import Difference as Difference
    from linnaeus.evaluation.comparison import compare as compare
    from linnaeus.evaluation.comparison import mcnemar as mcnemar
    from linnaeus.evaluation.curve import Curve as Curve
    from linnaeus.evaluation.curve import Point as Point
    from linnaeus.evaluation.curve import learning_curve as learning_curve
    from linnaeus.evaluation.evaluate import Accumulator as Accumulator
    from linnaeus.evaluation.evaluate import score as score
    from linnaeus.evaluation.evaluation import SCHEMA as SCHEMA
    from linnaeus.evaluation.evaluation import ClassScore as ClassScore
    from linnaeus.evaluation.evaluation import Confusion as Confusion
    from linnaeus.evaluation.evaluation import Evaluation as Evaluation
    from linnaeus.evaluation.evaluation import Gate as Gate
    from linnaeus.evaluation.evaluation import gate as gate
    from linnaeus.evaluation.evaluation import missed as missed
    from linnaeus.evaluation.facts import Facts as Facts
    from linnaeus.evaluation.metrics import KINDS as KINDS
    from linnaeus.evaluation.metrics import METRICS as METRICS
    from linnaeus.evaluation.metrics import Metric as Metric
    from linnaeus.evaluation.metrics import metric_name as metric_name
    from linnaeus.evaluation.metrics import metric_names as metric_names
    from linnaeus.evaluation.outcome import Outcome as Outcome
    from linnaeus.evaluation.outcome import lookup as lookup
    from linnaeus.evaluation.outcome import lookup_sets as lookup_sets
    from linnaeus.evaluation.ranked import observe_ranked as observe_ranked
    from linnaeus.evaluation.slicing import Column as Column
    from linnaeus.evaluation.slicing import Slice as Slice
    from linnaeus.evaluation.slicing import Slices as Slices
    from linnaeus.evaluation.slicing import by_length as by_length
    from linnaeus.evaluation.slicing import column as column
    from linnaeus.evaluation.slicing import slices as slices
    from linnaeus.evaluation.tagging import is_known as is_known
    from linnaeus.evaluation.tagging import observe_tags as observe_tags


__getattr__, __dir__ = room(__name__)
