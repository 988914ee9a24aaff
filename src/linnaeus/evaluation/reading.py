"""Evaluations as JSON, and back: the evaluation in a model file is checked before it is used."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from linnaeus.errors import damaged, damaged_or_newer
from linnaeus.evaluation.metrics import KINDS
from linnaeus.evaluation.records import SCHEMA, ClassScore, Confusion, Evaluation

if TYPE_CHECKING:
    from linnaeus.types import Json


def write(evaluation: Evaluation) -> dict[str, Json]:
    """One JSON object; whole weights are written as whole numbers."""
    confusion = evaluation.confusion
    return {
        "schema": SCHEMA,
        "task": evaluation.task,
        "rows": evaluation.rows,
        **({"units": evaluation.units} if evaluation.units else {}),
        "classes": evaluation.classes,
        "unknown": evaluation.unknown,
        "abstained": evaluation.abstained,
        "metrics": {name: None if math.isnan(value) else value for name, value in evaluation.metrics.items()},
        "level": evaluation.level,
        "intervals": {name: list(pair) for name, pair in evaluation.intervals.items()},
        "per_class": [_class_row(row) for row in evaluation.per_class],
        "confusion": [[t, p, _weight(w)] for t, p, w in confusion.cells] if confusion else None,
        "once": None if evaluation.once is None else write(evaluation.once),
    }


def _class_row(row: ClassScore) -> dict[str, Json]:
    scores = {"precision": row.precision, "recall": row.recall, "f1": row.f1}
    return {
        "label": row.label,
        **scores,
        "support": _weight(row.support),
        "average_precision": row.average_precision,
    }


def _weight(weight: float) -> float | int:
    return int(weight) if weight.is_integer() else weight


def read(given: Json) -> Evaluation:
    """The evaluation in a JSON object; invalid content is refused with a message."""
    whole = _as(dict, given, "its evaluation is not an object")
    once = whole.get("once")
    if once is None:
        return _read(whole)
    inner = _as(dict, once, "the evaluation of its texts that occur once is not an object")
    if inner.get("once") is not None:
        raise damaged("the evaluation of its texts that occur once contains another one")
    return replace(_read(whole), once=_read(inner))


def _read(whole: dict[str, Any]) -> Evaluation:
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
        {str(name): math.nan if value is None else _number(value) for name, value in metrics.items()},
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


def _count(whole: dict[str, Any], name: str) -> int:
    value = whole.get(name)
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise damaged(f"{name} of its evaluation is not a count")
    return value


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300 or math.isnan(value):
        raise damaged("a value of its evaluation is not a finite number")
    return float(value)


def _pair(value: Any) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise damaged("an interval of its evaluation is not a pair of numbers")
    return _number(value[0]), _number(value[1])


def _as(kind: type, value: Any, what: str) -> Any:
    if not isinstance(value, kind):
        raise damaged(what)
    return value
