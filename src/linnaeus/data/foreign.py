"""Files that are not data Linnaeus reads, known by their names or first bytes, and what to do with each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from linnaeus.data.streams import open_raw
from linnaeus.errors import DataError

if TYPE_CHECKING:
    from linnaeus.data.streams import File

_SHEET = "a spreadsheet; export the sheet as CSV"
_DOCUMENT = "a document; save its texts as CSV or JSONL, one row for each"
_ARCHIVE = "an archive; unpack it, and give the CSV or JSONL files in it"
_DATABASE = "a database; export the table as CSV"
_IMAGE = "an image; give texts, as CSV or JSONL"
_MEDIA = "sound or video; give texts, as CSV or JSONL"
_BINARY = "a file of a program; write its texts as CSV or JSONL"

_KINDS: dict[str, str] = {
    ".xlsx .xlsm .xlsb .xls .ods .numbers": _SHEET,
    ".docx .doc .odt .rtf .pdf .pptx .ppt .odp .epub": _DOCUMENT,
    ".zip .7z .rar .tar .tgz .xz": _ARCHIVE,
    ".db .sqlite .sqlite3 .mdb .accdb": _DATABASE,
    ".png .jpg .jpeg .gif .webp .bmp .tif .tiff .ico .heic .svg": _IMAGE,
    ".mp3 .wav .ogg .flac .m4a .mp4 .avi .mov .mkv .webm": _MEDIA,
    ".pkl .pickle .npy .npz .pt .bin .exe .dll .so .pyc .safetensors": _BINARY,
}
_NAMES: dict[str, str] = {suffix: what for suffixes, what in _KINDS.items() for suffix in suffixes.split()}

_MARKS: dict[bytes, str] = {
    b"PK\x03\x04": "a spreadsheet (.xlsx, .ods) or a zip archive; export the sheet as CSV, or unpack the archive",
    b"\xd0\xcf\x11\xe0": "an old Office file (.xls, .doc); export the sheet as CSV",
    b"%PDF-": "a PDF document; save its texts as CSV or JSONL, one row for each",
    b"\x89PNG": "a PNG image; give texts, as CSV or JSONL",
    b"\xff\xd8\xff": "a JPEG image; give texts, as CSV or JSONL",
    b"SQLite format 3\x00": "an SQLite database; export the table as CSV",
}

_ADDRESS = re.compile(r"(?:https?|ftp|s3|gs|hf):/", re.IGNORECASE)


def named_otherwise(suffix: str) -> str | None:
    """What the suffix of a file says it is, where that is nothing to be read, and what to do.

    >>> named_otherwise(".xlsx")
    'a spreadsheet; export the sheet as CSV'
    """
    return _NAMES.get(suffix.lower())


def refuse_foreign(file: File) -> None:
    """Refuse a file whose first bytes say that it is no text."""
    with open_raw(file) as raw:
        start = raw.read(max(map(len, _MARKS)))
    what = next((what for mark, what in _MARKS.items() if start.startswith(mark)), None)
    if what:
        raise DataError(f"{file.name}: looks like {what}.")


def is_address(name: str) -> bool:
    """Whether this is an address on a network, not the name of a file.

    >>> is_address("https://example.org/reviews.csv"), is_address("reviews.csv")
    (True, False)
    """
    return bool(_ADDRESS.match(name))
