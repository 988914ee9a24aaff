"""One file for what was learned: a manifest that is JSON and named arrays, in safetensors, never pickle.

`save(path, state)` replaces the file in one step, or leaves the old one as it was; `load(path)` gives back the same
bits or raises an error with the reason. Nothing in a file is ever run or imported.

file.py      `save` and `load`             states.py       strings, labels, nested pieces and checks of a `State`
header.py    the bytes of a file: layout, manifest, digests
blocks.py    digests of blocks of large files, checked when they are used
atomic.py    replacing a file in one step  compression.py  weights in fewer bytes, and which features to drop

The room knows arrays and JSON, not what they mean: `linnaeus.features.restore` builds fitted pieces from a `State`.
The format is described byte by byte in docs/model-file.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.store.file import load as load
    from linnaeus.store.file import save as save


__getattr__, __dir__ = room(__name__)
