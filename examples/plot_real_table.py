"""
A table as it comes
===================

Missing values, long tails and words in one table: what is done about them is a parameter, is
learned by the fit, and is done to new rows too.
"""

# %%
# The data
# --------
# Three kinds of customers. Every twentieth cell has no value.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from icvi_artmap import ICVIARTMAP, ProfileDisplay

rng = np.random.RandomState(0)
kind = rng.choice(3, 900, p=[0.5, 0.3, 0.2])
age = rng.normal([28.0, 45.0, 66.0], 5.0, (900, 3))[np.arange(900), kind]
visits = rng.normal([9.0, 3.0, 6.0], 1.0, (900, 3))[np.arange(900), kind]
spend = np.exp(rng.normal([3.0, 5.0, 4.0], 0.4, (900, 3))[np.arange(900), kind])
table = np.column_stack([age, visits, spend])
table[rng.random_sample(table.shape) < 0.05] = np.nan
print(f"{np.isnan(table).sum()} of {table.size} cells have no value")

# %%
# The fit
# -------
# Gaps are filled from the nearest rows, and long tails are drawn in. Clusters are found on the rows
# without gaps; the others then get the cluster they fit best.

model = ICVIARTMAP(
    n_clusters=3, missing="neighbours", transform_columns="power", random_state=0
).fit(table)
print(f"agreement with the three kinds: {adjusted_rand_score(kind, model.labels_):.2f}")

# %%
# What sets the clusters apart
# ----------------------------
# All is told in the units of the table.

names = ["age", "visits", "spend"]
model.feature_names_in_ = np.array(names, dtype=object)
ProfileDisplay.from_estimator(model).plot()
plt.show()
for i, centre in enumerate(model.cluster_centers_):
    told = ", ".join(f"{name} {value:.0f}" for name, value in zip(names, centre, strict=True))
    print(f"cluster {i}: {told}")
