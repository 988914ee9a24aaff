"""Notices files that a run of the tests leaves in the source tree.

    python tools/check_tree.py remember FILE     before the run
    python tools/check_tree.py compare FILE      after it

Files that git ignores do not count. Outside a git checkout there is nothing to compare.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def changes(folder: Path) -> list[str] | None:
    """What git says about changed and new files; None outside a checkout."""
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.splitlines() if done.returncode == 0 else None


def main(arguments: list[str], folder: Path) -> int:
    """Remember the state of the tree, or compare it with the one that was remembered."""
    what, path = arguments[0], Path(arguments[1])
    found = changes(folder)
    if found is None:
        print("Not a git checkout: files that the tests left behind are not looked for.")
        return 0
    if what == "remember":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(found), encoding="utf-8")
        return 0
    before = path.read_text(encoding="utf-8").splitlines()
    left = [line for line in found if line not in before]
    for line in left:
        print(f"The tests left this in the source tree: {line}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path.cwd()))
