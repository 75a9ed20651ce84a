"""Where a search keeps what it has computed, so that another one can go on from there.

The file has one JSON object per line. The first says what the numbers below it belong to: data,
settings, seed. Every other one is a k-means start or a finished run. Lines are only ever added, by
one process, and each is on the disk before the next is written: whenever that process is killed,
the file holds all lines but, at worst, a part of the last, which is cut off by the next search.
Python writes a float so that reading it gives the same float. Every line has a checksum; what a
damaged one held is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import warnings
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import LONGEST_PATH, counted, message, shown
from icvi_artmap.estimators.vigilance_search.results import Outcome, Run

FORMAT = "icvi-artmap search"
VERSION = 2
#: The name of the checksum in a line.
CHECKSUM = "sha256"
#: Every store begins with these bytes.
_BEGINNING = json.dumps({"format": FORMAT})[:-1].encode()
_OTHER_PATH = "Give another path as store, or delete the file if it is no longer needed."

Start = tuple[int, int]  #: number of clusters, number of the start


class Memory:
    """Starts and runs of a search that is not stored."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.starts: dict[Start, NDArray[np.float64]] = {}
        self.outcomes: dict[Run, Outcome] = {}

    def add_start(self, start: Start, centres: NDArray[np.float64]) -> None:
        self.starts[start] = centres

    def add_outcome(self, run: Run, outcome: Outcome) -> None:
        self.outcomes[run] = outcome

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class Store(Memory):
    """The same, in a file that no other search can use meanwhile.

    Parameters
    ----------
    path : path of the file; it is made if it does not exist
    belongs_to : what the numbers depend on, as JSON can hold it
    seed : the seed that is wanted, or None if any will do: then the file's is taken
    new_seed : seed for a new file if any will do
    identities : for every index its name in the file, which tells apart what a mere name would not
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        belongs_to: dict[str, Any],
        seed: int | None,
        new_seed: int,
        identities: dict[str, str],
    ) -> None:
        super().__init__(new_seed if seed is None else seed)
        self.path = Path(path)
        self._named = f"store={shown(str(path), LONGEST_PATH)}"  # as messages call it
        self._identities = identities
        self._names = {identity: name for name, identity in identities.items()}
        if self.path.is_dir():
            raise IsADirectoryError(
                f"{self._named} is a folder; give the path of a file, for example "
                f"{shown(str(self.path / 'search.jsonl'), LONGEST_PATH)}."
            )
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"{self._named}: the folder {shown(str(self.path.parent), LONGEST_PATH)} does not "
                "exist. Create it first, or give another path."
            )
        self._file = open(self.path, "a+b")  # noqa: SIM115 - closed by __exit__
        try:
            self._lock()
            self._load(belongs_to, seed)
        except BaseException:
            self._file.close()
            raise

    def add_start(self, start: Start, centres: NDArray[np.float64]) -> None:
        super().add_start(start, centres)
        self._append({"start": start, "centres": centres.tolist()})

    def add_outcome(self, run: Run, outcome: Outcome) -> None:
        super().add_outcome(run, outcome)
        named = replace(run, index=self._identities[run.index])
        self._append({"run": asdict(named), "outcome": asdict(outcome)})

    def __exit__(self, *_: object) -> None:
        self._file.close()  # and with it the lock

    def _append(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps({**line, CHECKSUM: _checksum(line)}).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _lock(self) -> None:
        """The lock is the system's: it ends with the process, however that ends."""
        try:
            _lock_file(self._file.fileno())
        except (BlockingIOError, PermissionError):
            raise RuntimeError(
                f"{self._named} is in use by another search. Wait for it to end, or "
                "give this one a path of its own."
            ) from None
        except OSError as error:
            warnings.warn(
                f"{self._named} cannot be locked ({error}): make sure that no other "
                "search writes to it.",
                RuntimeWarning,
                stacklevel=5,
            )

    def _load(self, belongs_to: dict[str, Any], seed: int | None) -> None:
        self._file.seek(0)
        content = self._file.read()
        n = min(len(content), len(_BEGINNING))
        if content[:n] != _BEGINNING[:n]:
            raise ValueError(
                f"{self._named} is a file of something else and was left as it is. "
                "Give another path."
            )
        # What follows the last end of line was being written when a search was killed.
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            self._file.truncate(whole)
        lines = content[:whole].splitlines()
        if not lines:
            header = {"format": FORMAT, "version": VERSION, "seed": self.seed, **belongs_to}
            self._append(header)
            return
        self._check_header(_parsed(lines[0]), belongs_to, seed)
        damaged = 0
        for line in map(_parsed, lines[1:]):
            if line is None or not _is_whole(line) or not _is_record(line):
                damaged += 1
            else:
                self._read(line)
        if damaged:
            warnings.warn(
                f"{self._named} has {counted(damaged, 'damaged line')} of {len(lines):,} (no start "
                "and no run with its checksum). What was there is computed again.",
                RuntimeWarning,
                stacklevel=5,
            )

    def _check_header(
        self, header: dict[str, Any] | None, belongs_to: dict[str, Any], seed: int | None
    ) -> None:
        if header is None:
            raise self._damaged_header()
        if header.get("version") != VERSION:
            raise ValueError(
                f"{self._named} has version {shown(header.get('version'))} of the format; "
                f"this package reads version {VERSION}. {_OTHER_PATH}"
            )
        if not _is_whole(header):
            raise self._damaged_header()
        expected = json.loads(json.dumps(belongs_to))
        different = [
            f"{name} (stored {_short(header.get(name))}, now {_short(value)})"
            for name, value in expected.items()
            if header.get(name) != value
        ]
        if seed is not None and header.get("seed") != seed:
            different.append(f"seed (stored {header.get('seed')}, now {seed})")
        if different:
            belongs = f"{self._named} belongs to another search. Different: "
            raise ValueError(message(belongs, ", ".join(different), f". {_OTHER_PATH}"))
        self.seed = header["seed"]

    def _damaged_header(self) -> ValueError:
        return ValueError(
            f"The first line of {self._named} is damaged, so nobody can tell what its "
            f"numbers belong to. {_OTHER_PATH}"
        )

    def _read(self, line: dict[str, Any]) -> None:
        if "start" in line:
            n_clusters, start = line["start"]
            self.starts[n_clusters, start] = np.array(line["centres"], np.float64)
            return
        run, outcome = Run(**line["run"]), Outcome(**line["outcome"])
        # Runs with an index that is not asked for this time stay where they are.
        if run.index in self._names:
            self.outcomes[replace(run, index=self._names[run.index])] = outcome


def _parsed(line: bytes) -> dict[str, Any] | None:
    """The JSON object of a line, or None if it is none."""
    try:
        parsed = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, dict) else None


def _checksum(line: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(line).encode()).hexdigest()


def _is_whole(line: dict[str, Any]) -> bool:
    """Whether a line has the checksum of its content; that is taken out of it."""
    return bool(line.pop(CHECKSUM, None) == _checksum(line))


def _is_record(line: dict[str, Any]) -> bool:
    """Whether a line holds a start or a run; a copy of the header does not."""
    return "start" in line or "run" in line


def _short(value: Any) -> str:
    """Enough of a value to recognise it: hashes are long."""
    text = str(value)
    return text if len(text) <= 16 else text[:12] + "…"


if sys.platform == "win32":

    def _lock_file(descriptor: int) -> None:
        import msvcrt

        # One byte far behind the end, so that the lock hinders no reader.
        os.lseek(descriptor, 2**40, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

else:

    def _lock_file(descriptor: int) -> None:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
