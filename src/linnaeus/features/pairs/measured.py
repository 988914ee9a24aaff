"""Measures, numbers about an example and a candidate, and `Measured`, which makes features of them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import field, fields
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from linnaeus.arrays.csr import CSR
from linnaeus.data.groups import Groups
from linnaeus.errors import DataError, InputTypeError, MissingFunctionError, UsageError, damaged
from linnaeus.features.pairs.base import FittedPairs, PairBlock, View, viewed
from linnaeus.frozen import dataclass
from linnaeus.store import states
from linnaeus.store.states import nest, tensor
from linnaeus.types import NOT_STORED, Bools, Doubles, Floats, Longs, State, offsets_of

if TYPE_CHECKING:
    from linnaeus.features.restore import Functions


class FittedMeasure(ABC):
    """A measure that knows what it learned."""

    about_none: ClassVar[bool] = False
    """Whether it has numbers for "none of these", where other measures are zero."""

    @abstractmethod
    def names(self) -> list[str]:
        """What each of its numbers is."""

    @abstractmethod
    def values(self, view: View) -> Doubles:
        """The numbers of every candidate (m, q)."""

    @abstractmethod
    def state(self) -> State:
        """Manifest and tensors that build it again."""

    def learning_values(self, view: View) -> Doubles:
        """The numbers of examples it was fitted on, as if it had not seen their answers."""
        return self.values(view)


class Measure(ABC):
    """A measure before it is fitted."""

    @abstractmethod
    def fit(self, view: View) -> FittedMeasure:
        """Learn what has to be learned."""


class Plain(Measure, FittedMeasure):
    """A measure that learns nothing: its state is its settings."""

    KIND = ""

    def fit(self, view: View) -> FittedMeasure:
        """Itself."""
        del view
        return self

    def state(self) -> State:
        """The settings."""
        inside = {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in inside.items()}
        return State({"kind": self.KIND, **plain}, {})

    @classmethod
    def from_state(cls, state: State) -> FittedMeasure:
        """Restore from the stored settings, with lists as tuples; a missing setting is refused."""
        found = {}
        for part in fields(cls):  # type: ignore[arg-type]
            if part.name not in state.manifest:
                raise damaged(f"{cls.KIND!r} lacks the setting {part.name!r}")
            value = state.manifest[part.name]
            found[part.name] = tuple(value) if isinstance(value, list) else value
        return cls(**found)


def largest_in_group(values: Doubles, offsets: Longs) -> Doubles:
    """The largest of each group (n,), 0 for an empty one."""
    found = np.zeros(len(offsets) - 1)
    full = np.diff(offsets) > 0
    if len(values):
        found[full] = np.maximum.reduceat(values, offsets[:-1][full])
    return found


STANDINGS = ("plain", "both")
LARGEST = 1e9
"""Scales are at most about this: what spreads less is as good as constant."""
KINDS = ("how many", "how", "why", "who", "where", "when", "which", "what")
"""Kinds of questions, by the first of these that stands in one; "which" and "what" are last."""

NEGATED = re.compile(r"\b(not|never|except)\b|n['’]t\b", re.IGNORECASE)


@dataclass(frozen=True)
class Measured(PairBlock):
    """Measures as features, each divided by its standard deviation in training, so that one L2 strength fits all.

    `standing="both"` adds the value relative to the other candidates of the example, (v - mean) / (2 max |v - mean|).
    `question` is the column of a question: each kind (who, where, why ...) has its own weights in addition to the
    shared ones, and negated questions ("Which did they not see?") have separate weights, because evidence has the
    opposite sign there.
    """

    measures: tuple[Measure, ...]
    standing: str = "plain"
    question: str | None = None

    def __post_init__(self) -> None:
        if not self.measures or not all(isinstance(measure, Measure) for measure in self.measures):
            raise InputTypeError("Measured takes a tuple of measures such as Match() or Numbers(('links',)).")
        if self.standing not in STANDINGS:
            raise UsageError(f"standing must be one of {', '.join(STANDINGS)}, not {self.standing!r}.")

    def fit(self, groups: Groups | View) -> FittedMeasured:
        """Fit the measures, and learn how far each spreads."""
        view = viewed(groups)
        found = tuple(measure.fit(view) for measure in self.measures)
        V = _stacked(found, _learning(found, view), view)
        spread = V.std(axis=0)
        scale = np.where(spread > 1 / LARGEST, 1.0 / np.maximum(spread, 1 / LARGEST), 0.0)
        return FittedMeasured(found, scale, self.standing, self.question)


@dataclass(frozen=True, eq=False)
class FittedMeasured(FittedPairs):
    """Fitted measures with their scales."""

    measures: tuple[FittedMeasure, ...]
    scale: Doubles
    standing: str
    question: str | None

    @property
    def width(self) -> int:
        """One or two columns for each number, for questions as many for each kind and for negated ones."""
        own = len(self.scale) * (2 if self.standing == "both" else 1)
        return own * (len(KINDS) + 2 if self.question else 1)

    def rows(self, groups: Groups | View) -> CSR:
        """The scaled numbers."""
        view = viewed(groups)
        return self._rows(view, [measure.values(view) for measure in self.measures])

    def learning_rows(self, groups: Groups | View) -> CSR:
        """The same without what the measures know from these examples' answers."""
        view = viewed(groups)
        return self._rows(view, _learning(self.measures, view))

    def scores(self, groups: Groups | View, w: Doubles) -> Doubles:
        """The numbers times their weights; without rows where these are the numbers alone."""
        if self.question or self.standing != "plain":
            return self.rows(groups).dot(w)
        view, total, at = viewed(groups), np.zeros(len(viewed(groups))), 0
        for measure in self.measures:
            V = measure.values(view)
            part = slice(at, at := at + V.shape[1])
            added = np.einsum("ij,j->i", V, self.scale[part] * w[part], optimize=False)
            total += added if measure.about_none else np.where(view.missing, 0.0, added)
        return total

    def _rows(self, view: View, values: list[Doubles]) -> CSR:
        V = _stacked(self.measures, values, view) * self.scale
        table = (V if self.standing == "plain" else np.hstack([V, _standings(V, view)])).astype(np.float32)
        if self.question is None:
            return _sparse(table, np.zeros((len(table), 1), np.int64), self.width)
        kinds, negated = _asked(view, self.question)
        shared = np.where(negated, 1, 0)[view.group]
        own = np.where(negated | (kinds < 0), -1, kinds + 2)[view.group]
        return _sparse(table, np.column_stack([shared, own]), self.width)

    def names(self) -> list[str]:
        """The names of the numbers, with the kind of question if questions are used."""
        plain = [name for measure in self.measures for name in measure.names()]
        base = plain + ([f"{name}, among the candidates" for name in plain] if self.standing == "both" else [])
        if self.question is None:
            return base
        return [before + name for before in ("", "not: ", *(f"{kind}: " for kind in KINDS)) for name in base]

    def state(self) -> State:
        """The measures and their scales."""
        manifest = {"kind": "measured", "standing": self.standing, "question": self.question}
        return nest(manifest, self.measures, {"scale": self.scale})

    @classmethod
    def from_state(cls, state: State, *blocks: FittedMeasure) -> FittedMeasured:
        """Restore from the stored state."""
        scale, standing = tensor(state.tensors, "scale", np.float64), states.field(state.manifest, "standing", str)
        if standing not in STANDINGS or len(scale) != sum(len(block.names()) for block in blocks):
            raise damaged("its measures do not fit their scales")
        if not ((scale >= 0) & (scale <= 2 * LARGEST)).all():
            raise damaged("a scale is out of range")
        return cls(blocks, scale, standing, states.field(state.manifest, "question", (str, type(None))))


def _learning(measures: Sequence[FittedMeasure], view: View) -> list[Doubles]:
    """The numbers of examples the measures were fitted on: scales and rows both ask for them."""
    return [view.shared(("learning", id(one)), partial(_learned, one, view))[1] for one in measures]


def _learned(measure: FittedMeasure, view: View) -> tuple[FittedMeasure, Doubles]:
    """With the measure itself: as long as it is held, no other has its number."""
    return measure, measure.learning_values(view)


def _stacked(measures: Sequence[FittedMeasure], values: list[Doubles], view: View) -> Doubles:
    """All numbers side by side; "none of these" has only those of measures that are about it."""
    there = ~view.missing[:, None]
    kept = [V if measure.about_none else V * there for measure, V in zip(measures, values, strict=True)]
    return np.hstack(kept)


def _standings(V: Doubles, view: View) -> Doubles:
    group, offsets, n = view.group, view.groups.offsets, len(view.groups)
    found = np.empty_like(V)
    counts = np.maximum(np.bincount(group, minlength=n), 1)
    for column in range(V.shape[1]):
        away = V[:, column] - (np.bincount(group, V[:, column], n) / counts)[group]
        reach = largest_in_group(np.abs(away), offsets)[group]
        found[:, column] = np.where(reach > 1e-9, away / np.maximum(reach, 1e-9) / 2.0, 0.0)
    return found


def _sparse(table: Floats, blocks: Longs, width: int) -> CSR:
    """The table once in each of the blocks of columns a row names (-1: none), without zeros."""
    q = table.shape[1]
    kept = (table != 0)[:, None, :] & (blocks >= 0)[:, :, None]
    columns = (blocks[:, :, None] * q + np.arange(q)).astype(np.int32)
    values = np.broadcast_to(table[:, None, :], kept.shape)
    return CSR(offsets_of(kept.sum(axis=(1, 2))), columns[kept], np.ascontiguousarray(values[kept]), width)


def _asked(view: View, column: str) -> tuple[Longs, Bools]:
    """The kind of each question, -1 for none; and which are negated."""
    texts = [text or "" for text in view.groups.column(column).to_pylist()]
    kinds = [next((i for i, kind in enumerate(KINDS) if kind in text.lower()), -1) for text in texts]
    return np.array(kinds, np.int64), np.array([NEGATED.search(text) is not None for text in texts], bool)


@dataclass(frozen=True)
class PairFunction(Measure, FittedMeasure):
    """A number for each candidate from `fn(text, candidate)`. A model stores the function's name, never the function.

    >>> from linnaeus.data.groups import Groups
    >>> from linnaeus.features.pairs.base import View
    >>> longer = PairFunction(lambda text, candidate: len(candidate) - len(text), "longer")
    >>> longer.values(View(Groups.from_lists(["ab"], [["abc", "a"]])))[:, 0].tolist()
    [1.0, -1.0]
    """

    fn: Callable[..., object] = field(repr=False, metadata=NOT_STORED)
    name: str = ""
    source: str = "text"

    def __post_init__(self) -> None:
        if not callable(self.fn):
            raise InputTypeError(f"PairFunction takes a function of a text and a candidate, not {self.fn!r}.")
        object.__setattr__(self, "name", self.name or getattr(self.fn, "__name__", "function"))

    def fit(self, view: View) -> FittedMeasure:
        """Itself."""
        del view
        return self

    def names(self) -> list[str]:
        """The name."""
        return [self.name]

    def values(self, view: View) -> Doubles:
        """What the function says; 0 for "none of these"."""
        texts = view.groups.column(self.source).to_pylist()
        found = np.zeros((len(view), 1))
        for i, (group, candidate) in enumerate(
            zip(view.group.tolist(), view.groups.candidates.to_pylist(), strict=True)
        ):
            if candidate is not None:
                found[i] = self._call(texts[group] or "", candidate)
        return found

    def _call(self, text: str, candidate: str) -> float:
        given = self.fn(text, candidate)
        if not isinstance(given, int | float | np.number | np.bool_) or not np.isfinite(given):
            raise DataError(f"The function {self.name!r} returned {given!r} for {candidate!r}, not a finite number.")
        return float(given)

    def state(self) -> State:
        """The name."""
        return State({"kind": "pair_function", "name": self.name, "source": self.source}, {})

    @classmethod
    def from_state(cls, state: State, functions: Functions) -> PairFunction:
        """Restore with the function of that name; nothing is imported."""
        name = states.field(state.manifest, "name", str)
        if name not in functions:
            raise MissingFunctionError(name)
        return cls(functions[name], name, states.field(state.manifest, "source", str))
