"""
Rows that belong nowhere
========================

Points that are scattered between clusters get the label -1, and every other row says how sure its
cluster is.
"""

# %%
# The data
# --------
# Three clusters, and a dozen points that lie anywhere.

import matplotlib.pyplot as plt
import numpy as np

from icvi_artmap import ICVIARTMAP, PartitionDisplay

rng = np.random.RandomState(0)
centres = np.array([[0.0, 0.0], [10.0, 2.0], [4.0, 9.0]])
members = np.vstack([rng.normal(centre, 1.0, (200, 2)) for centre in centres])
anywhere = rng.uniform(-8.0, 18.0, (12, 2))
X = np.vstack([members, anywhere])

# %%
# The fit
# -------

model = ICVIARTMAP(n_clusters=3, noise=True, random_state=0).fit(X)
noise = model.labels_ == -1
print(f"{noise.sum()} rows are noise, {noise[600:].sum()} of the 12 scattered ones")

# %%
# Where they are
# --------------
# The outlier score is 0 where the density is usual, and above 0.5 for noise.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
PartitionDisplay.from_estimator(model, X).plot(left)
drawn = right.scatter(*X.T, c=model.outlier_score(X), s=9, cmap="viridis", vmin=0.0, vmax=1.0)
figure.colorbar(drawn, ax=right, label="outlier score")
plt.show()

# %%
# How sure
# --------
# The membership of a row is the share that every cluster has in the density there.

between = (centres[0] + centres[2]) / 2.0
for row in (centres[0], between):
    print(row.round(1), model.membership([row])[0].round(2))
