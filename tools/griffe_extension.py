"""How docstrings become the API reference: examples are code blocks, and frozen classes show their fields."""

from __future__ import annotations

import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


class Docstrings(griffe.Extension):
    """Called by griffe while it reads the source."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Put the doctests of a docstring into code blocks; Markdown would take `>>>` for quotations."""
        if obj.docstring:
            obj.docstring.value = fenced(obj.docstring.value)

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Tell griffe that `linnaeus.frozen.dataclass` makes dataclasses."""
        for decorator in cls.decorators:
            if decorator.callable_path == "linnaeus.frozen.dataclass" and isinstance(decorator.value, griffe.ExprCall):
                decorator.value.function = griffe.ExprName("dataclasses.dataclass")


def fenced(text: str) -> str:
    """A docstring with its doctests in code blocks."""
    return EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
