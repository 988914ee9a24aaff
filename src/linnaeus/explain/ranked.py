"""What all explained models have in common: an output space and class names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linnaeus.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linnaeus.types import Doubles


class Ranked:
    """Class scores made of scores (n, w) by an output space.

    A space whose scores are not those of the classes has `readout(k)` (w, k), as two classes with one score and
    one-vs-one have; where classes are ranked by something else than sums, also `class_scores(S)`.
    """

    space: Any
    classes: tuple[str, ...]

    @property
    def readout(self) -> Doubles | None:
        """The matrix (w, k) from scores to class scores; None if they are the same."""
        made = getattr(self.space, "readout", None)
        return None if made is None else made(len(self.classes))

    def class_scores(self, S: Doubles) -> Doubles:
        """The class scores (n, k) that the output space ranks classes by."""
        own = getattr(self.space, "class_scores", None)
        if own is not None:
            ranked: Doubles = own(S)
            return ranked
        return S if self.readout is None else S @ self.readout

    def read(self, block: Doubles, chosen: Sequence[int]) -> Doubles:
        """Weights, biases or scores (..., w) of the chosen classes (..., c)."""
        R = self.readout
        found: Doubles = block[..., list(chosen)] if R is None else block @ R[:, list(chosen)]
        return found

    def number(self, name: str) -> int:
        """Which class has this name."""
        if name not in self.classes:
            raise UsageError(f"The model has no class {name!r}; {did_you_mean(name, self.classes)}")
        return self.classes.index(name)
