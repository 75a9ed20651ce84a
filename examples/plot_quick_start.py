"""
Quick start
===========

Cluster a table of numbers, look at the result, and ask why a sample is where it is.
"""

# %%
# The data
# --------
# Ten Gaussian clusters of different size, width and orientation. The classes ``y`` are known
# because the data are made; the model never sees them.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from icvi_artmap import ICVIARTMAP, IndexTraceDisplay, PartitionDisplay, explain
from icvi_artmap.datasets import make_gaussian_clusters

X, y = make_gaussian_clusters(n_clusters=10, n_features=2, random_state=0)
print(f"{X.shape[0]} samples, {X.shape[1]} features")

# %%
# The fit
# -------
# Nothing has to be scaled, and the number of clusters need not be known: ``"auto"`` chooses it. The
# index that decides is NI, the negentropy increment: the smaller, the better.

model = ICVIARTMAP(n_clusters="auto", random_state=0).fit(X)
print(f"{model.n_clusters_} clusters, NI = {model.index_value_:.4f}")
print(f"adjusted Rand index with the true classes: {adjusted_rand_score(y, model.labels_):.3f}")

# %%
# A look at the partition, with the boxes of the network's categories over it:

PartitionDisplay.from_estimator(model, X, boxes=True).plot()
plt.show()

# %%
# The runner-up of the choice is worse by this margin; a clear choice has 10 or more, and halves of
# the samples agree with it.
# The example "How many clusters?" has data where it is not.

print(f"margin {model.selection_.margin:.1f}, clear: {model.selection_.clear}")

# %%
# What happens in a fit
# ---------------------
# With a number of clusters given, a fit begins with k-means. Then the samples are presented one by
# one, and each goes where the index of the whole partition is best; clusters are merged and split
# between epochs (grey lines); larger steps come last (diamond). ``trace=True`` keeps the index
# after every presentation. The dashed line is its value for the true classes.

given = ICVIARTMAP(n_clusters=10, random_state=0).fit(X, trace=True)
print(f"adjusted Rand index: {adjusted_rand_score(y, given.labels_):.3f}")

IndexTraceDisplay.from_estimator(given, X, reference=y).plot()
plt.show()

# %%
# Why is a sample in its cluster?
# -------------------------------
# ``explain`` gives the index with the sample in every cluster. The margin is what the second best
# cluster would cost; this is the sample of which the partition is least sure.

why = explain(model, X, samples=np.arange(len(X)))
doubtful = int(why.margin.argmin())
print(explain(model, X[[doubtful]], samples=[doubtful]).to_text(max_features=1))

# %%
# New samples
# -----------
# ``predict`` gives a new sample the cluster that leaves the index best, and learns nothing from it.

new = [[-8.0, 2.0], [5.0, 2.0], [-5.0, -9.0]]
print(model.predict(new))
