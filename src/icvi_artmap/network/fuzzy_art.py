"""The sample loop of fuzzy ART, dual vigilance fuzzy ART and fuzzy ARTMAP, compiled.

One loop for the three: fuzzy ART is fuzzy ARTMAP with a map field that nothing fails, and dual
vigilance fuzzy ART looks at the match a second time. Boxes only grow here, so nobody needs to know
which samples they hold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from icvi_artmap._compile.jit import jit
from icvi_artmap.network import boxes as box
from icvi_artmap.network import map_field as field
from icvi_artmap.network.members import NONE
from icvi_artmap.network.resonance import search
from icvi_artmap.samples.scaling import coded_row

#: In place of the classes of samples: none are taught.
UNTAUGHT = np.empty(0, np.int64)


class Parameters(NamedTuple):
    """What the sample loop needs; the defaults switch a part of it off."""

    rho_a: float  #: vigilance; the lower one of two
    rho_ub: float = 0.0  #: the upper one
    alpha: float = 1e-3
    beta_a: float = 1.0
    rho_ab: float = 0.0
    epsilon: float = 0.0
    beta_ab: float = 1.0


class Network(NamedTuple):
    """Boxes, and what belongs to them, with room for ``capacity`` of them."""

    boxes: box.Boxes
    map_field: NDArray[np.float64]  #: (capacity, number of columns)
    cluster: NDArray[np.int64]  #: (capacity,) of every box
    size: NDArray[np.int64]  #: (1,) number of clusters
    reach: NDArray[np.float64]  #: see :func:`icvi_artmap.network.resonance.new_reach`


@jit
def present(data, network, parameters, classes, categories, x_a, start, stop):
    """Present samples ``start`` to ``stop`` - 1, one after the other.

    Returns the first one not presented: ``stop``, or an earlier one if there is no room for another
    box. ``classes``: of every sample, or UNTAUGHT. ``categories``: the box of every sample, or
    NONE; it is renewed. ``x_a``: scratch.
    """
    boxes, cluster, k = network.boxes, network.cluster, network.map_field.shape[1]
    for s in range(start, stop):
        if boxes.used[0] == boxes.found.shape[0]:
            return s
        norm = coded_row(data, s, x_a)
        y = classes[s] if classes.shape[0] > 0 else np.int64(field.ALL)
        c = search(network, k, x_a, norm, y, categories[s], parameters)
        if c != NONE and boxes.value[box.OVERLAP, c] / norm >= parameters.rho_ub:
            box.learn(boxes, c, x_a, parameters.beta_a)
        else:
            near = c  # passes only the lower of two vigilances: its cluster gets another box
            c = box.append(boxes, x_a)
            for i in range(k):
                network.map_field[c, i] = 1.0
            if near == NONE:
                cluster[c] = network.size[0]
                network.size[0] += 1
            else:
                cluster[c] = cluster[near]
        field.learn(network.map_field[c], k, y, parameters.beta_ab)
        categories[s] = c
    return stop
