"""A campaign whose cases go wrong in all ways that a watchdog must see."""

from __future__ import annotations

import os
import time

from fuzz.campaign import Campaign, Outcome, clear, demand


class Faulty(Campaign):
    seconds = 1.0
    memory = 1 << 28

    def case(self, seed: int) -> Outcome:
        if seed == 1:
            while True:
                time.sleep(0.01)
        if seed == 2:
            os.abort()
        if seed == 3:
            bytearray(1 << 30)
        if seed == 4:
            return clear(ValueError("x" * 301))
        if seed == 5:
            return clear(KeyError("of the code, not of the input"))
        if seed == 6:
            demand(False, "a promise")
        if seed == 7:
            bytearray(b"x") * (1 << 27)
            return clear(ValueError("row 17 of 'file.csv' has 3 values"))
        return Outcome(True, "right")


class Patient(Faulty):
    """The same with time enough for a case where the machine has other work."""

    seconds = 60.0
