"""The entry point: finds the verb, runs it, and turns whatever happens into an exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import NoReturn

import click

from linnaeus import temporary
from linnaeus.cli import ALIASES, VERBS, module_of, signals
from linnaeus.cli.guard import INTERRUPTED, TERMINATED, guarded, whole_output
from linnaeus.cli.options import help_of


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


class LazyGroup(click.Group):
    """A group that imports a verb only when it is called; names and one-line descriptions come from a table."""

    context_class = Context

    def list_commands(self, _: click.Context) -> list[str]:
        """The verbs in the order of the table."""
        return list(VERBS)

    def get_command(self, _: click.Context, cmd_name: str) -> click.Command | None:
        """The verb, imported now."""
        cmd_name = ALIASES.get(cmd_name, cmd_name)
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"linnaeus.cli.{module_of(cmd_name)}").command
        command.context_class = Context
        for inner in command.commands.values() if isinstance(command, click.Group) else ():
            inner.context_class = Context
        return command

    def invoke(self, ctx: click.Context) -> object:
        """Run the verb; a reader of its output that is gone is no error, where click would exit with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            return 0

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of verbs, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb, or the nearest one as a hint."""
        name = args[0] if args else ""
        if name and name not in {**VERBS, **ALIASES} and not name.startswith("-"):
            from linnaeus.errors import did_you_mean

            ctx.fail(f"There is no command {name!r}; {did_you_mean(name, [*VERBS, *ALIASES])}")
        return super().resolve_command(ctx, args)


def _show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from linnaeus.cli.crash import version_line

        click.echo(version_line())
        ctx.exit()


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, subcommand_metavar="COMMAND [ARGS]..."
)
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the versions of Linnaeus and Python, the platform and the kernels, and exit.",
)
@click.option("--debug", is_flag=True, expose_value=False, help="Show the traceback if an error occurs.")
def group() -> None:
    """Train, evaluate, explain and use text classifiers.

    Results go to stdout, messages to stderr. `-` means standard input. Files are overwritten only with --force.

    Examples:
      linnaeus demo
      linnaeus train reviews.csv
      linnaeus test reviews.lin test.csv
      linnaeus predict reviews.lin new.csv -o answers.csv
      linnaeus explain reviews.lin "a text of yours"

    """


group.help, group.epilog = help_of(group.callback)


def main(args: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    words = list(sys.argv[1:] if args is None else args)
    # OpenBLAS starts threads as NumPy is loaded, a tenth of a cold start; no verb has work for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    return guarded(lambda: group.main(words, prog_name="linnaeus", standalone_mode=False), "--debug" in words)


def program() -> NoReturn:
    """The command in a process of its own: a signal ends it soon, and at the end there is no search for garbage."""
    signals.end_soon()
    whole_output()
    code = main()
    temporary.remove_all()
    signals.default()
    if code in (INTERRUPTED, TERMINATED):
        # A thread beside this one may still be in a kernel, and must not meet an interpreter that is being taken down.
        os._exit(code)
    gc.freeze()
    sys.exit(code)
