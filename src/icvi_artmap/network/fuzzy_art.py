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
from icvi_artmap.network import map_field as field
from icvi_artmap.network.driver import learn
from icvi_artmap.network.members import NONE
from icvi_artmap.samples.scaling import coded_row

#: In place of the classes of samples: none are taught.
UNTAUGHT = np.empty(0, np.int64)


class Clusters(NamedTuple):
    """Which cluster every category belongs to."""

    of: NDArray[np.int64]  #: (capacity,)
    size: NDArray[np.int64]  #: (1,) number of clusters


@jit
def present(data, network, clusters, parameters, classes, categories, x_a, start, stop):
    """Present samples ``start`` to ``stop`` - 1, one after the other.

    Returns the first one not presented: ``stop``, or an earlier one if there is no room for another
    category. ``classes``: of every sample, or UNTAUGHT. ``categories``: the category of every
    sample, or NONE; it is renewed. ``x_a``: scratch.
    """
    boxes, k = network.boxes, network.map_field.shape[1]
    for s in range(start, stop):
        if boxes.used[0] == boxes.found.shape[0]:
            return s
        norm = coded_row(data, s, x_a)
        y = classes[s] if classes.shape[0] > 0 else np.int64(field.ALL)
        own = categories[s]
        c, found, _, _ = learn(network, k, x_a, norm, y, own, False, False, parameters)
        if found == NONE:
            clusters.of[c] = clusters.size[0]
            clusters.size[0] += 1
        elif c != found:  # it passes only the lower vigilance: its cluster gets another category
            clusters.of[c] = clusters.of[found]
        categories[s] = c
    return stop
