"""Examples with candidates as users give them."""

from __future__ import annotations

from typing import Any

from linnaeus.data.group_reading import read_groups
from linnaeus.data.groups import Groups


def as_groups(source: Any) -> Groups:
    """Groups as they are, or anything that `read_groups` reads."""
    return source if isinstance(source, Groups) else read_groups(source)
