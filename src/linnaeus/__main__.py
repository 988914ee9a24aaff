"""The command `linnaeus`, also as `python -m linnaeus`; an end while it loads has its exit code and sentence, too."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # `typing` takes longer to load than all that stands here
    from typing import NoReturn

LEAST = 300_000_000
"""Bytes of address space that the libraries take when they are loaded; some end the process where there is less."""


def program() -> NoReturn:
    """Load the command line and run it."""
    try:
        if short_of_memory():
            least = f"{LEAST // 1_000_000} MB"
            end(5, f"error: the limit on memory (ulimit -v) is too low; Linnaeus needs at least {least}.")
        from linnaeus.cli.main import program as run

        run()
    except KeyboardInterrupt:
        end(130, "interrupted")
    except MemoryError:
        end(5, "error: there is not enough memory to load Linnaeus.")


def short_of_memory() -> bool:
    """Whether this process may use less address space than loading takes."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # a system without such limits
        return False
    limit = getrlimit(RLIMIT_AS)[0]
    return limit != RLIM_INFINITY and limit < LEAST


def end(code: int, sentence: str) -> NoReturn:
    """End with a sentence and an exit code."""
    sys.stderr.write(f"linnaeus: {sentence}\n")
    sys.exit(code)


if __name__ == "__main__":
    program()
