"""What a fit on Dask costs, by row and by byte, and what follows for clusters of many machines.

``python -m benchmarks.scale costs`` measures a block's tasks and the tasks of a reduction on a
LocalCluster of two workers, simulates the reduction tree with these times, and prints the tables of
docs/scale.md. ``python -m benchmarks.scale fit`` fits Parquet files on two workers and in memory,
one after the other, and prints both. Times of tasks are those of the processor.
"""

from __future__ import annotations

import argparse
import heapq
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import duration, gaussians, machine, table
from icvi_artmap import ICVIARTMAP
from icvi_artmap.distributed import DistributedICVIARTMAP, index_values, passes
from icvi_artmap.distributed import sums as exact
from icvi_artmap.distributed.computing import FAN_IN, computed, reduced, task
from icvi_artmap.estimators.all_rows import without_samples

#: Distance of the centres: some overlap, so that passes have something to do.
DISTANCE = 2.0
#: Rows of a block in the measurements, and how often each task is timed.
BLOCK_ROWS, REPEATS = 100_000, 3
#: Of a network: seconds until the first byte arrives, and bytes a second (10 Gbit/s).
LATENCY, BANDWIDTH = 1e-3, 1.25e9
#: The problems that are thought through: rows, features, clusters.
LARGE = ((10**9, 10, 10), (10**8, 100, 10))
WORKERS = (10, 30, 100)
#: Numbers of a block there: 80 MB each.
LARGE_BLOCK = 10**7
#: Tasks of a block in a pass: Dask reads it, it is checked, and its rows are placed and summed.
BLOCK_TASKS = 3


class Costs(NamedTuple):
    """Seconds of the tasks of one pass, measured."""

    read: float  #: a row of Parquet, read and checked
    row: float  #: a row finds its cluster and is summed
    merge: float  #: two partial results are merged
    partial: int  #: bytes of a partial result
    state: int  #: bytes that tell a worker the moments
    row_bytes: int  #: a row in memory


# --- measured ------------------------------------------------------------------------------------


def cpu_seconds(work: Callable[[], Any]) -> float:
    """The least of several times of the processor, all threads, after one that is not counted."""
    work()
    found = []
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def quick_model(k: int, index: str) -> ICVIARTMAP:
    """What a row costs does not depend on how good the clusters are."""
    return ICVIARTMAP(k, index=index, refine=False, max_epochs=1, kmeans_trials=1, random_state=0)


def measured(d: int, k: int, index: str, rows: int = BLOCK_ROWS) -> Costs:
    """What a block of a pass costs in this process."""
    import pandas as pd

    X = gaussians(rows, d, k, DISTANCE).X
    model = quick_model(k, index).fit(X[: max(5000, 20 * d)])
    reading = passes.Reading(without_samples(model), True, np.zeros(d), X[0])
    fitted = model.fitted_
    rule = passes.Rule(fitted.index, fitted.scaling, fitted.groups)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "block.parquet")
        pd.DataFrame(X, columns=[f"x{f}" for f in range(d)]).to_parquet(path)
        read = cpu_seconds(lambda: passes.read(pd.read_parquet(path).to_numpy(), reading, 0))
    block = passes.read(X, reading, 0)
    row = cpu_seconds(lambda: passes.moments_of_block(block, rule, None))
    part = passes.moments_of_block(block, rule, None)
    merge = cpu_seconds(lambda: exact.merged([part] * FAN_IN)) / FAN_IN
    partial, state = len(pickle.dumps(part)), len(pickle.dumps(rule))
    return Costs(read / rows, row / rows, merge, partial, state, 8 * d)


@contextmanager
def two_workers() -> Iterator[Any]:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def bytes_moved(client: Any) -> int:
    """Bytes that the workers have sent to each other so far."""
    sent = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return sum(sent.values())


def empty_part(_: int) -> int:
    return 0


def task_overhead(client: Any, tasks: int = 2000) -> float:
    """Wall seconds that the scheduler takes for a task of a reduction that does nothing."""
    computed(reduced([task(empty_part, i) for i in range(50)], len))
    began = time.perf_counter()
    computed(reduced([task(empty_part, i) for i in range(tasks)], len))
    return (time.perf_counter() - began) / tasks


def bytes_a_second(client: Any, size: int = 200_000_000) -> float:
    """How fast one worker gets an array from the other."""
    first, second = client.scheduler_info(n_workers=-1)["workers"]
    best = 0.0
    for _ in range(REPEATS):
        array = client.submit(np.ones, size // 8, workers=first, pure=False)
        client.gather(client.submit(len, array, workers=first, pure=False))
        began = time.perf_counter()
        client.gather(client.submit(len, array, workers=second, pure=False))
        best = max(best, size / (time.perf_counter() - began))
    return best


# --- simulated -----------------------------------------------------------------------------------


def simulated(
    blocks: int,
    workers: int,
    block_seconds: float,
    costs: Costs,
    overhead: float,
    block_tasks: int = BLOCK_TASKS,
) -> tuple[float, int]:
    """Seconds of one pass, and bytes that its reduction moves between workers.

    Every worker has one thread and takes the next task that is ready. The scheduler hands out one
    task after the other, on a processor of its own; an input that lies with another worker is
    fetched first.
    """
    ready: list[tuple[float, int, int]] = []  # when, level, number
    place: dict[tuple[int, int], int] = {}
    level_sizes = [blocks]
    while level_sizes[-1] > 1:
        level_sizes.append(-(-level_sizes[-1] // FAN_IN))
    missing = {
        (level, i): min(FAN_IN, level_sizes[level - 1] - i * FAN_IN)
        for level in range(1, len(level_sizes))
        for i in range(level_sizes[level])
    }
    for i in range(blocks):
        heapq.heappush(ready, (0.0, 0, i))
    free = [(0.0, w) for w in range(workers)]
    heapq.heapify(free)
    scheduler, moved, end = 0.0, 0, 0.0
    while ready:
        when, level, i = heapq.heappop(ready)
        idle, worker = heapq.heappop(free)
        scheduler = max(scheduler, when) + overhead * (block_tasks if level == 0 else 1)
        start = max(scheduler, idle)
        if level == 0:
            stop = start + block_seconds
        else:
            children = range(i * FAN_IN, min((i + 1) * FAN_IN, level_sizes[level - 1]))
            far = sum(place[level - 1, child] != worker for child in children)
            moved += far * costs.partial
            fetching = LATENCY + far * costs.partial / BANDWIDTH if far else 0.0
            stop = start + fetching + costs.merge * len(children)
        place[level, i] = worker
        heapq.heappush(free, (stop, worker))
        end = max(end, stop)
        if level + 1 < len(level_sizes):
            above = (level + 1, i // FAN_IN)
            missing[above] -= 1
            if missing[above] == 0:
                heapq.heappush(ready, (stop, *above))
    return end, moved


def costs_page() -> str:
    """All tables of the costs."""
    problems = [("NI", 10, 10), ("CH", 10, 10), ("NI", 100, 10)]
    costs = {what: measured(what[1], what[2], what[0]) for what in problems}
    rows = [
        [
            f"{index}, d = {d}, k = {k}",
            duration(cost.read),
            duration(cost.row),
            duration(cost.merge),
            f"{cost.partial:,}",
            f"{cost.state:,}",
        ]
        for (index, d, k), cost in costs.items()
    ]
    parts = [
        machine() + ".\n",
        table(
            [
                "",
                "read a row",
                "place and sum a row",
                "merge a part",
                "bytes of a part",
                "of a state",
            ],
            rows,
        ),
    ]
    with two_workers() as client:
        overhead = task_overhead(client)
        byte = 1.0 / bytes_a_second(client)
        parts.append(
            f"\nA task of a reduction that does nothing: {duration(overhead)}. "
            f"A byte from one worker to the other: {duration(byte)}.\n"
        )
        parts.append(checked_simulation(client, overhead))
    parts.append(table(LARGE_HEAD, list(large_rows(costs, overhead))))
    return "\n".join(parts) + "\n"


def checked_simulation(
    client: Any, overhead: float, blocks: int = 64, rows: int = BLOCK_ROWS
) -> str:
    """One pass of a reduction on two workers, measured and simulated."""
    import dask.array as da

    d, k = 10, 10
    X = gaussians(rows, d, k, DISTANCE).X
    model = quick_model(k, "NI").fit(X[:5000])
    fitted = model.fitted_
    rule = passes.Rule(fitted.index, fitted.scaling, fitted.groups)
    reading = passes.Reading(without_samples(model), True, np.zeros(d), X[0])
    one = da.from_array(X, chunks=(rows, d)).to_delayed().ravel()[0]
    held = [task(passes.read, one, reading, i) for i in range(blocks)]
    nobody: list[Any] = [None] * blocks
    passes.partition_of(held, rule, nobody)  # compiles
    before, began = bytes_moved(client), time.perf_counter()
    passes.partition_of(held, rule, nobody)
    wall, moved = time.perf_counter() - began, bytes_moved(client) - before
    cost = measured(d, k, "NI", rows)
    check = cpu_seconds(lambda: passes.read(X, reading, 0))
    expected, told = simulated(blocks, 2, rows * cost.row + check, cost, overhead, BLOCK_TASKS - 1)
    return (
        f"One pass over {blocks} blocks of {rows:,} rows on two workers: {duration(wall)}, "
        f"{moved:,} bytes between workers (rows, partial results and the state); simulated: "
        f"{duration(expected)}, {told:,} bytes of partial results.\n"
    )


LARGE_HEAD = [
    "NI, k = 10",
    "workers",
    "blocks",
    "a pass, rows alone",
    "a pass, simulated",
    "reduction moves",
    "memory of a worker",
]


def large_rows(costs: dict[tuple[str, int, int], Costs], overhead: float) -> Iterator[list[str]]:
    for n, d, k in LARGE:
        cost = costs["NI", d, k]
        size = LARGE_BLOCK // d
        blocks, block = -(-n // size), size * (cost.read + cost.row)
        for workers in WORKERS:
            seconds, moved = simulated(blocks, workers, block, cost, overhead)
            memory = 0.35e9 + 4 * size * cost.row_bytes + FAN_IN * cost.partial
            yield [
                f"{n:.0e} × {d}".replace("e+0", "e"),
                str(workers),
                f"{blocks:,}",
                duration(n * (cost.read + cost.row) / workers),
                duration(seconds),
                f"{moved / 1e6:.1f} MB",
                f"{memory / 1e9:.2f} GB",
            ]


# --- a whole fit ---------------------------------------------------------------------------------


def written_rows(folder: Path, n: int, d: int, k: int, files: int) -> NDArray[np.float64]:
    """Rows in Parquet files, unless they are there already; also returns them."""
    import pandas as pd

    if (folder / "part-000.parquet").exists():
        return pd.read_parquet(folder).to_numpy()
    X = gaussians(n, d, k, DISTANCE).X
    for i, part in enumerate(np.array_split(X, files)):
        frame = pd.DataFrame(part, columns=[f"x{f}" for f in range(d)])
        frame.to_parquet(folder / f"part-{i:03d}.parquet", index=False)
    return X


def peak_memory(client: Any) -> list[int]:
    """The most resident memory that each worker has had so far, in bytes (Linux)."""

    def peak() -> int:
        with open("/proc/self/status") as file:
            return 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))

    return sorted(client.run(peak).values())


def peaks(client: Any) -> str:
    return ", ".join(f"{most / 1e9:.2f} GB" for most in peak_memory(client))


def fit_page(
    kept: Path | None, n: int, d: int, k: int, files: int, beside: bool, twice: bool
) -> None:
    """Print what a fit on two workers and in memory have in common."""
    import dask.dataframe as dd
    from sklearn.metrics import adjusted_rand_score

    def say(line: str) -> None:
        print(f"- {line}", flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = kept or Path(name)
        X = written_rows(folder, n, d, k, files)
        with two_workers() as client:
            rows = dd.read_parquet(str(folder / "*.parquet"))
            before = bytes_moved(client)

            def fitted(data: Any, **options: Any) -> tuple[Any, float]:
                began = time.perf_counter()
                model = DistributedICVIARTMAP(k, random_state=0, **options)
                return model.fit(data), time.perf_counter() - began

            model, seconds = fitted(rows, keep=False)
            labels = model.labels_.compute().to_numpy()
            say(
                f"on two workers: {duration(seconds)}, NI {model.index_value_:.9f}, "
                f"{model.n_passes_} passes, sample of {len(model.sample_rows_):,} rows"
            )
            say(f"peaks of worker memory: {peaks(client)}")
            say(f"bytes between workers: {bytes_moved(client) - before:,}")
            exact_value = index_values(rows, model.labels_, "NI")["NI"]
            say(f"index_values of its labels: NI {exact_value:.9f}")
            if twice:
                again, _ = fitted(rows, keep=False)
                same = again.index_value_ == model.index_value_ and np.array_equal(
                    again.labels_.compute().to_numpy(), labels
                )
                say(f"the same run again: {'identical' if same else 'NOT identical'}")
                other, _ = fitted(rows.repartition(npartitions=3 * files), keep=False)
                apart = abs(other.index_value_ / model.index_value_ - 1.0)
                moved = int((other.labels_.compute().to_numpy() != labels).sum())
                say(f"three times as many blocks: NI by {apart:.1e} of itself, {moved} labels")
            if beside:
                say(kmeans_of_dask_ml(rows, k))
        began = time.perf_counter()
        inside = ICVIARTMAP(k, random_state=0).fit(X)
        seconds = time.perf_counter() - began
        ari = adjusted_rand_score(inside.labels_, labels)
        apart = abs(model.index_value_ / inside.index_value_ - 1.0)
        say(f"in memory: {duration(seconds)}, NI {inside.index_value_:.9f}")
        say(f"the index values differ by {100 * apart:.4f} %, ARI between the two {ari:.5f}")


def kmeans_of_dask_ml(rows: Any, k: int) -> str:
    """dask-ml's KMeans on the same rows, if it is installed."""
    try:
        from dask_ml.cluster import KMeans
    except ImportError as error:
        return f"KMeans of dask-ml: not installed ({error})"
    began = time.perf_counter()
    KMeans(k, random_state=0).fit(rows.to_dask_array(lengths=True))
    return f"KMeans of dask-ml: {duration(time.perf_counter() - began)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("what", choices=("costs", "fit"))
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--clusters", type=int, default=10)
    parser.add_argument("--files", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="where the files are kept; a temporary one")
    parser.add_argument("--dask-ml", action="store_true", help="also its KMeans")
    parser.add_argument("--once", action="store_true", help="leave out the repeated fits")
    given = parser.parse_args()
    if given.what == "costs":
        print(costs_page())
        return
    sizes = (given.rows, given.features, given.clusters, given.files)
    fit_page(given.folder, *sizes, given.dask_ml, not given.once)


if __name__ == "__main__":
    main()
