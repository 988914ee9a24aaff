"""Tasks: what an example is, what its truth is, and how an answer is said. Everything else asks the task.

    base        `Task`: the questions, with the usual answers
    examples    what a training learns from;  keys  which examples are equal
    sentences   what tasks over the tokens of sentences have in common
    classify/   classes and label sets of texts, and numbers of texts
    many/       the best of very many labels of texts
    tag/        tags of tokens
    parse/      dependency trees: heads and relations of tokens
    rank/       the best of an example's own candidates

To add a task: a folder with a frozen dataclass that is a `base.Task`, and a row in `TASKS`.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from linnaeus.errors import InputTypeError, UsageError, did_you_mean
from linnaeus.lazy import Table, room
from linnaeus.types import Json

if TYPE_CHECKING:
    from linnaeus.tasks.base import AnyTask
    from linnaeus.tasks.classify.task import Classify as Classify
    from linnaeus.tasks.classify.task import Regress as Regress
    from linnaeus.tasks.many.task import ManyLabels as ManyLabels
    from linnaeus.tasks.parse.task import Parse as Parse
    from linnaeus.tasks.rank.task import Rank as Rank
    from linnaeus.tasks.tag.task import Tag as Tag

TASKS = Table(
    __name__,
    {
        "classify": "classify.task.Classify",
        "regress": "classify.task.Regress",
        "many": "many.task.ManyLabels",
        "tag": "tag.task.Tag",
        "parse": "parse.task.Parse",
        "rank": "rank.task.Rank",
    },
)
"""Every task by its plain name; what data are is recognized from the last to the first, which is that of texts."""


def as_task(task: str | AnyTask) -> AnyTask:
    """A task by its plain name, or as it is.

    >>> as_task("tag")
    Tag(encoding='plain', dictionary=0)
    """
    if isinstance(task, str):
        if task not in TASKS:
            raise UsageError(f"There is no task {task!r}; {did_you_mean(task, TASKS)}")
        return TASKS[task]()
    if type(task).__name__ not in {TASKS.place(name)[1] for name in TASKS}:
        raise InputTypeError(f"task takes one of {', '.join(TASKS)}, or an object such as Tag(), not {task!r}.")
    return task


def task_state(task: AnyTask) -> dict[str, Json]:
    """A task as plain data.

    >>> task_state(as_task("rank"))
    {'kind': 'rank', 'none': 'never', 'proposed': 0}
    """
    return {"kind": task.name, **vars(task)}


def task_of(state: dict[str, Json]) -> AnyTask:
    """The task again; what is wrong with it is said by an error."""
    given = {str(name): value for name, value in state.items() if name != "kind"}
    found = TASKS[str(state["kind"])](**given)
    if any(type(getattr(found, part.name)) is not type(part.default) for part in fields(found)):
        raise TypeError("the task has an entry of another type")
    return found


__getattr__, __dir__ = room(__name__)
