"""The figures of the house: how large it is, and what in it should become rarer.

    python tools/house.py [TREE ...] [--list] [--json]

A TREE is a folder with the package (default `src/linnaeus`); each is a column, so that two versions stand side by side:

    git worktree add ../before COMMIT && python tools/house.py ../before/src/linnaeus src/linnaeus

- *Code lines* have something other than a comment or a docstring on them; docstrings are those of modules, classes and
  functions (a string below an attribute is code). *Statements* are those of the syntax tree, docstrings apart: they do
  not depend on the layout.
- *Single importer*: a module that exactly one other module of the package imports. An import from a package counts for
  the module that its `__init__` has the name from; what an `__init__` imports from its own folder does not count;
  imports under `TYPE_CHECKING` and inside functions do. *Not public*: neither the `__init__` of its folder nor a table
  there names it, so that it could go into its importer.
- *Lines with `Any`*: the word stands on them, wherever.
- *Probing*: `hasattr`, and `getattr` with a written name. Attributes of other libraries' objects (`OTHERS`)
  are asked for to recognize what a user passes; the rest look for what our own pieces can do. `getattr` with a computed
  name is counted apart, and so is `has_method`, which checks a user's own piece where it is passed in.
- *isinstance on spaces*: `isinstance(x, Space)` or `case Space()` with a class of `outputs/`, outside `outputs/`.
- *Names written more than once*: of the names that an `__init__` re-exports, those that stand in it more than once, in
  imports, tables and lists; `times in all` is how often all of them stand there.

`--list` prints the places, one line each; `--json` one JSON object per tree and per room.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LAYOUT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENCODING, tokenize.ENDMARKER),
}
WORD = re.compile(r"\w+")
OTHERS = {
    *("column_names", "columns", "dtypes", "schema", "tocsr", "nnz", "to_numpy", "isna", "iloc", "chunks", "to_pylist"),
    *("as_py", "dtype", "ndim", "shape", "with_format", "iter", "int2str", "features", "names", "predict_proba"),
    *("__len__", "__iter__", "__array__", "__arrow_c_stream__", "__arrow_c_array__", "__dataframe__"),
    *("__module__", "__qualname__", "__name__", "buffer", "fileno", "is_open", "sched_getaffinity"),
    *("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"),
}
"""Attributes of NumPy, SciPy, pandas, Arrow, Hugging Face, scikit-learn, functions, files and the operating system."""


@dataclass(frozen=True)
class Module:
    """One file of a package: its dotted name, its room (the first folder), its text, the nodes of its syntax tree."""

    name: str
    room: str
    path: Path
    text: str
    nodes: tuple[ast.AST, ...]

    @property
    def is_package(self) -> bool:
        """Whether it is the `__init__` of a folder."""
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        """The dotted name of its folder."""
        return self.name if self.is_package else self.name.rpartition(".")[0]


@dataclass
class House:
    """The modules of a package by name, and the places found in them, `file:line: what`, by figure."""

    root: Path
    modules: dict[str, Module]
    places: dict[str, list[str]] = field(default_factory=dict)


def read(root: Path) -> House:
    """All modules below a folder."""
    modules = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join([root.name, *(parts[:-1] if parts[-1] == "__init__" else parts)])
        text = path.read_text(encoding="utf-8")
        modules[name] = Module(name, parts[0] if len(parts) > 1 else ".", path, text, tuple(ast.walk(ast.parse(text))))
    return House(root, modules)


def code_lines(module: Module) -> int:
    """Lines with code: not blank, not a comment, not a docstring."""
    lines = set[int]()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in _docstrings(module):
        lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def statements(module: Module) -> int:
    """Statements of the syntax tree, docstrings apart."""
    return sum(isinstance(node, ast.stmt) for node in module.nodes) - len(list(_docstrings(module)))


def _docstrings(module: Module) -> Iterator[ast.Expr]:
    for node in module.nodes:
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            yield first


def importers(house: House) -> dict[str, set[str]]:
    """The modules that import each module, by the rule above."""
    exported = {name: _exports(module) for name, module in house.modules.items() if module.is_package}
    found: dict[str, set[str]] = {name: set() for name in house.modules}
    for name, module in house.modules.items():
        for target in _targets(house, exported, module):
            inside = module.is_package and house.modules[target].package.startswith(name)
            if target != name and not inside:
                found[target].add(name)
    return found


def _targets(house: House, exported: dict[str, dict[str, str]], module: Module) -> Iterator[str]:
    """The modules that a module imports; a name of a package is looked up where the package has it from."""
    for node in module.nodes:
        if isinstance(node, ast.Import):
            yield from (item.name for item in node.names if item.name in house.modules)
        elif isinstance(node, ast.ImportFrom) and (base := _base(module, node)) in house.modules:
            for item in node.names:
                if f"{base}.{item.name}" in house.modules:
                    yield f"{base}.{item.name}"
                else:
                    home = exported.get(base, {}).get(item.name, base)
                    yield home if home in house.modules else base


def _base(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    folder = module.package.split(".")
    return ".".join([*folder[: len(folder) - node.level + 1], *([node.module] if node.module else [])])


def _exports(module: Module) -> dict[str, str]:
    """The names that an `__init__` re-exports, and the module of each."""
    nodes = [node for node in module.nodes if isinstance(node, ast.ImportFrom)]
    return {
        item.asname or item.name: base
        for node in nodes
        if (base := _base(module, node)).startswith(module.package + ".")
        for item in node.names
    }


def single_importers(house: House) -> tuple[list[str], list[str]]:
    """Modules with one importer, as places; and those of them that are not public."""
    once, private = [], []
    for name, users in importers(house).items():
        module = house.modules[name]
        if len(users) == 1 and not module.is_package:
            place = f"{_place(house, module, 1)}: only {next(iter(users))} imports it"
            once.append(place)
            if not _named_by_folder(house, module):
                private.append(place)
    return once, private


def _named_by_folder(house: House, module: Module) -> bool:
    """Whether an `__init__` above re-exports from the module, or a table there names it ("structured.Hinge")."""
    folder = house.modules.get(module.package)
    while folder is not None:
        short = module.name.removeprefix(folder.name + ".")
        strings = {n.value for n in folder.nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        if module.name in _exports(folder).values() or any(s == short or s.startswith(short + ".") for s in strings):
            return True
        folder = house.modules.get(folder.name.rpartition(".")[0])
    return False


def lines_with_any(house: House) -> list[str]:
    """Lines on which the word stands."""
    lines = ((m, i, line) for m in house.modules.values() for i, line in enumerate(m.text.splitlines(), 1))
    return [f"{_place(house, m, i)}: {line.strip()}" for m, i, line in lines if "Any" in WORD.findall(line)]


def probing(house: House) -> dict[str, list[str]]:
    """Calls of `hasattr` and `getattr` by what they look for, and of `has_method`."""
    written: list[str] = []
    ours: list[str] = []
    computed: list[str] = []
    checks: list[str] = []
    for module, node in _calls(house, {"hasattr", "getattr", "has_method"}):
        place = f"{_place(house, module, node.lineno)}: {ast.unparse(node)}"
        called, wanted = ast.unparse(node.func), node.args[1] if len(node.args) > 1 else None
        name = wanted.value if isinstance(wanted, ast.Constant) else None
        if called == "has_method":
            checks.append(place)
        elif called == "getattr" and name is None:
            computed.append(place)
        else:
            written.append(place)
            ours += [] if name in OTHERS else [place]
    return {
        "probing (hasattr, getattr with a written name)": written,
        "  of these for what our own pieces can do": ours,
        "getattr with a computed name": computed,
        "has_method (a user's own piece)": checks,
    }


def _calls(house: House, names: set[str]) -> Iterator[tuple[Module, ast.Call]]:
    for module in house.modules.values():
        for node in module.nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names:
                yield module, node


def space_checks(house: House) -> list[str]:
    """Questions after the class of an output space, outside `outputs/`."""
    outputs = [m for m in house.modules.values() if m.room == "outputs"]
    spaces = {c.name for m in outputs for c in m.nodes if isinstance(c, ast.ClassDef)}
    found = []
    for module in house.modules.values():
        known = _from_outputs(house, module) & spaces if module.room != "outputs" else set[str]()
        for node in module.nodes:
            if _class_asked(node) & known or any(c.startswith("outputs.") for c in _class_asked(node)):
                place = _place(house, module, getattr(node, "lineno", 1))
                found.append(f"{place}: {ast.unparse(node)}")
    return found


def _from_outputs(house: House, module: Module) -> set[str]:
    nodes = [node for node in module.nodes if isinstance(node, ast.ImportFrom)]
    nodes = [node for node in nodes if _base(module, node).startswith(f"{house.root.name}.outputs")]
    return {item.asname or item.name for node in nodes for item in node.names}


def _class_asked(node: ast.AST) -> set[str]:
    """The classes that an `isinstance` or a `case` asks for."""
    if isinstance(node, ast.MatchClass):
        return {ast.unparse(node.cls)}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
        return {ast.unparse(n) for n in ast.walk(node.args[1]) if isinstance(n, ast.Name | ast.Attribute)}
    return set()


def names_written(house: House) -> tuple[list[str], Counter[str]]:
    """Places of names that an `__init__` has more than once; and how often each name stands, all rooms together."""
    repeated, times = [], Counter[str]()
    for module in house.modules.values():
        names = set(_exports(module)) if module.is_package else set[str]()
        found = Counter(word for word in _words(module) if word in names)
        times.update({f"{module.name}.{name}": count for name, count in found.items()})
        repeated += [f"{_place(house, module, 1)}: {n} {count} times" for n, count in found.items() if count > 1]
    return repeated, times


def _words(module: Module) -> Iterator[str]:
    """The names that stand in a module: an import is one writing, also `from a import B as B`."""
    docstrings = {node.value for node in _docstrings(module)}
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom):
            yield from (item.name for item in node.names)
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in docstrings:
            yield node.value.rpartition(".")[2]


def _place(house: House, module: Module, line: int) -> str:
    return f"{module.path.relative_to(house.root)}:{line}"


def figures(house: House) -> dict[str, int]:
    """All figures of a tree by name; the places behind them are kept."""
    modules = house.modules.values()
    once, private = single_importers(house)
    repeated, times = names_written(house)
    house.places = {
        "modules with a single importer": once,
        "  of these not public": private,
        "lines with Any": lines_with_any(house),
        **probing(house),
        "isinstance on spaces outside outputs": space_checks(house),
        "public names written more than once in a room": repeated,
    }
    sizes = {"files": len(house.modules), "code lines": sum(map(code_lines, modules))}
    sizes["statements"] = sum(map(statements, modules))
    return {
        **sizes,
        **{name: len(places) for name, places in house.places.items()},
        "public names": len(times),
        "  times in all": times.total(),
    }


def rooms(house: House) -> dict[str, tuple[int, int, int]]:
    """Files, code lines and statements of each room; "." are the modules beside the rooms."""
    found: dict[str, tuple[int, int, int]] = {}
    for module in house.modules.values():
        files, lines, count = found.get(module.room, (0, 0, 0))
        found[module.room] = files + 1, lines + code_lines(module), count + statements(module)
    return dict(sorted(found.items()))


def table(houses: list[House]) -> Iterator[str]:
    """The figures, a column for each tree; below them the rooms: files, code lines, statements."""
    columns = [figures(house) for house in houses]
    for name in columns[0]:
        yield f"{name:<48}" + "".join(f"{column[name]:>18,}" for column in columns)
    yield ""
    yield f"{'room':<48}" + "".join(f"{'files lines stmts':>18}" for _ in houses)
    parts = [rooms(house) for house in houses]
    for room in sorted(set().union(*parts)):
        cells = (part.get(room) for part in parts)
        yield f"{room:<48}" + "".join(f"{f'{c[0]:>3}{c[1]:>6}{c[2]:>6}' if c else '-':>18}" for c in cells)


def main(arguments: list[str]) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="*", default=["src/linnaeus"])
    parser.add_argument("--list", action="store_true", help="the places behind the figures, one line each")
    parser.add_argument("--json", action="store_true", help="one JSON object per tree, one per room")
    options = parser.parse_args(arguments)
    houses = [read(Path(tree)) for tree in options.trees]
    if options.json:
        for house in houses:
            print(json.dumps({"tree": str(house.root), **{k.strip(): v for k, v in figures(house).items()}}))
            for room, (files, lines, count) in rooms(house).items():
                row = {"room": room, "files": files, "code lines": lines, "statements": count}
                print(json.dumps({"tree": str(house.root), **row}))
    else:
        print("\n".join(table(houses)))
    if options.list:
        for house in houses:
            for name, places in house.places.items():
                print("\n".join([f"\n{name.strip()} ({house.root}):", *places]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
