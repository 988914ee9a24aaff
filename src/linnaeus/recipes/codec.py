"""Nested frozen pieces as plain data and back: for TOML and JSON, for model files, for changes by path.

A piece is a table of its fields, with its plain name in `kind`; a plain name alone is the piece with its defaults.
Which pieces a field can hold is told by its name, and its class where names collide, in `SLOTS`. Nothing is imported
because a file names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np

from linnaeus.decision import ABSTENTIONS, CALIBRATORS, THRESHOLDS
from linnaeus.errors import LinnaeusError, MissingFunctionError, UsageError, did_you_mean
from linnaeus.features import EXTRACTORS, SCORES, VALUES, Exact, Given, Hashed
from linnaeus.features import IMPORTED as IMPORTED_FEATURES
from linnaeus.features.arcs import ARC_FEATURES
from linnaeus.features.pairs import MEASURES, PAIR_BLOCKS
from linnaeus.features.tokens import TEMPLATES
from linnaeus.lazy import Table, joined, places
from linnaeus.learners import IMPORTED as IMPORTED_LEARNERS
from linnaeus.learners import LEARNERS
from linnaeus.learners.chain import TAG_LEARNERS
from linnaeus.learners.dependencies import TREE_LEARNERS
from linnaeus.learners.neighbors import PROJECTIONS, SEARCHES, VOTES
from linnaeus.learners.networks import ENCODERS, STRUCTURED
from linnaeus.losses import LOSSES
from linnaeus.optimizers import OPTIMIZERS, SCHEDULES
from linnaeus.outputs import OUTPUTS
from linnaeus.recipes.field_types import misfit
from linnaeus.regularizers import REGULARIZERS
from linnaeus.similarities import SIMILARITIES
from linnaeus.tasks import TASKS
from linnaeus.types import NOT_STORED, Json

KIND = "kind"

SLOTS: dict[str, Mapping[str, Any]] = {
    "task": TASKS,
    "features": joined(EXTRACTORS, PAIR_BLOCKS, TEMPLATES, ARC_FEATURES, IMPORTED_FEATURES),
    **dict.fromkeys(("block", "blocks", "left", "right"), EXTRACTORS),
    **dict.fromkeys(("optimizer", "inner"), OPTIMIZERS),
    "parts": PAIR_BLOCKS,
    "measures": MEASURES,
    "terms": {"exact": Exact, "given": Given, "hashed": Hashed},
    "values": VALUES,
    "Selected.by": SCORES,
    "kernel": SIMILARITIES,
    "learner": joined(LEARNERS, TAG_LEARNERS, TREE_LEARNERS, STRUCTURED, IMPORTED_LEARNERS),
    **dict.fromkeys(("items", "Pair.first", "Pair.second", "sources"), TEMPLATES),
    "loss": LOSSES,
    "regularizer": REGULARIZERS,
    "output": OUTPUTS,
    "schedule": SCHEDULES,
    "calibration": CALIBRATORS,
    "thresholds": THRESHOLDS,
    "abstain": ABSTENTIONS,
    "search": SEARCHES,
    "votes": VOTES,
    "projection": PROJECTIONS,
    "encoder": ENCODERS,
}
"""The pieces that a field can hold, by their plain names; `Class.field` where other classes mean something else."""

OBJECTS = frozenset(
    {
        "task",
        "features",
        "block",
        "blocks",
        "left",
        "right",
        "terms",
        "learner",
        "kernel",
        "parts",
        "measures",
        "encoder",
    }
)
"""Slots whose pieces are given as objects: a plain name in a file is the piece with its defaults."""

LISTS = frozenset({"blocks", "parts", "measures", "items", "sources", "before"})
"""Slots that hold several pieces; in other slots a list holds plain values, such as the terms of `Given`."""

PLAIN = Table(
    "linnaeus",
    {
        "normalize": "text.normalize.Normalize",
        "tuning": "recipes.tuning.Tuning",
        "decision": "decision.decision.Decision",
        "conformal": "decision.conformal.Conformal",
        "before": "recipes.recipe.Stage",
        "recipe": "recipes.recipe.Recipe",
    },
)
"""Fields that hold one kind of piece only, which needs no name."""


def slot_of(owner: type, name: str) -> str:
    """The slot of a field of a class."""
    own = f"{owner.__name__}.{name}"
    return own if own in SLOTS else name


NULLABLE = frozenset({"form", "case", "depth", "length", "threshold", "tol", "tuning", "calibration"})
"""Fields that can hold nothing though their default is something: TOML has no null, so "none" says it."""


def encode(value: Any) -> Json:
    """A value of a recipe as plain data.

    >>> from linnaeus.regularizers import L1
    >>> encode(L1(2.0))
    {'kind': 'l1', 'strength': 2.0}
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, int | float):
        return value
    if isinstance(value, list | tuple | np.ndarray):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    stored = (field.name for field in fields(_storable(value)) if field.metadata != NOT_STORED)
    inside = {name: encode(getattr(value, name)) for name in stored}
    return inside if _place(value) in places(PLAIN) else {KIND: _names()[_place(value)], **inside}


def decode(slot: str, value: Json, where: str = "") -> Any:
    """The value again; `slot` is the name of the field it stands in, `where` the path to it, for messages.

    >>> decode("regularizer", {"kind": "l1", "strength": 2})
    L1(strength=2)
    """
    where = where or slot
    if isinstance(value, str) and value == "none" and slot in NULLABLE:
        return None
    if isinstance(value, list | tuple):
        inner = slot if slot in LISTS else ""
        return tuple(decode(inner, item, f"{where}.{i}") for i, item in enumerate(value))
    if slot in PLAIN and isinstance(value, Mapping):
        return build(PLAIN[slot], value, where)
    if slot not in SLOTS or not (isinstance(value, str) or (isinstance(value, Mapping) and KIND in value)):
        return value
    if isinstance(value, str) and slot not in OBJECTS:
        return value  # the piece that holds it knows plain names
    name = value if isinstance(value, str) else value[KIND]
    if name not in SLOTS[slot]:
        raise UsageError(f"{where} names {name!r}; {did_you_mean(name, SLOTS[slot])}")
    inside = {} if isinstance(value, str) else {key: item for key, item in value.items() if key != KIND}
    return build(SLOTS[slot][name], inside, where)


def spoken(value: Json) -> Json:
    """Plain data without nulls: "none" where nothing is an answer, and left out where it is the default."""
    if isinstance(value, list):
        return [spoken(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    named = {name: "none" if item is None and name in NULLABLE else spoken(item) for name, item in value.items()}
    return {name: item for name, item in named.items() if item is not None}


def build(kind: Any, inside: Mapping[str, Json], where: str) -> Any:
    """A piece of this class from plain data; what is left out has its default."""
    known = {field.name: field for field in fields(kind)}
    for name in inside:
        if name not in known:
            raise UsageError(f"{where} has no entry {name!r}; {did_you_mean(name, known)}")
    given = {name: decode(slot_of(kind, name), item, f"{where}.{name}") for name, item in inside.items()}
    missing = [n for n, f in known.items() if n not in given and f.default is MISSING and f.default_factory is MISSING]
    if missing and known[missing[0]].metadata == NOT_STORED:
        raise MissingFunctionError(str(given.get("name")))
    if missing:
        raise UsageError(f"{where} lacks the entry {missing[0]!r}.")
    try:
        found = kind(**given)
    except LinnaeusError as error:
        raise UsageError(f"{where}: {error}") from error
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{where} cannot be built: {error}.") from error
    wrong = misfit(found)
    if wrong is not None:
        raise UsageError(f"{where}.{wrong} cannot be {getattr(found, wrong)!r:.60}; give it what its piece takes.")
    return found


@cache
def _names() -> dict[tuple[str, str], str]:
    return {place: name for table in SLOTS.values() for place, name in places(table).items()}


def _storable(value: Any) -> Any:
    """The piece itself, if a file can name it."""
    known = _place(value) in _names() or _place(value) in places(PLAIN)
    if known and is_dataclass(value):
        return value
    raise UsageError(
        f"A file holds no code, so {type(value).__name__} of your own cannot be in it; use pieces with a plain name."
    )


def _place(value: Any) -> tuple[str, str]:
    return type(value).__module__, type(value).__qualname__
