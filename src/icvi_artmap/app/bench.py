"""What is on the workbench: a file, and up to two fits of it, each in a process of its own."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from icvi_artmap.app.processes import EndedError, FailedError, Process
from icvi_artmap.app.settings import checked_columns, checked_settings
from icvi_artmap.app.uploads import Uploads

#: The fits that stand side by side.
SLOTS = ("a", "b")
#: What is downloaded: the task that writes it, and the suffix of the file.
DOWNLOADS = {
    "labels": ("labels", ".csv"),
    "model": ("save", ".icvi"),
    "report": ("report", ".html"),
}
STOPPED = "Stopped."
DIED = "The process of the fit has ended by itself. Is there enough memory?"


class ConflictError(Exception):
    """Something that cannot be done now."""


@dataclass
class File:
    """The table on the workbench."""

    path: Path
    name: str
    columns: bytes  #: what the page shows of its columns, as JSON


@dataclass
class Fit:
    """A fit, as far as it is."""

    process: Process
    state: str = "running"  #: "running", "done" or "failed"
    message: str = ""
    result: bytes = b""

    def status(self) -> dict[str, Any]:
        return {"state": self.state, "message": self.message, "progress": self.process.progress}


class Bench:
    """The file and the fits. Its methods wait for processes: call them in threads."""

    def __init__(self, uploads: Uploads) -> None:
        self.uploads = uploads
        self.file: File | None = None
        self.fits: dict[str, Fit] = {}
        self._ready = Process()
        self._changing = threading.RLock()

    # --- the file --------------------------------------------------------------------------------

    def open(self, path: Path, name: str) -> bytes:
        """Look at a file, and put it on the bench in place of the one before."""
        try:
            columns: bytes = self._ready.do("look", path=str(path))
        except (FailedError, EndedError) as error:
            self._discard(path)
            if isinstance(error, EndedError):
                self._ready = Process()
                raise FailedError(f"{name} cannot be read: reading it has failed.") from error
            raise FailedError(_by_its_name(str(error), path, name)) from error
        with self._changing:
            former, self.file = self.file, File(path, name, columns)
            for slot in SLOTS:
                self.clear(slot)
        if former is not None and former.path != path:
            self._discard(former.path)
        return columns

    def _discard(self, path: Path) -> None:
        """Remove a file that came from the page; one of the user's own stays."""
        if self.uploads.owns(path):
            path.unlink(missing_ok=True)

    # --- fits ------------------------------------------------------------------------------------

    def begin(self, slot: str, asked: Mapping[str, Any]) -> partial[None]:
        """Take a process for a fit; returns what does it."""
        with self._changing:
            if self.file is None:
                raise ConflictError("Choose a file first.")
            if slot in self.fits and self.fits[slot].state == "running":
                raise ConflictError("This fit is running. Stop it first.")
            given = {
                "path": str(self.file.path),
                "name": self.file.name,
                "columns": checked_columns(asked.get("columns")),
                "settings": checked_settings(asked),
                "label_column": asked.get("label_column") or None,
                "id_column": asked.get("id_column") or None,
            }
            self.clear(slot)
            fit = self.fits[slot] = Fit(self._ready)
            self._ready = Process()
            return partial(self._run, fit, given)

    def _run(self, fit: Fit, given: dict[str, Any]) -> None:
        try:
            fit.result = fit.process.do("fit", **given)
            fit.state = "done"
        except FailedError as error:
            fit.message = _by_its_name(str(error), Path(given["path"]), given["name"])
            fit.state = "failed"
        except EndedError:
            fit.message = STOPPED if fit.process.ended else DIED
            fit.state = "failed"
        if fit.state == "failed":
            fit.process.end()

    def stop(self, slot: str) -> None:
        """Stop a fit."""
        if slot in self.fits:
            self.fits[slot].process.end()

    def clear(self, slot: str) -> None:
        """Forget a fit, and give back its memory."""
        with self._changing:
            fit = self.fits.pop(slot, None)
        if fit is not None:
            fit.process.end()

    def status(self) -> dict[str, Any]:
        """The state of every fit."""
        return {slot: fit.status() for slot, fit in self.fits.items()}

    # --- results ---------------------------------------------------------------------------------

    def done(self, slot: str) -> Fit:
        """A fit that is done."""
        fit = self.fits.get(slot)
        if fit is None or fit.state != "done":
            raise ConflictError("There is no result yet.")
        return fit

    def ask(self, slot: str, task: str, **given: Any) -> Any:
        """Ask for something that is known of a result."""
        try:
            return self.done(slot).process.do(task, **given)
        except EndedError as error:
            raise ConflictError("This result is gone. Run the fit again.") from error

    def compare(self) -> bytes:
        """How much the two partitions agree."""
        rows, labels = self.ask("a", "partition")
        agreement: bytes = self.ask("b", "agreement", rows=rows, labels=labels)
        return agreement

    def download(self, slot: str, what: str) -> tuple[Path, str]:
        """Write a result to a file; returns its path and the name that it is to have."""
        assert self.file is not None
        task, suffix = DOWNLOADS[what]
        path = self.uploads.new(suffix)
        self.ask(slot, task, path=str(path))
        stem = self.file.name.split(".")[0] or "table"
        return path, f"{stem}-{what}{suffix}"

    def close(self) -> None:
        """End all processes, and remove all files."""
        for slot in SLOTS:
            self.clear(slot)
        self._ready.end()
        self.uploads.close()


def _by_its_name(message: str, path: Path, name: str) -> str:
    """A message in which the file, which has another name here, is called as the user does."""
    return message.replace(f"'{path.name}'", f"'{name}'")
