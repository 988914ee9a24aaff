"""Mutated files of every kind of model: the cases of an attack, and what is done with each of them.

`tests.hostile.try_all(cases, act)` opens and asks each in a forked worker. A case may take 200 MB and 20 times its
size; address space is counted, so that memory which is asked for and not used counts too.
"""

from __future__ import annotations

import resource
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tests.model.zoo import MAKERS, ask, command
from tests.store.mutants import file_of, mutants, widened

from linnaeus import store
from linnaeus.errors import LinnaeusError, ModelFileError
from linnaeus.types import State

MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Mutant:
    """A file, what is wrong with it, and where it is written to be opened."""

    name: str
    content: bytes = field(repr=False)
    path: Path = field(repr=False)

    @property
    def allowance(self) -> int:
        """Bytes that it may take."""
        return 200 * MEGABYTE + 20 * len(self.content)


def sound_state(name: str, folder: Path) -> State:
    """The state of a model of the zoo, after it was asked everything, so that all it needs is imported."""
    path = folder / "sound.lin"
    path.unlink(missing_ok=True)
    MAKERS[name]().save(path)
    with np.errstate(all="ignore"):
        ask(path)
    return store.load(path)


def mutated(count: int, seed: int, names: Iterable[str], folder: Path) -> list[Mutant]:
    """So many mutants of these models, each model as often."""
    found, names = [], list(names)
    for number, name in enumerate(names):
        share = count * (number + 1) // len(names) - count * number // len(names)
        rng = np.random.default_rng([seed, number])
        for what, content in mutants(sound_state(name, folder), share, rng):
            found.append(Mutant(f"{name}: {what}", content, folder / "mutant.lin"))
    return found


def wide(powers: Iterable[int], names: Iterable[str], folder: Path) -> list[Mutant]:
    """These models, sound but for 2^power columns in the place of their own."""
    found = []
    for name in names:
        state = sound_state(name, folder)
        for power in powers:
            content = file_of(widened(state, power))
            found.append(Mutant(f"{name}: 2^{power}", content, folder / "mutant.lin"))
    return found


def act(mutant: Mutant) -> str:
    """Open a file, and ask it everything; what is refused is refused with the exit code of a bad model file too."""
    mutant.path.write_bytes(mutant.content)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + mutant.allowance
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    try:
        with np.errstate(all="ignore"):
            ask(mutant.path)
    except ModelFileError as error:
        if not str(error).endswith(".") or len(str(error)) > 500:
            raise AssertionError(f"no sentence: {error}") from error
        command("inspect", mutant.path)
        raise
    except LinnaeusError as error:
        raise AssertionError(f"no refusal of a model file: {error!r}") from error
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return "answered"
