"""How training by a batch solver ends: by the gap, by the gradient, by a stop, by Ctrl-C, or where nothing helps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.optimizers.problems import problem

from linnaeus.erm import Objective, Record, Stop, Trace, Watch, train
from linnaeus.losses import Squared
from linnaeus.optimizers import LBFGS, LSQR, ConjugateGradient, GradientDescent, Newton, NewtonCG
from linnaeus.types import Start, Step

SOLVERS = [GradientDescent(), LBFGS(), ConjugateGradient(), NewtonCG(), Newton()]


def name(piece):
    return type(piece).__name__


@pytest.mark.parametrize("solver", SOLVERS, ids=name)
def test_ctrl_c_ends_a_training_that_has_begun(solver):
    def interrupt(so_far, step):
        if so_far.trace.last.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(problem("log", "multiclass", 0.1), solver, Watch(Stop(tol=1e-12), listeners=[interrupt]))


@pytest.mark.parametrize("solver", [*SOLVERS, LSQR()], ids=name)
def test_ctrl_c_before_anything_is_passed_on(solver):
    class Pressed(Squared):
        def value_and_grad(self, space, S, y):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(replace(problem("squared", "multiclass", 0.1), loss=Pressed()), solver)


@pytest.mark.parametrize("solver", SOLVERS, ids=name)
def test_time_limit_and_epochs(solver):
    objective = problem("log", "multiclass", 0.1)
    fit = train(objective, solver, Watch(Stop(tol=None, seconds=0.0)))
    assert (fit.trace.reason, len(fit.trace)) == ("time limit", 1)
    fit = train(objective, solver, Watch(Stop(tol=None, gradient=None, epochs=2)))
    assert (fit.trace.reason, len(fit.trace)) == ("epochs", 2)


@pytest.mark.parametrize("solver", SOLVERS, ids=name)
def test_the_gap_decides_where_there_is_one_else_the_gradient(solver):
    fit = train(problem("log", "multiclass", 0.1), solver)
    assert fit.trace.reason == "converged"
    assert fit.trace.last.gap <= 1e-4 * fit.trace.last.value
    fit = train(problem("log", "multiclass", 0.0), solver)
    assert fit.trace.reason == "small gradient"
    assert fit.trace.last.gradient <= 1e-6 * fit.trace.scale
    assert fit.trace.converged


@pytest.mark.parametrize("solver", SOLVERS, ids=name)
def test_every_point_is_evaluated_once(solver, monkeypatch):
    seen, evaluate = [], Objective.value_and_grad

    def counted(self, params, out=None):
        seen.append(b"".join(params[part].tobytes() for part in params))
        return evaluate(self, params, out)

    monkeypatch.setattr(Objective, "value_and_grad", counted)
    fit = train(problem("log", "multiclass", 0.0), solver)
    assert len(fit.trace) <= len(seen) == len(set(seen))


@pytest.mark.parametrize("solver", SOLVERS, ids=name)
def test_no_stop_at_all_still_ends_where_nothing_helps(solver):
    fit = train(problem("log", "binary", 0.01), solver, Watch(Stop(epochs=None, tol=0.0, gradient=None)))
    assert fit.trace.reason == "no further progress"
    assert fit.trace.last.gap is not None
    fit = train(problem("log", "binary", 0.0), solver, Watch(Stop(epochs=None, tol=0.0, gradient=None)))
    assert fit.trace.reason == "optimum"


def test_what_an_end_is_called():
    stop = Stop(tol=1e-3, gradient=1e-4)
    assert stop.ending(Trace()) == "no further progress"
    assert stop.ending(Trace([Record(1, 0.0, value=5.0)])) == "no further progress"
    assert stop.ending(Trace([Record(1, 0.0, value=5.0, gap=1e-3)])) == "optimum"
    assert stop.ending(Trace([Record(1, 0.0, value=5.0, gap=1e-2, gradient=0.0)])) == "no further progress"
    first, last = Record(1, 0.0, value=5.0, gradient=1.0), Record(2, 0.0, value=4.0, gradient=1e-3)
    assert stop.ending(Trace([first, last])) == "no further progress"
    assert stop.ending(Trace([first, last], scale=100.0)) == "optimum"


def test_a_solver_that_gives_up_is_not_called_an_optimum():
    class Tired:
        def refuse(self, objective):
            return None

        def minimize(self, objective, start, report):
            value, grad = objective.value_and_grad(start.params)
            report(Step(1, lambda: start.params, dict, value=value, gradient=float(np.linalg.norm(grad["W"]))))

    fit = train(problem("log", "binary"), Tired())
    assert fit.trace.reason == "no further progress"
    assert not fit.trace.converged


@pytest.mark.parametrize("solver", SOLVERS, ids=name)
def test_epochs_go_on_from_the_start(solver):
    objective = problem("log", "multiclass", 0.1)
    half = train(objective, solver, Watch(Stop(tol=None, gradient=None, epochs=2)))
    rest = train(objective, solver, Watch(Stop(tol=1e-8)), Start(half.params, epoch=2))
    assert rest.trace.records[0].epoch == 3
    assert rest.trace.records[0].value <= half.trace.last.value
    assert rest.trace.reason == "converged"


def test_blas_is_held_to_one_thread_and_let_go():
    from threadpoolctl import threadpool_info

    def threads():
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    before, during = threads(), []
    train(problem("log", "binary"), LBFGS(), Watch(listeners=[lambda so_far, step: during.extend(threads())]))
    assert set(during) == {1}
    assert threads() == before or len(threads()) > len(before)
