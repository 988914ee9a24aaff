"""What is inside a model: of its training data nothing, rows of numbers, or texts; features that show their words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.model.model import Model


@dataclass(frozen=True)
class Remains:
    """How many training rows are in the model, and whether these are texts that can be read again."""

    rows: int
    texts: bool

    def __str__(self) -> str:
        if not self.rows:
            return "none of the training data are in the file"
        if self.texts:
            return f"KEPT: the letters of {self.rows:,} training texts are in the file; share it with care"
        return f"no texts, but the features of {self.rows:,} training rows, as numbers"


def remains(model: Model) -> Remains:
    """What fitted pieces say of themselves: `keeps_rows`, how many; `spells`, that rows are texts."""
    own = getattr(model.body, "keeps_rows", 0)
    holders = [(own, [model.features])] if own else []
    holders += [(part.keeps_rows, part.inside) for part in model.features.parts() if part.keeps_rows]
    texts = any(part.spells for _, inside in holders for piece in inside for part in piece.parts())
    return Remains(sum(rows for rows, _ in holders), texts)
