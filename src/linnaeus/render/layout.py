"""How lines and tables come to fit into the columns of a screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from linnaeus.render.page import Line, Table, Word
from linnaeus.render.text import pad, width

GAP = 2
"""Columns between those of a table."""
LEAST_TEXT, LEAST_BAR = 12, 8
"""Columns that text of a table keeps, and a bar."""

_START = re.compile(r"^ *(?:[^\w\s] )?")
"""White space, perhaps with the sign of an item in a list."""
_SIGNS = frozenset("_-/.,:;|+&")
"""Signs inside of long names, after which these may be broken."""
_WORDS = re.compile(r"\S+|\s+")
_SHELL_WORDS = re.compile(r"""(?:--?[\w-]+ (?!-))?(?:"[^"]*"|'[^']*'|\S)+|\s+""")
"""A command is not broken inside quotes, nor between an option and its value."""


def lay_out(block: Line | Table, columns: int | None) -> list[Line]:
    """The lines of a block, none wider than `columns`; None: as wide as they are."""
    if isinstance(block, Table):
        rows = _rows(block, columns)
        return rows if columns is None else [part for row in rows for part in fold(row, columns)]
    return [block] if columns is None else fold(block, columns)


def fold(words: Line, columns: int) -> list[Line]:
    """A line broken between words into lines of at most so many columns, which all begin below its first word.

    >>> ["".join(word.text for word in part) for part in fold((Word("  - one two three"),), 12)]
    ['  - one two', '    three']
    """
    text = "".join(word.text for word in words)
    if width(text) <= columns:
        return [words]
    shell = any(word.style == "command" for word in words)
    left = len(_START.findall(text)[0]) + 4 * shell
    left = left if left <= columns // 2 else 0
    breaks = _breaks(words, columns - 2 * shell, left, _SHELL_WORDS if shell else _WORDS)
    parts = [_piece(words, start, end) for start, end in breaks]
    if shell:
        parts[:-1] = [(*part, Word(" \\")) for part in parts[:-1]]
    return [parts[0], *((Word(" " * left), *part) for part in parts[1:])]


def _breaks(words: Line, columns: int, left: int, tokens: re.Pattern[str]) -> list[tuple[int, int]]:
    """Where each line begins and ends in the text; the spaces between two lines belong to none."""
    text = "".join(word.text for word in words)
    found: list[tuple[int, int]] = []
    begin = end = 0
    room = columns
    for token in tokens.finditer(text):
        start, stop = token.span()
        size = width(token[0])
        if token[0].isspace() and start:
            room -= size
            continue
        if size > room and end > begin:
            found.append((begin, end))
            begin, room = start, columns - left
        while size > room:  # longer than a line
            cut = _cut(words, (start, stop), room)
            found.append((begin, cut))
            begin = start = cut
            room, size = columns - left, width(text[cut:stop])
        room, end = room - size, stop
    return [*found, (begin, end)]


def _cut(words: Line, span: tuple[int, int], room: int) -> int:
    """Where to break what is longer than a line: between styles, else after a sign such as _, else where it ends."""
    text, (start, stop) = "".join(word.text for word in words), span
    last = start + 1
    while last < stop and width(text[start : last + 1]) <= room:
        last += 1
    edges, at = [], 0
    for word in words:
        at += len(word.text)
        edges.append(at)
    edges = [edge for edge in edges if start < edge <= last]
    edges = edges or [i for i in range(start + (last - start) // 2, last + 1) if text[i - 1] in _SIGNS]
    return max(edges, default=last)


def _piece(words: Line, start: int, end: int) -> Line:
    """The characters from start to end, with their styles."""
    found, at = [], 0
    for word in words:
        text = word.text[max(0, start - at) : max(0, end - at)]
        if text:
            found.append(Word(text, word.style))
        at += len(word.text)
    return tuple(found)


def _rows(table: Table, columns: int | None) -> list[Line]:
    """The rows of a table, perhaps some columns below the others."""
    natural = [_natural(table, i) for i in range(len(table.align))]
    if columns is None:
        return list(_group(table, natural, range(len(natural))))
    room = max(1, columns - table.left)
    lines: list[Line] = []
    for group in _groups(table, natural, room):
        lines += [()] if lines else []
        widths = dict(zip(group, _narrowed([(natural[i], table.align[i]) for i in group], room), strict=True))
        kept = [i for i in group if widths[i] or not natural[i]]
        lines += _group(table, [widths.get(i, 0) for i in range(len(natural))], kept)
    return lines


def _natural(table: Table, column: int) -> int:
    return max((width(row[column].text) for row in table.rows), default=0)


def _groups(table: Table, natural: Sequence[int], room: int) -> list[list[int]]:
    """Columns that stand beside each other: all, or those that fit, with the first one in each group."""
    least = [_least(size, side) for size, side in zip(natural, table.align, strict=True)]
    groups, used = [[0]], least[0]
    for unit in _units(table):
        size = sum(GAP + least[i] for i in unit if table.align[i] != "=")
        if size and used + size > room and len(groups[-1]) > 1:
            groups.append([0])
            used = least[0]
        groups[-1] += unit
        used += size
    return groups


def _units(table: Table) -> list[list[int]]:
    """The columns after the first that stay together: one, and those without a name that follow it."""
    found: list[list[int]] = []
    for i in range(1, len(table.align)):
        if found and table.rows and not table.rows[0][i].text:
            found[-1].append(i)
        else:
            found.append([i])
    return found


def _least(size: int, side: str) -> int:
    return size if side == ">" else min(size, LEAST_TEXT if side == "<" else LEAST_BAR)


def _narrowed(columns: Sequence[tuple[int, str]], room: int) -> list[int]:
    """Widths that fit: bars become shorter, or go; then the widest text gives way."""
    widths = [size for size, _ in columns]

    def over() -> int:
        return sum(widths) + GAP * (sum(size > 0 for size in widths) - 1) - room

    for i, (size, side) in enumerate(columns):
        if side == "=" and over() > 0:
            widths[i] = max(min(size, LEAST_BAR), size - over())
    for i, (_, side) in enumerate(columns):
        if side == "=" and over() > 0 and not _can_give(columns, widths, over()):
            widths[i] = 0
    while over() > 0:
        texts = [i for i, (size, side) in enumerate(columns) if side == "<" and widths[i] > _least(size, side)]
        if not texts:
            break
        widths[max(texts, key=widths.__getitem__)] -= 1
    return widths


def _can_give(columns: Sequence[tuple[int, str]], widths: Sequence[int], amount: int) -> bool:
    """Whether the texts can become so much narrower."""
    return amount <= sum(
        width - _least(size, side) for (size, side), width in zip(columns, widths, strict=True) if side == "<"
    )


def _group(table: Table, widths: Sequence[int], kept: Sequence[int]) -> Iterator[Line]:
    """The rows with these columns; a row is as high as its highest cell."""
    scales = {i: widths[i] / max(1, _natural(table, i)) for i in kept if table.align[i] == "="}
    for row in table.rows:
        cells = [_shortened(row[i], scales[i]) if i in scales else _folded(row[i], widths[i]) for i in kept]
        for height in range(max(map(len, cells), default=0)):
            parts = [Word(" " * table.left)]
            for i, cell in zip(kept, cells, strict=True):
                word = cell[height] if height < len(cell) else Word("")
                parts += [Word(pad(word.text, widths[i], table.align[i]), word.style), Word(" " * GAP)]
            yield tuple(parts[:-1])


def _folded(cell: Word, columns: int) -> list[Word]:
    """The lines of a cell."""
    parts = fold((cell,), max(1, columns))
    return [Word("".join(word.text for word in part), cell.style) for part in parts]


def _shortened(cell: Word, scale: float) -> list[Word]:
    """A bar by its share of the columns that are there; what is not zero stays so."""
    return [Word(cell.text[:1] * max(1, round(len(cell.text) * scale)) if scale < 1 else cell.text, cell.style)]
