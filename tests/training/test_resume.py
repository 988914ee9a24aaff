"""Any training can be interrupted at any moment, and goes on from its checkpoint to the same bits."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest

from linnaeus import Recipe, Stage
from linnaeus.cli.main import main
from linnaeus.errors import UsageError
from linnaeus.features import Columns, Words
from linnaeus.learners.chain import BatchChain, Chain
from linnaeus.learners.linear import Linear
from linnaeus.model.file import state_of
from linnaeus.optimizers import AdaGrad, Average
from linnaeus.recipes.cookbook import recipe
from linnaeus.recipes.tuning import Tuning

WORDS = ["apple", "plum", "pear", "zinc", "lead", "iron"]
RNG = np.random.default_rng(0)
ROWS = [(" ".join(RNG.choice(WORDS, 4)), str(RNG.integers(3))) for _ in range(60)]
TAGGED = [[(word, "A" if word < "l" else "B") for word in text.split()] for text, _ in ROWS]
ASKED = [{"text": text, "candidates": [*text.split()[:2], "stone"], "answer": int(label)} for text, label in ROWS]
FOLDS = Tuning(strengths=(1.0, 0.1), folds=4)
FIRST = Stage("first", Recipe(features=Words()), folds=2)

TRAININGS = {
    "default": (recipe("default").changed({"tuning.folds": 4}), ROWS),
    "steps": (Recipe(learner=Linear(optimizer=Average(AdaGrad()), epochs=6), tuning=FOLDS), ROWS),
    "counts": (recipe("naive-bayes"), ROWS),
    "tags": (Recipe(task="tag", learner=Chain(epochs=4), tuning=Tuning(folds=2)), TAGGED),
    "tags, all at once": (Recipe(task="tag", learner=BatchChain(epochs=20), tuning=Tuning(folds=2)), TAGGED),
    "candidates": (Recipe(task="rank", learner=Linear(loss="hinge", epochs=6), tuning=FOLDS), ASKED),
    "pipeline": (Recipe(features=Words() | Columns(categorical=("first",)), before=(FIRST,), tuning=FOLDS), ROWS),
}


class Interrupt(Exception):  # noqa: N818 - stands for Ctrl-C
    pass


def bits(model) -> dict[str, bytes]:
    return {name: np.ascontiguousarray(array).tobytes() for name, array in state_of(model).tensors.items()}


@pytest.mark.parametrize("name", TRAININGS)
def test_a_training_goes_on_to_the_same_bits(name: str, tmp_path: Path) -> None:
    plan, rows = TRAININGS[name]
    stages = {"first": ROWS} if plan.before else {}
    path, said = tmp_path / "work.part", []
    whole = plan.fit(rows, said.append, stages=stages)
    for stop in sorted({1, len(said) // 3, len(said) // 2, len(said) - 1}):
        seen = []

        def interrupt(phase, seen=seen, stop=stop) -> None:
            seen.append(phase)
            if len(seen) > stop:
                raise Interrupt

        with contextlib.suppress(Interrupt):  # how often a solver tells depends on the time it takes
            plan.fit(rows, interrupt, stages=stages, checkpoint=path)
        found = plan.fit(rows, stages=stages, checkpoint=path)
        assert bits(found) == bits(whole)
        assert not path.exists()


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    plan, rows = TRAININGS["default"]
    said = []

    def interrupt(phase) -> None:
        if phase.name == "training":
            raise Interrupt

    with pytest.raises(Interrupt):
        plan.fit(rows, interrupt, checkpoint=tmp_path / "work.part")
    plan.fit(rows, said.append, checkpoint=tmp_path / "work.part")
    assert not [phase for phase in said if phase.name == "cross-fitting"]


def test_a_checkpoint_of_other_data_or_another_recipe_is_refused(tmp_path: Path) -> None:
    plan, rows = TRAININGS["steps"]
    path = tmp_path / "work.part"

    def interrupt(phase) -> None:
        if phase.name == "training":
            raise Interrupt

    with pytest.raises(Interrupt):
        plan.fit(rows, interrupt, checkpoint=path)
    for other, data in ((plan.changed({"seed": 1}), rows), (plan, rows[:-1])):
        with pytest.raises(UsageError, match="belongs to other data or another recipe"):
            other.fit(data, checkpoint=path)
    model = tmp_path / "m.lin"
    plan.fit(rows).save(model)
    with pytest.raises(UsageError, match="is not a checkpoint"):
        plan.fit(rows, checkpoint=model)


def test_the_command_line_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in ROWS))
    train = ["train", "rows.csv", "--recipe", "logistic", "-q", "--force"]
    assert main([*train, "-o", "whole.lin"]) == 0
    assert main([*train, "--resume"]) == 2
    assert "--checkpoint FILE" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr("linnaeus.training.train.keep", None)
        patch.setattr("linnaeus.tasks.rows.RowsLesson.learn", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        assert main([*train, "--checkpoint", "work.part", "-o", "m.lin"]) == 130
    assert Path("work.part").exists()
    assert not Path("m.lin").exists()
    assert main([*train, "--checkpoint", "work.part", "-o", "m.lin"]) == 2
    assert "add --resume to go on" in capsys.readouterr().err
    assert main([*train, "--checkpoint", "work.part", "--resume", "-o", "m.lin"]) == 0
    assert Path("m.lin").read_bytes() == Path("whole.lin").read_bytes()
    assert not Path("work.part").exists()
