"""For `make docs`: the mark `no-run` on an example is for the tests; readers see a Python block like any other."""

from __future__ import annotations

from typing import Any


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs with the text of each page."""
    return markdown.replace("\n```python no-run\n", "\n```python\n")
