"""
A stream that drifts and breaks
===============================

Three clusterers learn the same stream, row by row, and a validity index that forgets watches each
of them: it needs no labels to show who has lost the clusters.
"""

# %%
# The stream
# ----------
# Four clusters. At first they stay where they are, then they wander, and after row 20,000 they are
# suddenly elsewhere. Rows come in batches of 500.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.metrics import adjusted_rand_score

from icvi_artmap import ICVIARTMAP
from icvi_artmap.streaming import IncrementalIndex

ROWS, BATCH, WANDER, BREAK = 30_000, 500, 8_000, 20_000
rng = np.random.default_rng(4)
CORNERS = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0], [8.0, 8.0]])
ELSEWHERE = np.array([[4.0, 4.0], [5.0, -6.0], [14.0, 3.0], [15.0, 12.0]])


def rows_from(first: int) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 4, BATCH)
    noise = rng.normal(size=(BATCH, 2))
    if first >= BREAK:
        return ELSEWHERE[y] + noise, y
    away = max(0.0, (first - WANDER) / (BREAK - WANDER)) * np.array([3.0, 2.0])
    return CORNERS[y] + away + noise, y


stream = [(first, *rows_from(first)) for first in range(0, ROWS, BATCH)]
print(f"{ROWS:,} rows; the clusters wander from row {WANDER:,} and break after row {BREAK:,}")

# %%
# Three that learn
# ----------------
# ``MiniBatchKMeans`` gives every row the same weight, so it is slow to follow once it has seen
# many. ``ICVIARTMAP`` can forget: here it looks back over some 1,000 rows, and makes another start
# when it notices that the clusters have changed. Without forgetting it only tells.

kmeans = MiniBatchKMeans(4, n_init=3, random_state=0)
ours = ICVIARTMAP(4, index="CH", forgetting=0.999, random_state=0)
steady = ICVIARTMAP(4, index="CH", random_state=0)
learners = {
    "MiniBatchKMeans": kmeans,
    "ICVIARTMAP": ours,
    "ICVIARTMAP, forgetting=1": steady,
}

# %%
# One that watches
# ----------------
# A monitor has no samples, only sums over them. With ``forgetting`` it says what the index was over
# the last rows. Every batch is labelled first, then shown to the monitor, then learned.

FORGETTING = 0.998
seen: dict[str, list[float | None]] = {name: [] for name in learners}
agreement: dict[str, list[float]] = {name: [] for name in learners}
monitors = {name: IncrementalIndex("CH", forgetting=FORGETTING) for name in learners}
begun = [first for first, _, _ in stream if first >= 1000]
for first, X, y in stream:
    for name, model in learners.items():
        if first >= 1000:
            labels = model.predict(X)
            monitors[name].add_many(X, labels)
            seen[name].append(monitors[name].value)
            agreement[name].append(adjusted_rand_score(y, labels))
        model.partial_fit(X)

# %%
# What the network itself has noticed
# -----------------------------------
# ``drift_`` has the row after which clusters have changed, and when that was told. The model that
# forgets has followed the wandering clusters, and tells of the break alone. To the steady one they
# lie ever farther from where they were, and it tells of that too.

for name, model in (("forgetting", ours), ("steady", steady)):
    for where, told in zip(model.drift_.breaks, model.drift_.told, strict=True):
        print(f"{name}: clusters changed after row {where:,}, told after row {told:,}")

# %%
# Before, and after
# -----------------
# The adjusted Rand index of new rows, labelled before they are learned: its mean before the break
# and over the last 5,000 rows.

before = [at for at, first in enumerate(begun) if first < BREAK]
after = [at for at, first in enumerate(begun) if first >= ROWS - 5000]
for name, values in agreement.items():
    means = [np.mean([values[at] for at in part]) for part in (before, after)]
    print(f"{name:25s} {means[0]:.3f} before, {means[1]:.3f} after")

# %%
# The picture
# -----------
# Above: CH of the last rows, of which the labels are not needed. It falls when the clusters break,
# and only that of the model that forgets comes back. Below: the agreement with the true classes,
# which nobody knows of a real stream, tells the same.

figure, axes = plt.subplots(2, 1, figsize=(8.0, 6.0), sharex=True, layout="constrained")
for name in learners:
    axes[0].plot(begun, seen[name], label=name)
    axes[1].plot(begun, agreement[name], label=name)
for axis in axes:
    axis.axvspan(WANDER, BREAK, color="0.93", zorder=0)
    axis.axvline(BREAK, color="0.3", linestyle="--", linewidth=1)
axes[0].text(WANDER + 200, axes[0].get_ylim()[1] * 0.93, "clusters wander", color="0.3")
axes[0].text(BREAK + 200, axes[0].get_ylim()[1] * 0.93, "break", color="0.3")
axes[0].set_ylabel("CH ↑ of the last rows")
axes[1].set_ylabel("adjusted Rand index ↑")
axes[1].set_xlabel("rows")
axes[1].legend(loc="lower left")
plt.show()

# %%
# river's clusterers
# ------------------
# A monitor stands where river has a metric: ``update`` and ``get``. If river is installed, here is
# its k-means on every tenth row.

try:
    from river import cluster
except ImportError:
    print("river is not installed")
else:
    learner = cluster.KMeans(n_clusters=4, halflife=0.1, sigma=3, seed=0)
    metric = IncrementalIndex("CH", forgetting=0.98)
    shown = []
    for first, X, _ in stream:
        for x in X[::10]:
            row = dict(enumerate(x.tolist()))
            learner.learn_one(row)
            metric.update(row, learner.predict_one(row), learner.centers)
        if first in (BREAK - BATCH, BREAK + BATCH, ROWS - BATCH):
            shown.append(metric.get())
    parts = ("before the break", "after it", "at the end")
    said = ", ".join(f"{value or 0.0:.0f} {part}" for value, part in zip(shown, parts, strict=True))
    print(f"river's KMeans: CH of the last rows is {said}")
