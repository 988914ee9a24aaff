"""The limits of the house, checked: sizes, stubs, leftovers, and code that could run what it reads.

    python tools/check_limits.py [ROOT]

Each finding is one line, `file:line: what is wrong`; the exit code is 1 when there is one. There is no list of
exceptions: what does not fit is cut in two.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

FILE_LINES = 500
FUNCTION_LINES = 40
KERNEL_LINES = 80
PARAMETERS = 6

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


def check_tree(root: Path) -> Iterator[Finding]:
    """All findings below a repository's root."""
    for path in _files(root):
        text = path.read_text(encoding="utf-8", errors="replace")
        yield from check_leftovers(path, text)
        if path.suffix in CODE and path.is_relative_to(root / "src"):
            yield from check_source(path, text)
    yield from check_folders(root / "src")


def _files(root: Path) -> list[Path]:
    below = [p for folder in FOLDERS for p in (root / folder).rglob("*") if "__pycache__" not in p.parts]
    return sorted(p for p in [*root.glob("*"), *below] if p.is_file() and p.suffix in TEXT)


def check_leftovers(path: Path, text: str) -> Iterator[Finding]:
    """Notes to oneself, and paths of the machine it was written on."""
    for number, line in enumerate(text.splitlines(), 1):
        for pattern, meaning in LEFTOVERS.items():
            if found := pattern.search(line):
                yield Finding(path, number, f"{found[0]!r} is {meaning}.")


def check_source(path: Path, text: str) -> Iterator[Finding]:
    """The sizes of one source file and of its functions, and what it must not do."""
    lines = text.count("\n")
    if lines > FILE_LINES:
        yield Finding(path, 1, f"{lines} lines; a file has at most {FILE_LINES}: cut it in two.")
    if path.suffix == ".py":
        tree = ast.parse(text)
        yield from check_functions(path, tree, text)
        yield from check_stubs(path, tree)
        yield from check_safety(path, tree)
    elif path.suffix in {".cpp", ".hpp"}:
        yield from check_kernels(path, text)


def check_functions(path: Path, tree: ast.Module, text: str) -> Iterator[Finding]:
    """Lines of code and parameters of each Python function."""
    lines = text.splitlines()
    methods = {f for c in ast.walk(tree) if isinstance(c, ast.ClassDef) for f in c.body if isinstance(f, Function)}
    for node in ast.walk(tree):
        if not isinstance(node, Function):
            continue
        code = _code_lines(node, lines)
        if code > FUNCTION_LINES:
            yield Finding(path, node.lineno, f"{node.name} has {code} lines; at most {FUNCTION_LINES}.")
        count = _parameters(node, node in methods)
        if count > PARAMETERS:
            yield Finding(path, node.lineno, f"{node.name} has {count} parameters; at most {PARAMETERS}.")


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


def check_kernels(path: Path, text: str) -> Iterator[Finding]:
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
            if is_function and code > KERNEL_LINES:
                name = re.findall(r"([\w:~]+)\s*\(", head)[:1] or ["a function"]
                number = plain.count("\n", 0, begin) + 1
                yield Finding(path, number, f"{name[0]} has {code} lines; at most {KERNEL_LINES}.")
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
    """Print the findings; 1 when there are any."""
    root = Path(arguments[0] if arguments else ".").resolve()
    findings = list(check_tree(root))
    for path, line, text in findings:
        print(f"{path.relative_to(root)}:{line}: {text}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
