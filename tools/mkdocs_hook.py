"""For `make docs`: marks of the tests are taken away, the gallery is drawn, the API reference is listed.

When the site is built, its pages are searched for anything that a browser would load from elsewhere.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.reference import pages

_DRAWN: dict[str, Any] = {}
LOADED = re.compile(
    r"""<(?:script|img|iframe|source|audio|video)\b[^>]*?\bsrc=["']?(?:https?:)?//[^\s"'>]+"""
    r"""|<link\b(?=[^>]*\brel=["']?(?:stylesheet|preconnect|preload|icon))[^>]*?href=["']?(?:https?:)?//[^\s"'>]+"""
    r"""|(?:url\(|@import)\s*["']?(?:https?:)?//[^\s"')]+"""
)


def on_files(files: Any, *, config: Any) -> Any:
    """Called by MkDocs with the files of the site: the pictures and the API reference become files too."""
    from mkdocs.structure.files import File

    from linnaeus.gallery import PICTURES
    from linnaeus.render.svg import svg

    for name, make in PICTURES.items():
        _DRAWN[name] = make()
        files.append(File.generated(config, f"pictures/{name}.svg", content=svg(_DRAWN[name])))
    for path, content in pages().items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by MkDocs with the text of each page."""
    if page.file.src_uri == "gallery.md":
        line = "## {one.title} {{#{name}}}\n\n![{one.caption}](pictures/{name}.svg){{ loading=lazy }}\n"
        shown = (line.format(name=name, one=one) for name, one in _DRAWN.items())
        markdown += "\n" + "\n".join(shown)
    return markdown.replace("\n```python no-run\n", "\n```python\n")


def on_post_build(*, config: Any, **_: Any) -> None:
    """Called by MkDocs when the site is written."""
    from mkdocs.exceptions import PluginError

    found = loaded_from_elsewhere(Path(config.site_dir))
    if found:
        raise PluginError("The site loads from elsewhere: " + "; ".join(found))


def loaded_from_elsewhere(site: Path) -> list[str]:
    """What the pages and styles of a site load from another host."""
    files = sorted(path for ending in ("html", "css", "svg") for path in site.rglob(f"*.{ending}"))
    return [
        f"{path.relative_to(site)}: {found}"
        for path in files
        for found in LOADED.findall(path.read_text(encoding="utf-8"))
    ]
