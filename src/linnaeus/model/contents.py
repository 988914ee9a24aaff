"""What is inside a model: of its training data nothing, rows of numbers, or texts; features that show their words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

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
    places = [(own, model.features)] if own else []
    places += [(part.keeps_rows, part.features) for part in parts(model.features) if hasattr(part, "keeps_rows")]
    texts = any(getattr(part, "spells", False) for _, inside in places for part in parts(inside))
    return Remains(sum(rows for rows, _ in places), texts)


def opaque(features: Any) -> bool:
    """Whether some features come from all of a text at once, so that their weights say nothing of its words."""
    return any(getattr(part, "opaque", False) for part in parts(features))


def parts(features: Any) -> Iterator[Any]:
    """A fitted extractor, and all it is made of."""
    yield features
    for name in ("features", "counts", "left", "right"):
        if hasattr(features, name):
            yield from parts(getattr(features, name))
    for block in getattr(features, "blocks", ()):
        yield from parts(block)
