"""First clusters by neighbours: a network that gives a row and those nearest to it the same label.

A row and its nearest neighbours are of one kind nearly always, however many ways there are to write
a one. So a network with as many outputs as clusters are wanted learns to give both the same label,
and to use all labels, about equally often (as in SCAN: W. Van Gansbeke, S. Vandenhende, S.
Georgoulis, M. Proesmans, L. Van Gool, "SCAN: Learning to classify images without labels", ECCV,
2020). It can end in a poor place, but then its loss is larger: of several networks the one with the
least loss is taken.
"""

from __future__ import annotations

from itertools import product
from math import radians
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.callbacks import UNWATCHED, Watch
from icvi_artmap.deep import computation as compute
from icvi_artmap.deep.layers import first_weights
from icvi_artmap.deep.needs_torch import imported_torch

#: Neighbours of a row, and how many pairs a batch has.
NEIGHBOURS, PAIRS = 5, 256
#: Networks that are trained, the batches of each, and their learning rate (Adam).
NETWORKS, ITERATIONS, RATE = 4, 2_500, 1e-3
#: How much it counts that all labels are used.
EVENNESS = 2.0
#: A label that is less probable is none.
SURE = 0.9
#: Neighbours are looked for among turned and shifted images, too, if so many products are enough:
#: steps of each of the three, as parts of the largest.
STEPS, MOST_PRODUCTS = (-1.0, -0.5, 0.0, 0.5, 1.0), 1e13
#: Rows that are compared with all at a time.
ROWS = 1024
#: The stream of random numbers; those of the stages have smaller numbers.
_STREAM = 1_000
NOBODY = -1


def grouped(rows: Any, plan: Any, watch: Watch = UNWATCHED) -> NDArray[np.int64]:
    """A label for every row, of ``plan.n_clusters``, or NOBODY where the network is not sure.

    ``watch`` is told of every network.
    """
    torch = imported_torch()
    watch.begin("grouping", NETWORKS)
    near = neighbours(rows, plan)
    best, least = None, np.inf
    for number in range(NETWORKS):
        watch.begin("network")
        weights = _trained(rows, near, plan, number)
        watch.end()
        with torch.no_grad():
            likely = torch.cat(
                [compute.through(part, weights).softmax(dim=1) for part in rows.split(ROWS)]
            )
            loss = float(
                np.mean([compute.neighbour_loss(likely, likely[of], EVENNESS) for of in near.T])
            )
        if best is None or loss < least:
            best, least = likely, loss
    watch.end()
    assert best is not None
    probability, label = best.max(dim=1)
    return torch.where(probability > SURE, label, NOBODY).numpy()


def neighbours(rows: Any, plan: Any) -> Any:
    """(n, NEIGHBOURS) the nearest other rows, by the least distance of images moved a little."""
    torch = imported_torch()
    n, d = rows.shape
    moves: list[tuple[float, ...]] = [(0.0, 0.0, 0.0)]
    if plan.image_shape is not None and 2.0 * n * n * d * len(STEPS) ** 3 <= MOST_PRODUCTS:
        moves = list(product(STEPS, repeat=3))
    found = []
    for first in range(0, n, ROWS):
        part = rows[first : first + ROWS]
        least = torch.full((len(part), n), torch.inf)
        for turn, across, down in moves:
            moved = part
            if len(moves) > 1:
                ones = torch.ones(len(part))
                by = compute.Distortion(
                    ones * turn * radians(plan.rotation),
                    ones * across * plan.shift,
                    ones * down * plan.shift,
                )
                moved = compute.distorted(part, plan.image_shape, by)
            least = torch.minimum(least, torch.cdist(moved, rows))
        own = torch.arange(len(part))
        least[own, first + own] = torch.inf
        found.append(least.topk(min(NEIGHBOURS, n - 1), largest=False).indices)
    return torch.cat(found)


def _trained(rows: Any, near: Any, plan: Any, number: int) -> list[Any]:
    """The weights of one network."""
    torch = imported_torch()
    generator = np.random.Generator(np.random.Philox(key=[plan.seed, _STREAM + number]))
    sizes = (*plan.sizes[:-1], plan.n_clusters)
    weights = [
        torch.from_numpy(array).requires_grad_() for array in first_weights(sizes, generator)
    ]
    optimiser = torch.optim.Adam(weights, lr=RATE, fused=True)
    for _ in range(ITERATIONS):
        one = generator.integers(len(rows), size=PAIRS)
        other = near[one, generator.integers(near.shape[1], size=PAIRS)]
        both = torch.cat([torch.from_numpy(one), other])
        seen = compute.distorted_at_random(
            rows[both], plan.image_shape, plan.rotation, plan.shift, generator
        )
        first, second = compute.through(seen, weights).softmax(dim=1).split(PAIRS)
        loss = compute.neighbour_loss(first, second, EVENNESS)
        for weight, slope in zip(weights, torch.autograd.grad(loss, weights), strict=True):
            weight.grad = slope
        optimiser.step()
    return weights
