"""Networks on a GPU: texts per second, how busy the device is, and whether it finds what the CPU finds.

    python benchmarks/gpu.py [--rows 50000] [--epochs 3] [--batches 64 512 4096] [--precisions float32 mixed]

It needs the repository, NumPy and PyTorch, and makes its own data: texts of random words with words that tell the
class. `busy` is the share of the time between the first and the last kernel of some steps in which the GPU runs one,
by torch.profiler; where it is small, `bound` says what the rest of a step is: the host that makes batches ("host"), or
the launch of many small kernels ("launch"). `agree` compares a short training on both devices from the same weights
without dropout: the largest difference of scores. Without a GPU it says so, and measures the CPU. JSON lines.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "src")]

from linnaeus.arrays.csr import CSR
from linnaeus.learners.networks.architecture import TABLE
from linnaeus.learners.networks.encoders import Convolution
from linnaeus.learners.networks.learner import Network, SequenceNetwork
from linnaeus.learners.run import Run
from linnaeus.types import Lesson
from measure import say, say_machine

WORDS, CLASSES = 20_000, 4


def lesson(rows: int, seed: int = 0, unordered: bool = False) -> Lesson:
    """Texts of 10 to 60 words: most are random, some tell the class."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(10, 61, rows)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    y = rng.integers(0, CLASSES, rows)
    ids = np.minimum((rng.pareto(0.8, offsets[-1]) * 20).astype(np.int64), WORDS - 101) + 100
    telling = rng.random(len(ids)) < 0.1
    ids[telling] = 1 + np.repeat(y, sizes)[telling] * 20 + rng.integers(0, 20, int(telling.sum()))
    values = np.ones(len(ids), np.float32)
    if unordered:
        values /= np.repeat(np.sqrt(sizes), sizes).astype(np.float32)
    X = CSR(offsets.astype(np.int64), ids.astype(np.int32), values, WORDS)
    return Lesson(X, y, np.ones(rows), CLASSES)


def learner(name: str, **settings: Any) -> Any:
    """The network of this name."""
    if name == "mlp":
        return Network(held_out=0.0, **settings)
    return SequenceNetwork(encoder=Convolution(lookup="random"), held_out=0.0, **settings)


def speed(name: str, rows: int, epochs: int, settings: dict[str, Any]) -> float:
    """Texts per second of training, after the first epoch, which warms up."""
    ends: list[float] = []
    told = lesson(rows, unordered=name == "mlp")
    watched = Run(progress=lambda _phase: ends.append(time.perf_counter()))
    learner(name, epochs=epochs + 1, **settings).learn(Lesson(told.X, told.y, told.weights, told.k, run=watched))
    return rows * epochs / (ends[-1] - ends[0])


def busy(name: str, settings: dict[str, Any]) -> dict[str, Any]:
    """The share of steps in which the GPU works, kernels in a step, and what bounds the rest."""
    import torch

    rows = 30 * settings["batch"]
    one = learner(name, epochs=1, **settings)
    one.learn(lesson(rows, unordered=name == "mlp"))
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities) as profile:
        one.learn(lesson(rows, unordered=name == "mlp"))
    spans = sorted(
        (event.time_range.start, event.time_range.end)
        for event in profile.events()
        if event.device_type == torch.autograd.DeviceType.CUDA and "Memcpy HtoD" not in event.name
    )
    spans = spans[len(spans) // 5 :]
    worked, end = 0.0, spans[0][0]
    for start, stop in spans:
        worked += max(0.0, stop - max(start, end))
        end = max(end, stop)
    share = worked / (end - spans[0][0])
    kernels = len(spans) / 24
    each = worked / max(1, len(spans))
    bound = "device" if share >= 0.6 else "launch" if each < 10 else "host"
    return {"busy": share, "kernels_per_step": kernels, "kernel_us": each, "bound": bound}


def agree(name: str) -> float:
    """The largest difference of scores after a short training on the CPU and on the GPU."""
    told = lesson(600, seed=3, unordered=name == "mlp")
    found = []
    for device in ("cpu", "cuda"):
        model = learner(name, epochs=2, batch=32, dropout=0.0, device=device).learn(told)
        found.append(model.weights)
    rows = max(float(np.abs(found[0][part] - found[1][part]).max()) for part in found[0] if part != TABLE)
    return rows


def main() -> None:
    """Measure every network, batch size and precision."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batches", type=int, nargs="+", default=[64, 512, 4096])
    parser.add_argument("--precisions", nargs="+", default=["float32", "mixed"])
    asked = parser.parse_args()
    import torch

    say_machine(torch=torch.__version__)
    there = torch.cuda.is_available()
    if not there:
        say(what="device", found=False, note="PyTorch finds no GPU; these are figures of the CPU")
    else:
        say(what="device", found=True, name=torch.cuda.get_device_name())
    device = "cuda" if there else "cpu"
    for name in ("mlp", "cnn"):
        if there:
            say(what="agree", network=name, largest_difference_of_weights=agree(name))
        for batch in asked.batches:
            for precision in asked.precisions if there else ["float32"]:
                settings = {"batch": batch, "precision": precision, "device": device}
                rate = speed(name, asked.rows, asked.epochs, settings)
                more = busy(name, settings) if there else {}
                say(what="speed", network=name, **settings, texts_per_second=rate, **more)


if __name__ == "__main__":
    main()
