"""What must not stand in the tree, checked, and the tail of the sizes, reported for people to look at.

    python tools/check_limits.py [ROOT]

Stubs, leftovers, empty rooms and code that could run what it reads are findings: one line each, `file:line: what is
wrong`, and the exit code is 1. The longest files and functions and the longest lists of parameters are only shown: past
the sizes below, look whether there is a second idea; where there is none, it may stay.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LOOK_FROM = {"lines in a file": 400, "lines in a function": 40, "lines in a kernel": 80, "parameters": 6}
"""Sizes above these are shown, the largest first."""
SHOWN = 8
"""How many of each."""

CODE = {".py", ".pyi", ".cpp", ".hpp"}
TEXT = CODE | {".md", ".toml", ".yml", ".yaml", ".txt", ".sh", ".cmake", ""}
FOLDERS = ("src", "tests", "tools", "benchmarks", "docs", "examples", ".ci", ".github")

LEFTOVERS = {
    re.compile(r"\b(TO[D]O|FIX[M]E)\b"): "a note to do something later: do it, or open an issue",
    re.compile(r"(?<![\w.~/])/(work|root|home)(?=/|\b)(?!\s*=)"): "a path of one machine",
}
RUNS_CODE = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
RUNS_STRINGS = {"eval", "exec", "__import__"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


class Finding(NamedTuple):
    """One line of the report."""

    path: Path
    line: int
    text: str


class Size(NamedTuple):
    """How much of something a file or a function has."""

    kind: str
    amount: int
    path: Path
    line: int
    name: str


def check_tree(root: Path) -> Iterator[Finding]:
    """All findings below a repository's root."""
    for path in _files(root):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield from check_leftovers(path, text)
        if path.suffix == ".py" and path.is_relative_to(root / "src"):
            tree = ast.parse(text)
            yield from check_stubs(path, tree)
            yield from check_safety(path, tree)
    yield from check_folders(root / "src")


def tail(root: Path) -> list[Size]:
    """What is larger than most, the largest of each kind first."""
    sources = [path for path in _files(root) if path.suffix in CODE and path.is_relative_to(root / "src")]
    found = [size for path in sources for size in sizes(path, path.read_text(encoding="utf-8", errors="replace"))]
    long = sorted((size for size in found if size.amount > LOOK_FROM[size.kind]), key=lambda size: -size.amount)
    return [size for kind in LOOK_FROM for size in [size for size in long if size.kind == kind][:SHOWN]]


def _files(root: Path) -> list[Path]:
    below = [p for folder in FOLDERS for p in (root / folder).rglob("*") if "__pycache__" not in p.parts]
    return sorted(p for p in [*root.glob("*"), *below] if p.is_file() and p.suffix in TEXT)


def check_leftovers(path: Path, text: str) -> Iterator[Finding]:
    """Notes to oneself, and paths of the machine it was written on."""
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, meaning in LEFTOVERS.items():
            if found := pattern.search(line):
                yield Finding(path, number, f"{found[0]!r} is {meaning}.")


def sizes(path: Path, text: str) -> Iterator[Size]:
    """The sizes of one source file and of its functions."""
    yield Size("lines in a file", text.count("\n"), path, 1, path.name)
    if path.suffix == ".py":
        yield from _function_sizes(path, ast.parse(text), text)
    elif path.suffix in {".cpp", ".hpp"}:
        yield from _kernel_sizes(path, text)


def _function_sizes(path: Path, tree: ast.Module, text: str) -> Iterator[Size]:
    """Lines of code and parameters of each Python function."""
    lines = text.splitlines()
    methods = {f for c in ast.walk(tree) if isinstance(c, ast.ClassDef) for f in c.body if isinstance(f, Function)}
    for node in ast.walk(tree):
        if isinstance(node, Function):
            yield Size("lines in a function", _code_lines(node, lines), path, node.lineno, node.name)
            yield Size("parameters", _parameters(node, node in methods), path, node.lineno, node.name)


def _code_lines(node: Function, lines: list[str]) -> int:
    inside = set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is not None:
        inside -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return sum(1 for n in inside if lines[n - 1].strip() and not lines[n - 1].lstrip().startswith("#"))


def _parameters(node: Function, method: bool) -> int:
    given = node.args
    count = len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)
    count += (given.vararg is not None) + (given.kwarg is not None)
    static = any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)
    return count - 1 if method and not static else count


def check_stubs(path: Path, tree: ast.Module) -> Iterator[Finding]:
    """Functions that are only promised: `...` outside a protocol, and NotImplementedError."""
    allowed = {f for c in ast.walk(tree) if isinstance(c, ast.ClassDef) and _is_protocol(c) for f in c.body}
    for node in ast.walk(tree):
        if isinstance(node, Function) and node not in allowed and _is_promise(node):
            yield Finding(path, node.lineno, f"{node.name} is a stub: write it, or leave it out.")
        if isinstance(node, ast.Raise) and "NotImplementedError" in ast.dump(node):
            yield Finding(path, node.lineno, "NotImplementedError marks a stub: write it, or leave it out.")


def _is_protocol(node: ast.ClassDef) -> bool:
    return any("Protocol" in ast.unparse(base) for base in node.bases)


def _is_promise(node: Function) -> bool:
    if any("overload" in ast.unparse(d) for d in node.decorator_list):
        return False
    last = node.body[-1]
    return isinstance(last, ast.Expr) and isinstance(last.value, ast.Constant) and last.value.value is ...


def check_safety(path: Path, tree: ast.Module) -> Iterator[Finding]:
    """Data are never run: no pickle and its kin, no eval or exec, no yaml.load, no allow_pickle."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            for name in RUNS_CODE & {n.split(".")[0] for n in names}:
                yield Finding(path, node.lineno, f"{name} can run code that it reads from a file.")
        elif isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in RUNS_STRINGS or called == "yaml.load":
                yield Finding(path, node.lineno, f"{called} runs what it is given.")
            if any(k.arg == "allow_pickle" and ast.unparse(k.value) != "False" for k in node.keywords):
                yield Finding(path, node.lineno, "allow_pickle can run code that it reads from a file.")


_NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.S)
_MACRO = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
_ATTRIBUTE = re.compile(r"\b(?:alignas|__attribute__|__declspec|decltype|requires)\s*\((?:[^()]|\([^()]*\))*\)")


def _kernel_sizes(path: Path, text: str) -> Iterator[Size]:
    """Lines of code of each C++ function, by its braces: approximate, and enough."""
    plain = _MACRO.sub(_blank, _NOISE.sub(_blank, text))
    start, opened = 0, list[tuple[bool, int, str]]()
    for found in re.finditer(r"[{};]", plain):
        if found[0] == "{":
            head = plain[start : found.start()]
            outermost = not any(is_function for is_function, _, _ in opened)
            opened.append((outermost and "(" in _ATTRIBUTE.sub("", head), found.start(), head))
        elif found[0] == "}" and opened:
            is_function, begin, head = opened.pop()
            code = sum(1 for line in plain[begin : found.end()].splitlines() if line.strip())
            if is_function:
                name = re.findall(r"([\w:~]+)\s*\(", head)[:1] or ["a function"]
                yield Size("lines in a kernel", code, path, plain.count("\n", 0, begin) + 1, name[0])
        start = found.end()


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


def check_folders(root: Path) -> Iterator[Finding]:
    """Rooms without a tenant: a folder with nothing in it, or with an `__init__.py` that holds only words."""
    for folder in sorted(p for p in root.rglob("*") if p.is_dir() and p.name != "__pycache__"):
        inside = [p for p in folder.iterdir() if p.name != "__pycache__"]
        if not inside or (inside == [folder / "__init__.py"] and _only_words(inside[0])):
            yield Finding(folder, 1, "an empty room: fill it, or leave it out.")


def _only_words(path: Path) -> bool:
    body = ast.parse(path.read_text(encoding="utf-8")).body
    future = [n for n in body if isinstance(n, ast.ImportFrom) and n.module == "__future__"]
    return all(isinstance(node, ast.Expr) or node in future for node in body)


def main(arguments: list[str]) -> int:
    """Print the tail and the findings; 1 when there are findings."""
    root = Path(arguments[0] if arguments else ".").resolve()
    for size in tail(root):
        print(f"{size.path.relative_to(root)}:{size.line}: {size.name} has {size.amount} {size.kind}.")
    findings = list(check_tree(root))
    for path, line, text in findings:
        print(f"{path.relative_to(root)}:{line}: {text}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
