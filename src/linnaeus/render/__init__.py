"""Plain records to text: pages of styled words, tables, bars and histograms, highlighted text, numbers for people.

This room knows nothing of models or data, and it prints nothing: it gives a `Page`, and the command line shows it.
Only a `LiveBar` moves, on the stream of whoever asks for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.render.highlighting import COLORED as COLORED
    from linnaeus.render.highlighting import PLAIN as PLAIN
    from linnaeus.render.highlighting import Marks as Marks
    from linnaeus.render.highlighting import Tint as Tint
    from linnaeus.render.highlighting import highlight as highlight
    from linnaeus.render.highlighting import highlight_html as highlight_html
    from linnaeus.render.highlighting import html_text as html_text
    from linnaeus.render.highlighting import tint_style as tint_style
    from linnaeus.render.live import LiveBar as LiveBar
    from linnaeus.render.live import moves as moves
    from linnaeus.render.page import ASCII as ASCII
    from linnaeus.render.page import UNICODE as UNICODE
    from linnaeus.render.page import Glyphs as Glyphs
    from linnaeus.render.page import Line as Line
    from linnaeus.render.page import Page as Page
    from linnaeus.render.page import Word as Word
    from linnaeus.render.page import bar as bar
    from linnaeus.render.page import command as command
    from linnaeus.render.page import glyphs_for as glyphs_for
    from linnaeus.render.page import histogram as histogram
    from linnaeus.render.page import indent as indent
    from linnaeus.render.page import line as line
    from linnaeus.render.page import stack as stack
    from linnaeus.render.page import table as table
    from linnaeus.render.page import title as title
    from linnaeus.render.svg import line_chart as line_chart
    from linnaeus.render.text import clean as clean
    from linnaeus.render.text import counted as counted
    from linnaeus.render.text import cut as cut
    from linnaeus.render.text import duration as duration
    from linnaeus.render.text import number as number
    from linnaeus.render.text import pad as pad
    from linnaeus.render.text import percent as percent
    from linnaeus.render.text import safe as safe
    from linnaeus.render.text import size as size
    from linnaeus.render.text import width as width
    from linnaeus.render.trees import tree_svg as tree_svg
    from linnaeus.render.trees import tree_text as tree_text


__getattr__, __dir__ = room(__name__)
