"""The verbs for rankers: the best of the candidates of each example."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from linnaeus.cli import options as shared
from linnaeus.cli.tasks import digests
from linnaeus.cli.texts import quoted
from linnaeus.errors import DataError, UsageError
from linnaeus.render import Page, clean, command, counted, duration, indent, line, percent, size, stack, table, title

if TYPE_CHECKING:
    from linnaeus.data.groups import Groups
    from linnaeus.evaluation import Evaluation
    from linnaeus.model.ranker import RankModel
    from linnaeus.render import Glyphs
    from linnaeus.types import State

GAP = Page((line(),))


def train(data: str, path: str, options: dict[str, Any]) -> int:
    """Train a ranker, evaluate it on held-out examples or test data, and write it."""
    from linnaeus.cli.progress import Training, open_progress

    began, recipe = time.perf_counter(), build_recipe(options)
    groups = read(data, options)
    test = None if options["other"] is None else read(options["other"], shared.test_options(options))
    with open_progress(options["quiet"]) as progress:
        model = recipe.fit(groups, Training(progress))
    model.save(path, force=True)
    tested = None if test is None else model.test(test)
    how = {"model": path, "seconds": time.perf_counter() - began}
    screen = shared.stdout_screen(options)
    if options["as_json"]:
        told = {**how, "test": None if tested is None else tested.to_json(), "facts": model.facts}
        screen.write(json.dumps(told, ensure_ascii=False) + "\n")
    else:
        screen.show(_trained(model, tested, how, screen.glyphs))
    return 0


def test(state: State, data: str, options: dict[str, Any]) -> int:
    """Evaluate how often the right candidate is chosen, and its rank."""
    from linnaeus.cli.test import show, wanted

    gates = wanted(options, "candidates")
    return show(_model(state).test(read(data, options)), [], gates, options)


def predict(state: State, data: str, options: dict[str, Any]) -> int:
    """The chosen candidate of each example, its index and its probability; with `--top K` the K best."""
    from linnaeus.cli.writers import open_writer

    model, unlabeled = _model(state), {**options, "label": ""}
    pieces = stream(data, unlabeled) if model.alone else [read(data, unlabeled)]
    with open_writer(options["output"], sys.stdout, ranks=options["top"]) as write:
        for groups in pieces:
            write(_answers(model, groups, options["top"]))
    return 0


def explain(state: State, source: str | None, options: dict[str, Any]) -> int:
    """Explain why the chosen candidate beats the second one."""
    from linnaeus.cli.explain import show

    if source is None:
        raise UsageError("To explain a ranker, give DATA: examples with their candidates.")
    model, groups = _model(state), read(source, {**options, "label": ""})
    if not len(groups):
        raise DataError("There are no examples to explain.")
    for row in range(min(options["rows"], len(groups))):
        show(model.explain(groups, row), options)
    return 0


def inspect(state: State, path: str, options: dict[str, Any]) -> int:
    """The contents of a ranker's file."""
    model = _model(state)
    screen = shared.stdout_screen(options)
    if options["as_recipe"]:
        screen.write(model.recipe.to_toml())
        return 0
    told: dict[str, Any] = {"model": path, "kind": "ranker", "bytes": Path(path).stat().st_size, "keeps_texts": False}
    told["digests"] = digests(state)
    told |= {"features": len(model.weights), "recipe": model.recipe.to_json(), "facts": model.facts}
    if options["as_json"]:
        screen.write(json.dumps(told, ensure_ascii=False) + "\n")
    else:
        cells = [
            ("texts", "none: the file contains no training examples"),
            *_facts(model),
            ("file", size(told["bytes"])),
            ("digests", told["digests"]),
        ]
        screen.show(title(clean(path)) + indent(table(["", ""], cells, "<<")) + GAP)
    return 0


def build_recipe(options: dict[str, Any]) -> Any:
    """The ranker's recipe that the options name, with their changes."""
    from linnaeus.cli.train import assignments
    from linnaeus.recipes.rank_recipe import RankRecipe
    from linnaeus.recipes.ranking import RANKERS, rank_recipe
    from linnaeus.recipes.toml import read_table

    name = options["name"] or "plain"
    named = name in RANKERS or not Path(name).exists()
    found = rank_recipe(name) if named else RankRecipe.from_json(read_table(name))
    changes = assignments(options["changes"])
    if options["seed"] is not None:
        changes["seed"] = options["seed"]
    return found.changed(changes)


def read(data: str, options: dict[str, Any]) -> Groups:
    """The examples that an argument names; `--text` and `--label` name the columns of the text and of the answer."""
    from linnaeus.data.groups import join

    return join(list(stream(data, options)))


def stream(data: str, options: dict[str, Any]) -> Iterator[Groups]:
    """The same in pieces."""
    from linnaeus.data.group_reading import GroupRoles, stream_groups

    given = {"text": options["text"], "answer": options["label"], "group": options["group"]}
    roles = GroupRoles(**{name: value for name, value in given.items() if value or name == "answer"})
    return stream_groups(data, roles, **shared.file_options(options))


def _answers(model: RankModel, groups: Groups, top: int) -> pa.RecordBatch:
    ranked = model.rank(groups)
    first = [row[0] if row else (None, None) for row in ranked]
    found: dict[str, Any] = {
        "choice": pa.array([name for name, _ in first], pa.string()),
        "place": pa.array([None if at < 0 else at for at in model.choose(groups).tolist()], pa.int64()),
        "probability": pa.array([p for _, p in first], pa.float64()),
    }
    if top:
        rows = [[{"choice": a, "probability": p} for a, p in row[:top]] for row in ranked]
        found["top"] = pa.array(rows, pa.list_(pa.struct([("choice", pa.string()), ("probability", pa.float64())])))
    return pa.RecordBatch.from_pydict(found)


def _trained(model: RankModel, tested: Evaluation | None, how: dict[str, Any], glyphs: Glyphs) -> Page:
    path = clean(how["model"])
    said = line(f"{duration(how['seconds'])}, {size(Path(how['model']).stat().st_size)} on disk")
    pages = [title(f"Trained {path}") + indent(table(["", ""], _facts(model), "<<")) + indent(Page((said,)))]
    if tested is not None:
        pages += [GAP, tested.page(glyphs, "test data")]
    word = quoted(path)
    commands = (f"linnaeus test {word} test.jsonl", f"linnaeus explain {word} new.jsonl", f"linnaeus inspect {word}")
    return stack([*pages, title("Next") + indent(Page(tuple(map(command, commands))))])


def _facts(model: RankModel) -> list[tuple[str, str]]:
    facts = model.facts
    rows = f"{counted(int(facts['examples']), 'example')}, {counted(int(facts['candidates']), 'candidate')}"
    cells = [("trained on", rows), ("features", f"{len(model.weights):,}"), ("strength", f"{facts['strength']:g}")]
    held = facts.get("held_out")
    names = {"accuracy": "held-out accuracy", "once": "on examples that occur once"}
    known = held if isinstance(held, dict) else {}
    return cells + [(said, percent(known[name])) for name, said in names.items() if isinstance(known.get(name), float)]


def _model(state: State) -> RankModel:
    from linnaeus.model.ranker_file import ranker_of

    return ranker_of(state)
