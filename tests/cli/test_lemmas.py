"""The verbs with lemmas: from a treebank to lemmas of its sentences, and of plain text by a pipeline."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from linnaeus.cli.main import group, main

ROWS = [
    [("The", "the", "DET"), ("parties", "party", "NOUN"), ("walked", "walk", "VERB")],
    [("Dogs", "dog", "NOUN"), ("are", "be", "AUX"), ("barking", "bark", "VERB")],
    [("Berries", "berry", "NOUN"), ("looked", "look", "VERB"), ("good", "good", "ADJ")],
] * 8

PIPELINE = """
recipe = "lemmas"

[[before]]
name = "upos"
recipe = "pos"
data = "trees.conllu"
truth = "upos"
"""


def run(*words):
    found = CliRunner().invoke(group, list(map(str, words)))
    assert found.exit_code == 0, found.output
    return found.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("lemmas")
    lines = [
        "".join(f"{i}\t{form}\t{lemma}\t{tag}\t_\t_\t_\t_\t_\t_\n" for i, (form, lemma, tag) in enumerate(row, 1))
        for row in ROWS
    ]
    (made / "trees.conllu").write_text("\n".join(lines) + "\n")
    (made / "pipeline.toml").write_text(PIPELINE)
    said = run("train", made / "trees.conllu", "--label", "lemma", "-o", made / "lemmas.lin")
    assert "with the recipe lemmas" in said
    run(
        "train", made / "trees.conllu", "--label", "lemma", "--recipe", made / "pipeline.toml", "-o", made / "texts.lin"
    )
    return made


def test_every_verb_takes_lemmas(folder):
    data, model = folder / "trees.conllu", folder / "lemmas.lin"
    assert json.loads(run("test", model, data, "--json"))["metrics"]["accuracy"] == 1.0
    first = json.loads(run("predict", model, data).splitlines()[0])
    assert first == {"tokens": ["The", "parties", "walked"], "tags": ["the", "party", "walk"]}
    top = json.loads(run("predict", model, data, "--top", "2").splitlines()[0])["top"]
    assert top[0]["tags"] == first["tags"] != top[1]["tags"]
    assert run("tag", model, data).startswith("The\tthe\nparties\tparty\n")
    assert "party" in run("explain", model, data)
    assert "lower $3+y" in run("inspect", model)


def test_a_pipeline_makes_lemmas_of_plain_text(folder):
    assert run("tag", folder / "texts.lin", "Dogs looked good") == "Dogs\tdog\nlooked\tlook\ngood\tgood\n\n"


def test_plain_text_lacks_the_tags_of_a_model_without_stages(folder, capsys):
    assert main(["tag", str(folder / "lemmas.lin"), "Dogs walked"]) == 3
    assert "no column 'upos'" in capsys.readouterr().err
