"""What a fit is doing, for whoever waits: a bar that moves, and warnings as notes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icvi_artmap._support.callbacks import Watch


class Bar:
    """A progress bar; without ``update`` there is none to be seen."""

    def __init__(self, update: Callable[..., None] | None = None) -> None:
        self._update = update

    def say(self, text: str) -> None:
        self._change(description=text)

    def step(self) -> None:
        self._change(advance=1)

    def reach(self, done: int, total: int | None) -> None:
        self._change(completed=done, total=total)

    def _change(self, **changes: Any) -> None:
        if self._update is not None:
            self._update(**changes)


def watch_fit(bar: Bar) -> Watch:
    """A watch that shows on the bar what a fit is doing."""
    from icvi_artmap._support.callbacks import Watch

    class Shown(Watch):
        def __init__(self) -> None:
            self._open: list[str] = []
            self._runs, self._run, self._steps, self._step, self._k = 1, 0, 1, 0, 0

        def begin(self, task: str, n_subtasks: int | None = 0) -> None:
            self._open.append(task)
            if task == "fit":
                self._runs = n_subtasks or 1
            elif task == "choose":
                self._runs = 1
                bar.reach(0, n_subtasks)
            elif task == "partition":
                self._k += 1
                bar.say(f"choosing k: {self._k}")
            elif task == "run":
                self._steps, self._step = n_subtasks or 1, 0
                bar.reach(self._run * self._steps, self._runs * self._steps)
            elif task == "epoch":
                run = f"run {self._run + 1} of {self._runs}, " if self._runs > 1 else ""
                bar.say(f"{run}epoch {self._step + 1} of at most {self._steps}")
            elif task == "refine":
                bar.say("refining")

        def end(self, attributes: Any = None) -> bool:
            task = self._open.pop()
            if task == "partition":
                bar.step()
            elif task == "epoch":
                self._step += 1
                bar.step()
            elif task == "run":
                self._run += 1
                bar.reach(self._run * self._steps, self._runs * self._steps)
            return False

    return Shown()


@contextmanager
def warnings_as_notes(notes: list[str]) -> Iterator[None]:
    """Add the library's warnings to the notes, each once."""
    with recorded_warnings() as caught:
        yield
    for warning in caught:
        text = " ".join(str(warning.message).split())
        if text not in notes:
            notes.append(text)


@contextmanager
def recorded_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Keep warnings in a list, but drop those that are meant for programmers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
            warnings.simplefilter("ignore", category)
        yield caught
