"""Writers that are killed, or whose disk is full: the old file or the new one, whole."""

from __future__ import annotations

import os
import random
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.campaign import LONGEST_MESSAGE, Campaign, Outcome, demand
from fuzz.processes import code_of, forked, killed_after
from icvi_artmap import ICVIARTMAP, save, write_report, write_table

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".arff", ".npz", ".npy", ".parquet")
#: What a child says of a full disk: an error with a short message, with a long one, none.
TOLD, TOLD_AT_LENGTH, SILENT = 10, 11, 12
#: Seconds that a writer may take.
LONGEST_WRITE = 8.0
OLD = b"what was there before\n" * 50

Write = Callable[[Path], Any]


class Writers(Campaign):
    """Models, tables and reports, in the campaign's own folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        rng = np.random.default_rng(0)
        X = rng.normal(size=(3_000, 6)) + 5.0 * rng.integers(0, 3, (3_000, 1))
        small = X[:60]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model = ICVIARTMAP(3, index="CH", random_state=0).fit(X)
            reported = ICVIARTMAP(2, index="CH", random_state=0).fit(small)
        self.columns = {f"x{f}": X[:, f] for f in range(X.shape[1])}
        self.writers: dict[str, Write] = {".icvi": lambda path: save(self.model, path)}
        for suffix in SUFFIXES:
            self.writers[suffix] = lambda path: write_table(path, self.columns)
        self.writers[".html"] = lambda path: write_report(path, reported, small)
        #: Of every writer what a whole file holds, and how long it takes to write.
        self.whole = {suffix: self.written(suffix) for suffix in self.writers}

    def written(self, suffix: str) -> tuple[bytes, float]:
        path = self.folder / f"whole{suffix}"
        self.writers[suffix](path)  # imports what it needs
        begin = time.perf_counter()
        self.writers[suffix](path)
        return path.read_bytes(), time.perf_counter() - begin

    def case(self, seed: int) -> Outcome:
        rng = random.Random(seed)
        suffix = rng.choice((*self.writers, ".icvi", ".csv"))
        path = self.folder / f"file-{seed}{suffix}"
        path.write_bytes(OLD)
        try:
            if rng.random() < 0.3:
                return self.full_disk(rng, suffix, path)
            return self.killed(rng, suffix, path)
        finally:
            for left in self.folder.glob(f"*file-{seed}{suffix}*"):
                left.unlink()

    def killed(self, rng: random.Random, suffix: str, path: Path) -> Outcome:
        new, seconds = self.whole[suffix]
        write = self.writers[suffix]
        was_killed = killed_after(forked(lambda: write(path)), rng.uniform(0.0, 1.2 * seconds))
        content = path.read_bytes()
        demand(content in (OLD, new), f"{suffix}: neither the old file nor the new one")
        kind = "the old file" if content == OLD else "the new file"
        return Outcome(True, f"{kind}, {'killed' if was_killed else 'finished before'}")

    def full_disk(self, rng: random.Random, suffix: str, path: Path) -> Outcome:
        """Files may have no more than some bytes, fewer than the new one has."""
        size = rng.randrange(len(self.whole[suffix][0]))
        code = code_of(forked(lambda: _limited(self.writers[suffix], path, size)), LONGEST_WRITE)
        demand(code == TOLD, f"{suffix}: a full disk ends in {code}, not in {TOLD}")
        demand(path.read_bytes() == OLD, f"{suffix}: a full disk has changed the old file")
        left = sorted(os.listdir(self.folder))
        demand(not [name for name in left if name.endswith(".part")], f"{suffix}: left {left}")
        return Outcome(True, "the old file, and an error that tells of the full disk")


def _limited(write: Write, path: Path, size: int) -> int:
    import resource

    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        write(path)
    except OSError as error:
        return TOLD if len(str(error)) <= LONGEST_MESSAGE else TOLD_AT_LENGTH
    return SILENT
