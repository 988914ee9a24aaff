"""Dependency trees: as SVG, with arcs above the words, and as text, with one line for each word."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

from linnaeus.errors import UsageError
from linnaeus.render.picture import Tree
from linnaeus.render.svg_parts import LETTER, MIDDLE, STYLE, color, text
from linnaeus.render.text import clean, pad, width

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

STEP, GAP, BELOW, ABOVE, EDGE, LEG = 20.0, 14.0, 26.0, 18.0, 10.0, 8.0
"""Pixels: from the line of one arc to the next above it, between words, for the words below the arcs, for the label of
the root above them, at the sides, and between two arcs that touch the same word."""

SMALL = 10 / 12
"""The size of labels, relative to that of words."""

MARKED = 2
"""The color of marked arcs, see `svg_parts.color`."""


class Box(NamedTuple):
    """Where a tree is drawn, in pixels."""

    left: float
    top: float
    right: float
    bottom: float


def tree_svg(
    tokens: Sequence[str],
    heads: Sequence[int],
    relations: Sequence[str] = (),
    title: str = "",
    marked: Collection[int] = (),
) -> str:
    """An SVG image of a dependency tree, with arrows from heads to dependents and their relations as labels.

    `heads` are 0 for the root and j + 1 for token j. The arcs to `marked` tokens are colored and thick. The image says
    its title and `tree_text` to those who cannot see it.

    >>> image = tree_svg(["Dogs", "bark"], [2, 0], ["nsubj", "root"])
    >>> image.startswith("<svg"), image.count("<path"), "nsubj" in image
    (True, 4, True)
    """
    tree = _checked(Tree([clean(token) for token in tokens], list(heads), [clean(r) for r in relations], set(marked)))
    wide = _centers(tree)[-1] + _widths(tree)[-1] / 2 + EDGE if tokens else 2 * EDGE
    high = ABOVE + STEP * (max(_levels(tree.heads), default=0) + 1) + BELOW
    said = title or "Dependency tree: " + " ".join(tree.tokens)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:.0f} {high:.0f}" width="{wide:.0f}" role="img" '
        f'font-family="sans-serif" font-size="12">{STYLE}<title>{escape(said)}</title>'
        f"<desc>{escape(tree_text(tokens, heads, relations))}</desc>"
    )
    return "\n".join([head, draw_tree(tree, Box(0.0, 0.0, wide, high)), "</svg>\n"])


def tree_text(tokens: Sequence[str], heads: Sequence[int], relations: Sequence[str] = ()) -> str:
    """One line for each token: its number, the token, its relation if given, and its head.

    >>> print(tree_text(["Dogs", "bark", "loudly"], [2, 0, 2], ["nsubj", "root", "advmod"]))
    1  Dogs    nsubj   2 bark
    2  bark    root    0
    3  loudly  advmod  2 bark
    """
    tree = _checked(Tree([clean(token) for token in tokens], list(heads), [clean(r) for r in relations]))
    columns = [
        [str(m + 1) for m in range(len(tokens))],
        tree.tokens,
        *([tree.relations] if tree.relations else []),
        [f"{h} {tree.tokens[h - 1]}" if h else "0" for h in tree.heads],
    ]
    wide = [max(map(width, column), default=0) for column in columns]
    sides = [">"] + ["<"] * (len(columns) - 1)
    lines = zip(*columns, strict=True)
    return "\n".join("  ".join(map(pad, line, wide, sides)).rstrip() for line in lines)


def draw_tree(tree: Tree, box: Box) -> str:
    """The words at the bottom of the box, and the arcs above them."""
    centers, levels = _centers(tree), _levels(tree.heads)
    if not centers:
        return ""
    whole = centers[-1] + _widths(tree)[-1] / 2 + EDGE
    scale = (box.right - box.left) / whole
    centers = [box.left + scale * x for x in centers]
    base = box.bottom - BELOW
    step = min(3 * STEP, (base - box.top - ABOVE) / (max(levels) + 1))
    lines, words = [], [text(x, base + 17, token, MIDDLE) for x, token in zip(centers, tree.tokens, strict=True)]
    legs = _legs(tree, levels, centers, scale)
    for m, head in enumerate(tree.heads):
        label = tree.relations[m] if tree.relations else "" if head else "root"
        to, height = legs[m, m], step * (levels[m] if head else max(levels) + 1)
        path = _arc(legs[m, head - 1], to, base, height) if head else f"M{to:.1f} {base - height:.1f}V{base - 5:.1f}"
        middle = (legs[m, head - 1] + to) / 2 if head else to
        lines.append(_stroke(path, (to, base), m in tree.marked))
        words.append(_label(middle, base - height - 4, label))
    return "\n".join([*lines, *words])


def _stroke(path: str, end: tuple[float, float], marked: bool) -> str:
    """A line, and the arrow at its end."""
    ink = color(MARKED if marked else 0)
    x, y = end
    line = f'<path d="{path}" fill="none" stroke="{ink}" stroke-width="{2.4 if marked else 1.2}"/>'
    return line + f'<path d="M{x:.1f} {y:.1f}l-3.2 -6.5h6.4z" fill="{ink}"/>'


def _label(x: float, y: float, said: str) -> str:
    """A label, on paper that hides the lines behind it."""
    wide = SMALL * LETTER * width(said)
    paper = f'<rect class="paper" x="{x - wide / 2:.1f}" y="{y - 9:.1f}" width="{wide:.1f}" height="11"/>'
    return paper + text(x, y, said, f'{MIDDLE} font-size="10"') if said else ""


def _arc(start: float, end: float, base: float, height: float) -> str:
    """Up from the head, across with round corners, and down to the dependent."""
    bend = min(6.0, abs(end - start) / 2, height - 6)
    side = bend if end > start else -bend
    top = base - height
    return (
        f"M{start:.1f} {base:.1f}V{top + bend:.1f}q0 {-bend:.1f} {side:.1f} {-bend:.1f}H{end - side:.1f}"
        f"q{side:.1f} 0 {side:.1f} {bend:.1f}V{base - 5:.1f}"
    )


def _levels(heads: Sequence[int]) -> list[int]:
    """How high the arc to each token is: above all shorter arcs that share a stretch with it; 0 below the root.

    >>> _levels([2, 0, 4, 2])
    [1, 0, 1, 2]
    """
    levels, placed = [0] * len(heads), list[tuple[int, int, int]]()
    spans = sorted((abs(head - 1 - m), min(head - 1, m), m) for m, head in enumerate(heads) if head)
    for length, low, m in spans:
        high = low + length
        levels[m] = 1 + max((level for a, b, level in placed if max(a, low) < min(b, high)), default=0)
        placed.append((low, high, levels[m]))
    return levels


def _widths(tree: Tree) -> list[float]:
    return [max(LETTER * width(token), 8.0) for token in tree.tokens]


def _centers(tree: Tree) -> list[float]:
    """The middles of the words, from left to right: words do not touch, and no label is longer than its arc."""
    centers: list[float] = []
    wide = _widths(tree)
    for i in range(len(wide)):
        x = centers[-1] + (wide[i - 1] + wide[i]) / 2 + GAP if i else EDGE + wide[0] / 2
        for m, head in enumerate(tree.heads):
            if head and max(m, head - 1) == i and tree.relations:
                x = max(x, centers[min(m, head - 1)] + LETTER * SMALL * width(tree.relations[m]) + 2 * GAP)
        centers.append(x)
    return centers


def _legs(tree: Tree, levels: list[int], centers: list[float], scale: float) -> dict[tuple[int, int], float]:
    """Where the arc to token m touches a word: {(m, word): x}. Longer arcs are nearer to the middle of the word."""
    legs = {(m, m): centers[m] for m in range(len(levels))}
    for word, wide in enumerate(_widths(tree)):
        for side in (-1, 1):
            ends = [(m, m if word == h - 1 else h - 1) for m, h in enumerate(tree.heads) if h and word in (m, h - 1)]
            touching = sorted((-levels[m], m) for m, other in ends if (other - word) * side > 0)
            apart = min(LEG, scale * (wide + GAP) / 2 / (len(touching) + 1))
            first = 0.5 if tree.heads[word] else 1.0  # the arc from the root is in the middle
            for i, (_, m) in enumerate(touching):
                legs[m, word] = centers[word] + side * (i + first) * apart
    return legs


def _checked(tree: Tree) -> Tree:
    """The tree, if it has a head for each token."""
    n = len(tree.tokens)
    if len(tree.heads) != n or len(tree.relations) not in (0, n):
        raise UsageError("A tree has one head for each token, and one relation or no relations at all.")
    if any(not 0 <= head <= n or head == m + 1 for m, head in enumerate(tree.heads)):
        raise UsageError(f"A head is 0 for the root, or the number of another token, from 1 to {n}.")
    return tree
