"""Fits in eight threads at once, and fits that are interrupted."""

from __future__ import annotations

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.campaign import Outcome, demand
from fuzz.fits import Fitting, Problem, check_same
from fuzz.processes import FINISHED, code_of, forked
from icvi_artmap import ICVIARTMAP

THREADS = 8
#: Seconds within which an interrupt must be seen.
LONGEST_INTERRUPT = 5.0
#: What a child ends with that is harmed by the interrupt.
HARMED = 11


class Threads(Fitting):
    """Threads share nothing, and Ctrl-C harms nothing."""

    #: A thread reserves addresses for its stack and its memory.
    memory = 4 << 30

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        rng = np.random.default_rng(0)
        self.large, self.small = rng.normal(size=(20_000, 6)), rng.normal(size=(60, 6))

    def case(self, seed: int) -> Outcome:
        if random.Random(seed).random() < 0.3:
            return self.interrupted(seed)
        return self.side_by_side(seed)

    def side_by_side(self, seed: int) -> Outcome:
        """The same problems one after the other and all at once."""
        one_by_one = [fitted(problem) for problem in self.problems(seed)]
        with ThreadPoolExecutor(THREADS) as pool:
            at_once = list(pool.map(fitted, self.problems(seed)))
        for mine, other in zip(one_by_one, at_once, strict=True):
            demand(type(mine) is type(other), f"{mine!r} one by one, {other!r} at once")
            if not isinstance(mine, Exception):
                check_same(mine, other)
        return Outcome(True, f"the same in {THREADS} threads")

    def problems(self, seed: int) -> list[Problem]:
        rng = np.random.default_rng(seed)
        return [self.problem(rng) for _ in range(THREADS)]

    def interrupted(self, seed: int) -> Outcome:
        """Fits without end are interrupted; the next one is as if nothing had been."""
        rng = random.Random(seed)
        index = rng.choice(("NI", "CH", "DB"))
        expected = self.fit_small(index)
        child = forked(lambda: self.fit_until_interrupted(index, expected))
        time.sleep(rng.uniform(0.2, 0.6))
        os.kill(child, signal.SIGINT)
        code = code_of(child, LONGEST_INTERRUPT)
        demand(code == FINISHED, f"an interrupted fit ends in {code}, not in {FINISHED}")
        return Outcome(True, "interrupted and unharmed")

    def fit_small(self, index: str) -> Any:
        return ICVIARTMAP(3, index=index, random_state=0).fit(self.small)

    def fit_until_interrupted(self, index: str, expected: Any) -> int:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        options: dict[str, Any] = {"init": self.large[:8], "tol": 0.0, "max_epochs": 10**6}
        try:
            while True:  # one fit may end before the interrupt comes
                model = ICVIARTMAP(8, index=index, rho_a=0.5, rho_ab=0.9, random_state=0, **options)
                model.fit(self.large)
        except KeyboardInterrupt:
            same = np.array_equal(self.fit_small(index).labels_, expected.labels_)
            return FINISHED if same and not hasattr(model, "labels_") else HARMED


def fitted(problem: Problem) -> Any:
    """The model, or the error."""
    model, X, y = problem
    try:
        return model.fit(X, y)
    except (ValueError, TypeError) as error:
        return error
