"""Reading and writing tables of word vectors, in Linnaeus' own file or in those of other programs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linnaeus import store
from linnaeus.arrays.word_table import SubwordRows, WordTable
from linnaeus.errors import MachineError, ModelFileError, UsageError, damaged, did_you_mean, expect
from linnaeus.features.word_vectors import text_formats
from linnaeus.features.word_vectors.static_models import is_static_model, read_static_model
from linnaeus.store.header import is_model
from linnaeus.store.states import field, pack_strings, unpack_strings
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.types import Json

KIND = "vectors"
MAX_WIDTH = text_formats.MAX_WIDTH


class VectorFormat(NamedTuple):
    """How a format is read and written, and the ends of names that mean it."""

    read: Callable[[Path, int | None], WordTable]
    write: Callable[[Path, WordTable], None]
    suffixes: tuple[str, ...]


def table_state(table: WordTable) -> State:
    """Manifest and tensors of a table."""
    manifest: dict[str, Json] = {"kind": KIND, "lowercase": table.lowercase}
    tensors = {**pack_strings("words", table.words), "vectors": np.ascontiguousarray(table.vectors)}
    grams = table.subwords
    if isinstance(grams, SubwordRows):
        manifest["subwords"] = {"low": grams.low, "high": grams.high, "count": grams.count}
        tensors |= {"buckets": grams.buckets, "subwords": np.ascontiguousarray(grams.vectors)}
    return State(manifest, tensors)


def table_of(state: State) -> WordTable:
    """The table again; parts that do not fit together are refused."""
    if state.manifest.get("kind") != KIND:
        kind = str(state.manifest.get("kind"))
        raise ModelFileError(f"The file holds {kind[:40]!r}, not word vectors; `linnaeus inspect` shows what it is.")
    words, vectors = unpack_strings("words", state.tensors), state.tensors.get("vectors")
    if vectors is None or vectors.dtype != np.float32 or vectors.ndim != 2 or not 1 <= vectors.shape[1] <= MAX_WIDTH:
        raise damaged("it lacks a table of vectors")
    if len(words) != len(vectors) or len(set(words)) != len(words):
        raise damaged("its words are not as many as its vectors, or not distinct")
    if not np.isfinite(vectors).all():
        raise damaged("a vector holds a number that is not finite")
    return WordTable(words, vectors, _subwords_of(state, vectors.shape[1]), field(state.manifest, "lowercase", bool))


def _subwords_of(state: State, width: int) -> SubwordRows | None:
    said = state.manifest.get("subwords")
    if said is None:
        return None
    if not isinstance(said, dict) or not all(type(said.get(name)) is int for name in ("low", "high", "count")):
        raise damaged("its subwords have no range of lengths")
    low, high, count = said["low"], said["high"], said["count"]
    buckets, vectors = state.tensors.get("buckets"), state.tensors.get("subwords")
    if buckets is None or vectors is None or buckets.dtype != np.int32 or vectors.dtype != np.float32:
        raise damaged("it lacks the rows of its subwords")
    if not (1 <= low <= high <= 64 and 1 <= count < 1 << 31) or vectors.shape != (len(buckets), width):
        raise damaged("the rows of its subwords do not fit its vectors")
    if len(buckets) and (buckets[0] < 0 or buckets[-1] >= count or (np.diff(buckets) <= 0).any()):
        raise damaged("the buckets of its subwords are not in order")
    if not np.isfinite(vectors).all():
        raise damaged("a row of its subwords holds a number that is not finite")
    return SubwordRows(low, high, count, buckets, vectors)


def _read_own(path: Path, most: int | None) -> WordTable:
    table = table_of(store.load(path))
    return (
        table if most is None else WordTable(table.words[:most], table.vectors[:most], table.subwords, table.lowercase)
    )


def _write_own(path: Path, table: WordTable) -> None:
    store.save(path, table_state(table))


VECTOR_FORMATS = {
    "linnaeus": VectorFormat(_read_own, _write_own, (".lin",)),
    "word2vec": VectorFormat(text_formats.read_word2vec, text_formats.write_word2vec, (".vec", ".w2v", ".word2vec")),
    "word2vec-binary": VectorFormat(text_formats.read_binary, text_formats.write_binary, (".bin",)),
    "glove": VectorFormat(text_formats.read_glove, text_formats.write_glove, (".glove", ".txt")),
}
"""Every format by name."""


def read_vectors(path: str | os.PathLike[str], format: str | None = None, most: int | None = None) -> WordTable:  # noqa: A002
    """Read a table of word vectors; the format is found from the file, unless it is named; `most` words are read.

    Formats are "linnaeus", "word2vec" (also fastText's .vec), "word2vec-binary" and "glove"; a folder with
    model.safetensors and tokenizer.json is a static model.

    >>> table = WordTable(["cat", "dog"], np.array([[1, 0.5], [0.25, 2]], np.float32))
    >>> write_vectors("pets.vec", table)
    >>> read_vectors("pets.vec").vectors.tolist()
    [[1.0, 0.5], [0.25, 2.0]]
    """
    expect("path", path, os.PathLike)
    if most is not None:
        expect("most", most, int, least=1)
    where = Path(path)
    if where.is_dir() and is_static_model(where):
        return read_static_model(where)
    if not where.is_file():
        raise MachineError(f"There is no file of word vectors {os.fspath(path)}; check the name and the folder.")
    return _format(format or guess_format(where)).read(where, most)


def write_vectors(
    path: str | os.PathLike[str],
    table: WordTable,
    format: str | None = None,  # noqa: A002 - its name
    force: bool = False,
) -> None:
    r"""Write a table in one step; the format is that of the name's ending, unless it is named.

    Only Linnaeus' own format holds the rows of subwords.

    >>> write_vectors("cat.txt", WordTable(["cat"], np.array([[1, 0.5]], np.float32)))
    >>> Path("cat.txt").read_text()
    'cat 1.0 0.5\n'
    """
    expect("path", path, os.PathLike)
    where = Path(path)
    if where.exists() and not force:
        raise UsageError(f"{os.fspath(path)} already exists; give another name, or overwrite it with force=True.")
    _format(format or _by_name(where) or "linnaeus").write(where, table)


def _format(name: str) -> VectorFormat:
    if name not in VECTOR_FORMATS:
        raise UsageError(f"There is no format of word vectors {name!r}; {did_you_mean(name, VECTOR_FORMATS)}")
    return VECTOR_FORMATS[name]


def _by_name(path: Path) -> str | None:
    suffixes = [suffix for suffix in path.suffixes if suffix != ".gz"]
    ending = suffixes[-1].lower() if suffixes else ""
    return next((name for name, form in VECTOR_FORMATS.items() if ending in form.suffixes), None)


def guess_format(path: Path) -> str:
    """The format of a file: that of its first bytes, and of its name where these allow several."""
    if is_model(str(path)):
        return "linnaeus"
    if _by_name(path) == "word2vec-binary":
        return "word2vec-binary"
    with text_formats.open_bytes(path) as file:
        head = text_formats.header_of(file.readline(text_formats.MAX_LINE_BYTES))
        if head is None:
            return "word2vec" if _by_name(path) == "word2vec" else "glove"
        second = file.readline(text_formats.MAX_LINE_BYTES).split()
    plain = len(second) > head[1] and all(map(text_formats.is_number, second[-head[1] :]))
    return "word2vec" if plain or b"\0" not in b"".join(second) else "word2vec-binary"
