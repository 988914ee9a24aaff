"""For `make docs`: Python blocks lose the mark `no-run` of the tests, and the gallery is drawn."""

from __future__ import annotations

from typing import Any

_DRAWN: dict[str, Any] = {}


def on_files(files: Any, *, config: Any) -> Any:
    """Called by MkDocs with the files of the site: the pictures become files too."""
    from mkdocs.structure.files import File

    from linnaeus.gallery import PICTURES
    from linnaeus.render.svg import svg

    for name, make in PICTURES.items():
        _DRAWN[name] = make()
        files.append(File.generated(config, f"pictures/{name}.svg", content=svg(_DRAWN[name])))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by MkDocs with the text of each page."""
    if page.file.src_uri == "gallery.md":
        line = "## {one.title} {{#{name}}}\n\n![{one.caption}](pictures/{name}.svg)\n"
        shown = (line.format(name=name, one=one) for name, one in _DRAWN.items())
        markdown += "\n" + "\n".join(shown)
    return markdown.replace("\n```python no-run\n", "\n```python\n")
