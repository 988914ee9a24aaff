"""Write the Unicode tables of the kernels as a C++ header: `python make_tables.py OUT.hpp`.

Two-stage tables: `stage1[code >> 7]` is the number of a block of 128 entries in `stage2`; equal blocks are stored once.
"""

from __future__ import annotations

import importlib.util
import sys
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType

BLOCK = 128
CODES = 0x110000


def load_characters() -> ModuleType:
    """The module that defines the classes, by path: the package is not installed while it is being built."""
    path = Path(__file__).resolve().parent.parent / "reference" / "characters.py"
    spec = importlib.util.spec_from_file_location("characters", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"cannot read {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def two_stage(name: str, kind: str, values: Sequence[int]) -> list[str]:
    """C++ lines of one two-stage table."""
    blocks: dict[tuple[int, ...], int] = {}
    stage1 = [blocks.setdefault(tuple(values[i : i + BLOCK]), len(blocks)) for i in range(0, CODES, BLOCK)]
    stage2 = [value for block in blocks for value in block]
    return [
        f"inline constexpr uint16_t {name}_stage1[] = {{{','.join(map(str, stage1))}}};",
        f"inline constexpr {kind} {name}_stage2[] = {{{','.join(map(str, stage2))}}};",
    ]


def case_map(name: str, change: Callable[[str], str]) -> list[str]:
    """C++ lines of a case map: for each code point the number of its UTF-8 replacement, 0 for none."""
    replacements: dict[str, int] = {}
    values = [0] * CODES
    for code in range(CODES):
        if 0xD800 <= code <= 0xDFFF:
            continue
        changed = change(chr(code))
        if changed != chr(code):
            values[code] = replacements.setdefault(changed, len(replacements) + 1)
    rows = ["{0,{0}}"]
    for text in replacements:
        data = text.encode()
        rows.append(f"{{{len(data)},{{{','.join(map(str, data))}}}}}")
    return [*two_stage(name, "uint16_t", values), f"inline constexpr Replacement {name}_text[] = {{{','.join(rows)}}};"]


def main(out: str) -> None:
    """Write the header."""
    characters = load_characters()
    codes = [chr(code) for code in range(CODES)]
    lines = [
        "#pragma once",
        "#include <cstdint>",
        "namespace linnaeus {",
        f'inline constexpr char unicode_version[] = "{unicodedata.unidata_version}";',
        "struct Replacement { uint8_t size; uint8_t bytes[15]; };",
    ]
    names = ("WORD", "MARK", "SPACE", "SYMBOL", "UNSPACED", "DIGIT", "CASED", "IGNORABLE")
    lines += [f"inline constexpr uint8_t {name} = {getattr(characters, name)};" for name in names]
    lines += two_stage("class", "uint8_t", [characters.classify.__wrapped__(c) for c in codes])
    lines += two_stage("suspect", "uint8_t", [int(characters.suspect.__wrapped__(c)) for c in codes])
    lines += case_map("lower", str.lower)
    lines += case_map("fold", str.casefold)
    Path(out).write_text("\n".join([*lines, "}  // namespace linnaeus", ""]))


if __name__ == "__main__":
    main(sys.argv[1])
