"""Plain data as TOML. Python reads it and does not write it; a recipe needs little of it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from linnaeus.errors import DataError, MachineError, UsageError, said
from linnaeus.types import Json

MAX_RECIPE_BYTES = 1 << 20


def read_table(path: str | os.PathLike[str]) -> dict[str, Json]:
    """The table in a recipe's file, TOML or JSON."""
    import tomllib

    from linnaeus.data.options import ReadOptions
    from linnaeus.data.streams import File, read_whole

    is_json = str(path).endswith(".json")
    try:
        text = read_whole(File(Path(path), str(path)), ReadOptions(), MAX_RECIPE_BYTES)[0].decode()
        value = json.loads(text) if is_json else tomllib.loads(text)
    except RecursionError as error:
        raise UsageError(f"The recipe {path} is nested too deeply; write fewer tables inside tables.") from error
    except (DataError, MachineError) as error:
        raise UsageError(f"Cannot read the recipe {error}") from error
    except ValueError as error:
        raise UsageError(f"The recipe {path} is not {'JSON' if is_json else 'TOML'}: {said(error)}.") from error
    if not isinstance(value, dict):
        raise UsageError(f"The recipe {path} is not a table of parts and values.")
    return value


def to_toml(table: Mapping[str, Json], above: str = "") -> str:
    """A table and those inside it.

    >>> print(to_toml({"seed": 0, "learner": {"kind": "linear", "tol": 0.1}}), end="")
    seed = 0
    <BLANKLINE>
    [learner]
    kind = "linear"
    tol = 0.1
    """
    lines = [f"{_key(name)} = {_value(value)}\n" for name, value in table.items() if not _nested(value)]
    for name, value in table.items():
        path = f"{above}.{_key(name)}" if above else _key(name)
        for part in [value] if isinstance(value, Mapping) else value if _nested(value) else []:
            head = f"[{path}]" if isinstance(value, Mapping) else f"[[{path}]]"
            lines.append(f"\n{head}\n{to_toml(part, path)}")
    return "".join(lines)


def _nested(value: Json) -> bool:
    """Whether a value is a table, or a list of tables."""
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)
    )


def _value(value: Json) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(name)} = {_value(item)}" for name, item in value.items()) + "}"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)


def _key(name: str) -> str:
    return name if name.replace("_", "").replace("-", "").isalnum() and name.isascii() else json.dumps(name)
