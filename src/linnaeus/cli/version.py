"""One line to paste into an issue."""

from __future__ import annotations

import platform

from linnaeus import __version__


def version_line() -> str:
    """Version, Python, platform, and which kernels run."""
    from linnaeus import kernels

    which = "native kernels" if kernels.NATIVE else "reference twins instead of native kernels"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"linnaeus {__version__} ({python}, {platform.system()} {platform.machine()}, {which})"
