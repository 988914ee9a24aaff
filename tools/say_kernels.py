"""Say which kernels run, the compiled ones or their reference twins.

    python tools/say_kernels.py [--require]

With `--require` the exit code is 1 where the twins run: a compiler was found, and yet the kernels did not build.
"""

from __future__ import annotations

import sys

from linnaeus import kernels


def main(arguments: list[str]) -> int:
    """Print one sentence; 1 when compiled kernels are required and absent."""
    if kernels.NATIVE:
        print("Linnaeus runs on its compiled kernels.")
        return 0
    if "--require" not in arguments:
        print("Linnaeus runs on the reference twins of its kernels: no working C++20 compiler was found.")
        return 0
    print(
        "A C++ compiler was found, but the kernels did not build. See why: LINNAEUS_REQUIRE_NATIVE=1 pip install -v . "
        "Or go on without them: make CXX=/nonexistent"
    )
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
