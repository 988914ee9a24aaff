"""Measures: numbers about an example and a candidate, a few columns each. `Measured` makes features of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from linnaeus.errors import damaged
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.features.pairs.view import View
    from linnaeus.types import Doubles


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
        """Those of examples it was fitted on, as if it had not seen their own answers."""
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
    def from_state(cls, state: State, *blocks: Any) -> FittedMeasure:
        """Built again; settings that are none are refused."""
        del blocks
        return cls(**settings(cls, state.manifest))


def settings(cls: type, manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a piece from its manifest, lists as tuples."""
    found = {}
    for part in fields(cls):
        if part.name not in manifest:
            raise damaged(f"{manifest.get('kind')!r} lacks the setting {part.name!r}")
        value = manifest[part.name]
        found[part.name] = tuple(value) if isinstance(value, list) else value
    return found


def largest_in_group(values: Doubles, offsets: Any, otherwise: float = 0.0) -> Doubles:
    """The largest of each group (n,)."""
    found = np.full(len(offsets) - 1, otherwise)
    full = np.diff(offsets) > 0
    if len(values):
        found[full] = np.maximum.reduceat(values, offsets[:-1][full])
    return found
