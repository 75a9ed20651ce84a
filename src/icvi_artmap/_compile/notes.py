"""What the compiler's side says on stderr, each thing once in a process."""

from __future__ import annotations

import os
import sys


class Note:
    """A message that is printed once, unless ICVI_ARTMAP_QUIET is set."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.said = False

    def say(self, detail: str = "") -> None:
        if not self.said and not os.environ.get("ICVI_ARTMAP_QUIET"):
            self.said = True
            print(f"icvi-artmap: {self.text}{detail}", file=sys.stderr, flush=True)


COMPILING = Note("compiling (first run only) ...")
NOT_KEPT = Note("compiled code could not be kept, the next run compiles again: ")
PLAIN = Note("numba has changed inside, compiling takes longer: ")
