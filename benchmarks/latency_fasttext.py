"""The child of benchmarks/latency.py: fastText's Python `predict`, timed text by text. It needs nothing of Linnaeus.

One line of JSON in, one out: first [texts, labels] to train on, then lists of texts, answered by nanoseconds each.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.thread_time_ns}


def ready(text: str) -> str:
    """What fastText's models are fed with: lower case, tokens between single spaces."""
    return " ".join(text.lower().split())


def train(texts: list[str], labels: list[str]):
    """fastText's own settings, but word pairs too, and few epochs: time does not depend on them."""
    import fasttext

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "train.txt"
        lines = (f"__label__{label.replace(' ', '_')} {ready(text)}" for text, label in zip(texts, labels, strict=True))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return fasttext.train_supervised(str(path), wordNgrams=2, epoch=2, thread=2, verbose=0)


def main() -> None:
    """Train, then answer until the parent is done."""
    now = CLOCKS[sys.argv[1]]
    model = train(*json.loads(sys.stdin.readline()))
    print("[]", flush=True)
    for line in sys.stdin:
        times = []
        for text in json.loads(line):
            start = now()
            model.predict(ready(text))
            times.append(now() - start)
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
