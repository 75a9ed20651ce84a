"""Distances that are not kept: the traversal of VAT over them, and pictures of them.

Distances are made when they are needed and forgotten, a block of objects at a time, so memory is
that of the data. The table of the data is transposed: the loop over objects is the inner one and
vectorises, although every sum keeps its order. Objects that have come give up their column to the
last one, which halves the work.

iVAT takes the largest step that cannot be avoided on any path as the distance of two objects. In
the order of VAT that is the largest link between the two. For objects c < r, and s the position of
the largest link in (c, r]:

- A path from c to r leaves the first s objects, and link s is the shortest way out of them.
- Go back from c to the last u whose link is larger than link s, or to the first object. All that
  came after u, up to r, has links no larger, and hangs on something not before u: had it been that
  near to what came before u, it would have come instead of u. So c and r are joined by such links.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import inline, jit
from icvi_artmap.samples.scaling import blocks

#: Objects at a time: their distances stay in the first cache.
BLOCK = 512
#: Rows for which a block of the table is used before the next one is fetched.
TILE = 16
#: Coordinates that a kernel looks at before Python gets to see an interrupt: it takes less than a
#: tenth of a second.
WORK = 100_000_000

_FURTHEST = np.iinfo(np.int64).max


class Walk(NamedTuple):
    """Where the traversal is. Columns from the number of objects left on are no longer used."""

    table: NDArray[np.float64]  #: (d, N) coordinates of the objects left
    members: NDArray[np.int64]  #: (N,) which objects these are
    nearest: NDArray[np.float64]  #: (N,) squared distance to the objects that have come
    nearest_bits: NDArray[np.int64]  #: the same memory; numbers >= 0 are in the order of their bits
    order: NDArray[np.int64]  #: (N,) objects that have come
    links: NDArray[np.float64]  #: (N,) their squared distance to those before
    following: NDArray[np.int64]  #: (1,) column of the next object
    point: NDArray[np.float64]  #: (d,) scratch
    distances: NDArray[np.float64]  #: (BLOCK,) scratch
    distance_bits: NDArray[np.int64]  #: the same memory


@inline
def squared_distances(table, point, start, out):
    """out[j] = squared distance of the point to object start + j."""
    width = out.shape[0]
    for j in range(width):
        out[j] = 0.0
    for f in range(point.shape[0]):
        row = table[f, start : start + width]
        value = point[f]
        for j in range(width):
            difference = row[j] - value
            out[j] += difference * difference


@inline
def copy_column(table, column, out):
    for f in range(out.shape[0]):
        out[f] = table[f, column]


@jit
def largest_distances(walk, first, stop, out):
    """out[i] = bits of the largest squared distance of object i to one after it, i in rows.

    Objects before it in its tile are looked at, too; their rows have the same distances.
    """
    n = walk.table.shape[1]
    for tile in range(first, stop, TILE):
        end = min(tile + TILE, stop)
        for start in range(tile + 1, n, BLOCK):
            width = min(BLOCK, n - start)
            bits = walk.distance_bits[:width]
            for i in range(tile, end):
                copy_column(walk.table, i, walk.point)
                squared_distances(walk.table, walk.point, start, walk.distances[:width])
                largest = out[i]
                for j in range(width):
                    largest = max(largest, bits[j])
                out[i] = largest


@jit
def advance(walk, first, stop):
    """Steps ``first`` to ``stop`` of the traversal; of equally near objects the first one comes."""
    n = walk.order.shape[0]
    for step in range(first, stop):
        column, left = walk.following[0], n - step - 1
        walk.order[step] = walk.members[column]
        walk.links[step] = walk.nearest[column]
        copy_column(walk.table, column, walk.point)
        walk.members[column] = walk.members[left]
        walk.nearest[column] = walk.nearest[left]
        for f in range(walk.point.shape[0]):
            walk.table[f, column] = walk.table[f, left]

        best, best_member = _FURTHEST, n
        for start in range(0, left, BLOCK):
            width = min(BLOCK, left - start)
            squared_distances(walk.table, walk.point, start, walk.distances[:width])
            bits, nearest = walk.distance_bits[:width], walk.nearest_bits[start : start + width]
            least = _FURTHEST
            for j in range(width):
                nearest[j] = min(nearest[j], bits[j])
                least = min(least, nearest[j])
            if least > best:
                continue
            if least < best:
                best, best_member = least, n
            for j in range(width):
                if nearest[j] == best and walk.members[start + j] < best_member:
                    best_member = walk.members[start + j]
                    walk.following[0] = start + j


@jit
def add_distances(table, first, stop, column, point, distances, total):
    """total[j] += distance of object i to object column + j, for i in rows."""
    n = table.shape[1]
    for tile in range(first, stop, TILE):
        end = min(tile + TILE, stop)
        for start in range(column, n, BLOCK):
            width = min(BLOCK, n - start)
            part = distances[:width]
            sums = total[start - column : start - column + width]
            for i in range(tile, end):
                copy_column(table, i, point)
                squared_distances(table, point, start, part)
                for j in range(width):
                    sums[j] += np.sqrt(part[j])


class Traversal(NamedTuple):
    """The order of VAT, and the distance of every object to those before it (0 for the first)."""

    order: NDArray[np.int64]
    links: NDArray[np.float64]


class Distances(Protocol):
    """Distances of objects, by row."""

    n: int

    def traverse(self) -> Traversal: ...

    def in_order(self, order: NDArray[np.int64]) -> Rows: ...


class Rows(Protocol):
    """Rows of a symmetric matrix."""

    n: int

    def total(self, first: int, stop: int) -> NDArray[np.float64]:
        """Sum of the rows ``first`` to ``stop``, from column ``first`` on."""


class Euclidean:
    """Distances of the rows of ``X``, never kept."""

    def __init__(self, X: NDArray[np.floating]) -> None:
        self.X = X
        self.n = len(X)
        # Powers of two change no digit, and squares neither overflow nor vanish.
        self.exponent = int(np.frexp(max(abs(float(X.min())), abs(float(X.max()))))[1])

    def table(self, order: NDArray[np.int64] | None = None) -> NDArray[np.float64]:
        """A new transposed table of the data, scaled."""
        table = np.empty(self.X.shape[::-1])
        for rows in blocks(self.n):
            part = self.X[rows] if order is None else self.X[order[rows]]
            np.ldexp(part.T, -self.exponent, out=table[:, rows], dtype=np.float64)
        return table

    def traverse(self) -> Traversal:
        n, d = self.n, self.X.shape[1]
        nearest, distances = np.full(n, np.inf), np.empty(BLOCK)
        walk = Walk(
            table=self.table(),
            members=np.arange(n),
            nearest=nearest,
            nearest_bits=nearest.view(np.int64),
            order=np.empty(n, np.int64),
            links=np.empty(n),
            following=np.zeros(1, np.int64),
            point=np.empty(d),
            distances=distances,
            distance_bits=distances.view(np.int64),
        )
        largest = np.zeros(n, np.int64)
        for first, stop in _chunks(n, n * d):
            largest_distances(walk, first, stop, largest)
        walk.following[0] = largest.argmax()
        for first, stop in _chunks(n, n * d):
            advance(walk, first, stop)
        walk.links[0] = 0.0
        return Traversal(walk.order, np.ldexp(np.sqrt(walk.links), self.exponent))

    def in_order(self, order: NDArray[np.int64]) -> Rows:
        return EuclideanRows(self.table(order), self.exponent)


class EuclideanRows:
    def __init__(self, table: NDArray[np.float64], exponent: int) -> None:
        self._table, self._exponent = table, exponent
        self._point, self._distances = np.empty(len(table)), np.empty(BLOCK)
        self.n = table.shape[1]

    def total(self, first: int, stop: int) -> NDArray[np.float64]:
        total = np.zeros(self.n - first)
        for a, b in _chunks(stop - first, self._table.size):
            rows = (first + a, first + b, first)
            add_distances(self._table, *rows, self._point, self._distances, total)
        return np.ldexp(total, self._exponent)


class Given:
    """Distances that are there."""

    def __init__(self, distances: NDArray[np.floating]) -> None:
        self.distances = distances
        self.n = len(distances)

    def traverse(self) -> Traversal:
        n = self.n
        order, links = np.empty(n, np.int64), np.zeros(n)
        following = int(np.argmax([row.max() for row in self.distances]))
        nearest, come = np.full(n, np.inf), np.zeros(n, np.bool_)
        for step in range(n):
            order[step] = following
            if step > 0:
                links[step] = max(nearest[following], 0.0)
            come[following] = True
            np.minimum(nearest, self.distances[following], out=nearest)
            nearest[come] = np.inf
            following = int(nearest.argmin())
        return Traversal(order, links)

    def in_order(self, order: NDArray[np.int64]) -> Rows:
        return GivenRows(self.distances, order)


class GivenRows:
    def __init__(self, distances: NDArray[np.floating], order: NDArray[np.int64]) -> None:
        self._distances, self._order = distances, order
        self.n = len(order)

    def total(self, first: int, stop: int) -> NDArray[np.float64]:
        columns = self._order[first:]
        total = np.zeros(len(columns))
        for i in self._order[first:stop]:
            total += self._distances[i][columns]
        return total


class PathRows:
    """iVAT: the largest link between two objects."""

    def __init__(self, links: NDArray[np.float64]) -> None:
        self._links = links
        self.n = len(links)

    def total(self, first: int, stop: int) -> NDArray[np.float64]:
        width = stop - first
        total = np.zeros(self.n - first)
        inside, outside = total[:width], total[width:]
        # The largest link from the last row on; that from an earlier row is this or one on the way.
        beyond = np.maximum.accumulate(self._links[stop:])
        larger = np.empty_like(beyond)
        for i in range(width):
            at = first + i
            before = np.maximum.accumulate(self._links[at:first:-1])
            after = np.maximum.accumulate(self._links[at + 1 : stop])
            inside[:i] += before[::-1]
            inside[i + 1 :] += after
            outside += np.maximum(beyond, after[-1], out=larger) if len(after) else beyond
        return total


def _chunks(n: int, work: int) -> list[tuple[int, int]]:
    """Divide ``n`` steps of this much work each into parts that a kernel does at a time."""
    size = max(1, WORK // work)
    return [(a, min(a + size, n)) for a in range(0, n, size)]


def image(rows: Rows, size: int) -> NDArray[np.float64]:
    """The mean distances of ``size`` groups of consecutive objects; all distances if size is n."""
    bounds = np.arange(size + 1) * rows.n // size
    counts = np.diff(bounds)
    picture = np.empty((size, size))
    for i in range(size):
        first, stop = int(bounds[i]), int(bounds[i + 1])
        total = rows.total(first, stop)
        if size < rows.n:
            total = np.add.reduceat(total, bounds[i:-1] - first)
        picture[i, i:] = total / (counts[i] * counts[i:])
        picture[i:, i] = picture[i, i:]
    return picture
