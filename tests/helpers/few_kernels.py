"""Campaigns of fits with kernels that the tests have compiled anyway.

Trials are computed from the data with a few indices only: each takes many seconds to compile.
"""

from __future__ import annotations

from fuzz.fits import Fits
from fuzz.threads import Threads
from helpers.kernels import OF_BATCHES


class FitsOfCompiled(Fits):
    batches = OF_BATCHES


class ThreadsOfCompiled(Threads):
    batches = OF_BATCHES
