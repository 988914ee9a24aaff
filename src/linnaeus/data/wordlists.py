"""Files of words: one entry per line, its parts between tabs. Word clusters and gazetteers are such files."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path

from linnaeus.data.formats.lines import blocks
from linnaeus.data.options import ReadOptions
from linnaeus.data.streams import File, first_undecodable, undecodable


def entries(path: str | PathLike[str]) -> Iterator[tuple[str, list[str]]]:
    """Where each line stands, for messages, and its parts; blank lines are left out. Packed files are unpacked."""
    file, options = File(Path(path), str(path)), ReadOptions()
    for block in blocks(file, options):
        for number, line in enumerate(block.lines(), block.line):
            try:
                text = line.decode().strip()
            except UnicodeDecodeError as error:
                byte = first_undecodable(file, options)
                raise undecodable(file, f"line {number}", byte, options.encoding) from error
            if text:
                yield f"{file.name}, line {number}", [part.strip() for part in text.split("\t")]
