"""The verbs for pipelines: the predictions of the last stage, after the stages before it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from linnaeus.cli import options as shared
from linnaeus.cli.tasks import digests
from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from linnaeus.data import Batch, Corpus
    from linnaeus.model.stack import StackModel
    from linnaeus.types import State


class Told:
    """A corpus whose batches have the further columns that earlier stages give them."""

    def __init__(self, corpus: Corpus, ready: Callable[[Batch], Batch]) -> None:
        self._corpus, self._ready = corpus, ready

    def __getattr__(self, name: str) -> Any:
        return getattr(self._corpus, name)

    def watch(self, watcher: Any) -> Told:
        """The same, watched."""
        return Told(self._corpus.watch(watcher), self._ready)

    def batches(self) -> Iterator[Batch]:
        """The batches in order."""
        return map(self._ready, self._corpus.batches())

    def batch(self) -> Batch:
        """All rows as one."""
        return self._ready(self._corpus.batch())


def train(data: str, path: str, options: dict[str, Any]) -> int:
    """Train all stages on their files, the last one on DATA, and write one model."""
    from linnaeus.cli.progress import Training, open_progress
    from linnaeus.cli.tasks.tag import read

    began, recipe = time.perf_counter(), _recipe(options)
    source: Any = read(data, options) if recipe.stages[-1].task == "tag" else shared.read_source(data, options)
    with open_progress(options["quiet"]) as progress:
        model = recipe.fit(source, Training(progress))
    model.save(path, force=True)
    screen = shared.stdout_screen(options)
    told = {"model": path, "seconds": time.perf_counter() - began, "facts": model.facts}
    if options["as_json"]:
        screen.write(json.dumps(told, ensure_ascii=False) + "\n")
    else:
        screen.show(_page(model, path))
    if options["other"] is not None:
        plain = {"least": (), "most": (), "columns": (), "abstain": None, "seed": options["seed"] or 0}
        return _test(model, options["other"], {**shared.test_options(options), **plain})
    return 0


def test(state: State, data: str, options: dict[str, Any]) -> int:
    """Evaluate the last stage."""
    return _test(_model(state), data, options)


def _test(model: StackModel, data: str, options: dict[str, Any]) -> int:
    if model.task == "tag":
        from linnaeus.cli.tasks.tag import read
        from linnaeus.cli.test import show, wanted

        gates, sentences = wanted(options, "tags"), read(data, options)
        scores = model.last.test(model.ready_sentences(sentences).with_tags(sentences.tags))
        return show(scores, [], gates, options)
    from linnaeus.cli.test import classifier

    return classifier(model.last, data, options, lambda corpus: Told(corpus, model.ready))


def predict(state: State, data: str, options: dict[str, Any]) -> int:
    """The predictions of the last stage."""
    model = _model(state)
    if model.task == "tag":
        from linnaeus.cli.tasks.tag import write_tags

        return write_tags(lambda sentences: model.last.tagged(model.ready_sentences(sentences)), data, options)
    from linnaeus.cli.predict import classifier

    return classifier(model.last, data, options, lambda corpus: Told(corpus, model.ready))


def explain(state: State, source: str | None, options: dict[str, Any]) -> int:
    """Explain the predictions of the last stage."""
    model = _model(state)
    if model.task == "tag":
        from linnaeus.cli.tasks.tag import show_reasons

        return show_reasons(model.explain, source, options)
    from linnaeus.cli.explain import classifier

    return classifier(model.last, source, options, lambda row: model.ready([row] if isinstance(row, str) else row))


def tags_of(state: State) -> Any:
    """A function from lists of tokens to lists of tags, for `linnaeus tag`."""
    model = _model(state)
    if model.task != "tag":
        raise UsageError("The last stage of this pipeline is not a tagger; use `linnaeus predict`.")
    return model.predict


def inspect(state: State, path: str, options: dict[str, Any]) -> int:
    """The stages of a pipeline."""
    model = _model(state)
    screen = shared.stdout_screen(options)
    if options["as_recipe"] or options["as_json"]:
        told: dict[str, Any] = model.recipe.to_json()
        if options["as_json"]:
            size = Path(path).stat().st_size
            told = {"model": path, "kind": "stack", "bytes": size, "recipe": told, "facts": model.facts}
            told["digests"] = digests(state)
        screen.write(json.dumps(told, ensure_ascii=False) + "\n")
        return 0
    screen.show(_page(model, path, f"; digests: {digests(state)}"))
    return 0


def _page(model: StackModel, path: str, checked: str = "") -> Any:
    from linnaeus.render import Page, clean, counted, indent, line, size, table, title

    facts = model.facts.get("stages", {})
    rows = []
    for stage in model.recipe.stages:
        seen = facts.get(stage.name, {})
        others = f", {counted(seen['folds'], 'model')} without a part of them" if seen.get("folds") else ""
        rows.append((stage.name, stage.task, f"{counted(int(seen.get('rows', 0)), 'row')}{others}"))
    page = title(clean(path)) + indent(table(["stage", "task", "trained on"], rows, "<<<"))
    return page + Page((line(), line(f"{size(Path(path).stat().st_size)} on disk{checked}"), line()))


def _recipe(options: dict[str, Any]) -> Any:
    from linnaeus.recipes.stack_recipe import StackRecipe

    return StackRecipe.read(options["name"])


def _model(state: State) -> StackModel:
    from linnaeus.model.stack_file import stack_of

    return stack_of(state)
