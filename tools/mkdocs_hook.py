"""For `make docs`: marks of the tests are taken away, the gallery is drawn, the API reference is listed.

A paragraph that is only a link to a picture of the gallery, `[A line](../gallery.md#line)`, shows the picture.

When the site is built, its pages are searched for anything that a browser would load from elsewhere.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.reference import pages

_DRAWN: dict[str, tuple[Any, str]] = {}
"""Each picture of the gallery, and its image."""

SIZE = re.compile(r'viewBox="0 0 (\d+) (\d+)"')
ALONE = re.compile(r"(?<=\n\n)\[[^\]\n]+\]\((?P<up>(?:\.\./)*)gallery\.md#(?P<name>[a-z0-9-]+)\)(?=\n\n|\n?\Z)")
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
        _DRAWN[name] = picture, image
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
    return f"## {picture.title} {{#{name}}}\n\n{_image(name, picture, image)}\n"


def embedded(markdown: str, drawn: dict[str, tuple[Any, str]]) -> str:
    r"""The Markdown of a page in which links that stand alone show their pictures; a click leads to the gallery.

    >>> from types import SimpleNamespace
    >>> one = SimpleNamespace(title="A line", caption="It goes up.")
    >>> page = "# A page\n\n[A line](../gallery.md#line)\n\nSee [it](../gallery.md#line).\n"
    >>> print(embedded(page, {"line": (one, '<svg viewBox="0 0 400 300">')}), end="")
    # A page
    <BLANKLINE>
    [![It goes up.](../pictures/line.svg){ width=400 height=300 }](../gallery.md#line)
    <BLANKLINE>
    See [it](../gallery.md#line).
    """

    def replaced(found: re.Match[str]) -> str:
        name, up = found["name"], found["up"]
        return f"[{_image(name, *drawn[name], up)}]({up}gallery.md#{name})"

    return ALONE.sub(replaced, markdown)


def _image(name: str, picture: Any, image: str, up: str = "") -> str:
    size = SIZE.search(image)
    assert size
    return f"![{picture.caption}]({up}pictures/{name}.svg){{ width={size[1]} height={size[2]} }}"


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Called by MkDocs with the text of each page."""
    if page.file.src_uri == "gallery.md":
        markdown += "\n" + "\n".join(shown(name, *drawn) for name, drawn in _DRAWN.items())
    return embedded(markdown, _DRAWN).replace(" no-run\n", "\n")


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
