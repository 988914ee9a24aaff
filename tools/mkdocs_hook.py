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

_SHOWN: list[str] = []
"""The Markdown of each picture of the gallery."""

SIZE = re.compile(r'viewBox="0 0 (\d+) (\d+)"')
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
        picture = make()
        image = svg(picture)
        files.append(File.generated(config, f"pictures/{name}.svg", content=image))
        _SHOWN.append(shown(name, picture, image))
    for path, content in pages().items():
        files.append(File.generated(config, path, content=content))
    return files


def shown(name: str, picture: Any, image: str) -> str:
    """The Markdown of one picture, with its size: links to a picture lead there before the others are loaded.

    >>> from types import SimpleNamespace
    >>> one = SimpleNamespace(title="A line", caption="It goes up.")
    >>> print(shown("line", one, '<svg viewBox="0 0 400 300">'), end="")
    ## A line {#line}
    <BLANKLINE>
    ![It goes up.](pictures/line.svg){ width=400 height=300 }
    """
    size = SIZE.search(image)
    assert size
    attributes = f"{{ width={size[1]} height={size[2]} }}"
    return f"## {picture.title} {{#{name}}}\n\n![{picture.caption}](pictures/{name}.svg){attributes}\n"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by MkDocs with the text of each page."""
    if page.file.src_uri == "gallery.md":
        markdown += "\n" + "\n".join(_SHOWN)
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
