"""The verbs for taggers: a tag for each token of a sentence."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from linnaeus.cli import options as shared
from linnaeus.cli.tasks import digests, held
from linnaeus.cli.tasks.pages import (
    inspected_page,
    trained_tagger_page,
)
from linnaeus.cli.texts import is_text, names_data
from linnaeus.errors import DataError, UsageError

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.explain import Explanation
    from linnaeus.model.tagger import TagModel
    from linnaeus.types import State

BATCH = 1 << 16
"""Tokens tagged at a time."""


def train(data: str, path: str, options: dict[str, Any]) -> int:
    """Train a tagger, evaluate it on held-out sentences or test data, and write it."""
    began = time.perf_counter()
    sentences = read(data, options)
    recipe = build_recipe(options, sentences)
    test = None if options["other"] is None else read(options["other"], shared.test_options(options))
    scores = held.scores(recipe, sentences, options) if test is None else None
    model = held.fit(recipe, sentences, options)
    model.save(path, force=True)
    if test is not None:
        remark_unknown(model, test, options)
    tested = scores if test is None else model.test(test)
    how: dict[str, Any] = {"model": path, "seconds": time.perf_counter() - began}
    how["on"] = "held-out" if test is None else "test"
    screen = shared.stdout_screen(options)
    if options["as_json"]:
        told = {**how, how["on"].replace("-", "_"): None if tested is None else tested.to_json(), "facts": model.facts}
        screen.write(json.dumps(told, ensure_ascii=False) + "\n")
    else:
        screen.show(trained_tagger_page(model, tested, how, screen.glyphs))
    return 0


def test(state: State, data: str, options: dict[str, Any]) -> int:
    """Evaluate the tags of a model."""
    from linnaeus.cli.test import show, wanted

    gates, model, sentences = wanted(options, "tags"), _model(state), read(data, options)
    remark_unknown(model, sentences, options)
    return show(model.test(sentences), [], gates, options)


def remark_unknown(model: TagModel, sentences: Sentences, options: dict[str, Any]) -> None:
    """Report the tags of the test data that the model does not know."""
    from linnaeus.tasks.classify.unknown_labels import UnknownLabels

    unknown = UnknownLabels(model.tags)
    unknown.add(sentences.tags)
    if said := unknown.sentence(unknown.count, sentences.count, "tokens have tags"):
        shared.remark(said, options)


def predict(state: State, data: str, options: dict[str, Any]) -> int:
    """The tags of every sentence: JSON lines with `tokens` and `tags`, or a file."""
    return write_tags(_model(state).tagged, data, options)


def write_tags(tagged: Callable[[Sentences], pa.Array], data: str, options: dict[str, Any]) -> int:
    """The sentences of data with their tags, to the screen or a file."""
    from linnaeus.cli.writers import open_writer

    if is_text(data):
        raise UsageError("For a tagger, `predict` takes data; use `linnaeus tag MODEL TEXT` for one text.")
    if Path(options["output"] or "").suffix in (".csv", ".tsv"):
        raise UsageError("Tags are lists, which CSV cannot hold; write .jsonl or .parquet, or use `linnaeus tag`.")
    with open_writer(options["output"], sys.stdout) as write:
        for sentences in stream(data, options):
            for some in sentences.batches(BATCH):
                write(_answers(some, tagged(some)))
    return 0


def _answers(sentences: Sentences, said: pa.Array) -> pa.RecordBatch:
    tags = sentences.lists(said)
    kind = pa.list_(pa.string())
    return pa.RecordBatch.from_pydict(
        {"tokens": pa.array(sentences.lists(), kind), "tags": pa.array(tags, kind)},
    )


def explain(state: State, source: str | None, options: dict[str, Any]) -> int:
    """Explain the tag of each token of a sentence."""
    return show_reasons(_model(state).explain, source, options)


def show_reasons(told_of: Callable[[Sentences, int], Explanation], source: str | None, options: dict[str, Any]) -> int:
    """The reasons for every token of a sentence, or of the first ones of a file."""
    if source is None:
        raise UsageError("To explain a tagger, give a sentence as TEXT, or a file of sentences.")
    from linnaeus.cli.explain import show

    for sentence in _sentences(source, options):
        for i in range(sentence.count):
            show(told_of(sentence, i), options)
    return 0


def _sentences(source: str, options: dict[str, Any]) -> Iterator[Sentences]:
    if not names_data(source):
        from linnaeus.data.sentences import Sentences
        from linnaeus.text import sentences

        yield from (Sentences.from_lists([[token.text for token in sentence]]) for sentence in sentences(source))
        return
    some = next(stream(source, options)).slice(0, options["rows"])
    if not len(some):
        raise DataError("There are no sentences to explain.")
    yield from (some.slice(i, i + 1) for i in range(len(some)))


def inspect(state: State, path: str, options: dict[str, Any]) -> int:
    """The contents of a tagger's file."""
    model = _model(state)
    screen = shared.stdout_screen(options)
    if options["as_recipe"]:
        from linnaeus.recipes import codec
        from linnaeus.recipes.toml import to_toml

        screen.write(to_toml(codec.spoken(model.recipe.to_json())))
        return 0
    told: dict[str, Any] = {
        "model": path,
        "kind": "tagger",
        "bytes": Path(path).stat().st_size,
        "digests": digests(state),
        "keeps_texts": False,
        "tags": [str(tag) for tag in model.tags],
        "features": model.features.width,
        "recipe": model.recipe.to_json(),
        "facts": model.facts,
    }
    if options["as_json"]:
        screen.write(json.dumps(told, ensure_ascii=False) + "\n")
    else:
        screen.show(inspected_page(told))
    return 0


def build_recipe(options: dict[str, Any], sentences: Sentences) -> Any:
    """The tagger's recipe that the options name, or that fits the tags, with their changes."""
    from linnaeus.cli.train import assignments
    from linnaeus.recipes.tag_recipe import TagRecipe
    from linnaeus.recipes.tagging import TAGGERS, tag_recipe
    from linnaeus.recipes.toml import read_table

    name = options["name"] or ("entities" if _marks(sentences) else "pos")
    named = name in TAGGERS or not Path(name).exists()
    found = tag_recipe(name) if named else TagRecipe.from_json(read_table(name))
    changes = assignments(options["changes"])
    if options["seed"] is not None:
        changes["seed"] = options["seed"]
    return found.changed(changes)


def _marks(sentences: Sentences) -> bool:
    """Whether the tags mark spans, as B-PER and O do."""
    from linnaeus.data.tag_encodings import is_encoded

    if sentences.tags is None:
        raise DataError("There are no tags to learn from; name their column with --label.")
    return is_encoded([str(tag) for tag in sentences.tags.unique().to_pylist() if tag is not None])


def read(data: str, options: dict[str, Any]) -> Sentences:
    """The tagged sentences that an argument names."""
    from linnaeus.data.sentences import join

    return join(list(stream(data, options, options["label"])))


def stream(data: str, options: dict[str, Any], tags: str | None = "") -> Iterator[Sentences]:
    """Sentences in pieces; without their tags where nobody asks for them."""
    from linnaeus.data.sentence_reading import stream_sentences

    return stream_sentences(data, tokens=options["text"], tags=tags, **shared.file_options(options))


def _model(state: State) -> TagModel:
    from linnaeus.model.tagger_file import tagger_of

    return tagger_of(state)


def tags_of(state: State) -> Any:
    """A function from lists of tokens to lists of tags, for `linnaeus tag`."""
    return _model(state).tag
