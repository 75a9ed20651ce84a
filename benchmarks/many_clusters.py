"""How long an epoch takes with many clusters, by index."""

from __future__ import annotations

from benchmarks import growth
from benchmarks.common import Problem, duration, exponent, gaussians, table
from benchmarks.growth import APART

TEXT = """## Many clusters

Seconds an epoch, of two (`max_epochs=2, tol=0, refine=False`) from the true centres moved a little,
set-up included: 100 samples for each of k clusters in 10 dimensions, which lie apart. rCIP moves
samples until clusters overlap, and merges nearly all of them at the end of an epoch; then they are
split again.
"""

FULL, QUICK, SMOKE = (100, 300, 1_000), (50, 200), (3, 40)
NAMES = ("NI", "CH", "WB", "XB", "DB", "PBM", "SIL", "PS", "GD43", "GD53", "rH", "rCIP")
SAMPLES = 100  #: of every cluster
EPOCHS = 2


def seconds(problem: Problem, index: str) -> float:
    """Per epoch."""
    within = problem.X[problem.y == 0].std(axis=0)
    return growth.seconds(problem, index, 1, within, EPOCHS)[0]


def run(numbers: tuple[int, ...]) -> str:
    problems = [gaussians(SAMPLES * k, 10, k, APART) for k in numbers]
    rows = []
    for name in NAMES:
        seconds(gaussians(200, 10, 2, APART), name)  # compiles
        took = [seconds(problem, name) for problem in problems]
        rows.append([name, *map(duration, took), f"**{exponent(numbers, took) - 1.0:.2f}**"])
    header = ["k, N = 100 k", *[f"{k:,}" for k in numbers], "exponent in k of a sample's time"]
    return "\n".join([TEXT, table(header, rows), ""])
