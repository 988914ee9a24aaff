"""One file for what was learned: a manifest that is JSON and named arrays, in safetensors, never pickle.

`save(path, state)` replaces the file in one step, or leaves the old one as it was; `load(path)` gives back the same
bits or raises an error with the reason. Nothing in a file is ever run or imported.

layout.py    the bytes of a file           states.py    strings, nested pieces and checks of a `State`
manifest.py  envelope and digests          quantize.py  weights in fewer bytes
source.py    opening, reading, mapping     prune.py     which features a model can do without
blocks.py    digests of blocks of large files, checked when they are used
atomic.py    replacing a file in one step  tensors.py   `save` and `load`

The room knows arrays and JSON, not what they mean: `linnaeus.features.restore` builds fitted pieces from a `State`.
The format is described byte by byte in docs/model-file.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.store.tensors import load as load
    from linnaeus.store.tensors import save as save


__getattr__, __dir__ = room(__name__)
