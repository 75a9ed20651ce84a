"""A trained autoencoder to a file and back: its weights are plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from icvi_artmap.deep.autoencoder import MOST_LAYERS, DynamicAutoencoder
from icvi_artmap.deep.layers import Weights
from icvi_artmap.deep.training import STAGES, Look
from icvi_artmap.persistence.contents import Contents, check_between
from icvi_artmap.persistence.file_format import Arrays, ContentError, Header, shortened

#: Weights and latents are of the order of 1: no product of them may overflow.
LARGEST = 1e30


def written(model: DynamicAutoencoder) -> tuple[Header, Arrays]:
    """Entries of the header and arrays."""
    arrays: Arrays = {
        "lower": model.lower_,
        "span": model.span_,
        "cluster_centers": model.cluster_centers_,
        "history": _history(model),
    }
    for name, weights in (("encoder", model.encoder_), ("decoder", model.decoder_)):
        arrays |= {f"{name}.{i}": array for i, array in enumerate(weights)}
    fitted = {
        "n_layers": len(model.encoder_) // 2,
        "n_iter": int(model.n_iter_),
        "converged": bool(model.converged_),
    }
    return fitted, arrays


def restore(model: DynamicAutoencoder, fitted: Header, contents: Contents, _: Any) -> None:
    """Check what is in the file, and give it to the model."""
    n_layers, n_iter, converged = (fitted.get(k) for k in ("n_layers", "n_iter", "converged"))
    if type(n_layers) is not int or not 1 <= n_layers <= MOST_LAYERS + 1:
        raise ContentError(f"its n_layers is {shortened(n_layers)}, expected a number from 1")
    if type(n_iter) is not int or n_iter < 0 or type(converged) is not bool:
        raise ContentError(f"its n_iter is {shortened(n_iter)}, converged {shortened(converged)}")
    model.lower_ = contents.take("lower", np.float64, None)
    width = len(model.lower_)
    model.span_ = contents.take("span", np.float64, width)
    if not (model.span_ > 0.0).all():
        raise ContentError("'span' has values that are not above 0")
    model.encoder_ = _take_layers(contents, "encoder", n_layers, width)
    latent = len(model.encoder_[-1])
    model.decoder_ = _take_layers(contents, "decoder", n_layers, latent)
    if len(model.decoder_[-1]) != width:
        raise ContentError(f"its decoder makes {len(model.decoder_[-1])} features of {width}")
    model.cluster_centers_ = contents.take_any("cluster_centers", np.float64, latent)
    history = contents.take_any("history", np.float64, len(Look._fields))
    check_between("history", history[:, :1], 0, len(STAGES) - 1)
    check_between("history", history[:, 1:], -1.0, LARGEST)
    model.history_ = dict(zip(Look._fields, _told(history), strict=True))
    model.n_iter_, model.converged_, model.n_features_in_ = n_iter, converged, width


def _history(model: DynamicAutoencoder) -> NDArray[np.float64]:
    stage, *numbers = (model.history_[name] for name in Look._fields)
    return np.column_stack([[STAGES.index(one) for one in stage], *numbers]).astype(np.float64)


def _told(history: NDArray[np.float64]) -> list[NDArray[Any]]:
    """The columns of a history with the types that they have in a fit."""
    stage, iteration, loss, conflicted = history.T
    names = np.array(STAGES)[stage.astype(np.int64)]
    return [names, iteration.astype(np.int64), loss.copy(), conflicted.astype(np.int64)]


def _take_layers(contents: Contents, name: str, n_layers: int, width: int) -> Weights:
    """Weights and biases, each layer as wide as the one before it is high."""
    taken: Weights = []
    for at in range(0, 2 * n_layers, 2):
        taken.append(contents.take(f"{name}.{at}", np.float32, None, width))
        width = len(taken[-1])
        taken.append(contents.take(f"{name}.{at + 1}", np.float32, width))
    for i, array in enumerate(taken):
        check_between(f"{name}.{i}", array, -LARGEST, LARGEST)
    return taken
