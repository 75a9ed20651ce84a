"""Iterations a second of the dynamic autoencoder, beside what the arithmetic alone would take.

``python -m benchmarks.deep [--threads N] [--batch N]`` needs PyTorch. The limit is the rate of one
large matrix product on the same threads; an iteration is counted as the products of its layers,
forwards and twice backwards. The first layer needs no gradient of its input, which is not counted.
Times are those of the processor, by thread, so that others on the machine count less.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from icvi_artmap._support.callbacks import Watch, watching
from icvi_artmap.deep import DynamicAutoencoder

HIDDEN, LATENT = (500, 500, 2000), 10
#: Images of USPS and of MNIST.
SIDES = {"16 x 16": 16, "28 x 28": 28}
#: Iterations that are timed together, and how often; the best time counts.
ITERATIONS, TIMES = 140, 3
ROWS = 10_000


def product_rate(threads: int) -> float:
    """GFLOP a second of a product of two large matrices; the best of some."""
    import torch

    torch.set_num_threads(threads)
    n = 2048
    a, b = torch.rand(n, n), torch.rand(n, n)
    return 2e-9 * n**3 * threads / min(_seconds(lambda: a @ b) for _ in range(10))


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def operations(n_features: int, batch: int) -> float:
    """GFLOP of the layers of one iteration."""
    sizes = (n_features, *HIDDEN, LATENT)
    weights = 2 * sum(a * b for a, b in pairwise(sizes))
    input_slope = sizes[0] * sizes[1]
    return 2e-9 * batch * (3 * weights - input_slope)


class _Clock(Watch):
    """How long the iterations between two looks take, by stage."""

    def __init__(self) -> None:
        self.tasks: list[tuple[str, float]] = []
        self.seconds: dict[str, list[float]] = {"pretraining": [], "clustering": []}

    def begin(self, task: str, n_subtasks: int | None = 0) -> None:
        self.tasks.append((task, time.process_time()))

    def end(self, subject: object = None) -> bool:
        task, began = self.tasks.pop()
        if task == "iterations":
            stage, _ = self.tasks[-1]
            self.seconds[stage].append(time.process_time() - began)
        return False


def iterations_a_second(side: int, threads: int, batch: int) -> dict[str, float]:
    """By stage."""
    X = np.random.default_rng(0).random((ROWS, side * side))
    clock = _Clock()
    with watching(clock):
        DynamicAutoencoder(
            10,
            image_shape=(side, side),
            pretraining_iterations=TIMES * ITERATIONS,
            clustering_iterations=TIMES * ITERATIONS,
            batch_size=batch,
            n_jobs=threads,
            random_state=0,
        ).fit(X)
    return {stage: threads * ITERATIONS / min(took) for stage, took in clock.seconds.items()}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch", type=int, default=DynamicAutoencoder().batch_size)
    given = parser.parse_args()
    threads, batch = given.threads, given.batch
    rate = product_rate(threads)
    print(f"{threads} thread(s), batch {batch}, one large product: {rate:.0f} GFLOP/s\n")
    print("| images | stage | GFLOP an iteration | limit, it/s | measured, it/s | share |")
    print("|---|---|---|---|---|---|")
    for name, side in SIDES.items():
        needed = operations(side * side, batch)
        for stage, measured in iterations_a_second(side, threads, batch).items():
            print(
                f"| {name} | {stage} | {needed:.2f} | {rate / needed:.1f} | {measured:.1f} | "
                f"{measured * needed / rate:.0%} |"
            )


if __name__ == "__main__":
    main()
