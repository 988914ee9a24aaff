"""`linnaeus gallery`: pictures of how the models work, as SVG files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linnaeus.cli import options as shared

if TYPE_CHECKING:
    from linnaeus.render.picture import Picture


@shared.verb("gallery")
@click.option("-o", "--output", metavar="FOLDER", default="gallery", show_default=True, help="Folder for the files.")
@shared.several("--only", metavar="NAME", text="Draw only this picture")
@shared.as_json("Print one JSON object with the file, title and caption of each picture.")
def command(output: str, only: tuple[str, ...], **options: shared.Option) -> int:
    """Draw decision boundaries, losses, optimizer paths and weights of Linnaeus models as SVG files.

    Examples:
      linnaeus gallery
      linnaeus gallery -o pictures --only neighbors

    """
    from linnaeus.errors import UsageError, did_you_mean
    from linnaeus.gallery import PICTURES
    from linnaeus.render import table

    strange = next((name for name in only if name not in PICTURES), None)
    if strange is not None:
        raise UsageError(f"There is no picture {strange!r}; {did_you_mean(strange, PICTURES)}")
    screen, folder = shared.stdout_screen(options), Path(output)
    drawn = {name: _write(folder, name, PICTURES[name]()) for name in only or PICTURES}
    if options["as_json"]:
        screen.write(json.dumps(drawn) + "\n")
    else:
        screen.show(table(["file", ""], [(row["file"], row["title"]) for row in drawn.values()], "<<"))
    return 0


def _write(folder: Path, name: str, picture: Picture) -> dict[str, str]:
    from linnaeus.errors import UsageError
    from linnaeus.render.svg import svg
    from linnaeus.store.atomic import replacing

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"Cannot create the folder {folder}: {error.strerror or error}; give another with -o."
        ) from None
    path = folder / f"{name}.svg"
    with replacing(path) as passing:
        passing.write_text(svg(picture), encoding="utf-8", newline="\n")
    return {"file": str(path), "title": picture.title, "caption": picture.caption}
