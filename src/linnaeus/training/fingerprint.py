"""The fingerprint of training data: whether two models were trained on the same examples."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from linnaeus.tasks import Classify

if TYPE_CHECKING:
    from linnaeus.tasks.base import AnyTask
    from linnaeus.tasks.examples import Examples


def fingerprint(examples: Examples, task: AnyTask | None = None) -> str:
    """SHA-256 over texts, truth and weights in their order; it does not depend on the blocks in which rows come."""
    digest = hashlib.sha256()
    for part in (task or Classify()).contents(examples):
        digest.update(part)
    return digest.hexdigest()
