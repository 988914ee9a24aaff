"""A file as a stream of UTF-8 bytes: decompressed within bounds, transcoded, without its byte-order mark."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

import pyarrow as pa

from linnaeus.data.options import ReadOptions
from linnaeus.errors import DataError, MachineError, said
from linnaeus.frozen import dataclass

BLOCK = 4 << 20  # bytes read at once
LONGEST = 64 << 20  # bytes of the longest row
_RATIO, _FLOOR = 100, 16 << 20  # a bomb grows beyond 100-fold, and what stays under 16 MB is harmless
_MEASURED = 1 << 20  # bytes of a compressed file up to which it is measured before it is read

CODECS = {".gz": ("gzip", b"\x1f\x8b"), ".bz2": ("bz2", b"BZh"), ".zst": ("zstd", b"\x28\xb5\x2f\xfd")}
_WIDE_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True, slots=True)
class File:
    """A file, or a folder of classes, and the name that messages use."""

    path: Path
    name: str

    @property
    def size(self) -> int:
        """The size on disk in bytes; 0 for a file that is gone, which opening it will report."""
        try:
            if self.path.is_dir():
                return sum(path.stat().st_size for path in self.path.rglob("*") if path.is_file())
            return self.path.stat().st_size
        except OSError:
            return 0


def growth_limit(size: int, options: ReadOptions) -> int:
    """The largest size that `size` bytes of a file may unpack to."""
    return options.max_bytes or max(_FLOOR, _RATIO * size)


def refuse_growth(file: File, size: int, total: int, options: ReadOptions) -> None:
    """Refuse a file if `size` bytes of it have unpacked to more than the limit."""
    limit = growth_limit(size, options)
    if total > limit:
        raise DataError(
            f"{file.name}: unpacks to more than {limit:,} bytes from {size:,}, which looks like a decompression bomb; "
            "if it is not, say with max_bytes= how large it may become."
        )


def open_raw(file: File) -> pa.NativeFile:
    """The bytes on disk; what the system refuses becomes one sentence."""
    try:
        return pa.OSFile(str(file.path), "rb")
    except FileNotFoundError as error:
        raise DataError(f"{file.name}: there is no such file; check the name and the folder.") from error
    except OSError as error:
        why = "no permission to read it" if isinstance(error, PermissionError) else str(error)
        raise MachineError(f"{file.name}: {why}; check its mode and owner.") from error


def read_whole(file: File, options: ReadOptions, most: int) -> tuple[bytes, int]:
    """The bytes of a small file, and those of the mark that was dropped; one of more than `most` bytes is refused."""
    parts, size = [], 0
    with ByteStream(file, options) as stream:
        while data := stream.read(BLOCK):
            parts.append(data)
            size += len(data)
            if size > most:
                raise DataError(f"{file.name}: the text is longer than {most >> 20} MB; cut it.")
        return b"".join(parts), stream.mark


class ByteStream:
    """The text of a file as UTF-8 bytes, read once from front to back.

    Every reader of text goes through here. A compressed file that grows beyond the limit is refused: a small one before
    its first byte is handed on, a large one as soon as it does.
    """

    def __init__(self, file: File, options: ReadOptions) -> None:
        self._file, self._options = file, options
        self._codec: str | None = None
        self._recode = None if options.encoding == "utf-8" else _Recoder(file, options)
        self._read = 0
        self.mark = 0  # bytes of the mark that was dropped
        self._rest = b""
        self._inner = self._raw = open_raw(file)
        try:
            self._codec = _codec(file, self._raw)
            if self._codec:
                self._inner = self._unpacked()
            self._rest = self._without_mark(self.read(BLOCK))
        except BaseException:
            self.close()
            raise

    @property
    def done(self) -> int:
        """Bytes of the file on disk that were read."""
        return int(self._raw.tell())

    def __enter__(self) -> ByteStream:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._inner.close()
        self._raw.close()

    def read(self, size: int = -1) -> bytes:
        """At least one byte and about `size`, or none at the end."""
        if self._rest:
            data, self._rest = self._rest, b""
            if 0 <= size < len(data):
                data, self._rest = data[:size], data[size:]
            return data
        data = self._plain(BLOCK if size < 0 else size)
        if self._recode is None:
            return data
        text = self._recode(data)
        while data and not text:  # half a character: there is more
            data = self._plain(BLOCK)
            text = self._recode(data)
        if 0 <= size < len(text):
            text, self._rest = text[:size], text[size:]
        return text

    def _unpacked(self) -> pa.NativeFile:
        """The stream behind the compression."""
        if self._file.size <= _MEASURED:  # a bomb takes little time to unpack, and much to turn into rows
            self._inner = pa.CompressedInputStream(self._raw, self._codec)
            while self._plain(BLOCK):
                pass
            self._inner.close()  # and the file with it
            self._raw, self._read = open_raw(self._file), 0
        return pa.CompressedInputStream(self._raw, self._codec)

    def unread(self, data: bytes) -> None:
        """Give bytes back, to be read next."""
        self._rest = data + self._rest

    def _plain(self, size: int) -> bytes:
        try:
            data: bytes = self._inner.read(size)
        except OSError as error:
            raise DataError(
                f"{self._file.name}: the {self._codec or 'file'} data is cut short or damaged ({said(error)}); "
                "download it again."
            ) from error
        self._read += len(data)
        if self._codec:
            refuse_growth(self._file, self.done, self._read, self._options)
        return data

    def _without_mark(self, data: bytes) -> bytes:
        if data.startswith(codecs.BOM_UTF8):
            self.mark = len(codecs.BOM_UTF8)
            return data[self.mark :]
        for mark, encoding in _WIDE_MARKS.items():
            if data.startswith(mark):
                raise DataError(f"{self._file.name}: begins with the mark of {encoding}; give encoding='{encoding}'.")
        return data


class _Recoder:
    """Bytes of another encoding to UTF-8. To skip bad rows, undecodable bytes become one that no UTF-8 has."""

    def __init__(self, file: File, options: ReadOptions) -> None:
        self._file, self._encoding = file, options.encoding
        errors = "surrogateescape" if options.bad_rows == "skip" else "strict"
        self._decoder = codecs.getincrementaldecoder(options.encoding)(errors)
        self._bytes, self._lines = 0, 1

    def __call__(self, data: bytes) -> bytes:
        pending = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(data, not data)
        except UnicodeDecodeError as error:
            line = self._lines + error.object[: error.start].decode(self._encoding, "replace").count("\n")
            raise undecodable(
                self._file, f"line {line}", self._bytes - pending + error.start, self._encoding
            ) from error
        except UnicodeError as error:
            raise DataError(
                f"{self._file.name}: cannot be read as {self._encoding} ({said(error)}); give another."
            ) from error
        self._bytes += len(data)
        self._lines += text.count("\n")
        return _ESCAPED.sub("\udcff", text).encode("utf-8", "surrogateescape")


_ESCAPED = re.compile("[\udc80-\udcff]")


def is_utf8(data: bytes) -> bool:
    """Whether these bytes are text."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def undecodable(file: File, where: str, byte: int | None, encoding: str) -> DataError:
    """The error for bytes that are no text."""
    place = "" if byte is None else f", byte {byte}"
    hint = (
        "encoding='latin-1' or whichever it was written in" if encoding == "utf-8" else "the encoding it was written in"
    )
    return DataError(
        f"{file.name}, {where}{place}: the bytes are not {encoding}; give {hint}, or leave such rows out with "
        "bad_rows='skip'."
    )


def first_undecodable(file: File, options: ReadOptions) -> int | None:
    """Where the first byte lies that is not UTF-8, counted from 0 in the unpacked file."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with ByteStream(file, options) as stream:
        passed = stream.mark
        while True:
            data = stream.read(BLOCK)
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(data, not data)
            except UnicodeDecodeError as error:
                return passed - pending + error.start
            if not data:
                return None
            passed += len(data)


def _codec(file: File, raw: pa.NativeFile) -> str | None:
    """How the file is compressed: by its name, or by its first bytes where these can be no text."""
    head: bytes = raw.read(4)
    raw.seek(0)
    named = CODECS.get(file.path.suffix.lower())
    if named and head and not head.startswith(named[1]):
        raise DataError(f"{file.name}: is named as {named[0]} but is not; it is damaged, or not compressed: rename it.")
    if named:
        return named[0] if head else None
    return next((name for name, magic in CODECS.values() if head.startswith(magic) and not magic.isalnum()), None)
