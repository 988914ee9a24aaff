"""Trains one model with the fasttext package, saves it, and keeps what it predicts; run by `fasttext_import.py`.

    PYTHON benchmarks/race/fasttext_models.py JOB.json

JOB.json names the training file, the settings of training and of quantization (or null), the file of texts, the file of
the model, and the file for the answers.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path


def main() -> None:
    """Train, save, load again, and predict all labels of each text."""
    import fasttext

    fasttext.FastText.eprint = lambda *_: None
    job = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    model = fasttext.train_supervised(job["train"], thread=1, verbose=0, **job["settings"])
    if job["quantized"] is not None:
        model.quantize(input=job["train"], thread=1, verbose=0, **job["quantized"])
    model.save_model(job["model"])
    model = fasttext.load_model(job["model"])
    texts = json.loads(Path(job["texts"]).read_text(encoding="utf-8"))
    start = time.perf_counter()
    best = [model.predict(text, k=1) for text in texts]
    seconds = time.perf_counter() - start
    every = [model.predict(text, k=-1) for text in texts]
    answers = {
        "labels": [labels[0] for labels, _ in best],
        "chances": [float(chances[0]) for _, chances in best],
        "all": [dict(zip(labels, map(float, chances), strict=True)) for labels, chances in every],
        "seconds": seconds,
    }
    Path(job["answers"]).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
