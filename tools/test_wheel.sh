#!/usr/bin/env bash
# Build the source distribution and, from it, a wheel; test the wheel in a clean environment, outside the source tree.
#   PY      the Python of an environment with the `build` package
#   FOLDER  where the environment and the copy of the tests go
set -euo pipefail

rm -rf "$FOLDER" dist
mkdir -p "$FOLDER/tree"
LINNAEUS_REQUIRE_NATIVE=1 "$PY" -m build --outdir dist .
"$PY" tools/check_dist.py dist

"$PY" -m venv "$FOLDER/venv"
python="$PWD/$FOLDER/venv/bin/python"
"$python" -m pip --disable-pip-version-check install --quiet --upgrade "pip>=25.1"
"$python" -m pip --disable-pip-version-check install --quiet dist/*.whl --group test

# Only the tests and their settings travel: what they import can come from nowhere but the wheel.
cp -r tests pyproject.toml "$FOLDER/tree/"
cd "$FOLDER/tree"
../venv/bin/linnaeus --version
"$python" -m pytest -m "not slow" -p no:cacheprovider
