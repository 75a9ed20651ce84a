"""Benchmarks against peers, side by side in one run: ``make bench``, ``make bench-quick``."""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # one thread each; before any of the libraries is loaded
