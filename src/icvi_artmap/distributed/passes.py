"""Passes over all rows: each goes to the cluster that the index prefers, and moments are reduced.

What the index is like with a row in a cluster is told by moments that stay as they are during a
pass. So a row's cluster depends on the row and on them alone: blocks can be looked at in any order,
by whoever has time and more than once, and nothing has to be kept of them but sums.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._support.wording import counted, number
from icvi_artmap.distributed import sums as exact
from icvi_artmap.distributed.computing import computed, reduced, shared, task
from icvi_artmap.distributed.row_blocks import in_block
from icvi_artmap.distributed.sums import Sums
from icvi_artmap.estimators.all_rows import clusters_joined
from icvi_artmap.estimators.fitted import FittedModel, rows_of
from icvi_artmap.estimators.icvi_artmap import ICVIARTMAP
from icvi_artmap.estimators.preparing import DROPPED
from icvi_artmap.indices.base import Index, better
from icvi_artmap.prediction import by_category, by_index
from icvi_artmap.prediction.index_value import score_of_moments
from icvi_artmap.samples.moments import Moments
from icvi_artmap.samples.resolution import on_grid
from icvi_artmap.samples.scaling import Scaling

Report = Callable[[str], None]


# --- blocks as they are clustered ----------------------------------------------------------------


class Reading(NamedTuple):
    """How the rows of a block become what is clustered."""

    model: ICVIARTMAP  #: without its samples; its preparation is that of the rows
    only_complete: bool  #: rows with gaps do not count
    steps: NDArray[np.float64]  #: in which the columns of the sample were recorded; 0: none
    origin: NDArray[np.float64]  #: a row on this grid


class Block(NamedTuple):
    """Rows as they are clustered."""

    rows: NDArray[np.float64]  #: (n, a)
    counted: NDArray[np.bool_] | None  #: which of them clusters are found on; None: all
    gaps: NDArray[np.bool_] | None  #: which of them had gaps; None: none
    on_grid: NDArray[np.bool_]  #: (d,) whether all values lie on the grid of the column


def read(block: Any, how: Reading, number_of_block: int) -> Block:
    """The rows of a block, prepared and checked as new rows are."""
    if len(block) == 0:
        width = len(how.model.fitted_.scaling.minimum)
        return Block(np.empty((0, width)), None, None, np.ones(len(how.steps), np.bool_))
    given = in_block(number_of_block, lambda rows: rows_of(how.model, rows), block)
    gaps = np.isnan(given).any(axis=1)
    rows = np.ascontiguousarray(how.model.fitted_.prepared(given), np.float64)
    counted_rows = ~gaps if how.only_complete and gaps.any() else None
    grid = on_grid(given, how.steps, how.origin)
    return Block(rows, counted_rows, gaps if gaps.any() else None, grid)


def sums_and_grid(block: Block) -> tuple[Sums | None, NDArray[np.bool_]]:
    """What the scaling is made of, and which columns keep to their steps."""
    rows = block.rows if block.counted is None else block.rows[block.counted]
    return exact.sums_of(rows, None, False), block.on_grid


def merged_with_grid(parts: list[Any]) -> tuple[Sums | None, NDArray[np.bool_]]:
    return exact.merged([sums for sums, _ in parts]), np.all([grid for _, grid in parts], axis=0)


# --- who is in which group -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Rule:
    """What decides the group of a row."""

    index: Index
    scaling: Scaling
    moments: Moments  #: of the groups; they stay as they are during a pass

    def groups(self, rows: NDArray[np.floating]) -> NDArray[np.int64]:
        return by_index.best_clusters(rows, self.scaling, self.index, self.moments)


class Known(NamedTuple):
    """Rows of a block whose group is given."""

    rows: NDArray[np.int64]
    groups: NDArray[np.int64]


def groups_of_block(block: Block, rule: Rule, known: Known | None) -> NDArray[np.int64]:
    """The group of every row."""
    groups = rule.groups(block.rows)
    if known is not None:
        groups[known.rows] = known.groups
    return groups


def moments_of_block(block: Block, rule: Rule, known: Known | None) -> Sums | None:
    """Sums of every group."""
    groups, rows = groups_of_block(block, rule, known), block.rows
    if block.counted is not None:
        groups, rows = groups[block.counted], rows[block.counted]
    return exact.sums_of(rows, groups, rule.index.needs_scatter)


class Partition(NamedTuple):
    """A partition of all rows, by the rule that makes it again, and what is known of it."""

    rule: Rule
    known: list[Known | None]  #: of every block
    moments: Moments  #: of the groups
    score: float  #: of the groups


def partition_of(blocks: list[Any], rule: Rule, known: list[Known | None]) -> Partition:
    """The partition that a rule makes of all rows, by one pass over them."""
    told = shared(rule)
    parts = [
        task(moments_of_block, block, told, own) for block, own in zip(blocks, known, strict=True)
    ]
    sums = computed(reduced(parts, exact.merged))
    moments = exact.moments_in(rule.scaling, sums, len(rule.moments.n))
    empty = (moments.n == 0).any()
    score = -np.inf if empty else score_of_moments(moments, rule.index)
    return Partition(rule, known, moments, score)


class Progress(NamedTuple):
    """What the passes have led to."""

    partition: Partition
    scores: list[float]  #: of the clusters, after every pass that was kept
    converged: bool


def improve(
    blocks: list[Any],
    first: Partition,
    clusters: NDArray[np.int64],
    sample: NDArray[np.floating],
    most: int,
    tol: float,
    report: Report,
) -> Progress:
    """Passes over all rows while they make the index better.

    ``clusters``: of every group; ``sample``: rows that no group may lose all of, as what is told of
    clusters beside their moments is learned from them.
    """
    now, index = first, first.rule.index
    scores = [score_of_moments(clusters_joined(now.moments, clusters), index)]
    nobody: list[Known | None] = [None] * len(blocks)
    for at in range(1, most + 1):
        rule = replace(now.rule, moments=now.moments)
        if len(np.unique(rule.groups(sample))) < len(now.moments.n):
            report(f"pass {at} would leave a cluster without rows: it is not made")
            return Progress(now, scores, True)
        after = partition_of(blocks, rule, nobody)
        value = number(index.value(after.score), 6)
        if not better(after.score, now.score):
            same = np.array_equal(after.moments.mean, now.moments.mean)
            back = "no row moves any more" if same else "no better, taken back"
            report(f"pass {at}: {index.name} = {value}, {back}")
            return Progress(now, scores, True)
        moved = int(np.abs(after.moments.n - now.moments.n).sum()) // 2
        report(f"pass {at}: {index.name} = {value}, sizes change by {counted(moved, 'row')}")
        settled = after.score - now.score <= tol
        now = after
        scores.append(score_of_moments(clusters_joined(now.moments, clusters), index))
        if settled:
            return Progress(now, scores, True)
    return Progress(now, scores, False)


# --- the network grows ---------------------------------------------------------------------------


class Net(NamedTuple):
    """The categories of the sample."""

    boxes: NDArray[np.float64]  #: (C, 2d) scaled as all rows are
    category_labels: NDArray[np.int64]
    clusters: NDArray[np.int64]  #: of every group
    alpha: float


def corners_of_block(
    block: Block, rule: Rule, known: Known | None, net: Net
) -> NDArray[np.float64]:
    """The least of every category's rows, complement coded: where its box must reach."""
    corners = np.full(net.boxes.shape, np.inf)
    labels, rows = net.clusters[groups_of_block(block, rule, known)], block.rows
    if block.counted is not None:
        labels, rows = labels[block.counted], rows[block.counted]
    if len(rows):
        told = (rule.scaling, net.boxes, net.alpha, net.category_labels, labels)
        category = by_category.best_categories_within(rows, *told)
        found = category >= 0
        coded = by_category.coded_rows(rows[found], rule.scaling)
        np.minimum.at(corners, category[found], coded)
    return corners


def least(parts: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.minimum.reduce(parts)


def grown_boxes(
    blocks: list[Any], partition: Partition, net: Net, rho_a: float
) -> NDArray[np.float64]:
    """The boxes with all rows in them that are nearest to them among the boxes of their cluster.

    A box that would become larger than the vigilance allows stays as it is.
    """
    rule, told = shared(partition.rule), shared(net)
    known = zip(blocks, partition.known, strict=True)
    parts = [task(corners_of_block, block, rule, own, told) for block, own in known]
    grown = np.minimum(net.boxes, computed(reduced(parts, least)))
    fits = grown.sum(axis=1) >= rho_a * (net.boxes.shape[1] // 2)
    return np.where(fits[:, None], grown, net.boxes)


# --- labels --------------------------------------------------------------------------------------


class Labelling(NamedTuple):
    """How a row gets its label, when the fit is over."""

    reading: Reading
    rule: Rule
    clusters: NDArray[np.int64]  #: the number of every group's cluster
    noise: FittedModel | None  #: if rows far from all clusters get -1


def labels_of_block(
    block: Any, how: Labelling, known: Known | None, number_of_block: int
) -> NDArray[np.int64]:
    """The labels of the rows of a block as it is given."""
    part = read(block, how.reading, number_of_block)
    labels = how.clusters[groups_of_block(part, how.rule, known)]
    if how.noise is not None and len(labels):
        labels = np.where(how.noise.noise(part.rows), -1, labels)
    made = how.reading.model.preparation_
    if made is not None and made.drop and part.gaps is not None:
        labels = np.where(part.gaps, DROPPED, labels)
    return labels
