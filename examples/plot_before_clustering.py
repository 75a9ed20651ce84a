"""
Are there clusters at all?
==========================

A picture of the distances between rows, sorted so that clusters become dark squares, before
anything is clustered.
"""

# %%
# Two sets of data
# ----------------
# One has five clusters, the other none.

import matplotlib.pyplot as plt
import numpy as np

from icvi_artmap import VATDisplay
from icvi_artmap.datasets import make_gaussian_clusters

clustered, _ = make_gaussian_clusters(n_clusters=5, n_features=4, random_state=1)
clustered = clustered[::4]
even = np.random.RandomState(0).uniform(size=(400, 4))
print(f"{len(clustered)} rows in clusters, {len(even)} rows without")

# %%
# The pictures
# ------------
# Dark is near. The five dark squares on the diagonal are clusters; where there are none, there are
# no squares either.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
for ax, X, name in zip(axes, (clustered, even), ("five clusters", "none"), strict=True):
    VATDisplay.from_data(X, improved=True).plot(ax)
    ax.set_title(name)
plt.show()
