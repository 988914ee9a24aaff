"""The only door to PyTorch: modules, their training, and encoders from local folders.

Nothing here is imported unless a recipe trains a network, or reads a folder with an encoder. Losses, output spaces and
tables of vectors are passed in. A trained network leaves as plain arrays (`learners.networks`), so that its predictions
need no PyTorch.

To add a module: a file here, and its NumPy form in `learners.networks`; a test compares the two.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from linnaeus.errors import MachineError

INSTALL = {"torch": "pip install 'linnaeus[neural]'", "transformers": "pip install 'linnaeus[transformers]'"}
"""How to install what an extra has."""


def library(name: str, why: str) -> ModuleType:
    """An optional library; where it is missing, one sentence says what needs it and how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MachineError(f"{why} needs {name}, which is not installed; run {INSTALL[name]}.") from error
