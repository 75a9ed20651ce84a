"""Processes that do the work, so that a hostile file or an endless fit cannot harm the server."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
import traceback
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

#: Errors that the library raises for input it cannot use. Their text says what is wrong.
BAD_INPUT = (ValueError, TypeError, OSError, ImportError, OverflowError)
#: Tasks that tell how far they are.
TELLING = frozenset(["fit", "report"])
#: Seconds without a task after which a new process gets ready for a fit.
IDLE = 0.5
#: Seconds that a killed process may take to be gone.
GRACE = 10.0


class FailedError(Exception):
    """A task that could not be done; the text says why, to the user."""


class EndedError(Exception):
    """The process has ended, on demand or by itself."""


class Process:
    """A process that does one task after the other."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # nothing of the server is copied into it
        self._line, other = context.Pipe()
        self._process = context.Process(target=serve_tasks, args=(other,), daemon=True)
        self._process.start()
        other.close()
        self._one = threading.Lock()
        #: What it is doing: "text", and "done" of "total", which may be None.
        self.progress: dict[str, Any] = {}
        #: Whether it was told to end.
        self.ended = False

    def do(self, task: str, **given: Any) -> Any:
        """Do a task, and wait for what it returns."""
        with self._one:
            self.progress = {}
            try:
                self._line.send((task, given))
                while True:
                    what, value = self._line.recv()
                    if what == "progress":
                        self.progress = value
                    elif what == "failed":
                        raise FailedError(value)
                    else:
                        return value
            except (EOFError, OSError) as error:
                raise EndedError("stopped" if self.ended else "ended") from error

    def end(self) -> None:
        """End it, whatever it is doing."""
        self.ended = True
        self._process.kill()
        self._process.join(GRACE)

    @property
    def pid(self) -> int | None:
        return self._process.pid


def serve_tasks(line: Connection) -> None:
    """What the process runs: tasks, until the line is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    warnings.simplefilter("ignore")  # what the user is to know, a fit tells as notes
    from icvi_artmap.app.work import Work

    work = Work()
    if not line.poll(IDLE):
        work.prepare()
    while True:
        try:
            task, given = line.recv()
        except EOFError:
            return
        if task in TELLING:
            given["bar"] = _bar(line)
        try:
            answer = ("done", getattr(work, task)(**given))
        except BAD_INPUT as error:
            answer = ("failed", str(error) or type(error).__name__)
        except MemoryError:
            answer = ("failed", "The memory of this machine is too small for that.")
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            answer = ("failed", f"This should not happen: {type(error).__name__}: {error}")
        line.send(answer)


def _bar(line: Connection) -> Any:
    """A progress bar whose state goes over the line."""
    from icvi_artmap._support.progress import Bar

    state: dict[str, Any] = {"text": "", "done": 0, "total": None}

    def update(
        description: str | None = None,
        advance: int = 0,
        completed: int | None = None,
        **total: int | None,
    ) -> None:
        state["text"] = state["text"] if description is None else description
        state["done"] = state["done"] + advance if completed is None else completed
        state["total"] = total.get("total", state["total"])
        line.send(("progress", dict(state)))

    return Bar(update)
