"""A folder per class: `folder/LABEL/*.txt`, one text per file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from linnaeus.data.foreign import named_otherwise, refuse_foreign
from linnaeus.data.formats.base import Chunk
from linnaeus.data.roles import FIXED
from linnaeus.data.streams import BLOCK, CODECS, LONGEST, File, read_whole, undecodable
from linnaeus.errors import DataError
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.ledger import Ledger
    from linnaeus.data.options import ReadOptions

_TOGETHER = 4096  # files in one chunk at most


@dataclass(frozen=True, slots=True)
class Folder:
    """The name of the first folder is the label, the path below the whole is kept in the column `path`."""

    options: ReadOptions
    loose: ClassVar[bool] = False

    def schema(self, file: File) -> pa.Schema:
        """The columns `text`, `label` and `path`."""
        if not text_files(file.path):
            raise DataError(
                f"{file.name}: holds no text; put texts into one folder per label, as {file.name}/LABEL/1.txt."
            )
        return pa.schema([("text", pa.string()), ("label", pa.string()), ("path", pa.string())], FIXED)

    def chunks(self, file: File, columns: Sequence[str], ledger: Ledger) -> Iterator[Chunk]:
        """The files in the order of their paths, some at a time."""
        texts: list[str] = []
        paths: list[str] = []
        held = done = first = 0
        for path in text_files(file.path):
            inner = File(path, f"{file.name}/{path.relative_to(file.path).as_posix()}")
            text = self._text(inner, ledger)
            done += inner.size
            if text is not None:
                texts.append(text)
                paths.append(path.relative_to(file.path).as_posix())
                held += len(text)
            if held > BLOCK or len(texts) == _TOGETHER:
                yield Chunk(_table(texts, paths, columns), range(first + 1, first + len(texts) + 1), done)
                first, held, texts, paths = first + len(texts), 0, [], []
        if texts:
            yield Chunk(_table(texts, paths, columns), range(first + 1, first + len(texts) + 1), done)

    def _text(self, file: File, ledger: Ledger) -> str | None:
        """The whole file, or None where its bytes are no text and such rows are skipped."""
        data, mark = read_whole(file, self.options, LONGEST)
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            if not ledger.skips:
                refuse_foreign(file)
                raise undecodable(file, "row 1", mark + error.start, self.options.encoding) from error
            ledger.reject(file.name, f"bytes that are not {self.options.encoding}", "")
            return None


def text_files(folder: Path) -> list[Path]:
    """The texts below the folders of a folder: `.txt` files, or where there are none, all but images and the like."""
    inner = [path for path in sorted(folder.iterdir()) if path.is_dir() and not path.name.startswith(".")]
    found = [path for label in inner for path in sorted(label.rglob("*")) if _is_visible(path, label)]
    named = [path for path in found if _is_named_text(path)]
    return named or [path for path in found if named_otherwise(path.suffix) is None]


def _is_visible(path: Path, below: Path) -> bool:
    return path.is_file() and not any(part.startswith(".") for part in path.relative_to(below).parts)


def _is_named_text(path: Path) -> bool:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return ".txt" in (suffixes[-2:-1] if suffixes and suffixes[-1] in CODECS else suffixes[-1:])


def _table(texts: list[str], paths: list[str], columns: Sequence[str]) -> pa.RecordBatch:
    made = {"text": texts, "label": [path.partition("/")[0] for path in paths], "path": paths}
    return pa.RecordBatch.from_arrays([pa.array(made[name], pa.string()) for name in columns], names=list(columns))
