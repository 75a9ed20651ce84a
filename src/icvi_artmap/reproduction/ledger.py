"""Finished jobs in a file: an interrupted run continues where it was.

The file has one JSON object per line, one for every finished job. Lines are only added; a part of a
line at the end, from a process that was killed while it wrote, is left out.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

#: Every line begins with these bytes.
_BEGINNING = b'{"set": '

Key = tuple[str, str]  #: data set, job


class Ledger:
    """Finished jobs of one protocol.

    Parameters
    ----------
    path : file, made if it does not exist
    protocol : what the outcomes depend on besides data set and job; lines of another one are kept
        but not used
    """

    def __init__(self, path: Path, protocol: dict[str, Any]) -> None:
        self.path, self.protocol = path, protocol
        self.outcomes: dict[Key, dict[str, Any]] = {}
        if not path.exists():
            return
        content = path.read_bytes()
        n = min(len(content), len(_BEGINNING))
        if content[:n] != _BEGINNING[:n]:
            raise self._foreign(1)
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            try:
                entry = json.loads(line)
                key, its_protocol = (entry["set"], entry["job"]), entry["protocol"]
                outcome = entry["outcome"]
            except (ValueError, KeyError, TypeError):
                raise self._foreign(number) from None
            if its_protocol == protocol:
                self.outcomes[key] = outcome
        if whole < len(content):
            os.truncate(path, whole)

    def _foreign(self, number: int) -> ValueError:
        return ValueError(
            f"Line {number} of {str(self.path)!r} is not a result of this command. Delete the "
            "line, or give another folder with --output."
        )

    def add(self, key: Key, outcome: dict[str, Any]) -> None:
        self.outcomes[key] = outcome
        entry = {"set": key[0], "job": key[1], "protocol": self.protocol, "outcome": outcome}
        with open(self.path, "ab") as file:
            file.write(json.dumps(entry).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
