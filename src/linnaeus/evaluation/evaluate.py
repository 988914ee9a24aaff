"""Evaluate predictions, all at once or batch by batch."""

from __future__ import annotations

from dataclasses import replace
from math import nan

import numpy as np

from linnaeus.errors import DataError
from linnaeus.evaluation.evaluation import ClassScore, Confusion, Evaluation
from linnaeus.evaluation.facts import KEEP, Facts, distinct, join, only
from linnaeus.evaluation.formulas import Sample, whole
from linnaeus.evaluation.intervals import bootstrap
from linnaeus.evaluation.metrics import COSTLY, KINDS, METRICS, fitting
from linnaeus.evaluation.outcome import Outcome, observe, refuse_no_rows

SORTED = 1 << 25
"""Costly metrics get intervals up to this many scores times rounds, which takes a fraction of a second."""


def evaluate(outcome: Outcome | Facts, rounds: int = 1000, seed: int = 0, level: float = 0.95) -> Evaluation:
    """Compute every metric that fits these predictions, with confidence intervals (none if `rounds` is 0).

    >>> from linnaeus.evaluation import Outcome
    >>> found = evaluate(Outcome([0, 0, 1, 1], [0, 1, 1, 1], ["ham", "spam"]), rounds=0)
    >>> found.metrics["accuracy"], round(found.metrics["macro_f1"], 3), found.confusion.most()
    (0.75, 0.733, [('ham', 'spam', 1.0)])
    """
    facts = observe(outcome)
    sample = whole(facts)
    if not sample.total[0] > 0:
        raise DataError("The weights of all rows are 0; give at least one row a positive weight.")
    names, kind = fitting(facts), KINDS[facts.task]
    quick = [name for name in names if name not in COSTLY or len(facts) * facts.k * rounds <= SORTED]
    quick = [name for name in quick if not _empty(name, sample)]
    return Evaluation(
        facts.task,
        len(facts),
        facts.k,
        {name: _value(name, sample) for name in names},
        bootstrap(facts, quick, seed, rounds, level) if rounds and quick else {},
        _per_class(sample),
        _confusion(facts) if facts.task == "single" else None,
        facts.unknown,
        facts.abstained,
        level,
        units=int(facts.values[kind.units].sum()) if kind.units else 0,
    )


def score(outcome: Outcome | Facts, name: str) -> float:
    """One metric by its name.

    >>> from linnaeus.evaluation import Outcome
    >>> score(Outcome([1.0, 2.0], [1.0, 4.0]), "mae")
    1.0
    """
    facts = observe(outcome)
    return _value(fitting(facts, [name])[0], whole(facts))


def _value(name: str, sample: Sample) -> float:
    return nan if _empty(name, sample) else float(METRICS[name].formula(sample)[0])


def _empty(name: str, sample: Sample) -> bool:
    """Whether a metric is about the rows with a prediction, and there is none."""
    return METRICS[name].answered and not METRICS["coverage"].formula(sample)[0] > 0


def _per_class(sample: Sample) -> tuple[ClassScore, ...]:
    facts, counts = sample.facts, sample.counts
    ranked: list[float | None] = [None] * facts.k
    if facts.ranked is not None:
        found, there = sample.areas
        ranked = [float(value) if defined else None for value, defined in zip(found[0], there[0], strict=True)]
    columns = (block[0, :-1].tolist() for block in (counts.precision, counts.recall, counts.f1, counts.true))
    return tuple(ClassScore(*row) for row in zip(facts.classes, *columns, ranked, strict=True))


def _confusion(facts: Facts) -> Confusion:
    truth, predicted = only(facts.truth), only(facts.predicted)
    truth = np.where(truth == facts.k, -1, truth)
    keys, at = distinct((truth + 1) * (facts.k + 1) + predicted + 1)
    weights = np.bincount(at, facts.weights)
    pairs = zip(
        (keys // (facts.k + 1) - 1).tolist(), (keys % (facts.k + 1) - 1).tolist(), weights.tolist(), strict=True
    )
    return Confusion(facts.classes, tuple(pairs))


class Accumulator:
    """Evaluates batches: the result is that of all rows at once, but the scores are not kept.

    Of each row about 80 bytes are kept, however many classes there are: its truth and prediction, its weight, and the
    few numbers that metrics are means of. Average precision has to sort scores, so the scores are kept too, up to a
    limit (2^23 scores, 64 MB); above it, this metric is left out.

    >>> from linnaeus.evaluation import Outcome
    >>> seen = Accumulator()
    >>> for truth, predicted in (([0, 1], [0, 1]), ([1], [0])):
    ...     seen.add(Outcome(truth, predicted, ["ham", "spam"]))
    >>> round(seen.evaluation(rounds=0).value("accuracy"), 3)
    0.667
    """

    def __init__(self) -> None:
        self._parts: list[Facts] = []
        self._scores = 0

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def add(self, outcome: Outcome | Facts) -> None:
        """Add a batch."""
        facts = observe(outcome)
        self._scores += facts.ranked.size if facts.ranked is not None else 0
        self._parts.append(facts)
        if self._scores > KEEP:
            self._parts = [part if part.ranked is None else replace(part, ranked=None) for part in self._parts]

    def facts(self) -> Facts:
        """The facts of all rows so far, for `bootstrap`, `compare` and `slices`."""
        refuse_no_rows(len(self._parts))
        self._parts = [join(self._parts)]
        return self._parts[0]

    def evaluation(self, rounds: int = 1000, seed: int = 0, level: float = 0.95) -> Evaluation:
        """The evaluation of all rows so far."""
        return evaluate(self.facts(), rounds, seed, level)
