"""Walks through the house: which modules a verb visits, and what the tasks have in common.

    python tools/walk.py [--list] [--json]

Each walk is one verb of the command line on a small file made here, in a process of its own: training a classifier with
`default`, a tagger and a ranker, and predicting with each. A module is *visited* when a function that is written in it
runs; functions that run while a module is imported do not count. *Changes* are calls from one module to another, *both
ways* pairs of modules that call each other.

A task *shares* the modules that the same verb visits for the classifier as well. The share is given of all modules, of
those outside the task's own folder, and of those outside its own pieces too: the learners, features, spaces and readers
that only its examples need. `--list` names the modules that are not shared.

Runs with any version that is installed: the python that runs this decides.
"""

from __future__ import annotations

import argparse
import inspect
import json
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import NamedTuple

PACKAGE = "linnaeus"

WALKS = {
    "train a classifier": ["train", "texts.jsonl", "--recipe", "default"],
    "train a tagger": ["train", "tokens.jsonl"],
    "train a ranker": ["train", "candidates.jsonl"],
    "predict classes": ["predict", "classes.lin", "texts.jsonl"],
    "predict tags": ["predict", "tags.lin", "tokens.jsonl"],
    "predict candidates": ["predict", "choices.lin", "candidates.jsonl"],
}
"""The verbs, with their arguments."""

MODELS = {"classes.lin": "train a classifier", "tags.lin": "train a tagger", "choices.lin": "train a ranker"}
"""The models that predictions need, and the walk that trains each."""

COMPARED = {
    "train a tagger": ("train a classifier", "tag"),
    "train a ranker": ("train a classifier", "rank"),
    "predict tags": ("predict classes", "tag"),
    "predict candidates": ("predict classes", "rank"),
}
"""Walks, the classifier's walk beside each, and the task."""

OWN = {
    "tag": ("tasks.tag", "cli.tag", "cli.tasks", "pipeline.tagging"),
    "rank": ("tasks.rank", "cli.tasks", "pipeline.ranking"),
}
"""The folders of the tasks, in this version and before."""

PIECES = {
    "tag": (
        *("learners.chain", "features.tokens", "outputs.sequence", "recipes.tagging", "evaluation.tagging"),
        *("data.sentences", "data.sentence_reading", "data.tag_encodings", "data.tagged", "data.encodings"),
    ),
    "rank": (
        *("features.pairs", "outputs.candidates", "recipes.ranking", "evaluation.ranking"),
        *("data.groups", "data.group_reading", "data.grouping"),
    ),
}
"""What only the examples of a task need, in the rooms of its kind."""


class Walk(NamedTuple):
    """The modules that a verb visited, and how often one called each other one."""

    modules: set[str]
    calls: Counter[tuple[str, str]]

    @property
    def both_ways(self) -> int:
        """Pairs of modules that call each other."""
        return sum((there, here) in self.calls for here, there in self.calls) // 2


class Tracer:
    """Notes the module of every function that starts."""

    def __init__(self) -> None:
        self.walk, self._here = Walk(set(), Counter()), threading.local()

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        """Called by the interpreter at every start and end of a function."""
        name = str(frame.f_globals.get("__name__", ""))
        if event not in ("call", "return") or not _ours(name) or frame.f_code.co_filename.startswith("<"):
            return
        if not frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a module or the body of a class
            self._here.importing = self._importing + (1 if event == "call" else -1)
        elif event == "call" and not self._importing:
            self.walk.modules.add(name)
            caller = _caller(frame)
            if caller is not None and caller != name:
                self.walk.calls[caller, name] += 1

    @property
    def _importing(self) -> int:
        return int(vars(self._here).get("importing", 0))


def _ours(name: str) -> bool:
    return name == PACKAGE or name.startswith(PACKAGE + ".")


def _caller(frame: FrameType) -> str | None:
    """The module of the nearest function of the package that is waiting for this one."""
    above = frame.f_back
    while above is not None:
        name = str(above.f_globals.get("__name__", ""))
        if _ours(name):
            return name
        above = above.f_back
    return None


def trace(arguments: list[str]) -> Walk:
    """Run a verb in this process."""
    from linnaeus.cli.main import main

    tracer = Tracer()
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        code = main(arguments)
    finally:
        sys.setprofile(None)
    if code:
        raise SystemExit(code)
    return tracer.walk


def write_data(folder: Path) -> None:
    """Three small files of one format: texts with labels, tokens with tags, texts with candidates."""
    fruits, tools = ("apple", "pear", "plum", "fig"), ("hammer", "saw", "drill", "axe")
    colors, verbs = ("red", "green", "old", "small"), ("falls", "lies", "shines")
    pairs = [(color, thing, verb) for color in colors for thing in fruits + tools for verb in verbs]
    texts = [{"text": f"the {c} {t} {v}", "label": "fruit" if t in fruits else "tool"} for c, t, v in pairs]
    tagged = [{"tokens": ["the", *pair], "tags": ["DET", "ADJ", "NOUN", "VERB"]} for pair in pairs]
    asked = [
        {"text": f"the {c} {t} {v}", "candidates": [f"{t} {n}" for n in "abc"], "answer": i % 3}
        for i, (c, t, v) in enumerate(pairs)
    ]
    for name, rows in (("texts", texts), ("tokens", tagged), ("candidates", asked)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def walk(name: str, folder: Path) -> Walk:
    """One walk, in a process of its own."""
    output = ["-o", "trained.lin"] if WALKS[name][0] == "train" else []
    command = [sys.executable, __file__, "--one", *WALKS[name], *output, "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr}")
    (folder / "trained.lin").unlink(missing_ok=True)
    found = json.loads(done.stderr.splitlines()[-1])
    return Walk(set(found["modules"]), Counter({(a, b): count for a, b, count in found["calls"]}))


def walk_all() -> dict[str, Walk]:
    """Every walk by name."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_data(folder)
        for model, training in MODELS.items():
            command = [sys.executable, "-m", PACKAGE, *WALKS[training], "-o", model, "--quiet"]
            subprocess.run(command, capture_output=True, check=True, cwd=folder)
        return {name: walk(name, folder) for name in WALKS}


def outside(modules: set[str], parts: tuple[str, ...]) -> set[str]:
    """The modules that are in none of these folders or modules."""
    homes = [f"{PACKAGE}.{part}" for part in parts]
    return {name for name in modules if not any(name == home or name.startswith(home + ".") for home in homes)}


def rows(walks: dict[str, Walk]) -> list[dict[str, object]]:
    """The figures of each walk."""
    found = []
    for name, (modules, calls) in walks.items():
        row: dict[str, object] = {"walk": name, "modules": len(modules), "changes": calls.total()}
        row["both ways"] = walks[name].both_ways
        if name in COMPARED:
            beside, task = COMPARED[name]
            parts = {"": (), " outside its folder": OWN[task], " outside its pieces": OWN[task] + PIECES[task]}
            for where, own in parts.items():
                rest = outside(modules, own)
                shared = len(rest & walks[beside].modules)
                row[f"shared{where}"] = f"{shared} of {len(rest)}, {shared / len(rest):.1%}"
        found.append(row)
    return found


def main(arguments: list[str]) -> int:
    """Print the figures of all walks."""
    if arguments[:1] == ["--one"]:
        seen = trace(arguments[1:])
        found = {"modules": sorted(seen.modules), "calls": [[*pair, count] for pair, count in seen.calls.items()]}
        print(json.dumps(found), file=sys.stderr)
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="the modules that are not shared")
    parser.add_argument("--json", action="store_true", help="one JSON object per walk")
    options = parser.parse_args(arguments)
    walks = walk_all()
    for row in rows(walks):
        said = ", ".join(f"{key} {value}" for key, value in row.items() if key != "walk")
        print(json.dumps(row) if options.json else f"{row['walk']}: {said}")
    if options.list:
        for name, (beside, task) in COMPARED.items():
            own = outside(walks[name].modules, OWN[task]) - walks[beside].modules
            print("\n".join([f"\n{name}, not visited by {beside!r}:", *sorted(own)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
