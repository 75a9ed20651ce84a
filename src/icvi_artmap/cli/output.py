"""How a command prints: results on standard output, notes and progress on standard error."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from icvi_artmap._support.progress import Bar as Bar
from icvi_artmap._support.progress import recorded_warnings as recorded_warnings
from icvi_artmap._support.progress import warnings_as_notes as warnings_as_notes
from icvi_artmap._support.progress import watch_fit as watch_fit
from icvi_artmap._support.wording import duration, escaped, visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

#: Characters in a line if the width of the terminal is not known.
WIDTH = 100


class Output:
    """Sends what a command has to say to where it belongs.

    Parameters
    ----------
    quiet : bool
        Whether nothing is printed.
    as_json : bool
        Whether one JSON object is printed on standard output, and nothing else.
    data : str, optional
        The file that the data go to; "-" keeps standard output for them.
    """

    def __init__(self, quiet: bool, as_json: bool = False, data: str | None = None) -> None:
        self.as_json = as_json
        self.silent = quiet or as_json
        self._quiet = quiet
        self._for_data = data == "-"
        if quiet:
            os.environ["ICVI_ARTMAP_QUIET"] = "1"  # silences the compiler, too
        if self._for_data and as_json:
            raise ValueError(
                "--json and -o - both write to standard output. Give -o the name of a file."
            )

    def notes(self, notes: Sequence[str]) -> None:
        """Print remarks on the data and on what was done, to standard error."""
        if not self.silent:
            for note in notes:
                print(f"note: {visible(note)}", file=sys.stderr)

    def result(self, facts: Mapping[str, Any], show: Callable[[Console], None]) -> None:
        """Print the result: ``facts`` as JSON, or else what ``show`` prints."""
        if self.as_json:
            import json

            text = json.dumps(_plain(facts), ensure_ascii=False, allow_nan=False)
            print(escaped(text, lambda unseen: f"\\u{ord(unseen):04x}"))
        elif not self.silent:
            show(console(to_stderr=self._for_data))

    @contextmanager
    def progress(self, text: str, total: int | None = None) -> Iterator[Bar]:
        """Show a bar with the time left, if standard error is a terminal."""
        if self._quiet or sys.stderr is None or not sys.stderr.isatty():
            yield Bar()
            return
        from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeElapsedColumn
        from rich.text import Text

        class TimeLeft(ProgressColumn):
            max_refresh = 0.5

            def render(self, task: Any) -> Text:
                left = task.time_remaining
                return Text("" if left is None else f"about {duration(left)} left")

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TimeElapsedColumn(),
            TimeLeft(),
        )
        with Progress(*columns, console=console(to_stderr=True), transient=True) as shown:
            task = shown.add_task(text, total=total)
            yield Bar(lambda **changes: shown.update(task, **changes))


def console(to_stderr: bool = False) -> Console:
    """A rich console that prints text as it is: a name of a column may look like markup.

    Only control characters are shown as escapes, for a name could command the terminal with them.
    """
    from rich.console import Console
    from rich.text import Text

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

        def render_str(self, text: str, **options: Any) -> Text:
            return super().render_str(visible(text), **options)

    stream = sys.stderr if to_stderr else sys.stdout
    known = "COLUMNS" in os.environ or (stream is not None and stream.isatty())
    return Plain(
        stderr=to_stderr,
        width=None if known else WIDTH,
        markup=False,
        emoji=False,
        highlight=False,
        soft_wrap=False,
    )


def columns(*heads: str | tuple[str, str]) -> Table:
    """A table with these columns; ("left", head) or ("right", head) says how they are set."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for head in heads:
        justify, text = ("right", head) if isinstance(head, str) else head
        table.add_column(text, justify=justify)  # type: ignore[arg-type]
    return table


def seconds(began: float) -> float:
    """The seconds since a reading of ``time.perf_counter``."""
    return time.perf_counter() - began


def _plain(value: Any) -> Any:
    """A value as JSON can hold it: arrays become lists, and NaN and infinity null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    return value
