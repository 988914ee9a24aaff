"""Models: the scores of rows, and the gradients of the parameters from the gradients of the scores.

`linear` is the model of every linear method. Parameters are a dict of named arrays.
"""

from __future__ import annotations

from linnaeus.lazy import room
from linnaeus.models import linear as linear

__getattr__, __dir__ = room(__name__)
