"""What has been run so far, in a file: a run that is cut off goes on where it was.

The file has one JSON object per line, one for every finished job. Lines are only added; a part of a
line at the end, from a process that was killed while it wrote, is left out.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

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
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(path, whole)
        for number, line in enumerate(content[:whole].splitlines(), start=1):
            try:
                entry = json.loads(line)
                key, its_protocol = (entry["set"], entry["job"]), entry["protocol"]
                outcome = entry["outcome"]
            except (ValueError, KeyError, TypeError):
                raise ValueError(
                    f"Line {number} of {str(path)!r} is not a result of this command. Delete the "
                    "line, or give another folder with --output."
                ) from None
            if its_protocol == protocol:
                self.outcomes[key] = outcome

    def add(self, key: Key, outcome: dict[str, Any]) -> None:
        self.outcomes[key] = outcome
        entry = {"set": key[0], "job": key[1], "protocol": self.protocol, "outcome": outcome}
        with open(self.path, "ab") as file:
            file.write(json.dumps(entry).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
