#!/usr/bin/env bash
# Build the kernels with the address and undefined-behavior sanitizers and run the kernel tests on that build.
#   PY        the Python of the environment with the build and test tools
#   FOLDER    where the build goes
#   COMPILER  the C++ compiler; empty where there is none
set -euo pipefail

library() { "$COMPILER" -print-file-name="$1" 2>/dev/null || true; }

if [[ -z "${COMPILER:-}" ]]; then
  echo "Sanitizers: skipped, no C++ compiler was found."
  exit 0
fi
asan=$(library libasan.so)
if [[ ! -e "$asan" ]]; then
  echo "Sanitizers: skipped, $COMPILER has no shared libasan."
  exit 0
fi

# Built again when a source changed, came or went; the CMake folder is kept, so that only what changed is compiled.
changed() { find CMakeLists.txt pyproject.toml src -newer "$FOLDER/built" ! -name __pycache__ ! -name '*.pyc' -print -quit; }
if [[ ! -e "$FOLDER/built" || -n $(changed) ]]; then
  rm -rf "$FOLDER/site" "$FOLDER/built"
  mkdir -p "$FOLDER"
  touch "$FOLDER/started"
  LINNAEUS_REQUIRE_NATIVE=1 CXX="$COMPILER" "$PY" -m pip --disable-pip-version-check install --quiet --no-deps \
    --no-build-isolation --target "$FOLDER/site" . -C build-dir="$FOLDER/cmake" \
    -C cmake.define.LINNAEUS_SANITIZE=ON -C cmake.build-type=RelWithDebInfo
  mv "$FOLDER/started" "$FOLDER/built"
fi

# -S keeps the editable install out; the C++ library comes in early, so that the sanitizer sees exceptions thrown.
packages=$("$PY" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
export PYTHONPATH="$PWD/$FOLDER/site:$packages"
export LD_PRELOAD="$asan $(library libstdc++.so)"
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
"$PY" -S - "$PWD/$FOLDER/site" <<'PYTHON'
import sys
from linnaeus.kernels import _native
if not _native.__file__.startswith(sys.argv[1]):
    sys.exit(f"Sanitizers: {_native.__file__} was loaded instead of the build in {sys.argv[1]}.")
print("Sanitizers:", _native.__file__)
PYTHON
# The report goes past the capture of pytest, since the process ends with it.
"$PY" -S -m pytest tests/kernels -m "not slow" -p no:cacheprovider --capture=sys ${SANITIZE_ARGS:-}
