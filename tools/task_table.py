"""Which option of which command works for which task, and the sentence of the refusal where it does not.

    python tools/task_table.py [--check]

Writes the tables into `docs/tasks.md`. `tests/cli/test_every_task.py` runs every cell on tiny data and compares.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tasks.md"
BEGIN, END = "<!-- made by tools/task_table.py -->\n", "<!-- end -->\n"


class Sample(NamedTuple):
    """Tiny data of a task: a file, what `train` is told of it, one text, and names that the options take."""

    data: str
    train: tuple[str, ...]
    text: str
    label: str
    kind: str = "one"
    least: str = "accuracy=0"
    most: str = "log-loss=99"
    removed: str = "film"


SAMPLES = {
    "classes": Sample("classes.jsonl", (), "a good film", "neg"),
    "label sets": Sample("sets.jsonl", (), "a good film", "film", "many", "micro-f1=0"),
    "numbers": Sample(
        "numbers.jsonl", ("--task", "regress"), "a good film", "the number", "numeric", "r2=-99", "rmse=99"
    ),
    "many labels": Sample(
        "many.jsonl", ("--recipe", "label-tree"), "a good film", "film1", "one", "precision-at-1=0", "precision-at-1=1"
    ),
    "tags": Sample("tags.jsonl", (), "Bob left Oslo.", "B-PER", "one", "accuracy=0", "accuracy=1"),
    "trees": Sample(
        "trees.jsonl",
        ("--label", "heads", "--set", "features.bits=12", "--set", "features.relation_bits=10"),
        *("Dogs see cats.", "nsubj", "one", "uas=0", "uas=1"),
    ),
    "candidates": Sample("candidates.jsonl", (), "the capital", "Rome (city)", "one", "accuracy=0", "accuracy=1"),
    "pipelines": Sample("classes.jsonl", ("--recipe", "pipeline.toml"), "a good film", "neg"),
    "matrices": Sample("matrix.libsvm", ("--set", "features=ready"), "a good film", "b"),
}
"""The tasks, in the order of the columns."""


class Row(NamedTuple):
    """A command with an option: what is run for each task, and why some tasks refuse it.

    `words` name parts of a `Sample` in braces, and `{model}`, `{kept}` (a model that keeps its texts) and `{new}` (a
    file that is not there).
    """

    shown: str
    words: str
    refused: dict[str, str] = {}  # noqa: RUF012


NO_CLASSES = {"numbers": "Abstaining needs classes; this model predicts numbers."}
NO_SETS = {"label sets": "For label sets, abstain can only be scope, because a label set may already be empty."}
RANKED = {
    "many labels": "A model of many labels abstains by its probabilities, confidence=0.8 or margin=0.2, or by "
    "risk=0.05, which with a taxonomy answers with a node above the label.",
    **dict.fromkeys(
        ("tags", "trees", "candidates"), "These answers can be abstained from by confidence=0.8 or margin=0.2 only."
    ),
}
NO_RISK = {
    **dict.fromkeys(
        ("classes", "pipelines", "matrices"), "abstain='risk' is for models of many labels; take confidence=0.8."
    ),
    **NO_SETS,
    **NO_CLASSES,
    **{task: said for task, said in RANKED.items() if task != "many labels"},
}
REMOVED = "Labels can be removed from a label tree only, not from "
NO_TEXT = {
    "candidates": "A ranker takes a file of examples with candidates, not a text such as 'the capital'.",
    "matrices": "Ready needs the features of a libsvm file, but the rows have none; use Words(...) for texts.",
}
NOT_FOUND = "There is no column 'source' to test by; "
TAGGERS_ONLY = dict.fromkeys(
    ("classes", "label sets", "numbers", "many labels", "candidates", "pipelines", "matrices"),
    "Answers of this model are not about tokens; use plain `linnaeus predict`.",
)
NO_ENTITIES = {
    "trees": "The tags of this model mark no entities; the recipe entities trains one whose tags do.",
}
KEPT = {
    **dict.fromkeys(
        ("tags", "trees", "candidates"), "{kept} is not a text classifier, so it has no training texts to search."
    ),
    "matrices": "The model keeps no texts to search; train it with keep='texts' (--set keep=texts).",
    "many labels": "A model of many labels keeps no texts to search.",
}
CHECKED = {
    "candidates": "{data} holds texts with lists of candidates; `check` reads texts: name their column with --text.",
}
CAN_UPDATE = "Models that count, linear models of texts, label trees and models of sentences can be updated"
ROWS = {
    "train": [
        Row("`DATA`", "{data} {train} -o {new}.lin"),
        Row("`--cv 3`", "{data} {train} -o {new}.lin --cv 3"),
        Row("`--test DATA`", "{data} {train} -o {new}.lin --test {data} --cv 2"),
        Row("`--set seed=1`", "{data} {train} -o {new}.lin --set seed=1 --cv 2"),
        Row("`--set tuning=none`", "{data} {train} -o {new}.lin --set tuning=none"),
        Row(
            "`--set keep=texts`",
            "{data} {train} -o {new}.lin --set keep=texts",
            {
                "many labels": "A model of many labels keeps no texts; leave out keep.",
                "tags": "A tagger keeps no texts; keep is for classifiers of texts.",
                "trees": "A parser keeps no texts; keep is for classifiers of texts.",
                "candidates": "A ranker keeps no texts; keep is for classifiers of texts.",
                "matrices": "keep='texts' needs a column of texts, and these data have none; keep nothing.",
            },
        ),
        Row(
            "`--set abstain=confidence`",
            "{data} {train} -o {new}.lin --set abstain=confidence --cv 3",
            {
                **NO_SETS,
                "numbers": "Abstaining needs classes; a regression predicts numbers.",
                "many labels": "A model of many labels has no decision to set; to abstain, ask for it in predict.",
                "tags": "A tagger has no decision to set; to abstain from unsure tags, ask for it in predict.",
                "trees": "A parser has no decision to set; to abstain from unsure arcs, ask for it in predict.",
                "candidates": "A ranker has no decision to set; to abstain from unsure choices, ask for it in predict.",
            },
        ),
        Row(
            "`--compact`",
            "{data} {train} -o {new}.lin --compact --cv 2",
            {
                "many labels": "Only models of the linear engine become compact, not those learned by LabelTree.",
                "tags": "Only classifiers and regressions of texts become compact, not taggers.",
                "trees": "Only classifiers and regressions of texts become compact, not parsers.",
                "candidates": "Only classifiers and regressions of texts become compact, not rankers.",
                "pipelines": "Pipelines do not become compact; only a model without earlier stages does.",
            },
        ),
        Row(
            "`--group COLUMN`",
            "{data} {train} -o {new}.lin --group source --cv 2",
            {
                "tags": "The data of taggers have no group to name; leave out --group.",
                "trees": "The data of parsers have no group to name; leave out --group.",
                "candidates": "--group is for one row per candidate; these rows have lists of candidates.",
                "matrices": "{data}: has no column 'source' for --group; its columns are 'features', 'label'.",
            },
        ),
        Row(
            "`--weight COLUMN`",
            "{data} {train} -o {new}.lin --weight weight --cv 2",
            {
                "tags": "The data of taggers have no weight to name; leave out --weight.",
                "trees": "The data of parsers have no weight to name; leave out --weight.",
                "matrices": "{data}: has no column 'weight' for --weight; its columns are 'features', 'label'.",
            },
        ),
        Row(
            "`--label-kind`",
            "{data} {train} -o {new}.lin --label-kind {kind} --cv 2",
            {
                "tags": "The data of taggers have no label kind to name; leave out --label-kind.",
                "trees": "The data of parsers have no label kind to name; leave out --label-kind.",
                "candidates": "The data of rankers have no label kind to name; leave out --label-kind.",
            },
        ),
        Row("`--checkpoint FILE`", "{data} {train} -o {new}.lin --checkpoint {new}.part --cv 2"),
        Row(
            "`--update MODEL`",
            "{data} --update {model} -o {new}.lin",
            {
                "candidates": f"{CAN_UPDATE}, but not rankers.",
                "pipelines": f"{CAN_UPDATE}, but not pipelines.",
            },
        ),
        Row(
            "`--update MODEL --remove LABEL`",
            "{data} --update {model} --remove {removed} -o {new}.lin",
            {
                **dict.fromkeys(("classes", "label sets", "pipelines", "matrices"), REMOVED + "classifiers of texts."),
                "numbers": REMOVED + "regressions of texts.",
                "tags": REMOVED + "taggers.",
                "trees": REMOVED + "parsers.",
                "candidates": REMOVED + "rankers.",
            },
        ),
        Row("`--seed 1`", "{data} {train} -o {new}.lin --seed 1 --cv 2"),
        Row("`--json`", "{data} {train} -o {new}.lin --json --cv 2"),
    ],
    "test": [
        Row("`DATA`", "{model} {data}"),
        Row("`--min METRIC=VALUE`", "{model} {data} --min {least}"),
        Row(
            "`--max METRIC=VALUE`",
            "{model} {data} --max {most}",
            {
                **dict.fromkeys(("tags", "candidates"), "For accuracy, higher is better; use --min accuracy=1."),
                "many labels": "For precision-at-1, higher is better; use --min precision-at-1=1.",
                "trees": "For uas, higher is better; use --min uas=1.",
            },
        ),
        Row(
            "`--by COLUMN`",
            "{model} {data} --by source",
            {
                **dict.fromkeys(("tags", "trees"), NOT_FOUND + "take one of length."),
                "matrices": NOT_FOUND + "there are none.",
            },
        ),
        Row(
            "`--by length`",
            "{model} {data} --by length",
            {"matrices": "There is no column 'length' to test by; there are none."},
        ),
        *(
            Row(f"`--abstain {rule}`", f"{{model}} {{data}} --abstain {rule}", {**NO_SETS, **NO_CLASSES})
            for rule in ("confidence=0.6", "margin=0.1")
        ),
        Row(
            "`--abstain coverage=0.8`",
            "{model} {data} --abstain coverage=0.8",
            {**NO_SETS, **NO_CLASSES, **RANKED},
        ),
        Row(
            "`--abstain scope=0.95`",
            "{model} {data} --abstain scope=0.95",
            {**NO_CLASSES, **RANKED},
        ),
        Row("`--abstain risk=0.2`", "{model} {data} --abstain risk=0.2", NO_RISK),
        Row("`--json`", "{model} {data} --json"),
    ],
    "predict": [
        Row("`DATA`", "{model} {data}"),
        Row("`TEXT`", "{model} {text}", NO_TEXT),
        Row(
            "`--top 2`",
            "{model} {data} --top 2",
            {"numbers": "The best answers need classes; this model predicts numbers."},
        ),
        *(
            Row(f"`--abstain {rule}`", f"{{model}} {{data}} --abstain {rule}", {**NO_SETS, **NO_CLASSES})
            for rule in ("confidence=0.6", "margin=0.1")
        ),
        Row(
            "`--abstain coverage=0.8`",
            "{model} {data} --abstain coverage=0.8",
            {**NO_SETS, **NO_CLASSES, **RANKED},
        ),
        Row(
            "`--abstain scope=0.95`",
            "{model} {data} --abstain scope=0.95",
            {**NO_CLASSES, **RANKED},
        ),
        Row("`--abstain risk=0.2`", "{model} {data} --abstain risk=0.2", NO_RISK),
        Row(
            "`--scope`",
            "{model} {data} --scope",
            {
                "numbers": "This model predicts numbers; it has no probabilities and no out-of-scope scores.",
                "many labels": "A model of many labels has no out-of-scope scores; leave out --scope.",
                "tags": "A tagger has no out-of-scope scores; leave out --scope.",
                "trees": "A parser has no out-of-scope scores; leave out --scope.",
                "candidates": "A ranker has no out-of-scope scores; leave out --scope.",
            },
        ),
        Row(
            "`--keep COLUMN`",
            "{model} {data} --keep source",
            {
                **dict.fromkeys(("tags", "trees"), "The columns of sentences are not kept; leave out --keep."),
                "matrices": "There is no column 'source' to keep; take one of text, label.",
            },
        ),
        Row("`--lines`", "{model} {data} --lines", TAGGERS_ONLY),
        Row("`--entities`", "{model} {data} --entities", {**TAGGERS_ONLY, **NO_ENTITIES}),
        Row(
            "`-o FILE.csv`",
            "{model} {data} -o {new}.csv",
            {
                "tags": "Tags are lists, which CSV cannot hold; write .jsonl or .parquet, or use --lines.",
                "trees": "Arcs are lists, which CSV cannot hold; write .jsonl or .parquet, or use --lines.",
            },
        ),
        Row("`-o FILE.jsonl`", "{model} {data} -o {new}.jsonl"),
        Row("`-o FILE.parquet`", "{model} {data} -o {new}.parquet"),
        Row("`--json`", "{model} {data} --json"),
    ],
    "tag": [
        Row("`DATA`", "{model} {data}", TAGGERS_ONLY),
        Row("`TEXT`", "{model} {text}", TAGGERS_ONLY),
        Row("`--abstain confidence=0.6`", "{model} {data} --abstain confidence=0.6", TAGGERS_ONLY),
        Row("`--entities`", "{model} {data} --entities", {**TAGGERS_ONLY, **NO_ENTITIES}),
        Row("`--json`", "{model} {data} --json", TAGGERS_ONLY),
    ],
    "explain": [
        Row(
            "without arguments",
            "{model}",
            {
                **dict.fromkeys(
                    ("tags", "trees", "candidates"),
                    "To explain predictions of this model, give a text or a file of examples; "
                    "it has no classes of texts.",
                ),
                "many labels": "A model by LabelTree has no weights to show.",
            },
        ),
        Row("`DATA`", "{model} {data}"),
        Row("`TEXT`", "{model} {text}", NO_TEXT),
        Row("`--rows 2`", "{model} {data} --rows 2"),
        Row(
            "`--class NAME`",
            "{model} {data} --class {label}",
            {
                "tags": "A tag is explained against the next best one; leave out the class.",
                "trees": "An arc is explained against the next best one; leave out the class.",
                "candidates": "A choice is explained against the next best candidate; leave out the class.",
            },
        ),
        Row("`--features 2`", "{model} {data} --features 2"),
        Row("`--detail`", "{model} {data} --detail"),
        Row("`--html`", "{model} {data} --html"),
        Row("`--json`", "{model} {data} --json"),
    ],
    "inspect": [
        Row("without options", "{model}"),
        Row("`--verify`", "{model} --verify"),
        Row("`--recipe`", "{model} --recipe"),
        Row("`--json`", "{model} --json"),
    ],
    "search": [
        Row("`TEXT`", "{kept} {text}", KEPT),
        Row("`DATA`", "{kept} {data}", KEPT),
        Row("`-k 2`", "{kept} {data} -k 2", KEPT),
        Row("`--json`", "{kept} {data} --json", KEPT),
    ],
    "check": [
        Row("`DATA`", "{data}", CHECKED),
        Row("`DATA OTHER`", "{data} {data}", CHECKED),
        Row("`--limit duplicates=1`", "{data} --limit duplicates=1", CHECKED),
        Row("`--json`", "{data} --json", CHECKED),
    ],
}
"""The commands, and the rows of their tables."""


def arguments(row: Row, task: str, given: dict[str, str]) -> list[str]:
    """The words of a row for a task; `given` are the files."""
    sample, found = SAMPLES[task], list[str]()
    parts = {**sample._asdict(), **given}
    for word in row.words.split():
        found += sample.train if word == "{train}" else [word.format(**parts)]
    return found


def write_samples(folder: Path) -> None:
    """Write the tiny data of every task into a folder."""
    pairs = [("good", "fine"), ("bad", "dull")]
    forms = ("{} film with a {} plot", "a {1} and {0} story", "{} songs, {} jokes", "what a {1} film", "a {} plot {}")
    texts = [(form.format(*pair), pair[0]) for pair in pairs for form in (*forms, "{1} songs and {0} story")]
    beside = [{"id": i, "source": "ab"[i % 2], "weight": 1 + i % 2} for i in range(len(texts))]
    sentences = [("Ann Lee left Oslo", "B-PER I-PER O B-LOC"), ("Bob sees Rome", "B-PER O B-LOC")]
    sentences += [("Rome waits", "B-LOC O"), ("Lee left", "B-PER O")]
    cities = ["Rome", "Paris", "Bern", "Oslo", "Lima", "Cairo"]
    label = {"good": "pos", "bad": "neg"}
    files = {
        "classes": [{**row, "text": t, "label": label[y]} for row, (t, y) in zip(beside, texts, strict=True)],
        "sets": [
            {**row, "text": t, "label": [label[y], "film"] if "film" in t else [label[y]]}
            for row, (t, y) in zip(beside, texts, strict=True)
        ],
        "many": [
            {**row, "text": f"{t} number {i // 2}", "label": f"film{i // 2 or ''}"}
            for i, (row, (t, _)) in enumerate(zip(beside, texts, strict=True))
        ],
        "numbers": [
            {**row, "text": t, "label": len(t) / 10 + (y == "good")} for row, (t, y) in zip(beside, texts, strict=True)
        ],
        "tags": [
            {**beside[i], "tokens": t.split(), "tags": z.split()} for i, (t, z) in enumerate(sentences * 3)
        ],
        "trees": [
            {"tokens": t.split(), "heads": list(map(int, h)), "relations": r.split()}
            for t, h, r in (("Dogs bark .", "202", "nsubj root punct"), ("cats see dogs", "202", "nsubj root obj")) * 6
        ],
        "candidates": [
            {**beside[i], "text": name, "candidates": [f"{name} (city)", f"{cities[i % 6 - 1]} (city)"], "answer": 0}
            for i, name in enumerate(cities * 2)
        ],
    }  # fmt: skip
    for name, rows in files.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lines = [f"{y} {1 + i % 2}:{i % 3 + 1} {3 if y == 'a' else 4}:1\n" for i, y in enumerate("ab" * 6)]
    (folder / "matrix.libsvm").write_text("".join(lines), encoding="utf-8")
    (folder / "pipeline.toml").write_text(PIPELINE, encoding="utf-8")


PIPELINE = """
recipe = "logistic"
[[before]]
name = "pos"
recipe = "pos"
data = "tags.jsonl"
[features]
kind = "union"
[[features.blocks]]
kind = "words"
[[features.blocks]]
kind = "field"
column = "pos.words"
block = {kind = "words", tokenizer = "whitespace"}
"""
"""A recipe of two stages: a tagger, and a classifier of texts that reads its tags."""


def tables() -> str:
    """The tables as Markdown: one for each command, with the sentences of its refusals below it."""
    return "\n".join(_table(verb, rows) for verb, rows in ROWS.items())


def _table(verb: str, rows: list[Row]) -> str:
    sentences: list[str] = []
    lines = [f"| `{verb}` | {' | '.join(SAMPLES)} |", "|---" * (len(SAMPLES) + 1) + "|"]
    for row in rows:
        cells = []
        for task in SAMPLES:
            said = row.refused.get(task, "").format(data="DATA", kept="MODEL") or None
            if said is not None and said not in sentences:
                sentences.append(said)
            cells.append("yes" if said is None else f"no ({sentences.index(said) + 1})")
        lines.append(f"| {row.shown} | {' | '.join(cells)} |")
    listed = [f"{at}. {said}" for at, said in enumerate(sentences, 1)]
    return "\n".join([f"## {verb}", "", *lines, "", *listed, *([""] if listed else [])])


def page() -> str:
    """The page with the tables of today."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{before}{BEGIN}\n{tables()}\n{END}{rest.partition(END)[2]}"


def main() -> int:
    """Write the page, or say that it is not what this file says."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--check", action="store_true", help="write nothing; fail if the page would change")
    found = page()
    if asked.parse_args().check:
        return int(found != PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(found, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
