"""Optimizers: solvers that minimize an objective (`protocols.Solver`).

Stochastic optimizers (`stochastic.py`) have an update rule (`rules.py`), a learning rate with its schedule
(`schedule.py`) and a batch size. Batch solvers use the whole objective. Dual ascent and coordinate descent use the
structure of loss and penalty. Each states in `refuse` which objectives it does not support; `erm.check` adds
alternatives.

To add one: a frozen dataclass with `refuse` and `minimize`, an import below and a row in `OPTIMIZERS`; the contract
tests run it over every loss, penalty and output space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.optimizers.aggressive import PassiveAggressive as PassiveAggressive
    from linnaeus.optimizers.coordinate import CoordinateDescent as CoordinateDescent
    from linnaeus.optimizers.dual import DualAscent as DualAscent
    from linnaeus.optimizers.ftrl import FTRL as FTRL
    from linnaeus.optimizers.gradient import GradientDescent as GradientDescent
    from linnaeus.optimizers.lsqr import LSQR as LSQR
    from linnaeus.optimizers.newton import Newton as Newton
    from linnaeus.optimizers.normal import NormalEquations as NormalEquations
    from linnaeus.optimizers.proximal import ProximalGradient as ProximalGradient
    from linnaeus.optimizers.quasi import LBFGS as LBFGS
    from linnaeus.optimizers.quasi import ConjugateGradient as ConjugateGradient
    from linnaeus.optimizers.schedule import SCHEDULES as SCHEDULES
    from linnaeus.optimizers.schedule import Constant as Constant
    from linnaeus.optimizers.schedule import HeldOut as HeldOut
    from linnaeus.optimizers.schedule import InverseSqrt as InverseSqrt
    from linnaeus.optimizers.schedule import InverseTime as InverseTime
    from linnaeus.optimizers.schedule import LinearDecay as LinearDecay
    from linnaeus.optimizers.schedule import Schedule as Schedule
    from linnaeus.optimizers.stochastic import SGD as SGD
    from linnaeus.optimizers.stochastic import AdaGrad as AdaGrad
    from linnaeus.optimizers.stochastic import Adam as Adam
    from linnaeus.optimizers.stochastic import Average as Average
    from linnaeus.optimizers.stochastic import Momentum as Momentum
    from linnaeus.optimizers.stochastic import Stochastic as Stochastic
    from linnaeus.optimizers.truncated import NewtonCG as NewtonCG


OPTIMIZERS = Table(
    __name__,
    {
        "sgd": "stochastic.SGD",
        "momentum": "stochastic.Momentum",
        "adagrad": "stochastic.AdaGrad",
        "adam": "stochastic.Adam",
        "ftrl": "ftrl.FTRL",
        "passive_aggressive": "aggressive.PassiveAggressive",
        "average": "stochastic.Average",
        "gradient_descent": "gradient.GradientDescent",
        "lbfgs": "quasi.LBFGS",
        "coordinate": "coordinate.solver.CoordinateDescent",
        "proximal": "proximal.ProximalGradient",
        "conjugate_gradient": "quasi.ConjugateGradient",
        "newton_cg": "truncated.NewtonCG",
        "newton": "newton.Newton",
        "normal_equations": "normal.NormalEquations",
        "lsqr": "lsqr.LSQR",
        "dual": "dual.ascent.DualAscent",
    },
)
"""Every optimizer by name."""


__getattr__, __dir__ = room(__name__)
