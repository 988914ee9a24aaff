"""Models: from rows to scores, and back from gradients in the scores to gradients in the parameters.

`linear` is the model of every linear method. Parameters are a dict of named arrays.
"""

from linnaeus.models import linear

__all__ = ["linear"]
