"""Kernel methods: scores are sums of similarities to training rows, f(x) = sum_i a_i k(x_i, x) + b.

A learner is a frozen dataclass with a `kernel` (a piece of `linnaeus.similarities`, or its plain name) and
`learn(lesson)`. Perceptron, ridge and SVM differ only in how they find the duals a: their model is one, `Expansion`. A
Gaussian process keeps how sure it is besides. Models keep rows of numbers, those with a dual that is not zero. All of
them make the matrix of all training rows with all (`gram.py`), 8 n^2 bytes; `features.Nystrom` and `features.Fourier`
bring kernels to larger data.

To add a learner: a file with it (and its fitted piece, where an `Expansion` does not do), a row in
`pipeline.learner.LEARNERS`, one in `pipeline.bodies.MODELS`, an example in `tests/contracts/test_families.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import lazily

if TYPE_CHECKING:
    from linnaeus.kernel_methods.expansion import Expansion as Expansion
    from linnaeus.kernel_methods.perceptron import AveragedKernelPerceptron as AveragedKernelPerceptron
    from linnaeus.kernel_methods.perceptron import KernelPerceptron as KernelPerceptron
    from linnaeus.kernel_methods.process import FittedProcess as FittedProcess
    from linnaeus.kernel_methods.process import GaussianProcess as GaussianProcess
    from linnaeus.kernel_methods.ridge import KernelRidge as KernelRidge
    from linnaeus.kernel_methods.svm import KernelSVM as KernelSVM

_HOMES = {
    "AveragedKernelPerceptron": "perceptron",
    "Expansion": "expansion",
    "FittedProcess": "process",
    "GaussianProcess": "process",
    "KernelPerceptron": "perceptron",
    "KernelRidge": "ridge",
    "KernelSVM": "svm",
}

__all__ = [
    "AveragedKernelPerceptron",
    "Expansion",
    "FittedProcess",
    "GaussianProcess",
    "KernelPerceptron",
    "KernelRidge",
    "KernelSVM",
]

__getattr__ = lazily(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
