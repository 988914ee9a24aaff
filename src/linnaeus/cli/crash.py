"""What to paste into an issue: a line about the version, and the traceback of a bug.

Tracebacks are kept in small files in the state directory, which are sent nowhere. Their last line is the message of the
error, which may quote a value of the data.
"""

from __future__ import annotations

import os
import platform
import tempfile
import traceback
from pathlib import Path

from linnaeus import __version__


def version_line() -> str:
    """Version, Python, platform, and which kernels run."""
    from linnaeus import kernels

    which = "native kernels" if kernels.NATIVE else "reference twins instead of native kernels"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"linnaeus {__version__} ({python}, {platform.system()} {platform.machine()}, {which})"


def save_traceback(error: BaseException) -> str:
    """Save the traceback and return a message with its place; failing to save is not an error."""
    lines = [version_line(), "\n\n", *traceback.format_exception(error)]
    for folder in (state_directory(), Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix="crash-", suffix=".txt", dir=folder, text=True)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.writelines(lines)
        except OSError:
            continue
        return f"The traceback is in {name}"
    return "Run it again with --debug to see the traceback."


def state_directory() -> Path:
    """LINNAEUS_HOME, else `linnaeus` in the directory where this system keeps the state of programs."""
    home = os.environ.get("LINNAEUS_HOME")
    if home:
        return Path(home)
    system = os.environ.get("XDG_STATE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(system) if system else Path.home() / ".local" / "state") / "linnaeus"
