"""The evaluation of a model: on the examples that were held out in training, and on labeled data."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.data.arrow import is_list, number
from linnaeus.data.split import MANY, repeated
from linnaeus.errors import DataError, LinnaeusWarning, did_you_mean
from linnaeus.evaluation import evaluate, observe
from linnaeus.tasks.examples import ROUNDS, Examples, Held
from linnaeus.types import Label, Source

if TYPE_CHECKING:
    import pyarrow as pa

    from linnaeus.evaluation import Evaluation, Facts, Outcome, Slices
    from linnaeus.model.model import Model
    from linnaeus.tasks.base import Abstain

SHOWN = 5
"""Unknown labels that are named; of more, the most frequent."""


def held_out_evaluation(outcome: Outcome | Facts, examples: Examples, held: Held, seed: int) -> Evaluation:
    """The evaluation of held-out examples; where many repeat, also that of examples which occur once."""
    facts = observe(outcome)
    found = evaluate(facts, ROUNDS, seed).brief()
    if examples.keys is None:
        return found
    several = repeated(examples.keys)
    once = np.flatnonzero(~several[held.rows])
    if several.mean() <= MANY or not len(once):
        return found
    return replace(found, once=evaluate(facts.take(once), ROUNDS, seed).brief(0))


def with_held_out_evaluation(model: Model, examples: Examples, held: Held | None) -> Model:
    """A model that learns nothing from held-out examples, with the evaluation of its answers to them."""
    if held is None:
        return model
    return replace(model, account=held_out_evaluation(held.answers, examples, held, model.recipe.seed))


def judge(
    model: Model,
    source: Source,
    abstain: Abstain = None,
    rounds: int = ROUNDS,
    by: Sequence[str] = (),
    seed: int | None = None,
) -> tuple[Evaluation, list[Slices]]:
    """The evaluation of all labeled examples, batch by batch, and that of each value of some columns.

    Labels that the model does not know are warned about.
    """
    from linnaeus.evaluation import KINDS, Accumulator

    seen, unknown = Accumulator(), UnknownLabels(model.task.known_labels(model))
    values: dict[str, list[Label]] = {name: [] for name in by}
    for batch in model.task.labeled(source):
        seen.add(model.task.observe(model, batch, abstain))
        unknown.add(model.task.truth_of(batch))
        for name, kept in values.items():
            kept.extend(_column(model, batch, name))
    if not len(seen):
        raise DataError("There are no rows to test on.")
    seed = model.recipe.seed if seed is None else seed
    found = seen.evaluation(rounds, seed)
    wrong = unknown.count if found.units else found.unknown
    outputs = KINDS[model.task.evaluated(model)].outputs
    what = f"tokens have {outputs}" if found.units else "rows have labels"
    if said := unknown.sentence(wrong, found.units or found.rows, what):
        warnings.warn(said, LinnaeusWarning, stacklevel=3)
    return found, _slices(seen.facts(), values, seed) if values else []


def _slices(facts: Facts, values: dict[str, list[Label]], seed: int) -> list[Slices]:
    from linnaeus.evaluation import by_length, column, slices

    parts = [by_length(kept) if name == "length" else column(name, kept) for name, kept in values.items()]
    return [slices(facts, part, seed=seed) for part in parts]


def _column(model: Model, batch: Source, name: str) -> list[Label]:
    columns = model.task.columns_of(batch)
    if name not in columns:
        raise DataError(f"There is no column {name!r} to test by; {did_you_mean(name, list(columns))}")
    return list(columns[name].to_pylist())


class UnknownLabels:
    """Counts labels that are none of the classes, batch by batch.

    >>> import pyarrow as pa
    >>> seen = UnknownLabels(["ham", "spam"])
    >>> seen.add(pa.array(["ham", "eggs", "eggs"]))
    >>> seen.sentence(2, 3)
    "2 of 3 rows have labels that the model does not know, which are counted as mistakes: 'eggs' (2)"
    """

    def __init__(self, classes: Iterable[str] | None) -> None:
        self._known = None if classes is None else frozenset(classes)
        self._found: Counter[str] = Counter()

    def add(self, labels: pa.Array | None) -> None:
        """The labels of some rows: strings, or lists of strings."""
        if self._known is None or labels is None:
            return
        flat = labels.flatten() if is_list(labels.type) else labels
        codes, names = number(flat.drop_null() if flat.null_count else flat)
        for name, count in zip(names, np.bincount(codes, minlength=len(names)).tolist(), strict=True):
            if name not in self._known:
                self._found[name] += count

    @property
    def count(self) -> int:
        """How many labels of all were unknown."""
        return self._found.total()

    def sentence(self, unknown: int, whole: int, what: str = "rows have labels") -> str:
        """What to say of so many rows with unknown labels among all rows; nothing where there are none."""
        if not unknown or not self._found:
            return ""
        named = ", ".join(f"{label!r} ({count:,})" for label, count in self._found.most_common(SHOWN))
        more = f" and {len(self._found) - SHOWN:,} more" if len(self._found) > SHOWN else ""
        head = f"{unknown:,} of {whole:,} {what} that the model does not know, which are counted as mistakes"
        return f"{head}: {named}{more}"
