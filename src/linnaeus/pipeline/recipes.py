"""Parameters of faces as JSON and back: pieces by their plain names and fields, never as code."""

from __future__ import annotations

import os
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from linnaeus.errors import UsageError, damaged, damaged_or_newer
from linnaeus.optimizers import SCHEDULES
from linnaeus.pipeline.pieces import KINDS
from linnaeus.types import Json

TABLES = {**{kind: table for kind, (table, _) in KINDS.items()}, "schedule": SCHEDULES}
"""Everything a recipe can name."""


def to_json(value: Any) -> Json:
    """A parameter as JSON.

    >>> from linnaeus.regularizers import L1
    >>> to_json(L1(2.0))
    {'piece': ['regularizer', 'l1'], 'fields': {'strength': 2.0}}
    """
    if value is None or (isinstance(value, bool | str | int | float) and not isinstance(value, np.generic)):
        return value
    if isinstance(value, np.number | np.bool_ | np.str_):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, list | tuple | np.ndarray):
        return {"list": [to_json(item) for item in value]}
    if isinstance(value, dict):
        return {"pairs": [[to_json(key), to_json(item)] for key, item in value.items()]}
    kind, name = _named(value)
    inside = {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    return {"piece": [kind, name], "fields": inside}


def from_json(value: Json) -> Any:
    """The parameter again; anything unknown is a damaged file, or a newer one.

    >>> from_json({"piece": ["regularizer", "l1"], "fields": {"strength": 2.0}})
    L1(strength=2.0)
    """
    if not isinstance(value, dict):
        return value
    try:
        if "list" in value:
            return tuple(from_json(item) for item in value["list"])
        if "pairs" in value:
            return {from_json(key): from_json(item) for key, item in value["pairs"]}
        kind, name = value["piece"]
        piece = TABLES[kind][name]
        return piece(**{field: from_json(item) for field, item in value["fields"].items()})
    except KeyError as error:
        raise damaged_or_newer(f"it names {error} where a piece is expected") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise damaged(f"a piece of its recipe cannot be built ({error})") from error


def _named(value: Any) -> tuple[str, str]:
    """The table and the plain name of a piece."""
    for kind, table in TABLES.items():
        for name, piece in table.items():
            if type(value) is piece and is_dataclass(value):
                return kind, name
    raise UsageError(
        f"A model file holds no code, so {type(value).__name__} of your own cannot be stored in it; "
        "use pieces that have a plain name, or pickle the model."
    )
