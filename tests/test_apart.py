"""Functions that are compiled apart from the kernels that call them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from icvi_artmap._compile.apart import Apart, call
from icvi_artmap._compile.jit import jit

pytestmark = pytest.mark.nojit


class Inner(NamedTuple):
    rates: tuple[float, float]
    table: NDArray[np.float64]


class Outer(NamedTuple):
    counts: NDArray[np.int64]
    inner: Inner
    shift: float


@Apart
def weigh(outer, a, b, c):
    """Count a call, and sum over a row what depends on every kind of field."""
    outer.counts[a] += 1
    total = outer.shift
    for f in range(outer.inner.table.shape[1]):
        total += outer.inner.table[b, f] * outer.inner.rates[f % 2]
    return np.int64(total) + 100 * c


@jit
def weigh_all(weighing, n):
    total = 0
    for b in range(n):
        total += call(weighing, 1, b, b)
    return total


def outer(table: NDArray[np.float64]) -> Outer:
    return Outer(np.zeros(3, np.int64), Inner((1.0, 10.0), table), 0.5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_state_and_numbers_arrive(dtype: type, order: str) -> None:
    """Also for tables of several types and layouts: each has code of its own."""
    table = np.arange(8.0).reshape(4, 2).astype(dtype, order=order)
    state = outer(table)
    total = weigh_all(weigh.given(state), 4)
    assert total == sum(int(0.5 + a + 10 * b) + 100 * at for at, (a, b) in enumerate(table))
    assert state.counts.tolist() == [0, 4, 0]


def test_what_the_arrays_hold_may_change() -> None:
    state = outer(np.zeros((1, 2)))
    given = weigh.given(state)
    assert weigh_all(given, 1) == 0
    state.inner.table[:] = 2.0
    assert weigh_all(given, 1) == 22


AGAIN = """
import json
import numpy as np
import tests.test_apart as t
state = t.outer(np.arange(8.0).reshape(4, 2))
print(json.dumps([t.weigh.is_wanted(state), t.weigh_all(t.weigh.given(state), 4)]))
"""


@pytest.mark.skipif("NUMBA_DISABLE_JIT" in os.environ, reason="nothing is compiled")
def test_it_is_found_by_the_next_process(tmp_path: Path) -> None:
    def run() -> list[object]:
        done = subprocess.run(
            [sys.executable, "-c", AGAIN],
            cwd=Path(__file__).parents[1],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": "."}
            | {"ICVI_ARTMAP_PLAIN_NUMBA": ""},
            capture_output=True,
            text=True,
            check=True,
        )
        answer: list[object] = json.loads(done.stdout)
        return answer

    first, again = run(), run()
    assert first == [True, again[1]]
    assert not again[0]
    assert len(list(tmp_path.rglob("*weigh*.kernel"))) == 2
