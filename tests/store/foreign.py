"""The beginnings of files that are no model files, as they end up under the name of one."""

from __future__ import annotations

import gzip
import io
import json
import zipfile

import numpy as np


def _archive() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("archive/data.pkl", _PICKLE)
    return out.getvalue()


def _array() -> bytes:
    out = io.BytesIO()
    np.save(out, np.arange(5))
    return out.getvalue()


def _safetensors(head: dict[str, object], data: bytes = bytes(8)) -> bytes:
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data


_PICKLE = b"\x80\x04cposix\nsystem\n(X\x04\x00\x00\x00truetR."
_TENSOR = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}

FOREIGN = {
    "a pickle": _PICKLE,
    "a zip archive": _archive(),
    "a gzip file": gzip.compress(b"{" * 999, mtime=0),
    "a NumPy array": _array(),
    "a program": b"\x7fELF\x02\x01\x01" + bytes(99),
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(99),
    "a web page": b"<!DOCTYPE html><html><body>404 Not Found</body></html>",
    "a pointer of git": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n",
    "a table": b"text,label\ngood film,pos\nbad film,neg\n",
    "a Parquet file": b"PAR1" + bytes(64) + b"PAR1",
    "zeros": bytes(4096),
    "ones": b"\xff" * 4096,
    "brackets": b"{" * 4096,
    "a script": b"#!/bin/sh\ntouch harm\n",
    "tensors without metadata": _safetensors({"w": _TENSOR}),
    "tensors of another library": _safetensors({"__metadata__": {"format": "pt"}, "w": _TENSOR}),
    "an empty file of tensors": _safetensors({}, b""),
}
