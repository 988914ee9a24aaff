"""Formats: how files of each kind become Arrow columns, in constant memory.

A format answers two questions (`base.Format`): which columns the file has, and its rows as chunks of raw columns.
Roles, labels and missing cells are not its business: `shape.py` sees to them, for all formats in the same way.

To add a format: one file with a frozen dataclass that takes `ReadOptions`, one row in `FORMATS`, its suffixes in
`SUFFIXES`, one test.
"""

from __future__ import annotations

from functools import partial

from linnaeus.data.formats.base import Chunk, Format, Maker
from linnaeus.data.formats.columnar import ArrowFile, Parquet
from linnaeus.data.formats.delimited import Delimited
from linnaeus.data.formats.folder import Folder
from linnaeus.data.formats.jsonl import JsonLines
from linnaeus.data.formats.libsvm import LibSvm
from linnaeus.data.formats.plain import FastText, Lines

FORMATS: dict[str, Maker] = {
    "csv": Delimited,
    "tsv": partial(Delimited, candidates="\t"),
    "jsonl": JsonLines,
    "parquet": Parquet,
    "arrow": ArrowFile,
    "fasttext": FastText,
    "lines": Lines,
    "libsvm": LibSvm,
    "folder": Folder,
}

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
}

__all__ = ["FORMATS", "SUFFIXES", "Chunk", "Format", "Maker"]
