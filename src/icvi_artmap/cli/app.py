"""The program: its commands, and how it ends.

0: done. 2: wrong use or bad input, with one line that says so. 130: interrupted.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from icvi_artmap._support.version import __version__
from icvi_artmap._support.wording import message, speaking_of_options
from icvi_artmap.cli.compare import compare
from icvi_artmap.cli.dask_fit import with_address
from icvi_artmap.cli.demo import demo
from icvi_artmap.cli.explain import explain
from icvi_artmap.cli.fit import fit
from icvi_artmap.cli.generate import generate
from icvi_artmap.cli.info import info
from icvi_artmap.cli.latent import latent
from icvi_artmap.cli.predict import predict
from icvi_artmap.cli.reproduce import reproduce
from icvi_artmap.cli.score import score
from icvi_artmap.cli.tune import tune
from icvi_artmap.cli.warmup import warmup
from icvi_artmap.cli.watch import watch
from icvi_artmap.cli.workbench import workbench

WRONG = 2
INTERRUPTED = 130

#: Errors that the library raises for input it cannot use. They are shown in one line.
BAD_INPUT = (ValueError, TypeError, OSError, ImportError, MemoryError, OverflowError)

app = typer.Typer(
    name="icvi-artmap",
    help="Find clusters in a table of numbers, with every step decided by a validity index.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # importing rich would take half of the time of --help
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _ending_with_its_reader(command: Callable[..., None]) -> Callable[..., None]:
    """A command that ends quietly when its output is no longer read, as after ``| head``.

    Typer would end the program with another exit code.
    """

    @functools.wraps(command)
    def ended(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except BrokenPipeError:
            raise typer.Exit from None

    return ended


COMMANDS = (
    fit,
    predict,
    watch,
    explain,
    score,
    compare,
    tune,
    latent,
    generate,
    demo,
    warmup,
    reproduce,
    info,
)
for command in COMMANDS:
    app.command()(_ending_with_its_reader(command))
app.command("app")(_ending_with_its_reader(workbench))


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
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and hasattr(stream, "reconfigure"):
            # A terminal may lack a character, such as an arrow, which is no reason to stop.
            stream.reconfigure(errors="replace")
    code = run(sys.argv[1:])
    # Python would try again to write, when it ends, what could not be written.
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run one command and return the exit code."""
    hushed = os.environ.get("ICVI_ARTMAP_QUIET")
    try:
        with speaking_of_options():
            code = app(
                args=with_address(arguments) or ["--help"],
                prog_name="icvi-artmap",
                standalone_mode=False,
                obj=tuple(arguments),
            )
        if code == INTERRUPTED:  # some versions of typer turn the interrupt into its exit code
            raise KeyboardInterrupt
        if sys.stdout is not None:
            sys.stdout.flush()
        return code or 0
    except BrokenPipeError:
        return 0
    except (KeyboardInterrupt, typer.Abort):
        print("icvi-artmap: interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        # Newer versions of typer come with a copy of click, so its errors are told by a method.
        wrong_use = getattr(error, "format_message", None)
        if wrong_use is None and not isinstance(error, BAD_INPUT):
            raise
        if os.environ.get("ICVI_ARTMAP_DEBUG"):
            raise
        text = wrong_use() if wrong_use else str(error)
        print(message("icvi-artmap: ", text or type(error).__name__), file=sys.stderr)
        return WRONG
    finally:
        if hushed is None:
            os.environ.pop("ICVI_ARTMAP_QUIET", None)  # set by --quiet
