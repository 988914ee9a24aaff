"""Plain records to text: pages of styled words, tables, bars and histograms, highlighted text, numbers for people.

This room knows nothing of models or data, and it prints nothing: it gives a `Page`, and the command line shows it.
Only a `LiveBar` moves, on the stream of whoever asks for one.
"""

from linnaeus.render.bars import bar, histogram
from linnaeus.render.cells import clean, cut, pad, safe, width
from linnaeus.render.chart import line_chart
from linnaeus.render.glyphs import ASCII, UNICODE, Glyphs, glyphs_for
from linnaeus.render.highlight import COLORED, PLAIN, Marks, Tint, highlight, highlight_html, html_text, tint_style
from linnaeus.render.live import LiveBar, moves
from linnaeus.render.numbers import counted, duration, number, percent, size
from linnaeus.render.page import STYLES, Line, Page, Word, indent, line, stack, title
from linnaeus.render.tables import table

__all__ = [
    "ASCII",
    "COLORED",
    "PLAIN",
    "STYLES",
    "UNICODE",
    "Glyphs",
    "Line",
    "LiveBar",
    "Marks",
    "Page",
    "Tint",
    "Word",
    "bar",
    "clean",
    "counted",
    "cut",
    "duration",
    "glyphs_for",
    "highlight",
    "highlight_html",
    "histogram",
    "html_text",
    "indent",
    "line",
    "line_chart",
    "moves",
    "number",
    "pad",
    "percent",
    "safe",
    "size",
    "stack",
    "table",
    "tint_style",
    "title",
    "width",
]
