"""One file for what was learned: a manifest that is JSON and named arrays, in safetensors, never pickle.

`save(path, state)` replaces the file in one step, or leaves the old one as it was; `load(path)` gives back the same
bits or says in one sentence why not. Nothing in a file is ever run or imported.

The room knows arrays and JSON, not what they mean: `linnaeus.features.restore` builds fitted pieces from a `State`.
"""

from linnaeus.store.tensors import load, save

__all__ = ["load", "save"]
