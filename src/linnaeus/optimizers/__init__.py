"""Optimizers: solvers that minimize an objective (`protocols.Solver`).

Stochastic optimizers (`stochastic.py`) are an update rule with a learning rate, its schedule (`schedules.py`) and a
batch size. Batch solvers use the whole objective. Dual ascent and coordinate descent use the
structure of loss and penalty. Each states in `refuse` which objectives it does not support; `erm.check` adds
alternatives.

To add one: a frozen dataclass with `refuse` and `minimize`, an import below and a row in `OPTIMIZERS`; the contract
tests run it over every loss, penalty and output space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.optimizers.coordinate_descent import CoordinateDescent as CoordinateDescent
    from linnaeus.optimizers.dual import DualAscent as DualAscent
    from linnaeus.optimizers.ftrl import FTRL as FTRL
    from linnaeus.optimizers.gradient_descent import GradientDescent as GradientDescent
    from linnaeus.optimizers.lbfgs import LBFGS as LBFGS
    from linnaeus.optimizers.lbfgs import ConjugateGradient as ConjugateGradient
    from linnaeus.optimizers.least_squares import LSQR as LSQR
    from linnaeus.optimizers.least_squares import NormalEquations as NormalEquations
    from linnaeus.optimizers.newton import Newton as Newton
    from linnaeus.optimizers.newton import NewtonCG as NewtonCG
    from linnaeus.optimizers.passive_aggressive import PassiveAggressive as PassiveAggressive
    from linnaeus.optimizers.proximal import ProximalGradient as ProximalGradient
    from linnaeus.optimizers.schedules import SCHEDULES as SCHEDULES
    from linnaeus.optimizers.schedules import Constant as Constant
    from linnaeus.optimizers.schedules import HeldOut as HeldOut
    from linnaeus.optimizers.schedules import InverseSqrt as InverseSqrt
    from linnaeus.optimizers.schedules import InverseTime as InverseTime
    from linnaeus.optimizers.schedules import LinearDecay as LinearDecay
    from linnaeus.optimizers.schedules import Schedule as Schedule
    from linnaeus.optimizers.stochastic import SGD as SGD
    from linnaeus.optimizers.stochastic import AdaGrad as AdaGrad
    from linnaeus.optimizers.stochastic import Adam as Adam
    from linnaeus.optimizers.stochastic import Average as Average
    from linnaeus.optimizers.stochastic import Momentum as Momentum
    from linnaeus.optimizers.stochastic import Stochastic as Stochastic


OPTIMIZERS = Table(
    __name__,
    {
        "sgd": "stochastic.SGD",
        "momentum": "stochastic.Momentum",
        "adagrad": "stochastic.AdaGrad",
        "adam": "stochastic.Adam",
        "ftrl": "ftrl.FTRL",
        "passive_aggressive": "passive_aggressive.PassiveAggressive",
        "average": "stochastic.Average",
        "gradient_descent": "gradient_descent.GradientDescent",
        "lbfgs": "lbfgs.LBFGS",
        "coordinate": "coordinate_descent.CoordinateDescent",
        "proximal": "proximal.ProximalGradient",
        "conjugate_gradient": "lbfgs.ConjugateGradient",
        "newton_cg": "newton.NewtonCG",
        "newton": "newton.Newton",
        "normal_equations": "least_squares.NormalEquations",
        "lsqr": "least_squares.LSQR",
        "dual": "dual.ascent.DualAscent",
    },
)
"""Every optimizer by name."""


__getattr__, __dir__ = room(__name__)
