"""
Deep latents of digits
======================

Images of 8 x 8 pixels are turned into a few features by an autoencoder that is trained towards
clusters, and these are clustered. Training takes about a minute of one core and needs PyTorch.
"""

# %%
# The images
# ----------
# 1,797 handwritten digits of scikit-learn, one a row. Their labels are used only to compare.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline

from icvi_artmap import ICVIARTMAP
from icvi_artmap.deep import DynamicAutoencoder

X, y = load_digits(return_X_y=True)
print(f"{X.shape[0]:,} images of {X.shape[1]} pixels")

# %%
# Clusters of the pixels are only roughly those of the digits.

pixels = ICVIARTMAP(n_clusters=10, random_state=0).fit(X)
print(f"clusters of the pixels: ARI {adjusted_rand_score(y, pixels.labels_):.2f}")

# %%
# Latents and clusters
# --------------------
# Both steps make one scikit-learn pipeline, which :func:`icvi_artmap.save` writes to one file; what
# is loaded from it predicts without PyTorch. Layers are narrower than by default, as the images are
# small. While it learns, the network sees the images turned by up to
# 10 degrees and shifted by up to a tenth of their side.

deep = DynamicAutoencoder(
    n_clusters=10,
    image_shape=(8, 8),
    hidden=(200, 200, 500),
    pretraining_iterations=3000,
    clustering_iterations=2100,
    batch_size=128,
    n_jobs=1,
    random_state=0,
)
model = make_pipeline(deep, ICVIARTMAP(n_clusters=10, random_state=0)).fit(X)
print(f"clusters of the latents: ARI {adjusted_rand_score(y, model[-1].labels_):.2f}")

# %%
# What was learned
# ----------------
# The centres of the clusters, decoded to images.

decoded = deep.inverse_transform(model[-1].cluster_centers_)
figure, axes = plt.subplots(1, 10, figsize=(10, 1.4))
for axis, image in zip(axes, decoded, strict=True):
    axis.imshow(image.reshape(8, 8), cmap="gray_r")
    axis.set_axis_off()
plt.show()

# %%
# The number of conflicted images, those that are near to no centre, falls while the network is
# trained towards the centres.

history = deep.history_
late = history["stage"] == "clustering"
figure, axis = plt.subplots(figsize=(6, 3))
axis.plot(history["iteration"][late], history["conflicted"][late], marker=".")
axis.set(xlabel="iterations of the second stage", ylabel="conflicted images")
plt.show()
