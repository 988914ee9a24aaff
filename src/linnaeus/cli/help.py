"""Help pages that are no wider than the terminal: examples that are too long go on in the next line."""

from __future__ import annotations

import click


class Formatter(click.HelpFormatter):
    r"""As click's, but paragraphs that it leaves as they are (after \b) are folded, commands with a backslash."""

    def write_text(self, text: str) -> None:
        """Write a paragraph, or several."""
        from linnaeus.render.layout import fold
        from linnaeus.render.page import command, line

        inner = click.HelpFormatter(width=self.width)
        inner.current_indent = self.current_indent
        inner.write_text(text)
        for written in inner.getvalue().splitlines():
            words = command(written) if written.lstrip().startswith("linnaeus ") else line(written)
            for part in fold(words, self.width):
                self.write("".join(word.text for word in part).rstrip() + "\n")


class Context(click.Context):
    """A context whose help pages fit."""

    formatter_class = Formatter
