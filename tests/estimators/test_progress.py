"""A bar for whoever asks: on a terminal, when it takes long, gone at the end; elsewhere nothing."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from linnaeus.erm import Record, Stop, Trace, progress
from linnaeus.erm.progress import describe, share
from linnaeus.errors import InputTypeError, UsageError
from linnaeus.estimators import FACES
from linnaeus.estimators.linear import LinearClassifier
from linnaeus.estimators.named import LogisticRegression
from linnaeus.estimators.regressor import LinearRegressor

Y = np.arange(60) % 3
X = 2.0 * np.eye(3, 5)[Y] + np.random.default_rng(0).normal(size=(60, 5))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def fitted(monkeypatch: pytest.MonkeyPatch, stream: Any, after: float, columns: str = "120", **settings: Any) -> str:
    """What a training with a bar leaves on stderr."""
    for name in ("CI", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setattr(progress, "AFTER", after)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    monkeypatch.setattr(sys, "stderr", stream)
    LinearClassifier(**{"optimizer": "sgd", "epochs": 4, "progress": "bar", **settings}).fit(X, Y)
    return stream.getvalue()


def test_a_terminal_sees_the_epochs_and_then_nothing_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    said = fitted(monkeypatch, Terminal(), after=0.0)
    assert "training" in said
    assert "epoch 4 of 4" in said
    assert "objective" in said
    assert said.endswith("\x1b[2K")  # the line is erased
    assert "\x1b[?25h" in said  # and the cursor is there again


def test_held_out_scores_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "held-out -0." in fitted(monkeypatch, Terminal(), after=0.0, held_out=0.2)


def test_what_is_quick_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fitted(monkeypatch, Terminal(), after=60.0) == ""


def test_what_is_no_terminal_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fitted(monkeypatch, io.StringIO(), after=0.0) == ""


def test_nobody_asked_nothing_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fitted(monkeypatch, Terminal(), after=0.0, progress=None) == ""


def test_no_stderr_at_all_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert LogisticRegression(progress="bar").fit(X, Y).trace_.converged


def test_the_bar_is_cleared_when_training_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    closed: list[bool] = []
    close = progress.Bar.close
    monkeypatch.setattr(progress.Bar, "close", lambda bar: (close(bar), closed.append(True)))
    monkeypatch.setattr("linnaeus.learners.linear.checkpoint.train", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fitted(monkeypatch, stream, after=0.0)
    assert closed == [True]


PROGRAM = """
import numpy as np
from linnaeus.estimators.named import LogisticRegression
from linnaeus.erm import progress
progress.AFTER = progress.EVERY = 0.0
y = np.arange(60) % 3
X = np.eye(3, 5)[y] + np.random.default_rng(0).normal(size=(60, 5))
LogisticRegression(progress="bar").fit(X, y)
"""


@pytest.mark.skipif(os.name == "nt", reason="pseudo terminals")
def test_a_pseudo_terminal(tmp_path: Path) -> None:
    import pty

    main, other = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "TTY_INTERACTIVE")}
    environment |= {"TERM": "xterm", "COLUMNS": "100"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=other, env=environment, check=True
        )
        said = os.read(main, 1 << 16).decode()
    finally:
        os.close(other)
        os.close(main)
    assert done.stdout == b""
    assert "training" in said
    assert "(wanted 0.0001)" in said


@pytest.mark.parametrize("face", FACES.values(), ids=FACES)
def test_every_face_takes_it_and_files_leave_it_out(face: type, tmp_path: Path) -> None:
    model: Any = clone(face(progress="bar"))
    assert model.get_params()["progress"] == "bar"
    model.fit(X, Y).save(tmp_path / "m.lin")
    assert face.load(tmp_path / "m.lin").progress is None  # type: ignore[attr-defined]
    assert model.set_params(progress=None).progress is None


def test_a_function_gets_every_record() -> None:
    records: list[Any] = []
    model = LinearRegressor(loss="huber", optimizer="sgd", epochs=3, progress=records.append).fit(X, Y)
    assert records == model.trace_.records


def test_anything_else_is_refused() -> None:
    with pytest.raises(UsageError, match="progress takes 'bar' or a function, not 'bars'"):
        LogisticRegression(progress="bars").fit(X, Y)
    with pytest.raises(InputTypeError, match="progress takes 'bar' or a function, not 3"):
        LogisticRegression(progress=3).fit(X, Y)


def test_what_is_known_is_described() -> None:
    solver, steps = Stop(epochs=None, tol=1e-4, gradient=1e-6), Stop(epochs=20, tol=None, mistakes=0.0, seconds=60)
    by_gradient = Trace([Record(1, 1.0, 9.0, gradient=10.0), Record(2, 2.5, 8.0, gradient=1.0)], scale=100.0)
    assert describe(by_gradient, solver) == "epoch 2, 2.5 s, objective 8, gradient 0.01 (wanted 1e-06)"
    wrong = Trace([Record(7, 3.0, float("inf"), mistakes=1.0)])
    assert describe(wrong, steps) == "epoch 7 of 20, 3.0 s of 1 min 0 s, 1 mistake"
    aside = Trace([Record(1, 1.0, held_out=0.75), Record(2, 2.0, held_out=0.5)])
    assert describe(aside, Stop(epochs=5, patience=3)) == "epoch 2 of 5, 2.0 s, held-out 0.5 (best 1 epoch ago)"


def test_what_does_not_fit_is_left_out() -> None:
    trace = Trace([Record(4, 1.0, held_out=-4.1), Record(61, 14.2, value=3412.0, gradient=0.1, held_out=-4.3)])
    stop = Stop(epochs=100, patience=100)
    for room in range(15, 120):
        assert len(describe(trace, stop, room)) <= room
    assert describe(trace, stop, 49) == "epoch 61 of 100, gradient 1, held-out -4.3"


def test_the_bar_and_the_end_of_the_line_are_there_on_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    said = fitted(monkeypatch, Terminal(), after=0.0, columns="80", held_out=0.2, optimizer="lbfgs", epochs=100)
    assert "…" not in said
    assert "..." not in said
    assert "━" in said
    assert "held-out -" in said


def test_the_bar_is_as_long_as_the_way_that_is_done() -> None:
    assert share(Trace([Record(5, 30.0)]), Stop(epochs=20, seconds=40)) == 0.75
    gaps = Trace([Record(i, 0.1, 2.0, gap=2.0 * 10.0**-i) for i in range(4)])
    assert share(gaps, Stop(epochs=None, tol=1e-6)) == pytest.approx(0.5)
    assert share(gaps, Stop(epochs=None, tol=1e-2)) == 1.0
    assert share(gaps, Stop(epochs=None, tol=None)) == 0.0
