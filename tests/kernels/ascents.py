"""Epochs of the kernels of dual ascent, for the tests of both of their layouts."""

from __future__ import annotations

from linnaeus import kernels


def run(layout, module, loss, problem, epochs, threads=1):
    """Epochs with a look at the gap after every second; all that came out."""
    rows, box, state = problem
    state, seen = tuple(array.copy() for array in state), []
    for epoch in range(epochs):
        getattr(module, f"{layout}_epoch_{loss}")(rows, box, state, threads)
        seen.append(state[5].copy())
        if epoch % 2:
            seen.append(getattr(module, f"{layout}_gap_{loss}")(rows, box, state, threads))
    return state, seen


def same_for_any_threads(layout, loss, problem):
    """Whether 2, 3 and 8 threads give the bits of one."""

    def bits(threads):
        state, seen = run(layout, kernels, loss, problem, 4, threads)
        return [array.tobytes() for array in (*state, *seen)]

    one = bits(1)
    return all(bits(threads) == one for threads in (2, 3, 8))
