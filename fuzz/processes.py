"""Processes that are killed, interrupted or given a full disk while they work."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

#: What a child ends with that was done before the signal came, or that failed by an error.
FINISHED, FAILED = 0, 3
#: Seconds between two looks at a child.
LOOK = 0.002


def forked(work: Callable[[], Any]) -> int:
    """Begin to do this in a child, which has all kernels of this process; returns its number.

    The child ends with FINISHED or FAILED, or with the number that ``work`` returns, if it does.
    """
    if sys.platform == "win32":
        raise OSError("This campaign needs a system that can fork, such as Linux.")
    child = os.fork()
    if child:
        return child
    code = FAILED
    try:
        result = work()
        code = result if isinstance(result, int) else FINISHED
    finally:
        os._exit(code)


def killed_after(child: int, seconds: float) -> bool:
    """Kill a child; whether it was still at work then."""
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def code_of(child: int, seconds: float) -> int | None:
    """What a child ends with; None, and it is killed, if it does not end in time."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(LOOK)
    killed_after(child, 0.0)
    return None
