"""Models: the scores of rows, and the gradients of the parameters from the gradients of the scores.

`linear` is the model of every linear method. Parameters are a dict of named arrays.
"""

from linnaeus.models import linear

__all__ = ["linear"]
