"""Optimizers: pieces that bring an objective down (`protocols.Solver`).

Step-wise ones (`stochastic.py`) are a rule (`rules.py`), a rate with its schedule (`schedule.py`) and a batch size;
batch solvers see the whole objective at once; dual ascent and coordinate descent use what they know of loss and
penalty. Each says in `refuse` what it cannot do; `erm.check` adds what would.

To add one: a frozen dataclass with `refuse` and `minimize`, a row in `OPTIMIZERS`; the contract tests run it over every
loss, penalty and output space.
"""

from linnaeus.optimizers.aggressive import PassiveAggressive
from linnaeus.optimizers.coordinate import CoordinateDescent
from linnaeus.optimizers.dual import DualAscent
from linnaeus.optimizers.ftrl import FTRL
from linnaeus.optimizers.gradient import GradientDescent
from linnaeus.optimizers.lsqr import LSQR
from linnaeus.optimizers.newton import Newton
from linnaeus.optimizers.normal import NormalEquations
from linnaeus.optimizers.proximal import ProximalGradient
from linnaeus.optimizers.quasi import LBFGS, ConjugateGradient
from linnaeus.optimizers.schedule import (
    SCHEDULES,
    Constant,
    HeldOut,
    InverseSqrt,
    InverseTime,
    LinearDecay,
    Schedule,
)
from linnaeus.optimizers.stochastic import SGD, AdaGrad, Adam, Average, Momentum, Stochastic
from linnaeus.optimizers.truncated import NewtonCG

OPTIMIZERS = {
    "sgd": SGD,
    "momentum": Momentum,
    "adagrad": AdaGrad,
    "adam": Adam,
    "ftrl": FTRL,
    "passive_aggressive": PassiveAggressive,
    "average": Average,
    "gradient_descent": GradientDescent,
    "lbfgs": LBFGS,
    "coordinate": CoordinateDescent,
    "proximal": ProximalGradient,
    "conjugate_gradient": ConjugateGradient,
    "newton_cg": NewtonCG,
    "newton": Newton,
    "normal_equations": NormalEquations,
    "lsqr": LSQR,
    "dual": DualAscent,
}
"""Every optimizer by its plain name."""

__all__ = [
    "FTRL",
    "LBFGS",
    "LSQR",
    "OPTIMIZERS",
    "SCHEDULES",
    "SGD",
    "AdaGrad",
    "Adam",
    "Average",
    "ConjugateGradient",
    "Constant",
    "CoordinateDescent",
    "DualAscent",
    "GradientDescent",
    "HeldOut",
    "InverseSqrt",
    "InverseTime",
    "LinearDecay",
    "Momentum",
    "Newton",
    "NewtonCG",
    "NormalEquations",
    "PassiveAggressive",
    "ProximalGradient",
    "Schedule",
    "Stochastic",
]
