"""Models of fastText after `linnaeus import`: the same labels and probabilities as the fasttext package gives?

    python benchmarks/fasttext_import.py --peer-python PYTHON [--models softmax,hs] [--texts 1000]

PYTHON is that of an environment with the package (`pip install "numpy<2" fasttext-wheel`). Each model is trained
by the package on a shared data set, saved, imported, saved as a `.lin` file and loaded from it; then both answer the
same texts of the test part. For each model one JSON line: on how many texts the label is the same, the largest
difference of the probabilities of the best label and of all labels that fastText gives, megabytes of both files, and
seconds for all texts (fastText: its `predict`, one text at a time; here: `predict` of all of them, after the model is
open).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow.parquet as pq

from measure import data_folder, say, say_machine


class Job(NamedTuple):
    """A data set, the settings of training, those of quantization, and what becomes of a row's label."""

    data: str
    settings: dict[str, Any]
    quantized: dict[str, Any] | None = None
    label: str = "{label}"


SMALL = {"dim": 16, "epoch": 3, "lr": 0.5}
MANY = "{label}_{part}"
"""Labels of which there are four times as many: fastText quantizes the output table from 256 labels up."""
UNICODE = "言語/{label}…é"
JOBS = {
    "softmax": Job("ag_news_small", SMALL),
    "softmax, pairs of words": Job("dbpedia_14k", {**SMALL, "wordNgrams": 2, "bucket": 50_000}),
    "softmax, subwords, unicode labels": Job(
        "langid75", {**SMALL, "minn": 2, "maxn": 4, "bucket": 20_000}, label=UNICODE
    ),
    "hs, pairs of words": Job("dbpedia_14k", {**SMALL, "loss": "hs", "wordNgrams": 2, "bucket": 50_000}),
    "hs, subwords, unicode labels": Job(
        "langid75", {**SMALL, "loss": "hs", "minn": 1, "maxn": 3, "bucket": 20_000}, label=UNICODE
    ),
    "ova, pairs of words": Job("banking77", {**SMALL, "loss": "ova", "wordNgrams": 2, "bucket": 20_000}),
    "ova, subwords": Job("ag_news_small", {**SMALL, "loss": "ova", "minn": 3, "maxn": 6, "bucket": 50_000}),
    "ns, subwords and triples of words": Job(
        "banking77", {**SMALL, "loss": "ns", "minn": 2, "maxn": 5, "wordNgrams": 3, "bucket": 50_000}
    ),
    "quantized": Job("dbpedia_14k", {**SMALL, "wordNgrams": 2, "bucket": 50_000}, {}),
    "quantized, norms apart, cut off and trained again": Job(
        "langid75",
        {**SMALL, "minn": 2, "maxn": 3, "wordNgrams": 2, "bucket": 20_000},
        {"qnorm": True, "cutoff": 5000, "retrain": True},
        UNICODE,
    ),
    "quantized with its output, ova, odd width": Job(
        "banking77",
        {**SMALL, "dim": 15, "loss": "ova", "minn": 2, "maxn": 4, "bucket": 5000},
        {"qout": True, "qnorm": True},
        MANY,
    ),
    "quantized, hs, cut off": Job(
        "banking77", {**SMALL, "loss": "hs", "wordNgrams": 2, "bucket": 5000}, {"cutoff": 1000, "qout": True}, MANY
    ),
}  # fmt: skip


def rows(job: Job, part: str) -> list[tuple[str, str]]:
    """Texts of one line, and labels without spaces."""
    table = pq.read_table(data_folder() / job.data / f"{part}.parquet", columns=["text", "label"])
    pairs = zip(table["text"].to_pylist(), table["label"].to_pylist(), strict=True)
    return [
        (" ".join(text.split("\n")), job.label.format(label="_".join(str(label).split()), part=i % 4))
        for i, (text, label) in enumerate(pairs)
    ]


def run(name: str, job: Job, arguments: argparse.Namespace, folder: Path) -> None:
    """Train there, import here, and compare."""
    import linnaeus

    texts = [text for text, _ in rows(job, "test")[: arguments.texts]]
    lines = "".join(f"__label__{label} {text}\n" for text, label in rows(job, "train"))
    (folder / "train.txt").write_text(lines, encoding="utf-8")
    (folder / "texts.json").write_text(json.dumps(texts), encoding="utf-8")
    made, answers = folder / ("m.bin" if job.quantized is None else "m.ftz"), folder / "answers.json"
    paths = {"train": folder / "train.txt", "texts": folder / "texts.json", "model": made, "answers": answers}
    told = {**{key: str(path) for key, path in paths.items()}, "settings": job.settings, "quantized": job.quantized}
    (folder / "job.json").write_text(json.dumps(told), encoding="utf-8")
    script = Path(__file__).parent / "race" / "fasttext_models.py"
    subprocess.run([arguments.peer_python, str(script), str(folder / "job.json")], check=True)
    wanted = json.loads(answers.read_text(encoding="utf-8"))

    linnaeus.import_fasttext(made).save(folder / "m.lin", force=True)
    model = linnaeus.load(folder / "m.lin")
    model.predict(texts[:1])
    start = time.perf_counter()
    labels = model.predict(texts)
    seconds = time.perf_counter() - start
    P, place = model.probabilities(texts), {f"__label__{label}": i for i, label in enumerate(model.classes.tolist())}
    best = [abs(P[i, place[label]] - wanted["chances"][i]) for i, label in enumerate(wanted["labels"])]
    every = [abs(P[i, place[label]] - p) for i, found in enumerate(wanted["all"]) for label, p in found.items()]
    say(
        model=name,
        data=job.data,
        texts=len(texts),
        classes=len(place),
        same_labels=int(sum(f"__label__{a}" == b for a, b in zip(labels.tolist(), wanted["labels"], strict=True))),
        largest_difference=float(np.max(best)),
        largest_of_all_labels=float(np.max(every)),
        megabytes=made.stat().st_size / 1e6,
        megabytes_lin=(folder / "m.lin").stat().st_size / 1e6,
        seconds=seconds,
        peer_seconds=wanted["seconds"],
    )


def main() -> None:
    """One line for each model."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--peer-python", required=True)
    asked.add_argument("--models", help="those whose names contain one of these words, apart by commas")
    asked.add_argument("--texts", type=int, default=1000)
    arguments = asked.parse_args()
    say_machine()
    for name, job in JOBS.items():
        if arguments.models and not any(word in name for word in arguments.models.split(",")):
            continue
        with tempfile.TemporaryDirectory() as folder:
            run(name, job, arguments, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
