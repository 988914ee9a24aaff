"""Predictions as cells of CSV and TSV: lists become single cells, and formulas of spreadsheets are escaped.

Spreadsheets run a cell that begins with = + - @ or a control character. OWASP's remedy is a quote before it:
https://owasp.org/www-community/attacks/CSV_Injection
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from linnaeus.data.arrow import is_list, settled
from linnaeus.errors import DataError, UsageError

SEPARATOR = ";"
"""The default separator of several labels in one cell."""

_FORMULA = r"^[=+\-@\t\r\n]"
_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"


def flattened(batch: pa.RecordBatch, separator: str = SEPARATOR, ranks: int = 0) -> pa.RecordBatch:
    """Cells instead of lists, escaped: labels joined by a separator, ranks as `label_1`, `probability_1` ...

    There are as many ranks as in the longest list, or `ranks` where that is more.

    >>> flattened(pa.record_batch({"label": ["=1+1", "-1"]})).to_pydict()
    {'label': ["'=1+1", '-1']}
    """
    columns: list[tuple[str, pa.Array]] = []
    for name, array in zip(batch.schema.names, map(settled, batch.columns), strict=True):
        if is_list(array.type) and pa.types.is_struct(array.type.value_type):
            columns += _ranks(array, ranks)
        else:
            columns.append((name, _joined(array, separator) if is_list(array.type) else array))
    names = escaped(pa.array([name for name, _ in columns], pa.string())).to_pylist()
    return pa.RecordBatch.from_arrays([escaped(array) for _, array in columns], names)


def escaped(array: pa.Array) -> pa.Array:
    """Text that a spreadsheet would run, with a quote before it; numbers stay numbers.

    >>> escaped(pa.array(["+1.5", "+x", None, "a=b"])).to_pylist()
    ['+1.5', "'+x", None, 'a=b']
    """
    if pa.types.is_nested(array.type):
        raise DataError(f"A column has the type {array.type}, which CSV cannot hold; write .jsonl or .parquet.")
    if not (pa.types.is_string(array.type) or pa.types.is_large_string(array.type)):
        return array
    import pyarrow.compute as pc

    risky = pc.match_substring_regex(array, _FORMULA)
    if not pc.any(risky).as_py():
        return array
    formula = pc.and_(risky, pc.invert(pc.match_substring_regex(array, _NUMBER)))
    quote, nothing = pa.scalar("'", array.type), pa.scalar("", array.type)
    return pc.if_else(formula, pc.binary_join_element_wise(quote, array, nothing), array)


def refuse_separator(separator: str, labels: Iterable[str]) -> None:
    """Refuse labels that would be ambiguous in a cell; the reader splits at the separator, and trims."""
    for label in labels:
        if separator in label or not label or label != label.strip():
            why = f"holds {separator!r}" if separator in label else "begins or ends with white space"
            raise UsageError(
                f"The label {label!r} {why}, so several labels in one cell would be ambiguous; give another "
                "--label-separator, or write .jsonl or .parquet."
            )


def _joined(array: pa.Array, separator: str) -> pa.Array:
    """Lists in cells. No label is a separator alone: an empty cell would be read as a label that is missing."""
    none = "" if pa.types.is_floating(array.type.value_type) else separator
    cells = [separator.join(map(_cell, row)) if row else none for row in array.to_pylist()]
    return pa.array(cells, pa.string())


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _ranks(array: pa.Array, least: int) -> list[tuple[str, pa.Array]]:
    """A column for each entry of each rank; null where a list is shorter."""
    rows = [row or [] for row in array.to_pylist()]
    count = max(least, *map(len, rows)) if rows else least
    return [
        (f"{entry.name}_{i + 1}", pa.array([row[i][entry.name] if i < len(row) else None for row in rows], entry.type))
        for i in range(count)
        for entry in array.type.value_type
    ]
