"""Formats: how files of each kind become Arrow columns, in constant memory.

A format answers two questions (`base.Format`): which columns the file has, and its rows as chunks of raw columns.
Roles, labels and missing cells are not its business: `shape.py` sees to them, for all formats in the same way.

To add a format: one file with a frozen dataclass that takes `ReadOptions`, one row in `FORMATS`, its suffixes in
`SUFFIXES`, one test.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linnaeus.data.formats.base import Format as Format
from linnaeus.data.formats.base import Maker as Maker
from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.data.formats.base import Chunk as Chunk


def _at(module: str, name: str, **settings: Any) -> Maker:
    """The format of this module; it is imported when a file of it is read, so that programs start quickly."""

    def make(options: Any) -> Format:
        form: Format = getattr(import_module(f"linnaeus.data.formats.{module}"), name)(options, **settings)
        return form

    return make


FORMATS: dict[str, Maker] = {
    "csv": _at("delimited", "Delimited"),
    "tsv": _at("delimited", "Delimited", candidates="\t"),
    "jsonl": _at("jsonl", "JsonLines"),
    "parquet": _at("columnar", "Parquet"),
    "arrow": _at("columnar", "ArrowFile"),
    "fasttext": _at("plain", "FastText"),
    "lines": _at("plain", "Lines"),
    "libsvm": _at("libsvm", "LibSvm"),
    "folder": _at("folder", "Folder"),
    "conll": _at("conll", "Conll"),
    "conllu": _at("conll", "ConllU"),
}
"""How files of each format are read."""

SUFFIXES: dict[str, str] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".ft": "fasttext",
    ".fasttext": "fasttext",
    ".txt": "lines",
    ".svm": "libsvm",
    ".libsvm": "libsvm",
    ".svmlight": "libsvm",
    ".conll": "conll",
    ".iob": "conll",
    ".iob2": "conll",
    ".bio": "conll",
    ".conllu": "conllu",
}


__getattr__, __dir__ = room(__name__)
