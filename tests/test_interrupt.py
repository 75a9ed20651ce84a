"""Ctrl-C ends a long fit soon, and leaves nothing broken behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from icvi_artmap.network.driver import Pace, in_chunks

#: Seconds from the signal to KeyboardInterrupt: a tenth is aimed at, machines may be busy.
LIMIT = 5.0
#: Seconds that the long fit runs before it is interrupted.
HEAD_START = 1.0

PROGRAM = """
import signal
import numpy as np
from icvi_artmap import ICVIARTMAP

# A shell that starts the tests in the background has them ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)

rng = np.random.default_rng(0)
small, large = rng.normal(size=(60, 10)), rng.normal(size=({n}, 10))

def fit_small():
    return ICVIARTMAP(8, init=small[:8], max_epochs=3, random_state=0, **{options}).fit(small)

before = fit_small()  # compiled here, so that the signal finds the sample loop
untouched = fit_small()
print("started", flush=True)
try:
    untouched.set_params(init=large[:8], tol=0.0, max_epochs=10**6).fit(large)
    print("finished", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
after = fit_small()
np.testing.assert_array_equal(after.labels_, before.labels_)
np.testing.assert_array_equal(after.map_field_, before.map_field_)
np.testing.assert_array_equal(untouched.labels_, before.labels_)
np.testing.assert_array_equal(untouched.predict(small), before.predict(small))
print("unharmed", flush=True)
"""


def test_short_pieces_of_work_do_not_lengthen_the_time_between_two_looks() -> None:
    pace = Pace()
    for _ in range(50):
        in_chunks(10, pace, lambda _, stop: stop)
    assert pace.size == 80


@pytest.mark.skipif(sys.platform == "win32", reason="SIGINT cannot be sent to a child there")
@pytest.mark.parametrize(
    ("n", "options"),
    [
        (20_000, {"index": "CH", "evaluation": "batch"}),
        (200_000, {"index": "NI", "rho_a": 0.9}),
    ],
    ids=["batch", "incremental"],
)
def test_a_long_fit_can_be_interrupted(n: int, options: dict[str, object]) -> None:
    program = PROGRAM.format(n=n, options=options)
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )
    assert child.stdout is not None
    try:
        line = child.stdout.readline()
        assert line == "started\n", child.communicate()[1]
        time.sleep(HEAD_START)
        sent = time.perf_counter()
        child.send_signal(signal.SIGINT)
        line = child.stdout.readline()
        seconds = time.perf_counter() - sent
        rest, errors = child.communicate(timeout=60)
    finally:
        child.kill()
    assert line == "interrupted\n", errors
    assert seconds < LIMIT
    assert rest == "unharmed\n", errors
    assert child.returncode == 0
