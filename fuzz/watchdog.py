"""Cases in a process of their own, watched: a crash, an endless loop or a lot of memory is told."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import NamedTuple

from fuzz.campaign import Campaign, Outcome, make_campaign

#: Seconds that a worker may take to begin: it may have to compile all kernels.
LONGEST_START = 900.0
#: Frames of a traceback that are reported, the innermost ones.
FRAMES = 4


class Ready(NamedTuple):
    """A worker can begin, with these limits of a case."""

    seconds: float
    memory: int


class Done(NamedTuple):
    """A case has ended: with an outcome, or with what went wrong."""

    outcome: Outcome | None
    wrong: str
    seconds: float
    memory: int  #: bytes at the peak, beyond what there was before


class Extreme(NamedTuple):
    """The largest of something, and the case that it belongs to."""

    value: float = 0.0
    seed: int = 0


class Failure(NamedTuple):
    """What went wrong in a case."""

    seed: int
    what: str


@dataclass
class Report:
    """What a campaign has come to."""

    name: str
    seed: int
    tried: int = 0
    seconds: float = 0.0
    right: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    slowest: Extreme = field(default_factory=Extreme)
    largest: Extreme = field(default_factory=Extreme)

    def add(self, seed: int, done: Done) -> None:
        self.tried += 1
        self.slowest = max(self.slowest, Extreme(done.seconds, seed))
        self.largest = max(self.largest, Extreme(float(done.memory), seed))
        if done.outcome is None:
            self.failures.append(Failure(seed, done.wrong))
        else:
            counts = self.right if done.outcome.right else self.errors
            counts[done.outcome.kind] += 1


def run(name: str, target: str, seed: int, count: int, seconds: float) -> Report:
    """Try the cases ``seed`` to ``seed + count - 1`` of a campaign, as far as the time allows.

    Parameters
    ----------
    name : what the report calls the campaign
    target : its module and class, as "module:Class"
    """
    report = Report(name, seed)
    with tempfile.TemporaryDirectory(prefix="icvi-artmap-fuzz-") as folder:
        while report.tried < count and report.seconds < seconds:
            _one_worker(target, Path(folder), report, count, seconds)
    return report


def _one_worker(target: str, folder: Path, report: Report, count: int, seconds: float) -> None:
    """Go on with the cases until all are done, the time is up, or the worker is lost."""
    first = report.seed + report.tried
    with _worker(target, folder, first, count - report.tried) as (process, results):
        ready = _next(process, results, LONGEST_START)
        if not isinstance(ready, Ready):
            report.add(first, Done(None, f"no start: {ready}", seconds, 0))
            return
        # What comes before is not counted: a worker may have to compile.
        begin = time.monotonic() - report.seconds
        while report.tried < count and report.seconds < seconds:
            seed, start = report.seed + report.tried, time.monotonic()
            done = _next(process, results, ready.seconds)
            report.seconds = time.monotonic() - begin
            if isinstance(done, Done):
                report.add(seed, _within(done, ready))
            else:
                report.add(seed, Done(None, str(done), time.monotonic() - start, 0))
                return


def _next(process: SpawnProcess, results: Connection, seconds: float) -> Ready | Done | str:
    """What the worker says next, or what became of it."""
    if not results.poll(seconds):
        return f"no end after {seconds:g} s"
    try:
        message: Ready | Done = results.recv()
    except EOFError:
        process.join(seconds)
        code = process.exitcode or 0
        return f"the process ended: {signal.Signals(-code).name if code < 0 else code}"
    return message


def _within(done: Done, limits: Ready) -> Done:
    """A case that ended, but not within its limits, is a failure."""
    if done.seconds > limits.seconds:
        return done._replace(outcome=None, wrong=f"{done.seconds:.1f} s")
    if done.memory > limits.memory:
        return done._replace(outcome=None, wrong=f"{done.memory / 2**20:.0f} MB of memory")
    return done


@contextmanager
def _worker(
    target: str, folder: Path, first: int, count: int
) -> Iterator[tuple[SpawnProcess, Connection]]:
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=work, args=(sender, target, str(folder), first, count))
    process.start()
    sender.close()  # so that the end of the process is seen
    try:
        yield process, receiver
    finally:
        process.kill()
        process.join()
        receiver.close()


def work(results: Connection, target: str, folder: str, first: int, count: int) -> None:
    """What a worker does: cases one by one, and a message after each."""
    faulthandler.enable()
    # A process that has used several threads of OpenMP cannot be forked.
    os.environ["OMP_NUM_THREADS"] = "1"
    os.environ["ICVI_ARTMAP_QUIET"] = "1"
    warnings.simplefilter("ignore")
    own = Path(tempfile.mkdtemp(dir=folder))
    try:
        campaign = make_campaign(target, own)
    except Exception:
        results.send(_told(sys.exc_info()[1]))
        return
    results.send(Ready(campaign.seconds, campaign.memory))
    for seed in range(first, first + count):
        with limited_memory(campaign.memory):
            results.send(measured(campaign, seed))


def measured(campaign: Campaign, seed: int) -> Done:
    """One case, with its time and its memory."""
    before, start = _reset_peak(), time.perf_counter()
    outcome, wrong = None, ""
    try:
        outcome = campaign.case(seed)
    except Exception as error:
        wrong = _told(error)
    seconds = time.perf_counter() - start
    return Done(outcome, wrong, seconds, max(0, _memory("VmHWM") - before))


def _told(error: BaseException | None) -> str:
    """An error in one line: what, and where it came from."""
    frames = traceback.extract_tb(error.__traceback__ if error else None)[-FRAMES:]
    where = " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in reversed(frames))
    return f"{type(error).__name__}: {' '.join(str(error).split())[:400]} ({where})"


@contextmanager
def limited_memory(size: int) -> Iterator[None]:
    """Where the system can do that: no more than ``size`` bytes beyond what is in use."""
    if not sys.platform.startswith("linux"):
        yield
        return
    import resource

    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def resident_memory() -> int:
    """Bytes that the process has in memory now; 0 where nobody can tell."""
    return _memory("VmRSS")


def _reset_peak() -> int:
    """Forget the peak of memory so far, where the system can do that; returns the present use."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return _memory("VmHWM")
    return _memory("VmRSS")


def _memory(name: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(name)), 0)
