"""The child of benchmarks/bag.py: one fastText classifier. It needs nothing of Linnaeus.

    python bag_peers.py TRAIN TEST OUT SETTINGS

TRAIN and TEST are in fastText's format; SETTINGS is JSON: the arguments of `train_supervised`, and `cutoff` where the
model is quantized. Prints a JSON line when the model is saved, then one with the accuracy and the bytes of the file.
"""

from __future__ import annotations

import json
import os
import sys
import time


def main() -> None:
    """Train, save, say so; then judge."""
    import fasttext

    train, test, out, told = sys.argv[1:]
    settings = json.loads(told)
    cutoff = settings.pop("cutoff", None)
    began = time.perf_counter()
    model = fasttext.train_supervised(train, verbose=0, **settings)
    taught = time.perf_counter()
    if cutoff is not None:
        model.quantize(train, qnorm=True, retrain=True, cutoff=cutoff, epoch=1, verbose=0, thread=settings["thread"])
    model.save_model(out)
    print(json.dumps({"train_s": taught - began, "save_s": time.perf_counter() - taught}), flush=True)
    right = total = 0
    with open(test, encoding="utf-8") as file:  # noqa: PTH123 - the child stays small
        for line in file:
            label, _, text = line.rstrip("\n").partition(" ")
            right += model.f.predict(text + "\n", 1, 0.0, "strict")[0][1] == label
            total += 1
    print(json.dumps({"accuracy": right / total, "bytes": os.path.getsize(out)}), flush=True)  # noqa: PTH202


if __name__ == "__main__":
    main()
