"""Which files a source names (a path, a pattern, a folder, several paths, standard input), and in which format."""

from __future__ import annotations

import os
import re
import sys
import weakref
from collections.abc import Sequence
from io import BufferedReader, BytesIO
from os import PathLike
from pathlib import Path
from typing import BinaryIO, TypeAlias

from linnaeus import temporary
from linnaeus.data.formats import FORMATS, LABEL_PREFIX, SUFFIXES
from linnaeus.data.options import ALL, PARTS, ReadOptions
from linnaeus.data.streams import BLOCK, CODECS, ByteStream, File, open_raw
from linnaeus.errors import DataError, MachineError, UsageError, did_you_mean
from linnaeus.frozen import dataclass

Paths: TypeAlias = "str | PathLike[str] | Sequence[PathLike[str]]"
_STDIN_LIMIT = 32 << 30
_OF_TEXT = ("csv", "tsv", "jsonl", "fasttext", "lines", "libsvm")


@dataclass(frozen=True, slots=True)
class Found:
    """Files of one format; `owner` keeps the temporary folder of a spooled standard input."""

    files: tuple[File, ...]
    format: str
    owner: object = None


def names_files(source: object) -> bool:
    """Whether this is a path or several; a list of strings is a list of texts."""
    if isinstance(source, (str, PathLike)):
        return True
    return isinstance(source, (list, tuple)) and bool(source) and all(isinstance(item, PathLike) for item in source)


def find(source: Paths, options: ReadOptions) -> Found:
    """The files behind a source, in order, and their format."""
    if options.format is not None and options.format not in FORMATS:
        raise UsageError(f"format={options.format!r} is not known; {did_you_mean(options.format, FORMATS)}")
    found = _spooled(standard_input(), "standard input", options) if source == "-" else _found(source, options)
    if found.format in _OF_TEXT:
        for file in found.files:
            refuse_foreign(file)
    return found


def find_waiting(options: ReadOptions) -> Found:
    """The complete lines that wait in the buffer of standard input, which can still be read afterwards."""
    stream = standard_input()
    head = stream.peek() if isinstance(stream, BufferedReader) else b""
    return _spooled(BytesIO(head[: head.rfind(b"\n") + 1]), "standard input", options)


def standard_input() -> BinaryIO:
    """Standard input as bytes; one that is closed is refused."""
    if sys.stdin is None:
        raise MachineError("standard input is closed; pipe data into it, or name a file.")
    return sys.stdin.buffer


def _found(source: Paths, options: ReadOptions) -> Found:
    if options.split is not None and not parts_of(source):
        raise DataError(f"{source}: is not a folder with parts such as train and test; leave out split=.")
    paths = [source] if isinstance(source, (str, PathLike)) else list(source)
    return _together([_expanded(str(path), options) for path in paths])


def _together(several: Sequence[Found]) -> Found:
    formats = sorted({found.format for found in several})
    if len(formats) > 1:
        raise DataError(f"the files are of different formats ({', '.join(formats)}); read them one format at a time.")
    owners = tuple(found.owner for found in several)
    return Found(tuple(file for found in several for file in found.files), formats[0], owners)


def parts_of(source: Paths) -> dict[str, tuple[Path, ...]]:
    """The files or folders of each part, where this is a folder with parts such as train and test; else none."""
    if not isinstance(source, (str, PathLike)) or not str(source) or not _exists(Path(source)):
        return {}
    path = Path(source)
    if not path.is_dir():
        return {}
    try:
        return _folders(path).named or by_part(_tables(path) or _known(path)).named
    except PermissionError:
        return {}  # who reads it says so


def _expanded(name: str, options: ReadOptions) -> Found:
    path = Path(name)
    if _exists(path):
        if path.is_dir():
            return _folder(path, options)
        return Found((File(path, name),), _format(path, options)) if path.is_file() else _pipe(path, name, options)
    if _ADDRESS.match(name):
        raise DataError(f"{_short(name)}: files are read, not addresses; download it first, and name the file.")
    from glob import glob, has_magic

    if not has_magic(name):
        raise DataError(f"{_short(name)}: there is no such file; check the name, or pass texts in a list.")
    matches = sorted(glob(name, recursive=True))  # noqa: PTH207 - pathlib refuses patterns that are absolute
    files = [path for path in map(Path, matches) if path.is_file()]
    if not files:
        raise DataError(f"{_short(name)}: no file matches; check the pattern and the folder.")
    return _shards(files, name, options)


def _forbidden(path: str | Path) -> MachineError:
    return MachineError(f"{path}: no permission to read it; check its mode and owner.")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except PermissionError as error:
        raise _forbidden(path) from error
    except (OSError, ValueError):  # longer than a path can be, or with a NUL: a text, not a path
        return False


def _folder(path: Path, options: ReadOptions) -> Found:
    """A folder of shards, or a folder per class; of one with parts, such as train and test, the part that is chosen."""
    try:
        inner = _folders(path)
        if inner.named:
            return _together([_folder(part, options) for part in inner.chosen(str(path), options.split)])
        tables, known = _tables(path), _known(path)
        if options.format == "folder" or (not tables and text_files(path)):
            return Found((File(path, str(path)),), "folder")
    except PermissionError as error:
        raise _forbidden(path) from error
    files = tables or known or (_seen(path) if options.format else [])
    if not files:
        raise DataError(f"{path}: holds no text; put data files there, or one folder per label with .txt files.")
    parts = by_part(files)
    return _shards(parts.chosen(str(path), options.split) if parts.named else files, str(path), options)


def _folders(folder: Path) -> Parts:
    """Folders by part, with folders or data files in them; folders of texts are classes."""
    inner = [path for path in sorted(folder.iterdir()) if path.is_dir() and is_part(path.name)]
    return by_part([path for path in inner if _tables(path) or any(entry.is_dir() for entry in path.iterdir())])


def _seen(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if entry.is_file() and entry.name[0] not in "._")


def _known(folder: Path) -> list[Path]:
    """The files whose names tell a format."""
    return [entry for entry in _seen(folder) if _suffix(entry) in SUFFIXES]


def _tables(folder: Path) -> list[Path]:
    return [entry for entry in _known(folder) if _suffix(entry) != ".txt"]


def _shards(files: Sequence[Path], name: str, options: ReadOptions) -> Found:
    formats = sorted({_format(path, options) for path in files})
    if len(formats) > 1:
        raise DataError(
            f"{name}: holds files of different formats ({', '.join(formats)}); choose with a pattern, as *.csv."
        )
    return Found(tuple(File(path, str(path)) for path in files), formats[0])


def _suffix(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next(iter(suffixes[-2:-1] if suffixes and suffixes[-1] in CODECS else suffixes[-1:]), "")


def _format(path: Path, options: ReadOptions) -> str:
    if options.format is not None:
        return options.format
    suffix = _suffix(path)
    if suffix not in SUFFIXES:
        foreign = named_otherwise(suffix)
        if foreign:
            raise UsageError(f"{path}: is {foreign}.")
        raise UsageError(f"{path}: the name does not tell the format; give format=, one of {', '.join(FORMATS)}.")
    if SUFFIXES[suffix] == SUFFIXES[".txt"]:
        return _sniffed(File(path, str(path)), options, SUFFIXES[suffix])
    return SUFFIXES[suffix]


_MAGIC = {b"PAR1": "parquet", b"ARRO": "arrow"}
_STARTS = {b"{": "jsonl", LABEL_PREFIX: "fasttext"}
_ARRAY = re.compile(rb"\[\s*(?:[\[{\"\]]|$)")


def _sniffed(file: File, options: ReadOptions, otherwise: str) -> str:
    """The format by the first bytes, where these are plain."""
    with open_raw(file) as raw:
        magic = raw.read(4)
    if magic in _MAGIC:
        return _MAGIC[magic]
    with ByteStream(file, options) as stream:
        start = stream.read(BLOCK).lstrip()
    if otherwise == "csv" and _ARRAY.match(start):  # its reader says how to write it
        return "jsonl"
    return next((name for mark, name in _STARTS.items() if start.startswith(mark)), otherwise)


class _Spool:
    """A temporary folder that goes when nobody holds this any more."""

    def __init__(self) -> None:
        import tempfile

        self.folder = Path(tempfile.gettempdir()) / f"linnaeus-{os.urandom(6).hex()}"
        weakref.finalize(self, temporary.remove, self.folder)
        temporary.create(self.folder, lambda folder: folder.mkdir(0o700))


def _pipe(path: Path, name: str, options: ReadOptions) -> Found:
    try:
        with path.open("rb") as stream:
            if path.is_char_device() and not stream.isatty():
                raise DataError(f"{name}: is a device, not a file of data; name a file, or - for standard input.")
            return _spooled(stream, name, options)
    except PermissionError as error:
        raise _forbidden(name) from error


def _spooled(stream: BinaryIO, name: str, options: ReadOptions) -> Found:
    """A stream in a temporary file, so that it can be walked over more than once."""
    owner = _Spool()
    path = owner.folder / "spooled"
    limit, size = options.max_bytes or _STDIN_LIMIT, 0
    try:
        with path.open("wb") as out:
            while data := stream.read(BLOCK):
                size += len(data)
                if size > limit:
                    raise DataError(f"{name}: is longer than {limit:,} bytes; raise max_bytes=, or pass a file.")
                out.write(data)
    except OSError as error:
        raise MachineError(f"{name}: cannot be kept in {owner.folder} ({error}); pass a file.") from error
    file = File(path, name)
    if not size:
        raise DataError(f"{name}: is empty; pipe data into it, or name a file.")
    return Found((file,), options.format or _sniffed(file, options, "csv"), owner)


def _short(name: str) -> str:
    return name if len(name) <= 100 else repr(name[:100]) + "..."


def text_files(folder: Path) -> list[Path]:
    """The texts below the folders of a folder: `.txt` files, or where there are none, all but images and the like."""
    inner = [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith(".")]
    found = [path for label in inner for path in sorted(label.rglob("*")) if _is_visible(path, label)]
    named = [path for path in found if _suffix(path) == ".txt"]
    return named or [path for path in found if named_otherwise(path.suffix) is None]


def _is_visible(path: Path, below: Path) -> bool:
    return path.is_file() and not any(part.startswith(".") for part in path.relative_to(below).parts)


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


_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Parts:
    """Files or folders by part, and the `others` whose names tell none; there are no parts without two of them."""

    named: dict[str, tuple[Path, ...]]
    others: tuple[Path, ...] = ()

    def chosen(self, where: str, split: str | None) -> list[Path]:
        """The files or folders of a part; refused where none is chosen, or the chosen one is not there."""
        there = ", ".join(f"{name} ({listed_files(paths)})" for name, paths in self.named.items())
        if split is None:
            first = next(iter(self.named))
            raise DataError(f"{where}: has the parts {there}; choose one with split={first!r}, or split='all'.")
        if split == ALL:
            return [*(path for paths in self.named.values() for path in paths), *self.others]
        if split not in self.named:
            raise DataError(f"{where}: has no part {split!r}, but {there}; choose one with split=, or split='all'.")
        return list(self.named[split])


def part_of(name: str) -> str | None:
    """The part that one word of a name tells.

    >>> part_of("train-00000-of-00004.parquet"), part_of("en_ewt-ud-dev.conllu"), part_of("reviews.csv")
    ('train', 'dev', None)
    """
    words = re.split(r"[^a-z]+", name.casefold())
    found = [part for part, known in PARTS.items() if any(word in known for word in words)]
    return found[0] if len(found) == 1 else None


def is_part(name: str) -> bool:
    """Whether a name is that of a part, and nothing else."""
    return any(name.casefold() in known for known in PARTS.values())


def by_part(paths: Sequence[Path]) -> Parts:
    """Files or folders by part."""
    found: dict[str, list[Path]] = {name: [] for name in PARTS}
    others: list[Path] = []
    for path in paths:
        part = part_of(path.name)
        (others if part is None else found[part]).append(path)
    named = {name: tuple(paths) for name, paths in found.items() if paths}
    return Parts(named, tuple(others)) if len(named) > 1 else Parts({})


def listed_files(paths: Sequence[Path]) -> str:
    """The names of some files.

    >>> listed_files([Path(f"train-{i}.csv") for i in range(5)])
    'train-0.csv, train-1.csv, train-2.csv and 2 more'
    """
    names = ", ".join(path.name for path in paths[:_SHOWN])
    return names if len(paths) <= _SHOWN else f"{names} and {len(paths) - _SHOWN} more"
