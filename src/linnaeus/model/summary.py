"""What is said of a model: a few lines for `repr`, also of its scikit-learn face, and what of its data is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from linnaeus.frozen import dataclass
from linnaeus.protocols import KeepsRows, capability

if TYPE_CHECKING:
    from linnaeus.model.model import Model

SHOWN_NAMES = 6
LONGEST_VALUE = 60
SIZES = ("rows", "tokens", "candidates")
"""What is counted of training data."""


def model_repr(model: Model) -> str:
    """Task, learner, classes, sizes and the first figure on held-out rows."""
    first = next(iter(model.evaluation.metrics.items()), None) if model.evaluation else None
    facts = {
        "task": f"{model.task.name}, by {type(model.recipe.learner).__name__}",
        "stages": ", ".join(name for name, _ in model.stages) or None,
        "classes": None if model.classes is None else some(model.classes.tolist()),
        "labels": None if model.many is None else f"{len(model.many):,}",
        "features": figure(model.features.width),
        "trained on": ", ".join(f"{figure(model.facts[name])} {name}" for name in SIZES if name in model.facts) or None,
        "held out": None if first is None else f"{first[0]} {first[1]:.3f}",
    }
    lines = [f"  {name}: {value}" for name, value in facts.items() if value is not None]
    return "\n".join(["<Model", *lines]) + ">"


def some(names: Sequence[object]) -> str:
    """The first names of many, and how many there are.

    >>> some(["ham", "spam"]), some(list("abcdefgh"))
    ('2 (ham, spam)', '8 (a, b, c, d, e, f ...)')
    """
    shown = ", ".join(map(str, names[:SHOWN_NAMES]))
    return f"{len(names):,} ({shown}{' ...' if len(names) > SHOWN_NAMES else ''})"


def figure(value: object) -> str | None:
    """A count, if there is one."""
    return f"{value:,}" if isinstance(value, int) else None


def face_repr(face: object, params: Mapping[str, object]) -> str:
    """A face with its parameters; what is long is named only.

    >>> face_repr(3, {"recipe": "svm", "changes": list(range(99))})
    "int(recipe='svm', changes=list(...))"
    """
    return f"{type(face).__name__}({', '.join(f'{name}={_short(value)}' for name, value in params.items())})"


def _short(value: object) -> str:
    said = repr(value)
    return said if len(said) <= LONGEST_VALUE else f"{type(value).__name__}(...)"


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
    body = capability(model.body, KeepsRows)
    holders = [(body.keeps_rows, [model.features])] if body is not None and body.keeps_rows else []
    holders += [(part.keeps_rows, part.inside) for part in model.features.parts() if part.keeps_rows]
    texts = any(part.spells for _, inside in holders for piece in inside for part in piece.parts())
    return Remains(sum(rows for rows, _ in holders), texts)
