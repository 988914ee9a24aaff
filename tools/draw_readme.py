"""Makes what the README shows: the picture of an explanation, the picture of a terminal, and the table of figures.

    python tools/draw_readme.py [--check]

The explanation is that of the first Python block of the README, which is run; the terminal shows what `linnaeus train`
prints on the embedded data; the figures are read from `benchmarks/README.md`. With `--check` nothing is written, and
the exit code is 1 where words differ (digits may).

The words of the explanation have a stated length, so that the colors lie under them whatever font there is.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
import sys
import tempfile
from contextlib import chdir
from html import escape
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.measured import measured_table
from tools.write_docs import FENCE, ROOT, TIMES, call_here, difference

IMAGES = ROOT / "docs" / "images"
MEASURED = re.compile(r"(?<=<!-- measured: begin -->\n).*?(?=<!-- measured: end -->)", re.DOTALL)
CELL, LEFT, WIDTH, BAR = 9.6, 24.0, 720, 220.0
BLUE, ORANGE = "#0072b2", "#d55e00"
STYLE = """
  .card { fill: #ffffff; stroke: #d0d7de }
  text { fill: #1f2328; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 16px }
  .small { font-size: 13px; fill: #59636e }
  @media (prefers-color-scheme: dark) {
    .card { fill: #0d1117; stroke: #3d444d }
    text { fill: #f0f6fc }
    .small { fill: #9198a1 }
  }
"""
TERMINAL = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
  aria-label="linnaeus train in a terminal">
<style>
  .{unique_id}-matrix {{
    font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: {char_height}px;
    line-height: {line_height}px; font-variant-east-asian: full-width;
  }}
  .{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: ui-monospace, Menlo, Consolas, monospace }}
  {styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def made() -> dict[Path, str]:
    """Every file that this tool writes, with what it should hold."""
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    table = measured_table((ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8"))
    return {
        IMAGES / "explanation.svg": draw_explanation(text),
        IMAGES / "terminal.svg": draw_terminal(),
        readme: MEASURED.sub(lambda _: table, text),
    }


def draw_explanation(readme: str) -> str:
    """The picture of the `why` that the first Python block of the README makes."""
    code = next(block["code"] for block in FENCE.finditer(readme) if block["info"] == "python")
    names: dict[str, Any] = {}
    exec(compile(code, "README.md", "exec", dont_inherit=True), names)
    why, height = names["why"], 292
    lines = [*_sentence(why), *_table(why)]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="The words that decide for {escape(why.predicted[0])}">\n<style>{STYLE}</style>\n'
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="8"/>\n'
        + "\n".join(lines)
        + "\n</svg>\n"
    )


def draw_terminal() -> str:
    """A terminal of 80 columns in which `linnaeus train` has run on the embedded data."""
    from rich.console import Console
    from rich.text import Text

    import linnaeus

    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        batch = linnaeus.datasets.intents("train").batch()
        rows = zip(*(column.to_pylist() for column in (batch.text, batch.labels) if column is not None), strict=True)
        with Path("train.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("text", "label"), *rows])
        done = call_here(["linnaeus", "train", "train.csv", "-o", "intents.lin", "--color", "always"])
    console = Console(record=True, width=80, file=io.StringIO(), force_terminal=True)
    console.print("$ linnaeus train train.csv -o intents.lin", highlight=False)
    console.print(Text.from_ansi(done.stdout.rstrip()), highlight=False)
    drawn = console.export_svg(title="linnaeus train", code_format=TERMINAL, unique_id="terminal")
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def _sentence(why: Any) -> list[str]:
    """The answer, and the text with a color under each word: blue for the class, orange against it."""
    reason = why.reason()
    most = max(abs(spot.contribution) for spot in reason.segments())
    lines = [_words(LEFT, 38, f"{why.predicted[0]}: score {reason.score:+.2f}", "small")]
    for spot in reason.segments():
        share = spot.contribution / most
        x, words = LEFT + CELL * spot.start, why.text[spot.start : spot.end]
        if abs(share) >= 0.05:
            color, width = BLUE if share > 0 else ORANGE, CELL * len(words)
            lines.append(
                f'<rect x="{x:.1f}" y="56" width="{width:.1f}" height="26" rx="3" fill="{color}" '
                f'fill-opacity="{0.15 + 0.45 * abs(share):.2f}"/>'
            )
        if words.strip():
            lines.append(_words(x, 75, words))
    return lines


def _table(why: Any) -> list[str]:
    """The words that count most, the rest, the bias, and the score that they add up to; then what would flip it."""
    reason = why.reason()
    spots = sorted(reason.segments(), key=lambda spot: -abs(spot.contribution))[:4]
    rest = reason.score - reason.bias - sum(spot.contribution for spot in spots)
    rows = [(why.text[spot.start : spot.end], spot.contribution) for spot in spots]
    rows += [("other words", rest), ("bias", reason.bias)]
    most, lines = max(abs(amount) for _, amount in rows), []
    for i, (name, amount) in enumerate(rows):
        y = 116 + 24 * i
        lines += [_words(LEFT, y, name, "small"), _words(LEFT + 110, y, f"{amount:+.3f}", "small")]
        color = BLUE if amount > 0 else ORANGE
        lines.append(
            f'<rect x="{LEFT + 190}" y="{y - 11}" width="{BAR * abs(amount) / most:.1f}" height="12" fill="{color}"/>'
        )
    flip = ", ".join(repr(why.text[a:b]) for a, b in why.flip.words)
    said = f"Without {flip} the prediction would be {why.flip.predicted[0]}; no smaller set changes it."
    return [*lines, _words(LEFT, 270, said, "small")]


def _words(x: float, y: float, words: str, kind: str = "") -> str:
    size = f' textLength="{CELL * len(words):.1f}"' if not kind else f' class="{kind}"'
    return f'<text x="{x:.1f}" y="{y}"{size}>{escape(words)}</text>'


def _without_times(text: str) -> str:
    """The words of a picture, or a page, without times and sizes."""
    shown = "\n".join(re.findall(r">([^<]*)</text>", text)) if text.startswith("<svg") else text
    return TIMES.sub("", shown.replace("&#160;", " "))


def main() -> int:
    """Write or compare."""
    parser = argparse.ArgumentParser(description="Makes the pictures and the table of figures of the README.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit code 1 where words differ")
    check = parser.parse_args().check
    different = False
    for path, new in made().items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if check and difference(old, new):
            print(f"{path.relative_to(ROOT)} is not what tools/draw_readme.py makes.")
            different = True
        elif not check and (difference(old, new) or _without_times(old) != _without_times(new)):
            path.write_text(new, encoding="utf-8", newline="\n")
            print(f"{path.relative_to(ROOT)}: written")
    return int(different)


if __name__ == "__main__":
    sys.exit(main())
