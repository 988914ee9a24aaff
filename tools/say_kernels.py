"""Say which kernels run, the compiled ones or their reference twins.

    python tools/say_kernels.py [--require]

With `--require` it is silent where the compiled ones run, and fails where the twins do: a compiler was found, and yet
the kernels did not build.
"""

from __future__ import annotations

import sys

from linnaeus import kernels

COMPILED = "Linnaeus runs on its compiled kernels."
TWINS = (
    "Linnaeus runs on the reference twins of its kernels, slower and with the same results: no C++20 compiler worked."
)
FAILED = (
    "A C++ compiler was found, but the kernels did not build. See why: LINNAEUS_REQUIRE_NATIVE=1 pip install -v . "
    "Or go on without them: make CXX=/nonexistent\n"
)


def main(arguments: list[str]) -> int:
    """Print one sentence; 1 when compiled kernels are required and absent."""
    if "--require" in arguments:
        print("" if kernels.NATIVE else FAILED, end="")
        return 0 if kernels.NATIVE else 1
    print(COMPILED if kernels.NATIVE else TWINS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
