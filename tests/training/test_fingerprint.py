"""The same rows make the same model, to the byte, however they are stored and cut into blocks."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import linnaeus
from linnaeus import Recipe, Stage
from linnaeus.features.base import Batches
from linnaeus.features.tokens import Templates, Window
from linnaeus.recipes.cookbook import recipe
from linnaeus.tasks.examples import as_examples
from linnaeus.training.fingerprint import fingerprint

WORD = Recipe(task="tag", features=Templates((Window(("word",)),)))


def rows(n: int) -> pa.Table:
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(500)] + ["größe", "日本", "naïve"])
    texts = [" ".join(words[i]) for i in rng.integers(0, len(words), (n, 8))]
    return pa.table({"text": texts, "label": rng.choice(["a", "b", "c"], n).tolist()})


def written(table: pa.Table, folder) -> list[str]:
    """The same rows in three formats, and in row groups of several sizes."""
    pa.csv.write_csv(table, folder / "rows.csv")
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")
    for size in (3, 1000):
        pq.write_table(table, folder / f"rows{size}.parquet", row_group_size=size)
    return sorted(str(path) for path in folder.iterdir())


def bytes_of(model, folder) -> bytes:
    path = folder / "model.lin"
    model.save(path)
    found = path.read_bytes()
    path.unlink()
    return found


def test_the_fingerprint_does_not_depend_on_blocks():
    data = linnaeus.read(rows(100))
    examples = as_examples(data)
    batch = next(iter(data.load().batches()))
    for size in (1, 7, 99):
        cut = Batches(tuple(batch.take(np.arange(i, min(i + size, 100))) for i in range(0, 100, size)))
        blocks = linnaeus.tasks.examples.Examples(cut, examples.labels, None, examples.weights)
        assert fingerprint(blocks) == fingerprint(examples)


def test_the_fingerprint_knows_where_a_text_ends():
    made = [as_examples(list(zip(texts, "xy", strict=True))) for texts in (["ab", "c"], ["a", "bc"], ["ab", "d"])]
    assert len(set(map(fingerprint, made))) == 3


@pytest.mark.parametrize("name", ["naive-bayes", "words"])
def test_formats_and_row_groups_make_the_same_model(tmp_path, name):
    files = written(rows(3000), tmp_path)
    models = [bytes_of(recipe(name).fit(path), tmp_path) for path in files]
    assert len(set(models)) == 1


@pytest.mark.slow
def test_two_hundred_thousand_rows_make_the_same_model_in_every_format(tmp_path):
    files = [path for path in written(rows(200_000), tmp_path) if not path.endswith("rows3.parquet")]
    models = [bytes_of(recipe("naive-bayes").fit(path), tmp_path) for path in files]
    assert len(set(models)) == 1


def test_taggers_rankers_and_pipelines_too(tmp_path):
    rng = np.random.default_rng(1)
    sentences = [[f"w{i}" for i in rng.integers(0, 40, 6)] for _ in range(60)]
    tags = [["A" if token < "w2" else "B" for token in tokens] for tokens in sentences]
    tagged = pa.table({"tokens": sentences, "tags": tags})
    ranked = pa.table(
        {
            "text": [" ".join(tokens) for tokens in sentences],
            "candidates": [[tokens[0], f"x{i}"] for i, tokens in enumerate(sentences)],
            "answer": [0] * 60,
        }
    )
    stack = recipe("words").changed({"before": (Stage("first", "words", folds=2),)})
    texts = rows(60)
    fits = {
        "tagged": (tagged, lambda path: WORD.fit(path)),
        "ranked": (ranked, lambda path: recipe("plain").fit(path)),
        "texts": (texts, lambda path: stack.fit(path, stages={"first": path})),
    }
    for name, (table, fit) in fits.items():
        folder = tmp_path / name
        folder.mkdir()
        lines = "".join(json.dumps(row) + "\n" for row in table.to_pylist())
        (folder / "rows.jsonl").write_text(lines, encoding="utf-8")
        for size in (3, 60):
            pq.write_table(table, folder / f"rows{size}.parquet", row_group_size=size)
        files = sorted(str(path) for path in folder.iterdir())
        assert len({bytes_of(fit(path), tmp_path) for path in files}) == 1, name
