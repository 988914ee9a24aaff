"""Kernel methods: scores are weighted sums of similarities to training rows, f(x) = sum_i a_i k(x_i, x) + b.

A learner is a frozen dataclass with a `kernel` (an object of `linnaeus.similarities`, or its name) and `learn(lesson)`.
Perceptron, ridge and SVM differ only in how they find the dual coefficients a; they share one model, `Expansion`. A
Gaussian process also keeps the uncertainty. Models keep the training rows whose dual coefficients are not zero. All
learners compute the kernel matrix of the training rows (`expansion.py`), which takes 8 n^2 bytes; use
`features.Nystrom` or `features.Fourier` for larger data.

To add a learner: a file with it (and its fitted model, if it is not an `Expansion`), a row in
`learners.LEARNERS`, one in `learners.restore.MODELS`, an example in `tests/contracts/test_families.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.learners.kernel_methods.expansion import Expansion as Expansion
    from linnaeus.learners.kernel_methods.gaussian_process import FittedProcess as FittedProcess
    from linnaeus.learners.kernel_methods.gaussian_process import GaussianProcess as GaussianProcess
    from linnaeus.learners.kernel_methods.perceptron import AveragedKernelPerceptron as AveragedKernelPerceptron
    from linnaeus.learners.kernel_methods.perceptron import KernelPerceptron as KernelPerceptron
    from linnaeus.learners.kernel_methods.ridge import KernelRidge as KernelRidge
    from linnaeus.learners.kernel_methods.svm import KernelSVM as KernelSVM


__getattr__, __dir__ = room(__name__)
