"""A user-defined function of a text and a candidate as a measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import DataError, InputTypeError, MissingFunctionError
from linnaeus.features.pairs.measured import FittedMeasure, Measure
from linnaeus.frozen import dataclass
from linnaeus.store import states
from linnaeus.types import NOT_STORED, State

if TYPE_CHECKING:
    from linnaeus.features.pairs.base import View
    from linnaeus.types import Doubles


@dataclass(frozen=True)
class PairFunction(Measure, FittedMeasure):
    """A number for each candidate from `fn(text, candidate)`. A model stores the function's name, never the function.

    >>> from linnaeus.data.groups import Groups
    >>> from linnaeus.features.pairs.base import View
    >>> longer = PairFunction(lambda text, candidate: len(candidate) - len(text), "longer")
    >>> longer.values(View(Groups.from_lists(["ab"], [["abc", "a"]])))[:, 0].tolist()
    [1.0, -1.0]
    """

    fn: Callable[[str, str], float] = field(repr=False, metadata=NOT_STORED)
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
    def from_state(cls, state: State, functions: Mapping[str, Any]) -> PairFunction:
        """Restore with the function of that name; nothing is imported."""
        name = states.field(state.manifest, "name", str)
        if name not in functions:
            raise MissingFunctionError(name)
        return cls(functions[name], name, states.field(state.manifest, "source", str))
