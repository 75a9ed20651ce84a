"""The program: its commands, and how it ends.

0: done. 2: wrong use or bad input, with one line that says so. 130: interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from icvi_artmap import __version__
from icvi_artmap.cli.info import info
from icvi_artmap.cli.reproduce import reproduce

WRONG = 2
INTERRUPTED = 130

#: What the library raises for input it cannot use: shown as one line, without a traceback.
BAD_INPUT = (ValueError, TypeError, OSError, ImportError, MemoryError)

app = typer.Typer(
    name="icvi-artmap",
    help="Find clusters in a table of numbers, with every step decided by a validity index.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(info)
app.command()(reproduce)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"icvi-artmap {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options of the program itself."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command; the exit code."""
    try:
        return (
            app(args=arguments or ["--help"], prog_name="icvi-artmap", standalone_mode=False) or 0
        )
    except (KeyboardInterrupt, typer.Abort):
        print("icvi-artmap: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        # Newer versions of typer carry a click of their own: wrong use is known by its method.
        wrong_use = getattr(error, "format_message", None)
        if wrong_use is None and not isinstance(error, BAD_INPUT):
            raise
        if os.environ.get("ICVI_ARTMAP_DEBUG"):
            raise
        text = wrong_use() if wrong_use else str(error)
        print(f"icvi-artmap: {' '.join(text.split()) or type(error).__name__}", file=sys.stderr)
        return WRONG
