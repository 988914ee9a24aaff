"""Labels that look wrong: swapped with texts, quantities taken for classes, or of another kind."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, NamedTuple

from linnaeus.data.arrow import is_list
from linnaeus.errors import DataError, LinnaeusWarning, UsageError
from linnaeus.protocols import Stream

if TYPE_CHECKING:
    import pyarrow as pa

    from linnaeus.model.model import Model
    from linnaeus.tasks.base import Abstain
    from linnaeus.tasks.examples import Examples

FEW_CLASSES = 20
"""So many classes pass without a look, in however few rows."""
CERTAIN = 10
"""Columns are swapped for certain where there are so many times more labels than texts."""


class Texts(NamedTuple):
    """How many different texts there are, and how many characters they have on average."""

    different: int
    length: float


def refuse_swapped(examples: Examples) -> None:
    """Refuse texts that are few and short beside labels that are many and long.

    Warn of classes that occur once, and of many classes that are numbers with fractions.
    """
    if examples.labels is None or examples.labels.form != "single":
        return
    names, rows = examples.labels.classes.tolist(), len(examples)
    if len(names) > FEW_CLASSES and _are_quantities(names):
        said = f"The {len(names):,} classes are numbers, such as {names[-1]!r}"
        warnings.warn(f"{said}; to predict a number use label_kind='numeric'.", LinnaeusWarning, stacklevel=4)
        return
    if len(names) <= max(FEW_CLASSES, rows // 2):
        return
    length = sum(len(str(name)) for name in names) / len(names)
    texts = _texts(examples.stream)
    longer = texts is not None and length > texts.length
    if texts is not None and longer and texts.different * CERTAIN <= len(names):
        raise DataError(
            f"text= and label= look swapped: {len(names):,} different labels of {length:.0f} characters on average, "
            f"but {texts.different:,} different texts of {texts.length:.0f}, in {rows:,} rows; name them the other way."
        )
    said = f"There are {len(names):,} classes in {rows:,} rows, so that most classes have one row"
    hint = "are text= and label= swapped? Labels are longer than texts." if longer else "is label= the right column?"
    warnings.warn(f"{said}; {hint}", LinnaeusWarning, stacklevel=4)


def _are_quantities(names: list[object]) -> bool:
    """Whether all are finite numbers and some have a fraction, as prices have and codes mostly have not.

    >>> _are_quantities(["1", "2.5"]), _are_quantities(["1", "2.0"]), _are_quantities(["1.5", "two"])
    (True, False, False)
    """
    try:
        numbers = [float(str(name)) for name in names]
    except ValueError:
        return False
    return all(map(math.isfinite, numbers)) and not all(number.is_integer() for number in numbers)


def _texts(stream: Stream) -> Texts | None:
    """None where there are no texts, but features or tokens."""
    import pyarrow.compute as pc

    found: set[str] = set()
    characters = rows = 0
    for batch in stream.batches():
        if batch.text is None:
            return None
        found.update(pc.unique(batch.text).to_pylist())
        characters += pc.sum(pc.utf8_length(batch.text)).as_py() or 0
        rows += len(batch)
    return Texts(len(found), characters / max(rows, 1))


def refuse_label_kind(model: Model, labels: pa.DataType, abstain: Abstain) -> None:
    """Refuse labels of another kind than the answers, and what numbers cannot do."""
    if model.classes is None and abstain is not None:
        raise UsageError("Abstaining needs classes; this model predicts numbers.")
    if is_list(labels) != (model.label_kind == "many"):
        there = "sets of labels" if is_list(labels) else "one label each"
        here = {"one": "one label", "many": "sets of labels", "numeric": "numbers"}[model.label_kind]
        wanted = f"read the labels with label_kind='{model.label_kind}'"
        raise DataError(f"The rows have {there}, but this model predicts {here}; {wanted}.")
