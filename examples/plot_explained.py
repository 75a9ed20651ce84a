"""
Why is a row in its cluster?
============================

What sets every cluster apart, in a picture, and why one row belongs where it is, in words.
"""

# %%
# The data
# --------
# 150 flowers of three species, which the model is not told.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from icvi_artmap import ICVIARTMAP, CategoryDisplay, ProfileDisplay, explain

X, species = load_iris(as_frame=True, return_X_y=True)
model = ICVIARTMAP(n_clusters=3, random_state=0).fit(X)
print(f"rows of the clusters: {np.bincount(model.labels_)}")

# %%
# What sets the clusters apart
# ----------------------------
# Left: means of the clusters, in deviations from the mean of all rows. Right: the boxes that the
# network has learned, in the two columns that tell the clusters apart best.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
ProfileDisplay.from_estimator(model).plot(left)
CategoryDisplay.from_estimator(model, X).plot(right)
plt.show()

# %%
# One row
# -------
# The row whose two best clusters differ least.

doubtful = int(np.sort(model.membership(X), axis=1)[:, -2].argmax())
print(explain(model, X.iloc[[doubtful]], samples=[doubtful]))
